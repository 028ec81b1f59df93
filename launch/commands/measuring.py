"""The commands that measure finished players with new training or many games: probe, compare."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from launch.commands.command import CliCommand, add_allow, add_json, find_run, optional_path, print_note


def _add_probe(parser: ArgumentParser) -> None:
    parser.add_argument("player", metavar="PLAYER", help="the target: a player of the league, or a bot")
    parser.add_argument("--steps", metavar="N", type=int, help="env steps of training (200,000; none with --seconds)")
    parser.add_argument("--seconds", metavar="N", type=float, help="of training; with --steps, what is reached first")
    help = "its first weights: self (the player's own), scratch, or a snapshot FILE (self; against a bot scratch)"
    parser.add_argument("--from", dest="start", metavar="START", help=help)
    parser.add_argument("--games", metavar="N", type=int, default=400, help="fresh games for each score (400)")
    parser.add_argument("--lr", type=float, help="its learning rate, which is constant (the run's at its start)")
    parser.add_argument("--entropy", type=float, help="weight of its entropy bonus, constant (the run's at its start)")
    parser.add_argument("--seed", type=int, default=1, help="another seed is another probe (1)")
    parser.add_argument("--inline", action="store_true", help="train in this process, reproducibly: for tiny games")
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    parser.add_argument("--json", action="store_true", help="print a line of JSON now and then, and one at the end")
    add_allow(parser)


def _probe(arguments: Namespace) -> int:
    from launch.probes.probe_config import ProbeOrder
    from launch.probes.probing import probe
    from launch.terminal.spinner import hushed
    from launch.viewers.live import emit_line
    from launch.viewers.probe_reports import report_json, report_lines

    steps = 200_000 if arguments.steps is None and arguments.seconds is None else arguments.steps
    order = ProbeOrder(
        steps=steps,
        seconds=arguments.seconds,
        start=arguments.start,
        games=arguments.games,
        lr=arguments.lr,
        entropy=arguments.entropy,
        seed=arguments.seed,
        inline=arguments.inline or None,
    )
    show = {"quiet": arguments.quiet, "as_json": arguments.json}
    with hushed(arguments.quiet):
        report = probe(find_run(arguments), arguments.player, order, allow=arguments.allow, **show)
    if arguments.json:
        emit_line(report_json(report))
    elif not arguments.quiet:
        sys.stdout.write("\n".join(report_lines(report)) + "\n")
    return 0


def _add_compare(parser: ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", help="names or paths of runs, or the directory of a sweep")
    parser.add_argument(
        "--games", metavar="N", type=int, default=200, help="of each pair, and against each anchor (200)"
    )
    help = "env steps of a probe against each main; 0: no probes (100,000)"
    parser.add_argument("--probe-steps", metavar="N", type=int, default=100_000, help=help)
    parser.add_argument("--seed", type=int, default=1, help="another seed is other games and probes (1)")
    parser.add_argument("--out", metavar="DIR", help="where the plots go (comparisons beside the first run)")
    add_json(parser)
    add_allow(parser)


def _compare(arguments: Namespace) -> int:
    from launch.comparisons.comparing_runs import CompareOrder, compare_runs
    from launch.comparisons.comparison_views import comparison_json, print_comparison, write_plots
    from launch.comparisons.run_groups import find_runs
    from launch.terminal.console import Console
    from launch.viewers.live import emit_line

    order = CompareOrder(games=arguments.games, probe_steps=arguments.probe_steps, seed=arguments.seed)
    runs = find_runs(arguments.runs)
    out = optional_path(arguments.out)
    beside = _folder_beside(runs[0].root) if out is None else out
    comparison = compare_runs(runs, order, arguments.allow)
    files = write_plots(comparison, out or beside / "_".join(comparison.groups)[:100])
    if arguments.json:
        emit_line(comparison_json(comparison))
    else:
        print_comparison(comparison, Console())
    for path in files:
        print_note(f"written: {path}")
    return 0


def _folder_beside(run: Path) -> Path:
    """Return the folder of comparisons beside a run; raise RunError if a link there leads elsewhere."""
    from league.store.run_directory import RunError, leading_out

    folder = run.parent / "comparisons"
    for path in leading_out(folder, run.parent):
        raise RunError(
            f"{path} leads to {path.resolve()}, outside of {run.parent}, and this command would write there. Remove "
            "the link, or choose another folder with --out"
        )
    return folder


MEASURING = (
    CliCommand(
        name="probe",
        help="train a best response against a player, and print what it scores",
        example="ludus probe latest main --steps 200_000",
        handle=_probe,
        add_arguments=_add_probe,
    ),
    CliCommand(
        name="compare",
        help="compare the mains of runs: head to head, against anchors and probes, across seeds",
        example="ludus compare first second --probe-steps 100_000",
        handle=_compare,
        add_arguments=_add_compare,
        takes_run=False,
    ),
)
