"""Plays a tournament from where it stands to its end."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from random import SystemRandom
from typing import TypeVar

import click
from msgspec import Struct

from arena import loop
from arena.design import Design, design_of
from arena.digest import Digest, digest_of
from arena.exits import WrongUse
from arena.ledger import Ledger
from arena.progress import LiveProgress
from arena.report_files import write_beside
from arena.results_folder import LEDGER, TRANSCRIPTS, held, set_aside
from arena.runner import Field, Worker, run
from arena.schedule import SEED_BITS, Block
from arena.screens import progress_console
from arena.standings import Line
from arena.terms import changes, terms_of
from arena.tournament_file import TWO, Tournament

PlayerT = TypeVar("PlayerT")
Venue = Callable[[int], AbstractAsyncContextManager[Sequence[Worker[PlayerT]]]]
"""Gives workers for so many matches, and ends them."""


class Results(Struct, frozen=True):
    """How a tournament came out."""

    seed: int
    design: Design
    digest: Digest
    """The results in numbers."""
    voids: list[tuple[int, int, str]]
    """Block, seating and reason of every void attempt."""
    set_aside: list[tuple[int, int, str]]
    """The same of matches that had been played, and were played again with their block."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """The standings, best first."""
        return self.digest.lines


def play_tournament(
    tournament: Tournament,
    players: tuple[PlayerT, ...],
    open_venue: Venue[PlayerT],
    *,
    fresh: bool,
) -> Results:
    """Plays what is left. `players` are the entrants, as the venue's workers want them.

    Raises:
        WrongUse: the results there are were played under other terms.
        MachineCannot: it cannot be played to its end now.
        Stopped: a signal came; run again, it goes on.
    """
    with held(tournament.results):
        if fresh and (aside := set_aside(tournament.results)):
            click.echo(f"earlier results are now in {aside}", err=True)
        ledger = Ledger(tournament.results / LEDGER)
        try:
            seed = _begin(tournament, ledger)
            blocks = partial(tournament.blocks, seed)
            field = Field(
                plan=tournament.plan(),
                players=players,
                names=tournament.labels,
                transcripts=tournament.results / TRANSCRIPTS,
            )
            design = design_of(blocks(), len(tournament.form.bots), tournament.seats)
            if tournament.seats > TWO:
                click.echo(design.text, err=True)
            _play_rest(field, ledger, blocks, design.matches, open_venue=open_venue)
            digest = digest_of(tournament.labels, ledger.results(), tournament.house)
            write_beside(tournament.results, ledger.terms(), digest)
            return Results(seed, design, digest, ledger.voids(), ledger.set_aside())
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
    field: Field[PlayerT],
    ledger: Ledger,
    blocks: Callable[[], Iterator[Block]],
    total: int,
    *,
    open_venue: Venue[PlayerT],
) -> None:
    """Plays the matches that are left."""
    if stopped := ledger.give_up_unfinished():
        click.echo(f"going on; {stopped} matches had been interrupted", err=True)
    done = len(ledger.finished())
    done_before = f" ({done} of them played before)" if done else ""
    click.echo(f"{total} matches{done_before}, isolation {field.plan.isolation}", err=True)
    with LiveProgress(progress_console(), done, total) as progress:

        async def play_all() -> None:
            async with open_venue(total - done) as workers:
                await run(field, blocks, ledger, workers=workers, progress=progress)

        loop.run(play_all)
