"""`arena doctor`: which walls this machine can put around bots, each proved by trying to get past it."""

import sys
from typing import get_args

import click
import msgspec
import trio
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from arena.exits import AnswerIsNo, MachineCannot
from arena.screens import progress_console, results_console
from arena.tables import grid, show
from referee import sandbox
from referee.escapes.examination import examine
from referee.escapes.finding import Finding, Report
from referee.escapes.subject import ExaminationError
from referee.plan import Isolation

IN_FORCE = {True: "yes", False: "no", None: "unknown"}


@click.command("doctor")
@click.option(
    "--isolation",
    type=click.Choice(get_args(Isolation)),
    help="The level to prove.  [default: this machine's best]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON, with what was seen of each.")
def command(isolation: Isolation | None, as_json: bool) -> None:
    """Prove this machine's sandbox: a bot is started as for a match, and tries to escape in every way we know.

    One row an attempt: the layer that should stop it, whether that is in force, and the result. `(escaped)` in
    brackets is not promised by the level to be held; `not tried` is what this machine has nothing for.
    """
    screen = progress_console()
    try:
        level = isolation or sandbox.find_isolation()
        report = _examined(level, screen)
    except (sandbox.SandboxError, ExaminationError) as error:
        raise MachineCannot(str(error)) from None
    if as_json:
        content = {**msgspec.to_builtins(report), "missing": sandbox.missing(), "holds": report.holds}
        sys.stdout.write(msgspec.json.encode(content).decode() + "\n")
    else:
        _print(report)
    if not report.holds:
        names = ", ".join(finding.attempt for finding in report.findings if not finding.is_proved)
        raise AnswerIsNo(f"{level} does not hold what it promises: {names}")


def _examined(isolation: Isolation, screen: Console) -> Report:
    """The report, with a bar while it is made, at a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen, disable=not screen.is_terminal, transient=True) as bar:
        task = bar.add_task(f"attempts on {isolation}", total=None)

        def told(made: int, total: int) -> None:
            bar.update(task, completed=made, total=total)

        return trio.run(examine, isolation, told)


def _print(report: Report) -> None:
    screen = results_console()
    table = grid({"layer": False, "in force": False, "attempt": False, "result": False})
    for layer in report.layers:
        found = [finding for finding in report.findings if finding.layer == layer.layer]
        in_force = IN_FORCE[layer.in_force]
        if not found:
            table.add_row(layer.layer, in_force, "-", "-")
        for finding in found:
            table.add_row(layer.layer, in_force, finding.attempt, _result(finding))
    show(screen, table)
    for finding in report.findings:
        if finding.result != "held":
            screen.print(f"{finding.attempt}: {finding.evidence}", highlight=False, markup=False, soft_wrap=True)
    for lack in sandbox.missing():
        screen.print(f"missing: {lack}", highlight=False, markup=False, soft_wrap=True)
    held = sum(finding.result == "held" for finding in report.findings)
    promised = [finding for finding in report.findings if finding.promised]
    screen.print(
        f"isolation {report.isolation}: {held} of {len(report.findings)} attempts were held; it promises to hold"
        f" {len(promised)}, of which {sum(finding.is_proved for finding in promised)} do",
        highlight=False,
        soft_wrap=True,
    )


def _result(finding: Finding) -> str:
    escaped_as_told = finding.result == "escaped" and not finding.promised
    return "(escaped)" if escaped_as_told else finding.result
