"""What a probe measured: the file that it leaves in its run directory, and how it is read and described.

for report in read_probe_reports(run):
    print(verdict(report))
"""

from collections.abc import Iterator

import msgspec

from league import limits
from league.errors import InputError
from league.store.plain_json import read_json
from league.store.run_directory import RunDirectory, RunError

SELF, SCRATCH = "self", "scratch"
EVEN = 0.5  # the score of equals
STEPS_SHOWN = 10  # points of a curve that are printed


class ProbeScore(msgspec.Struct, frozen=True, kw_only=True):
    """Fresh games of the probe, or of the weights that it started from, against somebody; the interval is of 95 %."""

    wins: limits.Count
    draws: limits.Count
    losses: limits.Count
    score: limits.Share
    low: limits.Share
    high: limits.Share
    mean_return: limits.Measure
    reach: limits.Measure  # of the 95 % interval of the mean return, to each side

    def __post_init__(self) -> None:
        """Refuse a score of no games."""
        if not self.games:
            raise ValueError("a score needs at least one game")

    @property
    def games(self) -> int:
        """How many games were played."""
        return self.wins + self.draws + self.losses


class ProbePoint(msgspec.Struct, frozen=True, kw_only=True):
    """One point of the curve: the score in the training games that end up to these env steps, since the last point."""

    env_steps: limits.Count
    score: limits.Share
    low: limits.Share
    high: limits.Share
    games: limits.Count


class ProbeReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that a probe measured."""

    run: str  # the league's,
    player: str  # the target in it,
    snapshot: str | None  # and its weights; None: it is a bot
    start: str  # self, scratch, or the file that it started from
    env_steps: limits.Count
    decisions: limits.Count  # of the probe, that it was trained on
    seconds: limits.Seconds  # of training
    curve: tuple[ProbePoint, ...]
    start_score: ProbeScore  # of the start weights against the target
    score: ProbeScore  # of the probe against the target
    anchors: dict[str, ProbeScore]  # of the probe against the anchors of the league
    path: str  # the directory of the probe's own run
    by_time: bool = False  # whether its time, and not its steps, was the limit
    by_return: bool = False  # whether the league is about returns, and not about who wins

    @property
    def exploitable(self) -> bool:
        """Whether the probe surely beats its target; in a league by return, whether it surely earns something."""
        if self.by_return:
            return self.score.mean_return - self.score.reach > 0
        return self.score.low > EVEN


def read_probe_report(probe: RunDirectory) -> ProbeReport | None:
    """Return the report of a probe, by its own run directory; None if it has none yet."""
    try:
        return read_json(probe.probe_report, ProbeReport)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise RunError(f"cannot read {probe.probe_report}: {error}. Delete it, and probe again") from error


def read_probe_reports(run: RunDirectory) -> Iterator[ProbeReport]:
    """Yield the reports of all probes of a league that have one."""
    for path in sorted(run.probes.glob("*/layout")):
        report = read_probe_report(RunDirectory(path.parent))
        if report is not None:
            yield report


def verdict(report: ProbeReport) -> str:
    """Say in one sentence what a probe means."""
    score = report.score
    whose = {SELF: f"from {report.player}'s own weights", SCRATCH: "from scratch"}
    trained = f"{report.seconds:.0f} s" if report.by_time else f"{report.env_steps:,} env steps"
    found = (
        f"A best response trained for {trained} {whose.get(report.start, f'from {report.start}')} scores "
        f"{score.score:.0%} ({100 * score.low:.0f} to {100 * score.high:.0f}) against it"
    )
    if report.by_return:
        found += f" and returns {score.mean_return:+.3g} ±{score.reach:.2g} a game"
    if report.exploitable:
        return f"{found}: {report.player} is exploitable."
    return f"{found}: no hole was found in this time, which does not prove that {report.player} has none."


def report_json(report: ProbeReport) -> dict[str, object]:
    """Return a report as JSON: its fields, whether the target is exploitable, and the verdict."""
    plain: dict[str, object] = msgspec.to_builtins(report)
    return plain | {"exploitable": report.exploitable, "verdict": verdict(report)}


def report_lines(report: ProbeReport) -> Iterator[str]:
    """Yield a report for people."""
    yield f"a probe of {report.player} ({report.env_steps:,} env steps, {report.decisions:,} decisions)"
    yield "  env steps   score in training, 95 % interval"
    spacing = max(1, -(-len(report.curve) // STEPS_SHOWN))
    for point in report.curve[spacing - 1 :: spacing]:
        yield f"{point.env_steps:>11,}   {point.score:.1%} ({point.low:.1%} to {point.high:.1%})"
    yield f"its start weights against {report.player}: {_score(report.start_score)}"
    yield f"the probe against {report.player}: {_score(report.score)}"
    for anchor, score in report.anchors.items():
        yield f"the probe against {anchor}: {_score(score)}"
    yield verdict(report)


def _score(found: ProbeScore) -> str:
    returned = (found.wins - found.losses) / found.games
    more = "" if abs(returned - found.mean_return) < 1e-6 else f"; returns {found.mean_return:z.3g} ±{found.reach:.2g}"
    return f"{found.score:.1%} ({found.low:.1%} to {found.high:.1%}) in {found.games} games{more}"


class ProbeError(InputError):
    """A probe that cannot be trained; the message says why."""
