"""The collector over the wire in memory, with real games; the test is its coordinator and its learner."""

from dataclasses import replace
from functools import partial

import numpy as np
import odd_envs as odd
import pytest
from darts import Darts

from collectors import held_tickets as module
from collectors.actors import Actors
from collectors.collector import Collector
from collectors.config import CollectorConfig
from collectors.envs.adapters.pettingzoo import adapt
from collectors.envs.native.connect_four import ConnectFour
from collectors.envs.native.rock_paper_scissors import RockPaperScissors
from collectors.envs.native.tic_tac_toe import TicTacToe
from collectors.envs.rows import Ends
from collectors.episode import ReplayError, outcome_of, replay
from collectors.held_tickets import MAX_UNACKED, RETRY
from collectors.learner_client import LearnerClient
from league.policies.layout import PolicyConfig, initial
from league.policies.numpy_actor import NumpyActor
from league.store.snapshots import Manifest, SnapshotStore
from league.ticket import Entry, Purpose, Ticket
from league.wire.in_memory import Exchange
from league.wire.messages import (
    Ack,
    Credit,
    Host,
    Orders,
    Pull,
    Report,
    SegmentsHead,
    Verdict,
    Weights,
)
from learners.segment_check import open_segments

POLICY = PolicyConfig(hidden=[8])
BOT = Entry("random", bot="random")


class World:
    """A collector, its clock, and the other ends of its wires."""

    def __init__(self, tmp_path, env, allowance=10**9, cache_bytes=1 << 20, allow=(), **config):
        self.now = 100.0
        self.env, self.allowance = env, allowance
        exchange = Exchange()
        self.coordinator, self.learner = exchange.server("coordinator"), exchange.server("learner-0")
        self.store = SnapshotStore(tmp_path / "snapshots")
        self.journal = []
        self.collector = Collector(
            name="collector-0",
            session="session",
            env=env,
            coordinator=exchange.client(self.coordinator.address),
            learner_client=LearnerClient("collector-0", "session", exchange.client),
            actors=Actors(env.spec, POLICY, self.store, cache_bytes, allow),
            run_seed=7,
            config=CollectorConfig(slots=env.slots, **{"ticks": 4, **config}),
            clock=lambda: self.now,
            journal=lambda acks, head: self.journal.extend(acks),
        )
        self.peer = None
        self.incarnation, self.version = 0, 0
        self.heads, self.pulls = [], []
        self.trains, self.credited = True, 0
        self.sent = 0
        self.flat = None  # the weights to publish, if not those of the version

    def step(self, steps=1):
        """Return the reports of some ticks. The learner answers pulls, the coordinator nothing."""
        reports = []
        for _ in range(steps):
            self.now += 0.05
            self.running = self.collector.step(0.0)
            self.learn()
            for incoming in self.coordinator.receive(0):
                self.peer = incoming.peer
                assert isinstance(incoming.message, Report)
                reports.append(incoming.message)
        return reports

    def learn(self):
        for incoming in self.learner.receive(0):
            message = incoming.message
            if isinstance(message, Pull):
                self.pulls.append(message)
                self.credited = message.sent if self.trains else self.credited  # all that came was trained on
                self.publish(incoming.peer)
            else:
                assert isinstance(message, SegmentsHead)
                self.heads.append(message)
                self.sent = message.sent
                open_segments(message, incoming.arrays, self.env.spec)

    def publish(self, peer):
        flat = initial(POLICY, self.env.spec, self.version) if self.flat is None else self.flat
        who = {"player": "main", "incarnation": self.incarnation, "version": self.version}
        self.learner.send(peer, Weights(**who), {"flat": flat})
        self.learner.send(peer, Credit(**who, allowance=self.credited + self.allowance))

    def order(self, **orders):
        self.coordinator.send(self.peer, Orders(**{"term": 1, "request": 0, **orders}))

    def answer(self, report, **orders):
        self.order(request=report.request, **orders)

    def hosts(self):
        return (Host(player="main", incarnation=self.incarnation, address=self.learner.address),)

    def begin(self, *tickets):
        """Answer the first report with tickets and the directory."""
        (report,) = self.step()
        self.answer(report, tickets=tickets, directory=5, hosts=self.hosts())
        return report

    def play(self, steps=400, acknowledge=True, until=lambda report: report.results or report.faults):
        """Play on, answering every report; return the first report with news."""
        for _ in range(steps):
            for report in self.step():
                news = [*report.results, *report.faults]
                accepted = [Ack(item.ticket, item.attempt, Verdict.ACCEPTED) for item in news]
                self.answer(report, acks=tuple(accepted) if acknowledge else ())
                if until(report):
                    return report
        raise AssertionError("nothing came of it")


