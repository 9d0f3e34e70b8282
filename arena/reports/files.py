"""Reports and the files they are in: from a tournament's ledger to a page and a table beside it."""

from pathlib import Path

from msgspec.structs import replace

from arena.errors import cannot_write
from arena.reports.bots import USAGE, field_usage, notes, usage_rows
from arena.reports.bracket import BOXES, draw
from arena.reports.html_page import About, page
from arena.reports.tables import digest_csv
from arena.schedule import format_of
from arena.tournament import PAGE, TABLE, Results, Terms, left_out_of

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


def write_beside(folder: Path, found: Results) -> None:
    """Writes page and table into a results folder.

    Raises:
        WrongUse: they cannot be written there.
        MachineCannot: there is no space.
    """
    write_page(folder / PAGE, folder.resolve().name, found)
    write_csv(folder / TABLE, found)


def write_page(path: Path, title: str, found: Results) -> None:
    """Writes the page; see `write_beside`."""
    digest, contest = found.digest, found.contest
    played = [("matches", matches_text(found)), ("blocks", str(digest.blocks))]
    if found.voids:
        played.append(("void attempts", str(len(found.voids))))
    played += [("left out", f"{label}: {why}") for label, why in (left_out_of(found.terms) or {}).items()]
    if found.lost:
        played.append(("lost with a referee process", str(len(found.lost))))
    usage = usage_rows(*field_usage(digest, found.reports))
    about = About(
        title,
        (*terms_told(found.terms).items(), *played),
        notes=notes(digest.labels, found.reports),
        usage=(USAGE, usage),
    )
    if contest is not None:
        format_ = format_of(contest.spec)
        own = format_.table(contest, digest.standings)
        bracket = draw(format_.bracket(contest), contest.labels, BOXES)
        about = replace(about, own=own, bracket="\n".join(bracket), order=format_.order_text)
    _write(path, page(about, digest))


def write_csv(path: Path, found: Results) -> None:
    """Writes the table; see `write_beside`."""
    _write(path, digest_csv(found.digest, found.reports))


def _write(path: Path, text: str) -> None:
    """Writes a file whole: nobody reads half a page."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from None
