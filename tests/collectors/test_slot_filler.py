"""Free slots begin the next episodes, with the actors of their tickets."""

import numpy as np
import pytest
from collector_world import BOT, POLICY, World, evaluation, freeze

from collectors.envs.native.connect_four import ConnectFour
from collectors.envs.native.tic_tac_toe import TicTacToe
from league.policies.layout import initial
from league.policies.numpy_actor import NumpyActor
from league.ticket import Entry


def test_a_snapshot_that_cannot_be_had_is_a_fault(world):
    missing = Entry("main.0", "0" * 64)
    world.begin(evaluation(number=1, entries=(missing, BOT)), evaluation(number=2))
    settled = []
    while len(settled) < 2:
        report = world.play()
        settled += [("fault", f.ticket, f.reason) for f in report.faults] + [
            ("result", r.ticket) for r in report.results
        ]
    faults = [item for item in settled if item[0] == "fault"]
    assert faults[0][1] == 1
    assert "there is no snapshot" in faults[0][2]
    assert ("result", 2) in settled


def test_frozen_players_come_from_the_store(world):
    world.begin(evaluation(entries=(freeze(world, 1), BOT)))
    assert world.play().results


def test_a_damaged_snapshot_is_a_fault_of_each_ticket_and_logged_once(world, caplog):
    entry = freeze(world, 1)
    path = world.store.path(entry.snapshot)
    path.chmod(0o644)
    path.write_bytes(b"rubbish")
    world.begin(*(evaluation(number, entries=(entry, BOT)) for number in (1, 2, 3)))
    faults = world.play().faults
    assert [fault.ticket for fault in faults] == [1, 2, 3]
    assert all("is damaged" in fault.reason for fault in faults)
    assert caplog.text.count("Restore the file from a copy") == 1


def misplaced(world, observation):
    """Return the entries that are played now with the weights of somebody else."""
    collector, spec = world.collector, world.env.spec
    actors, seats = collector._actors, collector._seating
    played = [
        (playing.ticket.entries[entry], actors[number])
        for playing, numbers, entries in zip(seats.tickets, seats.actor, seats.entry, strict=True)
        if playing is not None
        for number, entry in zip(numbers, entries, strict=True)
    ]
    assert played, "nothing is played"
    return [
        entry.player
        for entry, actor in played
        if (actor.outputs(observation) != NumpyActor(POLICY, spec, flat_of(world, entry)).outputs(observation)).any()
    ]


def flat_of(world, entry):
    return world.store.get(entry.snapshot).arrays["flat"]


def test_a_cache_that_is_too_small_costs_memory_and_never_gives_anybody_the_weights_of_another(tmp_path):
    env = TicTacToe(slots=6)
    world = World(tmp_path, env, cache_bytes=int(1.5 * initial(POLICY, env.spec, 0).nbytes))
    players = [freeze(world, seed) for seed in range(6)]
    pairs = [players[place : place + 2] for place in (0, 2, 4)]
    world.begin(*(evaluation(number, episodes=2, entries=tuple(pair)) for number, pair in enumerate(pairs, 1)))
    world.step(2)  # all three begin at once
    assert misplaced(world, np.ones((1, *env.spec.observation.shape), np.float32)) == []


class Overseen(ConnectFour):
    """Connect four that notes for how many steps of others each slot was free."""

    def __init__(self, slots):
        super().__init__(slots)
        self.free = np.zeros(slots, int)
        self.waits, self.starts = [], []

    def start(self, slots, seeds):
        self.waits += self.free[slots].tolist()
        self.starts.append(len(slots))
        super().start(slots, seeds)

    def step(self, actions):
        ends = super().step(actions)
        self.free += 1
        self.free[self._busy] = 0
        return ends


@pytest.mark.parametrize(("slots", "together"), [(4, 1), (256, 8)])
def test_slots_that_become_free_are_filled_together_and_soon(tmp_path, slots, together):
    env = Overseen(slots)
    world = World(tmp_path, env)
    world.begin(evaluation(episodes=10 * slots))
    (result,) = world.play().results
    assert len(result.episodes) == 10 * slots
    assert len({episode.length for episode in result.episodes}) > 5, "they do not end all at once"
    assert max(env.waits) <= 4
    assert np.mean(env.starts[1:]) >= together