def evaluation(number=1, episodes=4, entries=(BOT, BOT), attempt=0):
    return Ticket(number=number, purpose=Purpose.EVALUATE, entries=entries, episodes=episodes, attempt=attempt)


def training(number=1, episodes=4, opponent=BOT):
    return Ticket(
        number=number, purpose=Purpose.TRAIN, entries=(Entry("main"), opponent), episodes=episodes, trains="main"
    )


@pytest.fixture
def world(tmp_path):
    return World(tmp_path, TicTacToe(slots=4))


@pytest.mark.parametrize("game", [TicTacToe, ConnectFour, RockPaperScissors, Darts])
def test_a_ticket_is_played_to_its_result_and_replays_to_the_same(tmp_path, game):
    world = World(tmp_path, game(slots=3))
    ticket = evaluation(episodes=5)
    world.begin(ticket)
    (result,) = world.play().results
    assert (result.ticket, result.attempt, len(result.episodes)) == (1, 0, 5)
    for index, episode in enumerate(result.episodes):
        assert game is Darts or sum(episode.returns) == 0
        assert episode.length >= 3
        assert outcome_of(replay(game(slots=1), ticket, 0, index, episode.actions, run_seed=7)) == episode


def test_a_record_of_illegal_parts_is_refused():
    record = np.array([[1, 0, 0.5], [2, 0, np.nan]] * 3, "<f4")
    with pytest.raises(ReplayError, match="illegal"):
        outcome_of(replay(Darts(slots=1), evaluation(), 0, 0, record.tobytes(), run_seed=7))


@pytest.mark.parametrize("opponent", [BOT, Entry("main")])
def test_actions_with_several_parts_reach_the_learner(tmp_path, opponent):
    world = World(tmp_path, Darts(slots=4), flush_decisions=1)
    world.begin(training(episodes=8, opponent=opponent))
    world.play()
    world.step(10)
    assert sum(head.decisions for head in world.heads) >= 16


def test_the_first_report_asks_for_tickets_and_is_sent_again_only_when_it_is_late(world):
    (report,) = world.step()
    assert report.want == 1
    assert (report.name, report.session, report.directory) == ("collector-0", "session", 0)
    assert world.step(int(RETRY / 0.05) - 2) == []
    (again,) = world.step(4)
    assert again.request == report.request + 1


def test_a_collector_asks_ahead_of_its_slots(tmp_path):
    world = World(tmp_path, TicTacToe(slots=32), ahead=2)
    (report,) = world.step()
    assert report.want == 8
    world.answer(report, tickets=tuple(evaluation(number) for number in (1, 2)), directory=1, hosts=())
    later = [r for r in world.step(2) if r.held]
    assert later[0].want == 16, "all eight episodes are under way, so 32 slots want sixteen tickets of four more"


def test_a_result_is_sent_until_it_is_acknowledged_and_then_journaled(world):
    world.begin(evaluation())
    first = world.play(acknowledge=False).results
    again = world.play(acknowledge=False).results
    assert again == first
    assert world.journal == []
    (report,) = world.step(1)
    ack = Ack(1, 0, Verdict.DUPLICATE)
    world.answer(report, acks=(ack,))
    later = world.step(60)
    assert all(not r.results for r in later)
    assert len(later) >= 1
    assert world.journal == [ack]


def test_an_ack_of_another_attempt_ends_nothing(world):
    world.begin(evaluation(attempt=1))
    report = world.play(acknowledge=False)
    (report,) = world.step(1)
    world.answer(report, acks=(Ack(1, 0, Verdict.SUPERSEDED),))
    assert world.play(acknowledge=False).results
    assert world.journal == []


def test_a_result_goes_on_being_sent_when_the_coordinator_was_away(world):
    world.begin(evaluation())
    for _ in range(30):
        world.collector.step(0.0)
        world.now += 0.05
    address = world.coordinator
    lost = address.receive(0)
    assert lost, "reports went into the void"
    world.now += RETRY
    assert world.play().results


def test_orders_of_a_lower_term_are_refused(world):
    (report,) = world.step()
    world.answer(report, term=5)
    world.step()
    world.order(term=4, tickets=(evaluation(),), stop=True)
    world.step(3)
    assert world.running
    assert all(not r.held for r in world.step(60))
    world.order(term=5, tickets=(evaluation(),))
    assert world.play().results


def test_what_is_held_is_told_with_progress(world):
    world.begin(evaluation(episodes=40))
    reports = [r for _ in range(5) for r in [world.play(until=lambda report: report.held)]]
    held = [r.held[0] for r in reports]
    assert {(h.ticket, h.attempt) for h in held} == {(1, 0)}
    assert held[0].steps < held[-1].steps


