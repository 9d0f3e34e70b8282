"""What may change while a tournament is played: a bot enters, one withdraws, more is to be played. Pure.

A change is an event in the ledger. The schedule follows from the file, the seed and these events alone.
"""

from typing import Annotated

from msgspec import Meta, Struct

from arena.schedule.blocks import MOST_BLOCKS

MOST_LABEL, MOST_PATH, MOST_TIME = 1_000, 5_000, 40
"""Characters of texts in the ledger."""
MOST_ENTRANTS = 1_000_000
KEY_CONTENT = "key:"
"""Before the key, in place of a content hash, of a remote bot."""

Entrant = Annotated[int, Meta(ge=0, le=MOST_ENTRANTS)]
Total = Annotated[int, Meta(ge=1, le=MOST_BLOCKS)]


class Entered(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="entered"):
    """A bot enters. With a predecessor it is a new version: the predecessor withdraws by the same event."""

    label: Annotated[str, Meta(min_length=1, max_length=MOST_LABEL)]
    """What it is called; no other entrant has the same."""
    folder: Annotated[str, Meta(max_length=MOST_PATH)]
    """Where it was found: a folder, `FOLDER@REVISION` or a built-in bot's name."""
    content: Annotated[str, Meta(pattern=r"\A(sha256|key):[0-9a-f]{64}\Z")]
    """Hash of all that is in its folder; the key of a remote bot."""
    version: Annotated[str, Meta(max_length=MOST_LABEL)]
    """As its manifest has it."""
    predecessor: Entrant | None = None
    """The entrant's number that it takes the place of."""

    @property
    def remote(self) -> bool:
        """Whether it comes with a key."""
        return self.content.startswith(KEY_CONTENT)


class Withdrawn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="withdrawn"):
    """A bot plays no more. Its results stay."""

    entrant: Entrant


class Extended(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="extended"):
    """More is to be played: a new total of one of the two fields of the tournament's file."""

    blocks: Total | None = None
    rounds: Total | None = None


class Closed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="closed"):
    """The table stands: a stage of the season was drawn from it. No change is taken in any more."""

    reason: Annotated[str, Meta(max_length=MOST_LABEL)]


class Deadline(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="deadline"):
    """Bots may enter, and come in new versions, until another time."""

    entries_until: Annotated[str, Meta(max_length=MOST_TIME)]
    """ISO 8601, UTC."""


What = Entered | Withdrawn | Extended | Closed | Deadline


class Event(Struct, frozen=True, kw_only=True):
    """A change, as it is in the ledger."""

    id: Annotated[int, Meta(ge=1)]
    """Events are in the order of these."""
    at: Annotated[str, Meta(max_length=MOST_TIME)]
    """When the host asked for it."""
    block: Annotated[int, Meta(ge=0, le=MOST_BLOCKS)] | None
    """The first block that it concerns; None: no arena has taken it in yet."""
    refused: Annotated[str, Meta(max_length=MOST_LABEL)] | None = None
    """Why an arena could not take it in."""
    what: What

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        return kind_of(self.what)


def kind_of(what: What) -> str:
    """What a change is, in a word."""
    return str(what.__struct_config__.tag)
