"""Reports and the files they are in."""

from pathlib import Path

from arena.errors import cannot_write
from arena.reports.tables import digest_csv
from arena.tournament import Results, Terms
from referee.linux.files import write_bytes_whole

TOLD = {
    "game": "game",
    "variant": "variant",
    "format": "format",
    "isolation": "isolation",
    "policy.processes": "processes",
}
"""Terms that a report tells, and what it calls them. The seed is not among them: it tells the deals that are to
come."""


def matches_text(found: Results) -> str:
    """How many matches count, and of how many: `32 of 180`."""
    played = found.digest.matches
    return str(played) if found.total in (None, played) else f"{played} of {found.total}"


def terms_told(terms: Terms) -> dict[str, str]:
    """The terms that a report tells."""
    return {name: str(terms[key]) for key, name in TOLD.items() if key in terms}


def write_csv(path: Path, found: Results) -> None:
    """Writes the table.

    Raises:
        WrongUse: it cannot be written there.
        MachineCannot: there is no space.
    """
    write_whole(path, digest_csv(found.digest, found.reports))


def write_whole(path: Path, text: str) -> None:
    """Writes a file whole: nobody reads half a page.

    Raises:
        WrongUse: it cannot be written there.
        MachineCannot: there is no space.
    """
    try:
        write_bytes_whole(path, text.encode())
    except OSError as error:
        raise cannot_write(path, error) from None