def test_a_revoked_ticket_is_not_reported(world):
    world.begin(evaluation(number=1, episodes=8), evaluation(number=2, episodes=4))
    world.step(2)
    world.order(revoked=((1, 0),))
    report = world.play()
    assert [r.ticket for r in report.results] == [2]
    for _ in range(40):
        for report in world.step():
            assert not report.results
            assert not report.held
            world.answer(report)


def test_the_same_ticket_twice_is_played_once(world):
    world.begin(evaluation())
    world.order(tickets=(evaluation(),))
    world.play()
    with pytest.raises(AssertionError, match="nothing came of it"):
        world.play(steps=50)


def test_a_training_ticket_waits_for_weights_and_for_credit(world):
    world.allowance = 0
    world.begin(training())
    world.step(5)
    assert len(world.pulls) == 1
    reports = world.step(60)
    assert reports[-1].starved == ("main",)
    assert world.collector.env_steps == 0
    world.allowance = 1
    world.now += 1.0
    world.play(until=lambda report: report.results)
    assert world.collector.env_steps > 0


def test_credit_is_asked_for_again_when_it_is_used_up_and_other_tickets_play_on(world):
    world.allowance = 10
    world.begin(training(number=1, episodes=100), evaluation(number=2, episodes=4))
    report = world.play(until=lambda report: report.results)
    assert [r.ticket for r in report.results] == [2]
    assert len(world.pulls) == 1
    world.play(until=lambda report: len(world.pulls) > 2)
    assert 10 <= world.pulls[-1].sent < 40


def test_decisions_in_lanes_never_use_up_the_credit_that_they_wait_for(tmp_path):
    """All lanes are partly filled when the credit is used up, and no other ticket would ever flush them."""
    world = World(tmp_path, TicTacToe(slots=16), allowance=20, ticks=32, flush_seconds=0.1)
    world.begin(training(episodes=200))
    for goal in range(50, 500, 50):
        world.play(until=lambda report, goal=goal: world.sent >= goal)


def test_long_episodes_rest_while_their_learner_is_busy(tmp_path):
    world = World(tmp_path, RockPaperScissors(slots=4, max_cycles=1000), allowance=40, ticks=8, flush_seconds=0.1)
    world.trains = False
    world.begin(training(episodes=4))
    world.step(400)
    played, lanes = world.collector.env_steps, 4 * 8 * 2
    assert 40 < world.sent <= 40 + lanes
    assert world.collector.env_steps == played
    assert world.collector.ticks > 400, "its heartbeats tell that it lives"
    world.trains = True
    world.step(400)
    assert world.collector.env_steps > played + 100
    world.trains = False
    world.step(400)
    played = world.collector.env_steps
    world.order(revoked=((1, 0),))
    world.step(50)
    assert world.collector.env_steps > played, "nobody waits for decisions of a ticket that was withdrawn"


def test_segments_are_legal_and_count_every_decision_of_the_trained_player(world):
    world.begin(training(episodes=40))
    (result,) = world.play(steps=2000).results
    world.now += 1.0
    world.order(tickets=(evaluation(number=2),))  # its episodes take over the lanes
    world.play()
    world.step(20)
    moves = sum(episode.length for episode in result.episodes)
    assert 0.4 * moves < world.sent < 0.6 * moves


def test_self_play_records_both_seats(world):
    world.begin(training(episodes=8, opponent=Entry("main")))
    (result,) = world.play(steps=2000).results
    world.order(tickets=(evaluation(number=2),))
    world.play()
    world.step(20)
    assert world.sent == sum(episode.length for episode in result.episodes)


def test_a_reset_player_is_recorded_only_in_its_new_incarnation(world):
    world.begin(training(episodes=400))
    world.play(steps=200, until=lambda report: world.heads)
    world.incarnation, world.version = 1, 3
    world.order(directory=6, hosts=world.hosts())
    world.step(2)
    world.heads.clear()
    world.play(steps=200, until=lambda report: world.heads)
    assert {head.incarnation for head in world.heads} == {1}
    assert world.pulls[-1].incarnation == 1


def test_weights_that_fit_no_policy_do_not_end_the_collector(world, caplog):
    world.flat = np.zeros(3, np.float32)
    world.begin(training())
    world.step(6)
    assert "another policy config" in caplog.text
    world.order(tickets=(evaluation(number=2),))
    assert [r.ticket for r in world.play().results] == [2]


