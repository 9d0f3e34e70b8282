"""`arena stress`: attack the timing rules, in real matches and in virtual time."""

import platform
import secrets
import sys
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Annotated

import click
import msgspec
from click.core import ParameterSource
from msgspec import Meta, Struct
from rich.progress import TimeElapsedColumn, TimeRemainingColumn

from arena.errors import AnswerIsNo, WrongUse, as_wrong_use, errors_as_exits
from arena.options import JsonOption, option, options
from arena.pages import stress_page
from arena.quantities import pluralise
from arena.stress import Campaign, Load, play_campaign, run_load, stress_context, stress_table
from arena.terminal import command_line, print_json, progress_bar, progress_console, results_console, say, show
from arena.workers import MAX_CONCURRENCY, cores, keep_calibration
from referee.linux.files import read_regular
from referee.linux.shortage import unwrapped
from referee.match import LONGEST_MS
from referee.proofs.fuzzing import MAX_SCRIPT_BYTES, BadScriptError, Script, judge_script, read_script, script_text
from referee.sandbox import Isolation

SEED_BITS = 32
MOST_MATCHES = 10_000_000
OF_VIRTUAL = ("windows", "processes", "keep")
OF_REAL = ("levels", "matches", "main_ms", "hogs", "isolation", "html", "calibrate")


class StressOptions(Struct, frozen=True, kw_only=True):
    """Options of a stress test. Most apply either in real or in virtual time."""

    virtual: Annotated[bool, option("Test the referee in virtual time, without wire and waiting.")] = False
    windows: Annotated[
        Annotated[int, Meta(ge=1)], option("Virtual: minimum number of windows.", show_default=True)
    ] = 20_000
    seed: Annotated[Annotated[int, Meta(ge=0)] | None, option("Seed of the matches.  [default: drawn]")] = None
    processes: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_CONCURRENCY)],
        option("Virtual: number of processes that share the work.", show_default=True),
    ] = 1
    script_file: Annotated[Path | None, option("Play one script, for example that of a finding.", "--script")] = (
        None
    )
    keep: Annotated[Path, option("Virtual: file for the script of a finding.", show_default=True)] = Path(
        "stress-finding.json"
    )
    levels: Annotated[str, option("Real: matches at once, one level after another.", show_default=True)] = (
        "1,10,50"
    )
    matches: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_MATCHES)] | None,
        option("Real: matches at each level.  [default: twice the level]"),
    ] = None
    main_ms: Annotated[
        Annotated[int, Meta(ge=50, le=LONGEST_MS)], option("Real: main time of a window.", show_default=True)
    ] = 200
    hogs: Annotated[
        Annotated[int, Meta(ge=0, le=MAX_CONCURRENCY)],
        option("Real: number of other processes that use processor time."),
    ] = 0
    isolation: Annotated[Isolation, option(show_default=True)] = "strict"
    html: Annotated[Path | None, option("Real: write a page with histograms.")] = None
    calibrate: Annotated[bool, option("Real: keep the largest safe level as `tournament`'s concurrency.")] = False
    as_json: JsonOption = False


@click.command("stress")
@options(StressOptions)
@click.pass_context
def command(context: click.Context, /, *, asked: StressOptions) -> None:
    """Attack the rules of time in real matches or (--virtual) in virtual time.

    Real matches find this machine's limit. A level is a number of matches at once. Their sandboxed bots answer at
    chosen moments around the end of their time, some with floods. The table shows the referee's lateness, time
    charged beyond the bots' own logs, verdicts, and decisions that the bots' logs prove wrong.

    In virtual time, a second set of rules checks the referee. In drawn matches bots answer at every edge of their
    time, twice, too late, out of turn or not at all, crash and come back, operators pause, and the referee sleeps.
    The first match that breaks a rule is made as small as possible and kept as a script.
    """
    _refuse_of_other_modes(context)
    seed = asked.seed
    if seed is None:
        seed = secrets.randbits(SEED_BITS)
    if asked.script_file is not None:
        _play_one(asked.script_file, as_json=asked.as_json)
        return
    if not asked.virtual:
        _play_real(seed, asked)
        return
    keep, as_json = asked.keep, asked.as_json
    _check_place("--keep", keep)
    with progress_bar(progress_console(), TimeElapsedColumn(), TimeRemainingColumn(), transient=True) as bar:
        task = bar.add_task("windows", total=asked.windows)
        campaign = play_campaign(seed, asked.windows, asked.processes, partial(bar.advance, task))
    finding = campaign.finding
    if as_json:
        content = {**msgspec.to_builtins(campaign), "windows_a_second": round(campaign.pace)}
        print_json(content)
    else:
        results_console().say(_summary(campaign))
    if finding is not None:
        if not as_json:
            sys.stdout.write(script_text(finding.script))
        keep.write_text(script_text(finding.script))
        again = command_line("stress", "--virtual", "--script", keep)
        raise AnswerIsNo(f"a timing rule is broken: {finding.what}; to reproduce it: {again}")


