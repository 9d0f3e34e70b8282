"""The list of competitions to show: results folders, found by their ledgers."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from arena.checks import REFUSED
from arena.config import read_form, results_of
from arena.errors import WrongUse
from arena.pages import Competition, SeasonPages
from arena.season import is_of_season, season_folder
from arena.tournament import CHECKS, LEDGER, results_folder_of

MOST = 1_000
"""Largest number of competitions on one site."""
SLUG_LENGTH = 40
DEFAULT = Path("runs")
RESERVED = frozenset(
    {"", "live", "assets", "replay", "story", "transcript", "picture", "card", "embed", "events", "game"}
    | {"account", "api", "healthz", "host", "join", "metrics", "play", "queue", "sign-in", "team"}
)
"""Slugs that no competition gets, because they name the site's own folders."""


def competitions_in(places: Sequence[Path]) -> list[Competition]:
    """Return the competitions at some paths.

    Args:
        places: results folders, tournament files, and folders that contain results folders.

    Raises:
        WrongUse: a path is none of these, or has no results.
    """
    taken = set(RESERVED)
    return [Competition(slug_of(folder, taken), folder) for folder in folders_in(places)]


def folders_in(places: Sequence[Path], *, some: bool = True) -> list[Path]:
    """Return the results folders at some places, each once.

    Args:
        places: as of `competitions_in`; if empty, `runs`.
        some: whether a path without results, or one that does not exist, is an error.

    Raises:
        WrongUse: see `competitions_in`.
    """
    return list(dict.fromkeys(folder for place in places or [DEFAULT] for folder in _folders(place, some=some)))


def missing_places(places: Sequence[Path]) -> list[Path]:
    """Return the folders that do not exist yet, of some places that `folders_in` takes."""
    return [place for place in map(_folder_named, places or [DEFAULT]) if not _exists(place)]


def _folder_named(place: Path) -> Path:
    """Return the folder that a place names; for the file of a tournament or season, its results folder.

    Raises:
        WrongUse: the file is wrong.
    """
    if (season := season_folder(place)) is not None:
        return season
    return results_of(place, read_form(place)) if place.suffix == ".toml" else place


def _exists(place: Path) -> bool:
    """Return whether there is something at a path. Raises WrongUse if no path can be so long."""
    try:
        return place.exists()
    except OSError as error:
        raise WrongUse(f"{place}: cannot be read: {error.strerror}") from None


def _folders(place: Path, *, some: bool) -> Iterator[Path]:
    named, place = place, _folder_named(place)
    if not (some or _exists(place)):
        return
    if place.is_dir() and not (place / LEDGER).exists():
        found = _folders_below(place)
        if some and not found and named == place:
            raise WrongUse(f"{place}: holds no results: there is no {LEDGER} in it or in its folders")
        yield from found or ([place] if named != place else [])
    elif named != place and not _exists(place):
        yield place  # The folder of a tournament file whose competition has not been started.
    else:
        yield results_folder_of(place)


def _folders_below(place: Path) -> list[Path]:
    """Return the results folders in a folder, and those of competitions that a check refused."""
    depths = ("*", "*/*")
    found = {ledger.parent for depth in depths for ledger in place.glob(f"{depth}/{LEDGER}")}
    refused = {file.parents[1] for depth in (".", *depths) for file in place.glob(f"{depth}/{CHECKS}/{REFUSED}")}
    found |= {folder for folder in refused if season_folder(folder) is None}
    return sorted(found)[:MOST]


def seasons_in(competitions: Iterable[Competition]) -> list[SeasonPages]:
    """Return the seasons that have stages among some competitions."""
    known = list(competitions)
    taken = set(RESERVED) | {each.slug for each in known}
    folders: dict[Path, list[Competition]] = {}
    for each in known:
        if is_of_season(each.folder):
            folders.setdefault(each.folder.parent, []).append(each)
    return [SeasonPages(slug_of(folder, taken), folder, stages) for folder, stages in folders.items()]


def slug_of(folder: Path, taken: set[str]) -> str:
    """Return a name for the competition's paths that is not in `taken` yet, and add it to `taken`."""
    place = folder.resolve()
    name = f"{place.parent.name}-{place.name}" if is_of_season(folder) else place.name
    base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:SLUG_LENGTH].strip("-") or "competition"
    slug, number = base, 1
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    taken.add(slug)
    return slug
