"""Whether an environment is fit for a league: `ludus check-env` reports in full, and every run tries it out."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from collectors.conformance import Findings, Problem, Transcript
from collectors.conforming import MORE, Suite
from collectors.env_report import EnvReport
from collectors.envs.config import EnvConfig, EnvError, constructor_remedy, place_of, planned
from collectors.envs.known import NoEnvironmentError
from collectors.envs.other_python.far_process import FarPythonError, FarSideLost
from collectors.envs.other_python.version_hints import version_hint
from collectors.envs.outcomes import OutcomeError
from collectors.envs.plan import Plan, plan
from collectors.envs.return_sums import ReturnSums
from collectors.envs.rows import CanRehearse, Compiles, Ends, Environment, HasGuesses, Rows
from collectors.envs.watched import Tell, silent, watched
from collectors.outcome_notes import look_at_outcomes
from collectors.pace import LOOKED_AT, TimeBudget
from collectors.played_episodes import PlayedEpisodes, PlayWatch, TurnWatch, from_transcripts
from collectors.players.bots import RandomBot
from collectors.players.scripted import BotError
from league.errors import message_of
from league.limits import ABSENT
from league.player import Player
from league.policies.actor import Actor
from league.spec import EnvSpec
from league.variants import seeds_in_turn

SPEED_SECONDS = 0.5
CHECK_SECONDS = 20.0  # of `ludus check-env`: what there is no time for is left out, and the report says so
EPISODES = 16  # that it plays if there is time
ENDLESS_SECONDS = 20.0  # of the trial before a run, if that is enough to see that episodes do not end
TRIAL_SECONDS = 1.0  # of random play before a run
TRY_THERE = "Try in that Python what the message names: env.python -c 'import numpy, pettingzoo' must work"
KEEP_UP = "Fix the environment: a league voids the matches of all slots that the process plays"
MAKER = "Name a class or function that makes an environment, as package.module:name"
OUTCOME_FACTOR = 10  # times as long a trial may take if only a real episode can test env.outcome

T = TypeVar("T")
Bots = Sequence[tuple[Player, Actor]]  # scripted players, and what chooses their actions


def check(  # noqa: PLR0913  (all but the first are passed by name)
    name: str | EnvConfig,
    slots: int = 8,
    kwargs: Mapping[str, Any] | None = None,
    allow: Sequence[str] = (),
    episodes: int = EPISODES,
    tell: Tell = silent,
    seconds: float = CHECK_SECONDS,
    progress: Tell = silent,
) -> EnvReport:
    """Check everything about an environment that matters to a league; problems are reported, never raised.

    `tell` is called with the name of each stage before it begins, `progress` with each part of the check. `seconds`
    bound the whole: with less time fewer episodes are played, and the report says what was left out.

    check("pettingzoo", kwargs={"id": "mpe2/simple_tag_v3"}).lines()
    check(EnvConfig(name="connect_four", draw_margin=0.5)).lines()
    """
    report = EnvReport(name=str((kwargs or {}).get("id", name)) if isinstance(name, str) else name.id or name.name)
    remedy, budget = "See the message; it names the place.", TimeBudget(seconds)
    given = name.kwargs if isinstance(name, EnvConfig) else (kwargs or {}).get("kwargs") or kwargs or {}
    made = _guard(
        report, lambda: watched(_plan(name, kwargs, allow), tell), "Check env.name, env.id and env.kwargs.", given
    )
    if made is None:
        return report
    _guard(report, lambda: _read_spec(report, made), "Check the environment's spaces, env.seats and env.roles.", given)
    if report.spec is None:
        return report
    if not (isinstance(name, EnvConfig) and name.roles):
        _hint_at_roles(report, report.spec)
    looked, variants = len(report.problems), report.spec.variants
    suite = Suite(made.build, made.returns, budget, made.payments, made.max_steps, progress)
    findings = _guard(report, lambda: suite.run(seeds_in_turn(range(1, episodes + 1), variants), slots), remedy)
    if findings is None:  # a comparison failed: what the rows showed before still counts
        report.problems += suite.problems.values()
    else:
        _add_findings(report, findings)
        _add_outcome(report, findings, name if isinstance(name, EnvConfig) else None)
        _guard(report, lambda: _warn_of_strays(report, findings, made, budget), remedy)
        progress("the speed")
        wide = max(1, min(slots, len(findings.transcripts)))
        report.steps_per_second = _guard(report, lambda: speed(made.build(wide)), remedy) or 0.0
    # PettingZoo's tests run last, though reported first: a crash or a hang should happen where every step is announced.
    progress("PettingZoo's own tests")
    report.problems[looked:looked] = _complaints(report, made, remedy, budget)
    _note_output(report, made)
    return report


def _note_output(report: EnvReport, made: Plan) -> None:
    if made.output is not None and made.output.characters:
        report.notes.append(str(made.output))


def _plan(name: str | EnvConfig, kwargs: Mapping[str, Any] | None, allow: Sequence[str]) -> Plan:
    return plan(name, kwargs, allow) if isinstance(name, str) else planned(name, allow)


def _guard(report: EnvReport, work: Callable[[], T], remedy: str, kwargs: Mapping[str, Any] | None = None) -> T | None:
    """Run a check; if it raises, add a problem to the report. `kwargs` are those of the constructor that it calls."""
    try:
        return work()
    except Exception as error:
        better = "" if kwargs is None else constructor_remedy(error, kwargs)
        better = MAKER if isinstance(error, NoEnvironmentError) else better
        if isinstance(error, FarPythonError):
            better = better or TRY_THERE
        if isinstance(error, FarSideLost) or isinstance(error.__cause__, FarSideLost):
            better = better or KEEP_UP
        better = better or ("" if kwargs is None else version_hint(error))
        where = "" if kwargs is None else place_of(error)
        what = f"{type(error).__name__}: {message_of(error) or 'it gave no reason'}{where}"
        report.problems.append(Problem(what, f"{better}." if better else remedy))
        return None


def _hint_at_roles(report: EnvReport, spec: EnvSpec) -> None:
    """Note seats whose agents have equal spaces, but different roles only because of their names."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}  # the roles of each kind of seat
    for seat in spec.seats:
        kind = tuple(sorted(report.spaces.get(spec.agents[agent], ("", seat.role)) for agent in seat.agents))
        alike.setdefault(kind, []).append(seat.role)
    shared = {role: roles[0] for roles in reversed(alike.values()) for role in roles}
    for roles in alike.values():
        if len(names := list(dict.fromkeys(roles))) > 1:
            given = json.dumps([shared[role] for role in spec.roles])
            report.notes.append(
                f"the roles {', '.join(names)} have equal spaces and differ only in their names, so each needs players "
                f"of its own. If they are interchangeable, share a role: env.roles='{given}'"
            )


