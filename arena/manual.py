"""The location of the documentation: in the package (`hatch_build.py`), or in the clone."""

from pathlib import Path

PACKED = Path(__file__).with_name("manual")
_CLONE = Path(__file__).parents[1]


def manual() -> Path:
    """Return the folder that holds README.md, the page that lists all others, and `docs`."""
    return PACKED if PACKED.is_dir() else _CLONE


def rules_page(game: str) -> Path | None:
    """Return the page with a game's rules; None if there is none, as for a game of another package."""
    page = manual() / "docs" / "games" / f"{game.replace('-', '_')}.md"
    return page if page.is_file() else None
