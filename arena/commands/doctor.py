"""`arena doctor`: list the walls that this machine has around bots, and test each by trying to escape."""

from itertools import chain
from typing import Annotated

import click
import msgspec
import trio
from msgspec import Struct
from rich.progress import TimeElapsedColumn

from arena.errors import AnswerIsNo, MachineCannot
from arena.installation import interpreter
from arena.options import option, options
from arena.quantities import pluralise
from arena.terminal import Grid, Screen, print_json, progress_bar, progress_console, results_console, show
from referee import sandbox
from referee.proofs.escapes import QUIET_SECONDS, EscapeFinding, ExaminationError, ExaminationReport, How, examine
from referee.sandbox import Isolation

IN_FORCE = {True: "yes", False: "no", None: "unknown"}


class DoctorOptions(Struct, frozen=True, kw_only=True):
    """Options of an examination."""

    isolation: Annotated[Isolation | None, option("Level to test.  [default: this machine's best]")] = None
    warm: Annotated[bool | None, option("Test one kind of start only.  [default: both]", "--warm/--cold")] = None
    as_json: Annotated[bool, option("Print the findings as JSON, with details.", "--json")] = False


@click.command("doctor")
@options(DoctorOptions)
def command(*, asked: DoctorOptions) -> None:
    """Test this machine's sandbox: bots start as for a match, and try to escape in every way we know.

    The first table has the walls: how each is made here, or what is missing and which command helps. Below it
    stands which Python runs, and whether its build makes it slower.

    In the second, each row is an escape: the wall that should stop it, whether this machine has that wall, and the
    result for a fresh and for a warm start. In brackets, `(escaped)`: the level does not promise to stop it.
    `not tried`: the machine has nothing to try it on. `too busy`: other programs left too little processor time to
    test it.

    The exit code is 1 if a promised wall failed or could not be tested, 3 if only the machine was too busy to test
    it.
    """
    screen = progress_console()
    walls = sandbox.find_walls()
    if not asked.as_json:
        _print_walls(walls)
    try:
        level = asked.isolation or sandbox.find_isolation()
        starts = [False, True]
        if level == "none":
            starts = [False]
        elif asked.warm is not None:
            starts = [asked.warm]
        reports = [_examined(How(isolation=level, warm=start), screen) for start in starts]
    except (sandbox.SandboxError, ExaminationError) as error:
        raise MachineCannot(str(error)) from None
    if asked.as_json:
        content = {
            "isolation": level,
            "walls": msgspec.to_builtins(walls),
            "missing": sandbox.missing(),
            "interpreter": interpreter(),
            "holds": all(report.holds for report in reports),
            "reports": [{**msgspec.to_builtins(report), "holds": report.holds} for report in reports],
        }
        print_json(content)
    else:
        _print(reports)
    findings = list(chain.from_iterable(report.findings for report in reports))
    failed = [finding for finding in findings if not finding.is_proved]
    if failed:
        why = f"not all protections of {level} could be proved: {_names(failed)}{_remedy(failed)}"
        if all(finding.result == "too busy" for finding in failed):
            raise MachineCannot(why)
        raise AnswerIsNo(why)
    if not asked.as_json:
        how_far = ""
        if any(each.promised and each.result != "held" for each in findings):
            how_far = ", as far as they could be tested"
        results_console().say(f"all protections of {level} hold{how_far}")


def _names(findings: list[EscapeFinding]) -> str:
    return ", ".join(dict.fromkeys(finding.attempt for finding in findings))


def _remedy(failed: list[EscapeFinding]) -> str:
    """Return advice if the machine was too busy for some attempts, or "" if it was not."""
    busy = [finding for finding in failed if finding.result == "too busy"]
    if not busy:
        return ""
    which = f" during {_names(busy)}" if len(busy) < len(failed) else ""
    return f"; other programs used the processors{which}: stop them, and run the command again"


def _examined(how: How, screen: Screen) -> ExaminationReport:
    """Run the attempts, with a progress bar at a terminal, and return the report."""
    with progress_bar(screen, TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task(f"attempts on {how.isolation}, {_start(how)}", total=None)

        def advance(made: int, total: int) -> None:
            bar.update(task, completed=made, total=total)

        def waits(attempts: tuple[str, ...]) -> None:
            which = ", ".join(attempts)
            screen.say(
                f"cannot test {which} now: other programs use the processors; "
                f"waiting for {QUIET_SECONDS:.0f} s at most"
            )

        return trio.run(examine, how, advance, waits)


def _start(how: How | ExaminationReport) -> str:
    if how.warm:
        return "warm"
    return "fresh"


def _print_walls(walls: tuple[sandbox.Wall, ...]) -> None:
    """Print this machine's walls, then missing ones in lines that can be copied, and its Python."""
    screen = results_console()
    table = Grid({"wall": False, "on this machine": False})
    for wall in walls:
        table.add_row(wall.name, wall.how or "missing")
    show(screen, table)
    for wall in walls:
        if wall.lack:
            screen.say(f"{wall.name}: {wall.lack}")
    screen.say(f"interpreter: {interpreter()}")
    screen.say("")


def _findings(report: ExaminationReport, layer: str) -> list[EscapeFinding]:
    return [finding for finding in report.findings if finding.layer == layer]


def _print(reports: list[ExaminationReport]) -> None:
    screen = results_console()
    starts = {_start(report): False for report in reports}
    table = Grid({"layer": False, "in force": False, "attempt": False, **starts})
    for layers in zip(*(report.layers for report in reports), strict=True):
        name = layers[0].layer
        in_force = "/".join(dict.fromkeys(IN_FORCE[layer.in_force] for layer in layers))
        of_layer = [_findings(report, name) for report in reports]
        if not of_layer[0]:
            table.add_row(name, in_force, *["-"] * (1 + len(reports)))
        for findings in zip(*of_layer, strict=True):
            table.add_row(name, in_force, findings[0].attempt, *map(_result, findings))
    show(screen, table)
    lines: list[str] = []
    for report in reports:
        of_which = f", {_start(report)}" if len(reports) > 1 else ""
        passed = [each for each in report.findings if each.result != "held"]
        lines += [f"{finding.attempt}{of_which}: {finding.evidence}" for finding in passed]
    for report in reports:
        held = sum(finding.result == "held" for finding in report.findings)
        promised = [finding for finding in report.findings if finding.promised]
        lines.append(
            f"isolation {report.isolation}, {_start(report)}: {held} of"
            f" {pluralise(len(report.findings), 'attempt')} stopped;"
            f" of those that the level promises to stop, {_proved(promised)}"
        )
    for line in lines:
        screen.say(line)


def _proved(promised: list[EscapeFinding]) -> str:
    """Count the promised attempts that were stopped, and those that could not be tested."""
    held = sum(finding.result == "held" for finding in promised)
    text = f"{held} of {len(promised)}"
    untried = sum(finding.result in {"not tried", "too busy"} for finding in promised)
    if untried:
        text += f"; {untried} could not be tested"
    return text


def _result(finding: EscapeFinding) -> str:
    if finding.result == "escaped" and not finding.promised:
        return "(escaped)"
    return finding.result
