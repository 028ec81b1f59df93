"""Evolving players: what is played with perturbed weights arrives as returns, exactly once or not at all."""

import numpy as np
import pytest
from collector_world import BOT, POLICY, World, evaluation, training

from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.perturber import pair_of
from league.ids import derive_seed
from league.per_player import PerPlayer
from league.policies.perturbation import NoiseTable, perturbed_part
from league.ticket import Entry, episode_seeds
from learners.segment_check import open_fitness

SIGMA = 0.3


class EvolvingWorld(World):
    """The test as learner of an evolving player: it opens what arrives as the learner does."""

    def __init__(self, *arguments, **settings):
        self.fitness = []
        super().__init__(*arguments, sigmas=PerPlayer(SIGMA), **settings)
        self.table = NoiseTable(perturbed_part(POLICY, self.env.spec))

    def open(self, message, arrays):
        self.fitness.append(open_fitness(message, arrays, self.table.offsets))

    def gathered(self, name):
        return np.concatenate([getattr(one, name) for one in self.fitness])


@pytest.fixture
def world(tmp_path):
    return EvolvingWorld(tmp_path, TicTacToe(slots=4), flush_decisions=1)


def finish(world):
    world.step(10)
    return world


def test_pairs_have_the_same_seats_and_opposite_signs():
    found = [pair_of(episode, 2) for episode in range(8)]
    assert [first % 2 for first, _ in found] == [episode % 2 for episode in range(8)]
    assert [sign for _, sign in found] == [1, 1, -1, -1, 1, 1, -1, -1]


def test_every_training_episode_arrives_once_as_offset_sign_and_return(world):
    ticket = training(episodes=40)
    world.begin(ticket)
    (result,) = world.play(steps=2000).results
    finish(world)
    assert sorted(world.gathered("returned")) == sorted(episode.returns[0] for episode in result.episodes)
    assert sorted(world.gathered("sign")) == [-1] * 20 + [1] * 20
    seeds = episode_seeds(7, ticket, 0, range(40))
    firsts = [pair_of(episode, 2)[0] for episode in range(40)]
    offsets = [world.table.offset_of(derive_seed(seeds[first], "noise", 0)) for first in firsts]
    assert sorted(world.gathered("offset")) == sorted(offsets)
    moves = sum(episode.length for episode in result.episodes)
    assert 0.4 * moves < world.gathered("decisions_made").sum() < 0.6 * moves
    assert world.collector._recorder.unsent[("main", 0)] == 0


def test_in_self_play_both_seats_have_noise_of_their_own(world):
    world.begin(training(episodes=8, opponent=Entry("main")))
    world.play(steps=2000)
    finish(world)
    assert len(world.gathered("offset")) == 16
    assert len(set(world.gathered("offset").tolist())) == 8
    assert world.gathered("returned").sum() == 0, "one wins what the other loses"


def test_evaluation_plays_without_noise_and_sends_nothing(world):
    world.begin(evaluation(entries=(Entry("main"), BOT)))
    world.play(steps=2000)
    finish(world)
    assert world.fitness == []


def test_episodes_under_way_keep_their_version(world):
    world.begin(training(episodes=4))
    world.step(2)
    world.version = 1
    world.publish(world.learner_peer)
    world.play(steps=2000)
    finish(world)
    assert set(world.gathered("version").tolist()) == {0}


def test_a_reset_drops_what_was_played_before(world):
    world.begin(training(episodes=4))
    world.step(2)
    assert world.collector._recorder.unsent[("main", 0)] > 0
    world.incarnation = 1
    world.order(directory=6, hosts=world.hosts())
    world.play(steps=2000)
    finish(world)
    assert world.fitness == []
    assert world.collector._recorder.unsent[("main", 0)] == 0


def test_without_credit_no_episode_begins(tmp_path):
    world = EvolvingWorld(tmp_path, TicTacToe(slots=4), allowance=4, flush_decisions=1)
    world.trains = False
    world.begin(training(episodes=40))
    for _ in range(100):
        for report in world.step():
            world.answer(report)
    assert 4 <= len(world.gathered("offset")) < 12