def _warn_of_strays(report: EnvReport, findings: Findings, made: Plan, budget: TimeBudget) -> None:
    """Warn of observations outside their spaces, in some of the episodes."""
    if made.outside is None or not findings.deterministic:
        return
    found: dict[str, str] = {}
    for episode in findings.complete[:LOOKED_AT]:
        if not budget.left:
            break
        found = made.outside(episode.seed, episode.ticks) | found
    for agent, stray in found.items():
        report.warnings.append(f"agent {agent!r} sees {stray}. Correct the space, or clip what it sees")


def _read_spec(report: EnvReport, made: Plan) -> None:
    env = made.build(1)
    report.spec = env.spec
    if isinstance(env, Compiles) and (told := env.prepare()):
        report.notes.append(told)
    report.guesses = list(env.guesses) if isinstance(env, HasGuesses) else []
    env.close()
    if made.spaces is not None:
        report.spaces = made.spaces()


def _complaints(report: EnvReport, made: Plan, remedy: str, budget: TimeBudget) -> list[Problem]:
    """Return the problems that PettingZoo's tests found; what a league can live with is only noted."""
    if made.complaints is None:
        return []
    if not budget.left:
        report.notes.append(f"there was no time for PettingZoo's own tests; {MORE}")
        return []
    aside = EnvReport(name="")
    found = _guard(aside, made.complaints, remedy) or []
    report.notes += [f"{one.what}. {one.harmless}" for one in found if one.harmless]
    fix = "Fix the environment as PettingZoo asks."
    return aside.problems + [Problem(one.what, fix) for one in found if not one.harmless]


