"""Reports and the files they are in: from a tournament's ledger to a page and a table beside it."""

from pathlib import Path

from arena.digest import Digest, digest_of
from arena.exits import WrongUse
from arena.ledger import Ledger
from arena.report_page import About, page
from arena.report_tables import digest_csv
from arena.results_folder import LEDGER, PAGE, TABLE, cannot_write
from arena.terms import Terms
from arena.tournament_file import HOUSE_MARK, TournamentFile, results_of
from referee.toml_text import TomlError, read_toml

TOLD = ("game", "variant", "format", "isolation")
"""Terms that a report tells. The seed is not among them: whoever knows it knows the deals that are to come."""


def ledger_of(place: Path) -> Path:
    """The ledger that a tournament's file, its results folder, or its own path names.

    Raises:
        WrongUse: there is none.
    """
    if place.suffix == ".toml":
        try:
            place = results_of(place, read_toml(place, TournamentFile))
        except TomlError as error:
            raise WrongUse(str(error)) from None
    path = place / LEDGER if place.is_dir() or not place.exists() else place
    if not path.exists():
        raise WrongUse(f"{path}: there is no such ledger; give a tournament's results folder, or its file")
    return path


def found_in(path: Path) -> tuple[Terms, Digest]:
    """What a ledger says was played, and what came of it so far.

    Raises:
        WrongUse: it is no ledger.
        MachineCannot: it cannot be read.
    """
    ledger = Ledger(path)
    try:
        terms = ledger.terms()
        labels = tuple(terms.get("bots", ()))
        house = len(labels) - 1 if labels and labels[-1].endswith(HOUSE_MARK) else None
        return terms, digest_of(labels, ledger.results(), house)
    finally:
        ledger.close()


def told_of(terms: Terms) -> dict[str, str]:
    """The terms that a report tells."""
    return {key: str(terms[key]) for key in TOLD if key in terms}


def write_beside(folder: Path, terms: Terms, digest: Digest) -> None:
    """Writes page and table into a results folder.

    Raises:
        WrongUse: they cannot be written there.
        MachineCannot: there is no space.
    """
    write_page(folder / PAGE, folder.resolve().name, terms, digest)
    write_csv(folder / TABLE, digest)


def write_page(path: Path, title: str, terms: Terms, digest: Digest) -> None:
    """Writes the page; see `write_beside`."""
    played = (("matches", str(digest.matches)), ("blocks", str(digest.blocks)))
    _write(path, page(About(title, (*told_of(terms).items(), *played)), digest))


def write_csv(path: Path, digest: Digest) -> None:
    """Writes the table; see `write_beside`."""
    _write(path, digest_csv(digest))


def _write(path: Path, text: str) -> None:
    """Writes a file whole: nobody reads half a page."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(text)
        part.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from None
