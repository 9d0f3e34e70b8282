"""Which competitions there are: results folders, found by their ledgers."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from arena.errors import WrongUse
from arena.pages import Competition, SeasonPages
from arena.season import is_of_season, season_folder
from arena.tournament import LEDGER, ledger_of

MOST = 1_000
"""Competitions of one site."""
SLUG_LENGTH = 40
DEFAULT = Path("runs")
RESERVED = frozenset({"", "live", "assets", "replay", "transcript", "events"})
"""Slugs of no competition: folders of the site's own."""


def competitions_in(places: Sequence[Path]) -> list[Competition]:
    """The competitions of results folders, of tournaments' files, and of folders that hold results folders.

    Raises:
        WrongUse: a place is none of these, or holds no results.
    """
    taken = set(RESERVED)
    return [Competition(slug_of(folder, taken), folder) for folder in folders_in(places)]


def folders_in(places: Sequence[Path], *, some: bool = True) -> list[Path]:
    """The results folders at some places, each once. `some`: a place without any is an error.

    Raises:
        WrongUse: see `competitions_in`.
    """
    return list(dict.fromkeys(folder for place in places or [DEFAULT] for folder in _folders(place, some=some)))


def _folders(place: Path, *, some: bool) -> Iterator[Path]:
    place = season_folder(place) or place
    if place.is_dir() and not (place / LEDGER).exists():
        found = sorted(ledger.parent for depth in ("*", "*/*") for ledger in place.glob(f"{depth}/{LEDGER}"))[
            :MOST
        ]
        if some and not found:
            raise WrongUse(f"{place}: holds no results: there is no {LEDGER} in it or in its folders")
        yield from found
    else:
        yield ledger_of(place).parent


def seasons_in(competitions: Iterable[Competition]) -> list[SeasonPages]:
    """The seasons whose stages are among some competitions."""
    known = list(competitions)
    taken = set(RESERVED) | {each.slug for each in known}
    folders: dict[Path, list[Competition]] = {}
    for each in known:
        if is_of_season(each.folder):
            folders.setdefault(each.folder.parent, []).append(each)
    return [SeasonPages(slug_of(folder, taken), folder, stages) for folder, stages in folders.items()]


def slug_of(folder: Path, taken: set[str]) -> str:
    """A name for paths that no other competition has. It is taken from then on."""
    place = folder.resolve()
    name = f"{place.parent.name}-{place.name}" if is_of_season(folder) else place.name
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:SLUG_LENGTH].strip("-") or "competition"
    slug, number = base, 1
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    taken.add(slug)
    return slug