def _add_findings(report: EnvReport, findings: Findings) -> None:
    complete = findings.complete
    lengths = [len(episode.acts) for episode in complete]
    report.episodes = len(complete)
    report.deterministic = findings.deterministic
    report.problems += findings.problems
    report.notes += findings.notes
    if complete:
        report.length = (float(np.median(lengths)), max(lengths))
        report.zero_sum = _zero_sum(complete)
        _report_idle_seats(report, complete)


def _add_outcome(report: EnvReport, findings: Findings, config: EnvConfig | None) -> None:
    """Say who wins an episode, and what the episodes showed about that."""
    assert report.spec is not None
    if findings.complete:
        played = from_transcripts(report.spec, findings.complete)
        report.outcome, notes = look_at_outcomes(report.spec, played, config)
        for note in notes:
            (report.warnings if note.grave else report.notes).append(note.text)


def _zero_sum(episodes: Sequence[Transcript]) -> bool | None:
    """Return whether the returns of each episode add up to zero; None if there was no reward at all."""
    if not any(paid for episode in episodes for paid in episode.returns.values()):
        return None
    return all(abs(sum(episode.returns.values())) < 1e-4 for episode in episodes)


def _report_idle_seats(report: EnvReport, episodes: Sequence[Transcript]) -> None:
    """Report seats that do not act in every episode."""
    assert report.spec is not None
    for number, seat in enumerate(report.spec.seats):
        who = f"seat {number} ({', '.join(report.spec.agents[agent] for agent in seat.agents)})"
        silent = [one for one in episodes if not any(agent in one.decided for agent in seat.agents)]
        names = {report.spec.agents[agent] for agent in seat.agents}
        idle = sum(not names <= one.absent for one in silent)
        if len(silent) == len(episodes):
            remedy = "Leave its agents out of possible_agents, or seat them with others (env.seats)."
            report.problems.append(Problem(f"{who} never acted in {len(silent)} episodes", remedy))
        elif idle:
            report.notes.append(
                f"{who} did not act in {idle} of {len(episodes)} episodes; its return counts all the same"
            )


def speed(env: Environment) -> float:
    """Return decisions per second with random actions, including the time to choose them, without the first start."""
    bot, rng = RandomBot(env.spec), np.random.default_rng(0)
    free = np.arange(env.slots, dtype=np.int32)
    env.start(free, rng.integers(2**31, size=len(free)))
    free = free[:0]
    begin, decisions = time.perf_counter(), 0
    while (spent := time.perf_counter() - begin) < SPEED_SECONDS:
        env.start(free, rng.integers(2**31, size=len(free)))
        rows = env.rows()
        ends = env.step(bot.act(rows.observation, rows.mask, rng)[0])
        decisions += len(rows)
        free = np.array([*ends.over, *(fault.slot for fault in ends.faults)], dtype=np.int32)
    env.close()
    return decisions / spent


@dataclass(frozen=True, slots=True)
class RandomPlay:
    """What a moment of random play showed.

    A margin is by how much one side led at the end of an episode: 1 where the environment or env.outcome names a
    winner, 0 where there are not two sides.
    """

    margins: list[float]  # of each episode that ended
    ticks: int
    played: PlayedEpisodes
    turns: list[int]  # seats of several agents that act in turns


