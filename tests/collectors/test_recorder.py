"""The recorder against a slow model of it: plain objects, one agent at a time."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest

from collectors.acting import Acted
from collectors.envs.rows import Ends, Rows
from collectors.recorder import Recorder
from league.segment import CONTINUES, CUT, TERMINATED
from league.spec import Array, EnvSpec, Seat
from league.wire.messages import SegmentsHead
from learners.segment_check import open_segments

ACTIONS = 3
TEAMS = EnvSpec(
    name="teams",
    agents=("a", "b", "c", "d"),
    seats=(Seat((0, 2)), Seat((1,)), Seat((3,))),
    observation=Array((2,), "float32"),
    actions=ACTIONS,
    state=Array((2,), "int32"),
)
DUEL = EnvSpec(
    name="duel",
    agents=("a", "b"),
    seats=(Seat((0,)), Seat((1,))),
    observation=Array((2,), "float32"),
    actions=ACTIONS,
)
MEMORY = {"main": 2, "exploiter": 0}  # numbers that each player remembers
WHOLE = ("main",)  # players whose critic sees the state of the whole game
OWNERS = (("main", 0), ("main", 1), ("exploiter", 0), None)


@dataclass(eq=False)
class Decision:
    number: int
    mask: tuple
    action: int
    log_prob: float
    reward: float = 0.0
    end: int = CONTINUES
    tail: tuple | None = None  # number and mask of what followed a cut

    def told(self):
        return self.number, self.mask, self.action, self.log_prob, self.reward, self.end, self.tail


@dataclass
class Lane:
    owner: tuple | None = None
    ticks: list = field(default_factory=list)  # of {place: Decision}
    waiting: dict = field(default_factory=dict)  # place: the decision that awaits its reward
    version: int = 0

    def cut(self):
        for place, orphan in self.waiting.items():
            own = [tick for tick in self.ticks if place in tick]
            del own[-1][place]
            if len(own) > 1 and own[-2][place].end == CONTINUES:
                own[-2][place].end, own[-2][place].tail = CUT, (orphan.number, orphan.mask)
        segment = (
            len(self.ticks),
            self.version,
            frozenset((t, place, d.told()) for t, tick in enumerate(self.ticks) for place, d in tick.items()),
        )
        self.ticks, self.waiting = [], {}
        return segment

    @property
    def decisions(self):
        return sum(map(len, self.ticks))


class Model:
    """What the recorder should do, told in the words of its docstring."""

    def __init__(self, spec, slots, ticks):
        self.spec, self.limit = spec, ticks
        self.place = {agent: i for seat in spec.seats for i, agent in enumerate(seat.agents)}
        self.lanes = {(slot, entry): Lane() for slot in range(slots) for entry in range(len(spec.seats))}
        self.cut = Counter()  # (owner, segment)

    def finish(self, lane):
        owner = lane.owner
        self.cut[owner, lane.cut()] += 1

    def assign(self, slot, owners):
        for entry, owner in enumerate(owners):
            lane = self.lanes[slot, entry]
            if lane.owner != owner:
                if lane.ticks:
                    self.finish(lane)
                lane.owner = owner

    def decide(self, rows, version):
        acting = {}
        for slot, entry, agent, reward, decision in rows:
            lane = self.lanes[slot, entry]
            if lane.owner is not None:
                acting.setdefault((slot, entry), []).append((self.place[agent], reward, decision))
        for key, moves in acting.items():
            lane = self.lanes[key]
            for place, reward, decision in moves:
                before = lane.waiting.get(place)
                if before is not None:
                    before.reward += reward
                    if len(lane.ticks) == self.limit:
                        before.end, before.tail = CUT, (decision.number, decision.mask)
                        del lane.waiting[place]
            if len(lane.ticks) == self.limit:
                self.finish(lane)
            if not lane.ticks:
                lane.version = version
            lane.ticks.append({place: decision for place, _, decision in moves})
            lane.waiting |= lane.ticks[-1]

    def end(self, ends):
        for slot, entry, agent, reward, truncated, seen in ends:
            decision = self.lanes[slot, entry].waiting.pop(self.place[agent], None)
            if decision is not None:
                decision.reward += reward
                decision.end = CUT if truncated else TERMINATED
                decision.tail = (seen, decision.mask) if truncated else None

    def drop(self, slot):
        for (where, _), lane in self.lanes.items():
            if where == slot:
                lane.ticks, lane.waiting = [], {}

    def forget(self, owner):
        for lane in self.lanes.values():
            if lane.owner == owner:
                lane.owner, lane.ticks, lane.waiting = None, [], {}
        self.cut = Counter({key: count for key, count in self.cut.items() if key[0] != owner})

    def rest(self, slots, players):
        for (slot, _), lane in self.lanes.items():
            if slot in slots and lane.ticks and lane.owner[0] in players:
                self.finish(lane)

    def unsent(self, owner):
        inside = sum(lane.decisions for lane in self.lanes.values() if lane.owner == owner)
        return inside + sum(len(key[1][2]) * count for key, count in self.cut.items() if key[0] == owner)


class Stream:
    """A random but lawful environment, which feeds recorder and model with the same rows."""

    def __init__(self, spec, slots, ticks, seed):
        self.spec, self.slots = spec, slots
        self.rng = np.random.default_rng(seed)
        self.recorder = Recorder(spec, slots, ticks, MEMORY.get, self.tells)
        self.model = Model(spec, slots, ticks)
        self.number = 0  # every observation has its own
        self.ticks = 0
        self.states = {}  # of the whole game when an observation was made, by its number
        self.playing = {}  # slot: (entry of each agent, agents alive, agents that acted and have no END row)
        self.taken = Counter()
        self.seen = Counter()  # how often each decision was in a segment
        self.now = 0.0
        self.version = 0

    def observe(self):
        self.number += 1
        return [self.number, -self.number]

    def tells(self, player):
        return self.spec.state is not None and player in WHOLE

    def whole(self, slots, seen):
        """Return the state of each slot, and remember it for what was seen in it."""
        if self.spec.state is None:
            return None
        self.ticks += 1
        states = np.array([[self.ticks, slot] for slot in slots], np.int32)
        self.states |= {number: tuple(state) for number, state in zip(seen, states.tolist(), strict=True)}
        return states

    def start(self, slot):
        choices = [OWNERS[i] for i in self.rng.integers(len(OWNERS), size=len(self.spec.seats))]
        self.recorder.assign(np.array([slot], np.int32), [choices], [1], self.now)
        self.model.assign(slot, choices)
        order = self.rng.permutation(len(self.spec.seats))
        entry = {agent: int(order[i]) for i, seat in enumerate(self.spec.seats) for agent in seat.agents}
        if any(len(seat.agents) > 1 for seat in self.spec.seats):  # seats of different sizes are never swapped
            entry = {agent: i for i, seat in enumerate(self.spec.seats) for agent in seat.agents}
        self.playing[slot] = (entry, set(range(len(self.spec.agents))), set())

    def tick(self):
        """Some agents of every playing slot act; then some die, and some episodes end."""
        rng, rows = self.rng, []
        for slot, (entry, alive, acted) in self.playing.items():
            chosen = [agent for agent in sorted(alive) if rng.random() < 0.6] or [min(alive)]
            for agent in chosen:
                acted.add(agent)
                action = int(rng.integers(ACTIONS))
                mask = rng.random(ACTIONS) < 0.5
                mask[action] = True
                decision = Decision(self.observe()[0], tuple(mask.tolist()), action, -float(rng.integers(8)) / 4)
                rows.append((slot, entry[agent], agent, float(rng.integers(-4, 5)) / 4, decision))
        if rows:
            self.decide(rows)
            self.end(list(self.deaths()))

    def decide(self, rows):
        slot, entry, agent, reward, decisions = zip(*rows, strict=True)
        self.recorder.decide(
            Rows(
                slot=np.array(slot, np.int32),
                agent=np.array(agent, np.int32),
                observation=np.array([[d.number, -d.number] for d in decisions], np.float32),
                mask=np.array([d.mask for d in decisions], np.bool_),
                reward=np.array(reward, np.float32),
                first=np.zeros(len(rows), np.bool_),
                state=self.whole(slot, [d.number for d in decisions]),
            ),
            np.array(entry, np.int32),
            Acted(
                np.array([d.action for d in decisions], np.int32),
                np.array([d.log_prob for d in decisions], np.float32),
                np.array([[d.number + 0.5, 0, d.number] for d in decisions], np.float32),
            ),
            np.full(len(rows), self.version, np.int32),
            self.now,
        )
        self.model.decide(rows, self.version)

    def deaths(self):
        for slot, (entry, alive, acted) in list(self.playing.items()):
            over = self.rng.random() < 0.15
            for agent in sorted(alive):
                if over or self.rng.random() < 0.08:
                    alive.discard(agent)
                    if agent in acted:
                        truncated = bool(self.rng.random() < 0.5)
                        reward = float(self.rng.integers(-4, 5)) / 4
                        yield slot, entry[agent], agent, reward, truncated, self.observe()[0]
            if not alive:
                del self.playing[slot]

    def end(self, ends):
        if not ends:
            return
        slot, entry, agent, reward, truncated, seen = (list(part) for part in zip(*ends, strict=True))
        self.recorder.end(
            Ends(
                slot=np.array(slot, np.int32),
                agent=np.array(agent, np.int32),
                reward=np.array(reward, np.float32),
                truncated=np.array(truncated, np.bool_),
                observation=np.array([[n, -n] for n in seen], np.float32),
                over=np.zeros(0, np.int32),
                state=self.whole(slot, seen),
            ),
            np.array(entry, np.int32),
        )
        self.model.end(ends)

    def trouble(self):
        """Now and then an episode breaks, a player is reset, or idle slots rest."""
        rng = self.rng
        if self.playing and rng.random() < 0.03:
            slot = min(self.playing)
            del self.playing[slot]
            self.recorder.drop(slot)
            self.model.drop(slot)
        if rng.random() < 0.02:
            owner = OWNERS[int(rng.integers(3))]
            self.recorder.forget(owner)
            self.model.forget(owner)
        if rng.random() < 0.1:
            idle = [slot for slot in range(self.slots) if slot not in self.playing]
            self.recorder.rest(np.array(idle, np.int32), ("main",), self.now)
            self.model.rest(idle, ("main",))

    def check_memory(self, segments):
        """What an agent remembered is what it did before its first decision in the segment."""
        if not MEMORY[segments.player]:
            assert segments.memory is None
            return
        assert segments.memory.shape[2] == 2
        for lane, agent in zip(*segments.present.any(axis=1).nonzero(), strict=True):
            first = segments.present[lane, :, agent].argmax()
            assert segments.memory[lane, agent, 0] == segments.observation[lane, first, agent, 0] + 0.5

    def check_state(self, segments):
        """The state of each tick and of each tail is that in which its observations were made."""
        if not self.tells(segments.player):
            assert segments.state is None
            assert segments.tail_state is None
            return
        for lane, tick, agent in zip(*segments.present.nonzero(), strict=True):
            number = int(segments.observation[lane, tick, agent, 0])
            assert tuple(segments.state[lane, tick].tolist()) == self.states[number]
        tails = segments.tail_observation[:, 0].astype(int).tolist()
        assert [tuple(state) for state in segments.tail_state.tolist()] == [self.states[number] for number in tails]

    def take(self, decisions, seconds):
        for segments in self.recorder.take(self.now, decisions, seconds):
            owner = (segments.player, segments.incarnation)
            self.check_at_the_inbox(segments)
            self.check_memory(segments)
            self.check_state(segments)
            told = Counter((owner, segment) for segment in segments_told(segments))
            assert all(self.model.cut[key] >= count for key, count in told.items())
            self.model.cut -= told
            self.taken += told
            assert not any(key[0] == owner for key in self.model.cut), "a message holds all that was cut of its owner"
            self.seen.update(numbers(segments))

    def check_at_the_inbox(self, segments):
        head = SegmentsHead(
            name="c",
            session="s",
            player=segments.player,
            incarnation=segments.incarnation,
            decisions=segments.decisions,
        )
        open_segments(head, segments.arrays(), self.spec, MEMORY[segments.player], self.tells(segments.player))

    def check_unsent(self):
        for owner in OWNERS[:3]:
            assert self.recorder.unsent.get(owner, 0) == self.model.unsent(owner)

    def step(self):
        self.now += 1.0
        self.version += int(self.rng.random() < 0.3)
        for slot in range(self.slots):
            if slot not in self.playing and self.rng.random() < 0.7:
                self.start(slot)
        self.tick()
        self.trouble()
        self.check_unsent()
        self.take(*((1, 1e9) if self.rng.random() < 0.3 else (10, 5.0)))
        self.check_unsent()


def numbers(segments):
    return segments.observation[segments.present][:, 0].astype(int).tolist()


def segments_told(segments):
    """Return the segments of a message as the model writes them."""
    tails = dict(
        zip(
            zip(segments.tail_lane.tolist(), segments.tail_tick.tolist(), segments.tail_agent.tolist(), strict=True),
            zip(
                segments.tail_observation[:, 0].astype(int).tolist(),
                map(tuple, segments.tail_mask.tolist()),
                strict=True,
            ),
            strict=True,
        )
    )
    for lane in range(len(segments.length)):
        decisions = set()
        for tick, place in np.argwhere(segments.present[lane]).tolist():
            at = (lane, tick, place)
            decision = Decision(
                int(segments.observation[at][0]),
                tuple(segments.mask[at].tolist()),
                int(segments.action[at]),
                float(segments.log_prob[at]),
                float(segments.reward[at]),
                int(segments.end[at]),
                tails.get(at),
            )
            decisions.add((tick, place, decision.told()))
        yield int(segments.length[lane]), int(segments.version[lane]), frozenset(decisions)


@pytest.mark.parametrize("spec", [DUEL, TEAMS], ids=lambda spec: spec.name)
@pytest.mark.parametrize("ticks", [1, 2, 5])
@pytest.mark.parametrize("seed", range(6))
def test_every_decision_is_recorded_once_as_it_was(spec, ticks, seed):
    stream = Stream(spec, slots=3, ticks=ticks, seed=seed)
    for _ in range(60):
        stream.step()
    for slot in range(stream.slots):  # episodes under way are cut where they stand
        stream.recorder.assign(np.array([slot], np.int32), [[None] * len(spec.seats)], [1], stream.now)
        stream.model.assign(slot, [None] * len(spec.seats))
    stream.now += 100.0
    stream.take(10**9, 5.0)
    assert not stream.model.cut
    assert not any(stream.recorder.unsent.values())
    assert max(stream.seen.values()) == 1
    assert len(stream.seen) > 50


def solo(slots=1, ticks=4):
    return Stream(DUEL, slots, ticks, seed=0)


def move(stream, number, slot=0, agent=0, entry=0, reward=0.0):
    stream.decide([(slot, entry, agent, reward, Decision(number, (True,) * ACTIONS, 1, -0.5))])


def assign(stream, *owners, slot=0):
    stream.recorder.assign(np.array([slot], np.int32), [list(owners)], [1], stream.now)
    stream.model.assign(slot, owners)


def test_a_full_lane_is_cut_when_its_next_decision_arrives():
    stream = solo(ticks=2)
    assign(stream, ("main", 0), None)
    move(stream, 1)
    move(stream, 2, reward=1.0)
    assert stream.recorder.take(0.0, 1, 0.0) == []
    move(stream, 3, reward=2.0)
    (segments,) = stream.recorder.take(0.0, 1, 0.0)
    assert segments.reward[0, :, 0].tolist() == [1.0, 2.0]
    assert segments.end[0, :, 0].tolist() == [CONTINUES, CUT]
    assert segments.tail_observation[:, 0].tolist() == [3.0]
    assert stream.recorder.unsent == {("main", 0): 1}


def test_a_lane_runs_on_over_episodes_of_the_same_owner_and_is_cut_for_another():
    stream = solo()
    assign(stream, ("main", 0), None)
    move(stream, 1)
    stream.end([(0, 0, 0, 1.0, False, 9)])
    assign(stream, ("main", 0), None)
    move(stream, 2)
    stream.end([(0, 0, 0, -1.0, True, 8)])
    assert stream.recorder.take(0.0, 1, 0.0) == []
    assign(stream, None, ("exploiter", 0))
    (segments,) = stream.recorder.take(0.0, 1, 0.0)
    assert segments.length.tolist() == [2]
    assert segments.end[0, :2, 0].tolist() == [TERMINATED, CUT]
    assert segments.tail_observation[:, 0].tolist() == [8.0]


def test_a_decision_without_a_successor_is_left_out_and_the_one_before_is_cut():
    stream = Stream(TEAMS, slots=1, ticks=3, seed=0)
    assign(stream, ("main", 0), None, None)
    for number, agent in enumerate((0, 2, 2, 0), start=1):  # the team-mate's second decision is still open
        move(stream, number, agent=agent, reward=1.0)
    (segments,) = stream.recorder.take(0.0, 1, 0.0)
    stream.check_at_the_inbox(segments)
    assert sorted(numbers(segments)) == [1, 2]
    assert dict(zip(segments.tail_tick.tolist(), segments.tail_observation[:, 0].tolist(), strict=True)) == {
        0: 4.0,
        1: 3.0,
    }


def test_the_version_of_a_segment_is_its_oldest():
    stream = solo(ticks=2)
    assign(stream, ("main", 0), None)
    for number in (1, 2, 3):
        stream.version = number
        move(stream, number)
    (segments,) = stream.recorder.take(0.0, 1, 0.0)
    assert segments.version.tolist() == [1]


def test_what_waits_is_taken_when_it_is_enough_or_old():
    stream = solo(ticks=1)
    assign(stream, ("main", 0), None)
    stream.now = 10.0
    for number in (1, 2, 3):
        move(stream, number)
    assert stream.recorder.take(10.1, decisions=3, seconds=0.2) == []
    assert stream.recorder.take(10.1, decisions=2, seconds=0.2)[0].decisions == 2
    assert stream.recorder.take(99.0, decisions=1, seconds=0.0) == []
    stream.now = 20.0
    move(stream, 4)
    assert stream.recorder.take(20.1, decisions=9, seconds=0.2) == []
    assert stream.recorder.take(20.3, decisions=9, seconds=0.2)[0].decisions == 1


def test_dropping_a_slot_leaves_other_slots_and_what_was_cut():
    stream = solo(slots=2, ticks=2)
    for slot in (0, 1):
        assign(stream, ("main", 0), None, slot=slot)
    for number in (1, 2, 3):
        move(stream, number)
    move(stream, 4, slot=1)
    stream.recorder.drop(0)
    assert stream.recorder.unsent == {("main", 0): 3}
    assert sorted(numbers(stream.recorder.take(0.0, 1, 0.0)[0])) == [1, 2]


def test_a_forgotten_owner_is_not_recorded_until_it_is_assigned_again():
    stream = solo(ticks=1)
    assign(stream, ("main", 0), ("exploiter", 0))
    move(stream, 1)
    move(stream, 2)
    move(stream, 3, agent=1, entry=1)
    stream.recorder.forget(("main", 0))
    move(stream, 4)
    assert stream.recorder.take(9.0, 1, 0.0) == []
    assert stream.recorder.unsent == {("main", 0): 0, ("exploiter", 0): 1}
    assign(stream, ("main", 1), ("exploiter", 0))
    move(stream, 5)
    assert stream.recorder.unsent["main", 1] == 1


def test_what_rests_for_want_of_credit_goes_out_at_once():
    recorder = Recorder(DUEL, 2, 8)
    recorder.assign(np.array([0], np.int32), [[("main", 0), None]], [1], now=0.0)
    rows = Rows(
        slot=np.array([0], np.int32),
        agent=np.array([0], np.int32),
        observation=np.zeros((1, 2), np.float32),
        mask=np.ones((1, ACTIONS), np.bool_),
        reward=np.zeros(1, np.float32),
        first=np.array([True]),
    )
    acted = Acted(np.array([1], np.int32), np.array([-1.0], np.float32))
    recorder.decide(rows, np.array([0]), acted, np.array([0], np.int32), 0.0)
    over = Ends(
        slot=rows.slot,
        agent=rows.agent,
        reward=np.ones(1, np.float32),
        truncated=np.zeros(1, np.bool_),
        observation=rows.observation,
        over=rows.slot,
    )
    recorder.end(over, np.array([0]))
    assert not recorder.take(0.0, 1000, 10.0)
    recorder.rest(np.array([0], np.int32), ("main",), 0.0)
    assert [segments.decisions for segments in recorder.take(0.0, 1000, 10.0)] == [1]
