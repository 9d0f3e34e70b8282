"""The tables of all formats: place and bot first, then the format's columns, then those about conduct. Pure."""

from collections.abc import Mapping, Sequence

from arena.columns import Column, Table
from arena.statistics import BotColumn, StandingsRow, conduct_columns

HOUSE = "h"
"""Mark of the house in the column of places."""
PLACE_MEANING = "The place. h is the house bot, which fills empty seats and does not compete."
BOT_MEANING = "The program that played."


def format_table(
    labels: Sequence[str],
    rows: Sequence[StandingsRow],
    columns: Sequence[BotColumn],
    places: Sequence[str] | None = None,
) -> Table[StandingsRow]:
    """Return a table of the standings.

    Args:
        labels: names of the bots, by entrant.
        rows: in the order of the table.
        columns: the format's own columns.
        places: the first column; if None, numbers from 1.
    """
    places = places or places_of(rows)
    by_entrant = {row.entrant: place for row, place in zip(rows, places, strict=True)}
    return Table([place_column(by_entrant), bot_column(labels), *columns, *conduct_columns(rows)], rows)


def places_of(rows: Sequence[StandingsRow]) -> list[str]:
    """Return the places of rows in a table: numbers from 1, and `h` for the house."""
    return [HOUSE if row.house else str(place) for place, row in enumerate(rows, start=1)]


def place_column(places: Mapping[int, str]) -> BotColumn:
    """Return the column of places, which are given by entrant."""
    return Column("#", lambda row: places[row.entrant], key="place", meaning=PLACE_MEANING)


def bot_column(labels: Sequence[str]) -> BotColumn:
    """Return the column of names, which are given by entrant."""
    return Column("bot", lambda row: labels[row.entrant], key="bot", meaning=BOT_MEANING, is_text=True)