def try_out(
    env: Environment,
    seconds: float = TRIAL_SECONDS,
    bots: Bots = (),
    enough: Callable[[list[float]], bool] = bool,
    longest: int = 0,
) -> RandomPlay:
    """Play at random in all slots until that is enough, or time is up; raise EnvError if an episode breaks.

    Slots that are over begin again, so that an environment whose agents change between episodes, or an invalid outcome,
    is refused before there is a run. In every position of the first episodes the bots choose a move as well. If only a
    real episode can test the outcome, there is more time for one.

    `enough` gets the margins of the episodes that ended. An episode is enough by default. If none ends, it goes on for
    `longest` ticks where `ENDLESS_SECONDS` are enough for them: then it is known that episodes do not end.
    """
    patience = seconds if _outcome_is_known(env) else seconds * OUTCOME_FACTOR
    rng, begin = np.random.default_rng(0), time.monotonic()
    free, begun, margins = np.arange(env.slots, dtype=np.int32), 0, list[float]()
    earned, watch = ReturnSums(env.slots, len(env.spec.agents)), PlayWatch(env.spec)
    turns = TurnWatch(env.spec, env.slots)
    for ticks in count(1):
        seeds = seeds_in_turn(range(begun + 1, begun + len(free) + 1), env.spec.variants)
        env.start(free, np.array(seeds, np.int64))
        begun += len(free)
        earned.clear(free)
        ends = _random_tick(env, rng, earned, turns, () if margins else bots)
        spent = time.monotonic() - begin
        if margins and (enough(margins) or spent >= seconds):
            break
        margins += _margins(env.spec, earned.totals[ends.over], ends.ranks)
        watch.add(ends, earned.totals[ends.over])
        if not margins and (ticks >= longest or ticks * ENDLESS_SECONDS < longest * spent) and spent >= patience:
            break
        free = ends.over.astype(np.int32)
    return RandomPlay(margins, ticks, watch.episodes(), turns.seats())


def _margins(spec: EnvSpec, returns: npt.NDArray[np.float64], ranks: npt.NDArray[np.int64] | None) -> list[float]:
    """Return half the lead of the first side over the second one, by the mean return of its seats, in each episode."""
    if len(set(spec.sides)) != 2:
        return [0.0] * len(returns)
    first, second = ([seat for seat, side in enumerate(spec.sides) if side == which] for which in (0, 1))
    if ranks is not None:
        mine, yours = ranks[:, first[0]], ranks[:, second[0]]
        ahead = np.where(np.minimum(mine, yours) == ABSENT, 0, np.sign(yours - mine))
        return [float(one) for one in ahead]
    seats = np.stack([returns[:, list(seat.agents)].sum(axis=1) for seat in spec.seats], axis=1)
    leads: list[float] = ((seats[:, first].mean(axis=1) - seats[:, second].mean(axis=1)) / 2).tolist()
    return leads


def _outcome_is_known(env: Environment) -> bool:
    """Return whether env.outcome is tested, or there is none; raise EnvError if its scores are invalid."""
    try:
        return env.rehearse() if isinstance(env, CanRehearse) else True
    except OutcomeError as error:
        raise EnvError(f"{env.spec.name}: {error}") from error


def _random_tick(env: Environment, rng: np.random.Generator, earned: ReturnSums, turns: TurnWatch, bots: Bots) -> Ends:
    """Move in every slot; return what ended."""
    rows = env.rows()
    earned.add_rows(rows)
    turns.add(rows)
    for player, bot in bots:
        _try_bot(player, bot, rows, env.spec, rng)
    actions, _ = RandomBot(env.spec).act(rows.observation, rows.mask, rng)
    ends = env.step(actions)
    if ends.faults:
        raise EnvError(f"an episode of random play broke: {ends.faults[0].reason}. More: ludus check-env")
    earned.add_ends(ends)
    return ends


def _try_bot(player: Player, bot: Actor, rows: Rows, spec: EnvSpec, rng: np.random.Generator) -> None:
    """Let a bot choose a move for every agent of its role that must act; raise BotError if it fails."""
    mine = [agent for seat in spec.seats if player.role in (None, seat.role) for agent in seat.agents]
    asked = np.isin(rows.agent, mine)
    if asked.any():
        try:
            bot.act(rows.observation[asked], rows.mask[asked], rng)
        except BotError as error:
            raise BotError(f"league.players.{player.id}: {error}") from error
