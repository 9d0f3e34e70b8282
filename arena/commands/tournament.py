"""`arena tournament`: plays what is left of a tournament, then prints its table."""

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Any

import click
import msgspec
import trio

from arena.exits import WrongUse
from arena.ledger import Ledger
from arena.progress import LiveProgress
from arena.report import crosstable, standings_json
from arena.results_folder import LEDGER, TRANSCRIPTS, held, set_aside
from arena.runner import Field, Play, run
from arena.schedule import SEED_BITS, Block, round_robin
from arena.screens import progress_console, results_console
from arena.standings import standings
from arena.terms import changes, terms_of
from arena.tournament_file import Tournament, read_tournament
from referee.bot_folder import find_bot
from referee.play import SandboxedBot, play


@click.command("tournament")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--fresh", is_flag=True, help="Begin anew; earlier results are moved into a folder beside.")
@click.option("--results", type=click.Path(path_type=Path), help="Folder for ledger and transcripts.")
@click.option("--concurrency", type=click.IntRange(min=1), help="Matches at once.  [default: one for each core]")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(file: Path, fresh: bool, results: Path | None, concurrency: int | None, as_json: bool) -> None:
    """Play the tournament that FILE describes; run again after a stop, it goes on where it was."""
    tournament = read_tournament(file, find_bot)
    if results is not None:
        tournament = msgspec.structs.replace(tournament, results=results)
    at_once = concurrency or tournament.form.concurrency or len(os.sched_getaffinity(0))
    play_tournament(tournament, play, fresh=fresh, concurrency=at_once, as_json=as_json)


def play_tournament(
    tournament: Tournament, play: Play[SandboxedBot], *, fresh: bool, concurrency: int, as_json: bool
) -> None:
    """Plays with whatever `play` plays matches; prints the results.

    Raises:
        WrongUse: the results there are were played under other terms.
        MachineCannot: it cannot be played to its end now.
    """
    with held(tournament.results):
        if fresh and (aside := set_aside(tournament.results)):
            click.echo(f"earlier results are now in {aside}", err=True)
        ledger = Ledger(tournament.results / LEDGER)
        try:
            seed = _begin(tournament, ledger)
            blocks = partial(round_robin, len(tournament.bots), tournament.form.blocks, seed)
            _play_rest(tournament, ledger, blocks, play, concurrency)
            _print(tournament, ledger, seed, as_json=as_json)
        finally:
            ledger.close()


def _begin(tournament: Tournament, ledger: Ledger) -> int:
    """Begins the tournament, or makes sure that it is the one that was begun; its seed."""
    begun = ledger.terms()
    given = tournament.form.seed
    if not begun:
        seed = SystemRandom().getrandbits(SEED_BITS) if given is None else given
        ledger.begin(terms_of(tournament, seed))
        return seed
    seed = int(begun["seed"]) if given is None else given
    if changed := changes(begun, terms_of(tournament, seed)):
        raise WrongUse(
            f"{tournament.file}: not as when its results in {tournament.results} were begun: {'; '.join(changed)}."
            " Undo that to go on, or begin anew: --fresh, or another folder with --results"
        )
    return seed


def _play_rest(
    tournament: Tournament,
    ledger: Ledger,
    blocks: Callable[[], Iterator[Block]],
    play: Play[SandboxedBot],
    concurrency: int,
) -> None:
    """Plays the matches that are left."""
    if stopped := ledger.give_up_unfinished():
        click.echo(f"going on; {stopped} matches had been interrupted", err=True)
    total = sum(len(block.matches) for block in blocks())
    field = Field(
        plan=tournament.plan(),
        players=tuple(SandboxedBot(bot) for bot in tournament.bots),
        names=tournament.labels,
        transcripts=tournament.results / TRANSCRIPTS,
    )
    with LiveProgress(progress_console(), len(ledger.finished()), total) as progress:
        trio.run(
            partial(run, field, blocks, ledger, play=play, progress=progress, concurrency=concurrency),
        )


def _print(tournament: Tournament, ledger: Ledger, seed: int, *, as_json: bool) -> None:
    """The final table."""
    lines = standings(len(tournament.bots), ledger.results())
    voids = ledger.voids()
    transcripts = tournament.results / TRANSCRIPTS
    if as_json:
        sys.stdout.write(msgspec.json.encode(_as_json(tournament, seed, lines, voids)).decode() + "\n")
        return
    screen = results_console()
    screen.print(crosstable(lines, tournament.labels, plain=not screen.is_terminal))
    if voids:
        screen.print(f"{len(voids)} attempts were void, and made again", highlight=False)
    screen.print(f"transcripts: {transcripts}", highlight=False, markup=False, soft_wrap=True)


def _as_json(tournament: Tournament, seed: int, lines: Any, voids: list[tuple[int, int, str]]) -> dict[str, Any]:
    """Everything that the table says, and what it was played with."""
    return {
        "game": tournament.form.game,
        "variant": tournament.variant,
        "blocks": tournament.form.blocks,
        "seed": seed,
        "bots": [
            {"bot": label, "version": bot.version, "content": bot.content}
            for label, bot in zip(tournament.labels, tournament.bots, strict=True)
        ],
        "standings": standings_json(lines, tournament.labels),
        "void": [{"block": block, "seating": seating, "reason": reason} for block, seating, reason in voids],
        "results": str(tournament.results),
    }