@pytest.mark.parametrize("how", ["reset", "step", "nan", "reward", "mask", "shape"])
def test_a_broken_slot_is_a_fault_of_its_ticket_and_others_play_on(tmp_path, how):
    """Episodes with odd seeds break."""
    world = World(tmp_path, adapt(partial(odd.Broken, how), slots=4, name="broken"))
    world.begin(*(evaluation(number=number, episodes=1) for number in range(1, 13)))
    settled = {}
    while len(settled) < 12:
        report = world.play()
        settled |= {f.ticket: f.reason for f in report.faults} | {r.ticket: "" for r in report.results}
    reasons = [reason for reason in settled.values() if reason]
    assert 0 < len(reasons) < 12
    assert all(reason.startswith("broken") for reason in reasons)
    assert {settled[ack.ticket] for ack in world.journal} == {""}, "only results are journaled, not faults"
    world.step(3)
    assert len(world.collector._seating.free) == 4


def test_one_broken_episode_gives_back_the_whole_ticket_once(tmp_path):
    world = World(tmp_path, adapt(partial(odd.Broken, "step", always=True), slots=4, name="broken"))
    world.begin(evaluation(episodes=8))
    (fault,) = world.play().faults
    assert (fault.ticket, fault.attempt) == (1, 0)
    assert "the board caught fire" in fault.reason
    world.step(20)
    assert len(world.collector._seating.free) == 4


class Generous(ConnectFour):
    """Connect four whose rewards are larger than any that is counted."""

    def step(self, actions):
        ends = super().step(actions)
        return replace(ends, reward=ends.reward * 1e12)


def test_returns_that_nobody_would_count_are_a_fault_that_says_what_to_do(tmp_path):
    world = World(tmp_path, Generous(4))
    world.begin(evaluation(episodes=8))
    (fault,) = world.play().faults
    assert "at most 1e+09 is counted; scale the environment's rewards" in fault.reason


def test_what_a_broken_episode_recorded_is_thrown_away(tmp_path):
    world = World(tmp_path, adapt(partial(odd.Broken, "step", always=True), slots=1, name="broken"))
    world.begin(training(episodes=1))
    assert world.play().faults
    assert world.collector.env_steps == 3
    assert world.collector._recorder.unsent == {("main", 0): 0}
    world.now += 10.0
    world.step(5)
    assert world.heads == []


def test_an_agent_that_dies_early_keeps_what_it_earned(tmp_path):
    """The second walker dies after its first move of the second round."""
    world = World(tmp_path, adapt(odd.deaths, slots=1, name="deaths"))
    world.begin(evaluation(episodes=1, entries=(BOT, BOT, BOT)))
    (result,) = world.play().results
    env = odd.deaths()
    env.reset(seed=0)
    earned = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        done = env.terminations[env.agent_selection] or env.truncations[env.agent_selection]
        env.step(None if done else 0)
        if not done:
            for agent, reward in env.rewards.items():
                earned[agent] += reward
    assert result.episodes[0].returns == pytest.approx(tuple(earned.values()))


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


def freeze(world, seed):
    manifest = Manifest(
        player="main",
        incarnation=0,
        version=seed,
        decisions=0,
        policy={"name": "mlp", "hidden": [8]},
        signature=world.env.spec.signature,
    )
    return Entry(f"main.{seed}", world.store.put({"flat": initial(POLICY, world.env.spec, seed)}, manifest))


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


def test_who_dies_in_a_slot_that_plays_on_is_closed_at_once(world):
    """Rows of early deaths may be as many as an episode lacks that is over."""
    agents = np.array([1, 0])
    nothing = {
        "reward": np.zeros(2, np.float32),
        "truncated": np.zeros(2, np.bool_),
        "observation": np.zeros((2, 3, 3, 2)),
    }
    both = Ends(slot=np.array([2, 2]), agent=agents, over=np.array([2]), **nothing)
    mixed = Ends(slot=np.array([2, 3]), agent=agents, over=np.array([2]), **nothing)
    assert world.collector._closer.is_whole(both)
    assert not world.collector._closer.is_whole(mixed)


def test_what_is_over_is_told_while_the_others_rest(tmp_path):
    world = World(tmp_path, TicTacToe(slots=64))
    world.begin(*(evaluation(number, episodes=1) for number in range(1, 65)))
    while not world.collector._closer.waiting:
        world.step()
    world.collector._wait(0.0)  # as it does without credit
    assert world.collector._closer.waiting == 0
    assert world.collector._tickets._results


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


