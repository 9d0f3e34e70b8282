"""Changes during a tournament, such as a bot that enters or withdraws. Pure.

A change is an event in the ledger. The schedule depends on the file, the seed, these events and the results only.
"""

from typing import Annotated

from msgspec import Meta, Struct

from arena.schedule.blocks import MOST_BLOCKS

MOST_LABEL, MOST_PATH, MOST_TIME = 1_000, 5_000, 40
"""Maximum lengths of texts in the ledger, in characters."""
MOST_ENTRANTS = 1_000_000
KEY_CONTENT = "key:"
"""Prefix of a remote bot's key where other bots have a content hash."""

Entrant = Annotated[int, Meta(ge=0, le=MOST_ENTRANTS)]
Total = Annotated[int, Meta(ge=1, le=MOST_BLOCKS)]


class Entered(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="entered"):
    """Entry of a bot. With a predecessor it is a new version, and the predecessor withdraws at the same time."""

    label: Annotated[str, Meta(min_length=1, max_length=MOST_LABEL)]
    """Name of the bot; no other entrant has the same."""
    folder: Annotated[str, Meta(max_length=MOST_PATH)]
    """Source of the bot: a folder, `FOLDER@REVISION` or a built-in bot's name."""
    content: Annotated[str, Meta(pattern=r"\A(sha256|key):[0-9a-f]{64}\Z")]
    """Hash of the folder's content, or the key of a remote bot."""
    version: Annotated[str, Meta(max_length=MOST_LABEL)]
    """Version in the bot's manifest."""
    predecessor: Entrant | None = None
    """Number of the entrant that this bot replaces."""

    @property
    def remote(self) -> bool:
        """True if the bot plays remotely, identified by a key."""
        return self.content.startswith(KEY_CONTENT)


class Withdrawn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="withdrawn"):
    """Withdrawal of a bot. Its results remain."""

    entrant: Entrant


class Extended(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="extended"):
    """Extension of the tournament: a new total for one of these two fields of its file."""

    blocks: Total | None = None
    rounds: Total | None = None


class Closed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="closed"):
    """End of all changes: a stage of the season was drawn from the final table."""

    reason: Annotated[str, Meta(max_length=MOST_LABEL)]


class Deadline(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="deadline"):
    """New deadline for entries and new versions of bots."""

    entries_until: Annotated[str, Meta(max_length=MOST_TIME)]
    """ISO 8601, UTC."""


What = Entered | Withdrawn | Extended | Closed | Deadline


class Event(Struct, frozen=True, kw_only=True):
    """A change as recorded in the ledger."""

    id: Annotated[int, Meta(ge=1)]
    """Number that orders the events."""
    at: Annotated[str, Meta(max_length=MOST_TIME)]
    """Time of the host's request."""
    block: Annotated[int, Meta(ge=0, le=MOST_BLOCKS)] | None
    """Number of the first block that the change concerns; None while no arena has accepted it."""
    refused: Annotated[str, Meta(max_length=MOST_LABEL)] | None = None
    """Reason why an arena refused the change."""
    what: What

    @property
    def kind(self) -> str:
        """Kind of change, in a word."""
        return kind_of(self.what)


def kind_of(what: What) -> str:
    """Return the kind of a change, in a word."""
    return str(what.__struct_config__.tag)