def _check_place(option: str, file: Path) -> None:
    """Check before hours of play that a file can be written."""
    if file.is_dir() or not file.parent.is_dir():
        raise WrongUse(f"{option}: {file}: cannot be written: it is a folder, or is in none")


def _refuse_of_other_modes(context: click.Context) -> None:
    """Refuse options that have no effect in this mode."""
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    idle: tuple[str, ...]
    if "script_file" in given:
        mode, idle = "with --script", (*OF_VIRTUAL, *OF_REAL, "seed")
    elif "virtual" in given:
        mode, idle = "with --virtual", OF_REAL
    else:
        mode, idle = "without --virtual", OF_VIRTUAL
    for name in idle:
        if name in given:
            raise WrongUse(f"--{name.replace('_', '-')}: has no effect {mode}")


def _play_real(seed: int, asked: StressOptions) -> None:
    html = asked.html
    if html is not None:
        _check_place("--html", html)
    load = Load(
        levels=_levels(asked.levels),
        matches=asked.matches,
        main_ms=asked.main_ms,
        hogs=asked.hogs,
        seed=seed,
        isolation=asked.isolation,
    )
    with (
        errors_as_exits(),
        unwrapped(),
        progress_bar(progress_console(), TimeElapsedColumn(), transient=True) as bar,
    ):
        tasks = {level: bar.add_task(f"{level} at once", total=load.matches or 2 * level) for level in load.levels}
        found = run_load(load, lambda level, done: bar.update(tasks[level], completed=done))
    levels_up = sorted(found, key=lambda level: level.concurrent)
    # A safe level above one that was not safe is a coincidence.
    safe = max((level.concurrent for level in takewhile(lambda level: level.is_safe, levels_up)), default=None)
    machine = f"{platform.system()} {platform.release()}, {cores()} cores"
    if html is not None:
        html.write_text(stress_page(stress_context(load, found, machine)))
    if asked.as_json:
        rows = list(map(msgspec.to_builtins, found))
        for row in rows:
            del row["latenesses"], row["overcharges"]
        content = {"machine": machine, "seed": seed, "safe": safe, "levels": rows}
        print_json(content)
    else:
        screen = results_console()
        show(screen, stress_table(found))
        verdict = f"safe: up to {pluralise(safe, 'match')} at once" if safe else "no level was safe"
        screen.say(f"{verdict}; times in ms; seed {seed}")
    if asked.calibrate:
        if safe is None:
            raise AnswerIsNo("no level was safe, so nothing was saved; try smaller ones, or a quieter machine")
        say(f"saved in {keep_calibration(safe)}")


def _levels(text: str) -> tuple[int, ...]:
    try:
        levels = tuple(int(word) for word in text.split(","))
    except ValueError:
        raise WrongUse(f"--levels: {text!r} is not a list of numbers such as 1,10,50") from None
    if not 1 <= min(levels) <= max(levels) <= MAX_CONCURRENCY:
        raise WrongUse(f"--levels: from 1 to {MAX_CONCURRENCY} matches at once")
    return levels


def _summary(campaign: Campaign) -> str:
    windows, matches = pluralise(campaign.windows, "window", ","), pluralise(campaign.matches, "match", ",")
    return (
        f"seed {campaign.seed}: {windows} in {matches}, {pluralise(campaign.messages, 'step', ',')}:"
        f" {'a rule is broken' if campaign.finding else 'no rule is broken'};"
        f" {campaign.pace:,.0f} windows a second"
    )


def _play_one(file: Path, *, as_json: bool) -> None:
    script = _read(file)
    what = judge_script(script)
    if as_json:
        print_json({"script": str(file), "broken": what})
    if what is not None:
        raise AnswerIsNo(f"{file}: a timing rule is broken: {what}")
    if not as_json:
        results_console().say(f"{file}: no rule is broken")


def _read(file: Path) -> Script:
    with as_wrong_use(BadScriptError, about=file):
        try:
            return read_script(read_regular(file, MAX_SCRIPT_BYTES))
        except OSError as error:
            raise WrongUse(f"{file}: {error.strerror}") from None
