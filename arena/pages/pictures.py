"""Pictures of finished matches: the last position, for pages, and a card with names and scores, for links to them.

The path of a picture holds the hash of the match's last line and the hash of the code that draws it. A process
beside makes them, because a drawing is a script, which may never end.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from arena.errors import MachineCannot
from arena.pages.contents import HEAD, viewer_hash
from arena.processes import ProcessLostError, SideProcess

if TYPE_CHECKING:
    from arena.viewer import PictureAnswer, PictureOrder

SECONDS = 60.0
"""Maximum seconds in which one picture is made. A server leaves the processors to matches, so it may take long."""


def picture_path(head: str) -> str | None:
    """Return the path of the picture of a match's last position by the head of its transcript.

    None if the head is not a hash, or the extra `pictures` is not installed.
    """
    return _path("picture", head, "svg")


def card_path(head: str) -> str | None:
    """Return the path of a match's card; None as for `picture_path`."""
    return _path("card", head, "png")


def _path(folder: str, head: str, ending: str) -> str | None:
    # Imported late, because reports of tournaments have no pictures, and drawings import the words of all games.
    from arena.viewer import pictures_installed  # noqa: PLC0415

    if pictures_installed() and re.fullmatch(HEAD, head):
        return f"{folder}/{head}-{viewer_hash()}.{ending}"
    return None


def picture_of(data: dict[str, Any]) -> bytes:
    """Return the picture of the last position, as SVG, from the match's `page_data`.

    If the drawing fails, the picture says so. Raises MachineCannot if the process ends or takes too long.
    """
    from arena.viewer import placeholder  # noqa: PLC0415

    return _picture(data).content or placeholder(f"{data['game']}: no picture")


def no_picture() -> bytes:
    """Return the placeholder for a picture that cannot be made, as SVG."""
    from arena.viewer import placeholder  # noqa: PLC0415

    return placeholder("no picture")


def card_of(data: dict[str, Any], title: str) -> bytes:
    """Return the match's card, as PNG; without a board if that cannot be drawn.

    Raises:
        MachineCannot: as for `picture_of`, or there is no card.
    """
    answer = _picture(data, form="png", card=title)
    if not answer.content:
        raise MachineCannot(f"no card: {answer.failure}")
    return answer.content


def _picture(data: dict[str, Any], **more: Any) -> "PictureAnswer":
    """Return the picture of a match's last step. `more`: further fields of the order."""
    from arena.viewer import PictureOrder  # noqa: PLC0415

    encoded = msgspec.json.encode(data)
    order = PictureOrder(game=data["game"], data=encoded, at=len(data["steps"]) - 1, **more)
    try:
        return _process().ask(order, SECONDS)
    except ProcessLostError as error:
        raise MachineCannot(f"no picture: {error}") from None


@cache
def _process() -> "SideProcess[PictureOrder, PictureAnswer]":
    from arena.viewer import make_picture  # noqa: PLC0415

    return SideProcess(make_picture)
