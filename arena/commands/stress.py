"""`arena stress`: the rules of time attacked from every side."""

import secrets
import sys
from pathlib import Path

import click
import msgspec
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from arena.exits import AnswerIsNo, WrongUse
from arena.screens import progress_console, results_console
from arena.typed import command_line
from arena.virtual_stress import Campaign, play_campaign
from referee.fuzzing.campaign import judge_script
from referee.fuzzing.script import BadScriptError, Script, read_script, script_text

SEED_BITS = 32


@click.command("stress")
@click.option("--virtual", is_flag=True, help="In virtual time: the referee as it is, without wire and waiting.")
@click.option("--windows", type=click.IntRange(min=1), default=20_000, show_default=True, help="At least so many.")
@click.option("--seed", type=click.IntRange(min=0), help="Draws the same matches again.  [default: drawn]")
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True, help="To share the work.")
@click.option(
    "--script",
    "script_file",
    type=click.Path(path_type=Path),
    help="Play this script alone: one that a finding was kept in.",
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    default=Path("stress-finding.json"),
    show_default=True,
    help="Where the script of a finding is written.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what came of it as JSON.")
def command(
    *,
    virtual: bool,
    windows: int,
    seed: int | None,
    processes: int,
    script_file: Path | None,
    keep: Path,
    as_json: bool,
) -> None:
    """Attack the rules of time, and hold what the referee did against a second set of rules.

    Matches are drawn in which bots answer at every edge of their time, doubly, too late, out of turn and not at
    all, crash and come back, pauses fall anywhere, and the referee itself sleeps. The first one in which a rule is
    broken is made as small as it can be, and kept as a script.
    """
    if not virtual:
        raise WrongUse("say how: --virtual")
    if script_file is not None:
        _play_one(script_file, as_json=as_json)
        return
    campaign = _with_bar(secrets.randbits(SEED_BITS) if seed is None else seed, windows, processes)
    finding = campaign.finding
    if finding is not None:
        keep.write_text(script_text(finding.script))
    if as_json:
        content = {**msgspec.to_builtins(campaign), "windows_a_second": round(campaign.pace)}
        sys.stdout.write(msgspec.json.encode(content).decode() + "\n")
    else:
        results_console().print(_summary(campaign), highlight=False, markup=False, soft_wrap=True)
    if finding is not None:
        if not as_json:
            sys.stdout.write(script_text(finding.script))
        again = command_line("stress", "--virtual", "--script", keep)
        raise AnswerIsNo(f"a rule of time is broken: {finding.what}; to see it again: {again}")


def _with_bar(seed: int, windows: int, processes: int) -> Campaign:
    screen = progress_console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, *times, console=screen, disable=not screen.is_terminal, transient=True) as bar:
        task = bar.add_task("windows", total=windows)
        return play_campaign(seed, windows, processes, lambda more: bar.advance(task, more))


def _summary(campaign: Campaign) -> str:
    return (
        f"seed {campaign.seed}: {campaign.windows:,} windows in {campaign.matches:,} matches,"
        f" {campaign.messages:,} steps: {'a rule is broken' if campaign.finding else 'no rule is broken'};"
        f" {campaign.pace:,.0f} windows a second"
    )


def _play_one(file: Path, *, as_json: bool) -> None:
    script = _read(file)
    what = judge_script(script)
    if as_json:
        sys.stdout.write(msgspec.json.encode({"script": str(file), "broken": what}).decode() + "\n")
    if what is not None:
        raise AnswerIsNo(f"{file}: a rule of time is broken: {what}")
    if not as_json:
        results_console().print(f"{file}: no rule is broken", highlight=False, markup=False, soft_wrap=True)


def _read(file: Path) -> Script:
    try:
        return read_script(file.read_bytes())
    except OSError as error:
        raise WrongUse(f"{file}: {error.strerror}") from None
    except BadScriptError as error:
        raise WrongUse(f"{file}: {error}") from None