def test_what_ended_in_the_last_tick_is_told_before_the_end(tmp_path):
    world = World(tmp_path, TicTacToe(slots=64))
    world.begin(*(evaluation(number, episodes=1) for number in range(1, 65)))
    while not world.collector._closer.waiting:  # some are over, and not closed yet
        reports = world.step()
    over = world.collector._closer.waiting
    assert not any(report.results for report in reports)
    world.order(stop=True)
    (last,) = world.step()
    assert len(last.results) == over


def test_stop_is_obeyed_with_a_last_report(world):
    world.begin(evaluation())
    report = world.play(acknowledge=False)
    world.order(stop=True)
    (last,) = world.step()
    assert not world.running
    assert last.results == report.results
    assert last.want == 0


def test_a_heartbeat_tells_metrics_and_wait_share(tmp_path):
    world = World(tmp_path, TicTacToe(slots=2), heartbeat=1.0)
    world.begin(evaluation(episodes=1000))
    reports = [world.play(until=lambda report: report.metrics) for _ in range(2)]
    metrics = reports[-1].metrics
    assert metrics["slots_busy"] == 2
    assert metrics["env_steps_per_second"] == pytest.approx(2 / 0.05, rel=0.2)
    assert metrics["wait_share"] == 0
    assert metrics["dropped_decisions"] == 0


def test_results_that_pile_up_are_sent_in_reports_of_bounded_size(world, monkeypatch):
    monkeypatch.setattr(module, "REPORT_BYTES", 2000)
    world.begin(*(evaluation(number=number, episodes=8) for number in range(1, 31)))
    collector = world.collector
    for _ in range(800):  # the coordinator is away
        collector.step(0.0)
    assert len(collector._tickets._results) == 30
    world.coordinator.receive(0)
    world.now += RETRY
    told = []
    while len(told) < 30:
        results = world.play(steps=5).results
        assert 0 < len(results) < 12
        told += [result.ticket for result in results]
    assert sorted(told) == list(range(1, 31))
    world.step()
    assert collector._tickets._results == {}


def test_nothing_new_begins_while_too_many_results_wait(world):
    world.begin(evaluation())
    world.play(acknowledge=False)
    (result,) = world.collector._tickets._results.values()
    world.collector._tickets._results |= {(number, 9): result for number in range(MAX_UNACKED)}
    world.order(tickets=(evaluation(number=2),))
    played = world.collector.env_steps
    for report in world.step(30):
        assert report.want == 0
    assert world.collector.env_steps == played


# --- players that break the rules ----------------------------------------------------------------------------

LATE = """
import numpy as np

class Late:
    def __init__(self, spec): pass

    def act(self, observation, mask, rng):
        late = mask.sum(axis=1) <= 6  # the first moves are legal
        return np.where(late, (~mask).argmax(axis=1), mask.argmax(axis=1)), np.zeros(len(mask))

class Raises(Late):
    def act(self, observation, mask, rng):
        if (mask.sum(axis=1) <= 6).any(): raise KeyError("endgame")
        return mask.argmax(axis=1), np.zeros(len(mask))
"""


@pytest.mark.parametrize(("name", "reason"), [("Late", "which is illegal"), ("Raises", "act raised KeyError")])
@pytest.mark.parametrize("slots", [1, 4])
def test_a_bot_that_breaks_the_rules_late_is_a_fault_of_its_match(tmp_path, monkeypatch, name, reason, slots):
    (tmp_path / f"late_{slots}.py").write_text(LATE)
    monkeypatch.syspath_prepend(str(tmp_path))
    world = World(tmp_path, TicTacToe(slots=slots), allow=[f"late_{slots}"])
    cheat = Entry("ada", bot=f"late_{slots}:{name}")
    fair = [evaluation(number=number, episodes=2) for number in (2, 3)]
    world.begin(training(number=1, episodes=2, opponent=cheat), *fair)
    settled = {}
    while len(settled) < 3:
        report = world.play()
        settled |= {f.ticket: f.reason for f in report.faults} | {r.ticket: "" for r in report.results}
    assert settled[1].startswith(f"player ada: the bot 'late_{slots}:{name}': ")
    assert reason in settled[1]
    assert (settled[2], settled[3]) == ("", ""), "others play on"
    world.now += 10.0
    world.step(10)
    assert len(world.collector._seating.free) == slots
    assert world.heads == [], "nobody learns from a match that a player broke"


@pytest.mark.parametrize("size", [1e12, 3e38])
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_weights_that_explode_play_legal_moves(world, size):
    world.flat = np.where(np.arange(initial(POLICY, world.env.spec, 0).size) % 2, size, -size).astype(np.float32)
    world.begin(training(episodes=8), evaluation(number=2, episodes=8))
    done = set()
    while done < {1, 2}:
        report = world.play()
        assert not report.faults
        done |= {result.ticket for result in report.results}
