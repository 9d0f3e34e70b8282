"""What a tournament's file says of notices to its host: where they go, and of what."""

from typing import Literal, get_args
from urllib.parse import urlsplit

from msgspec import Struct

from referee.match import Positive

NoticeEvent = Literal["stopped", "void", "failing", "over"]
"""The arena stopped before the end; blocks were void in a row; a bot failed again and again; all is played."""
NOTICE_EVENTS: tuple[NoticeEvent, ...] = get_args(NoticeEvent)
LONGEST_URL = 2_000
SCHEMES = ("http", "https")


class Notices(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[notices]`. No result depends on it, and the ledger has nothing of it."""

    url: str | None = None
    """Where each notice is posted to. It may hold a secret. None: `--notify` says where."""
    events: tuple[NoticeEvent, ...] = NOTICE_EVENTS
    void_after: Positive = 3
    """After blocks were void so many times in a row, and then each time their number has doubled."""
    failing_after: Positive = 5
    """After so many matches in which a bot did not behave, and then each time their number has doubled."""

    def __repr__(self) -> str:
        """Without the URL."""
        return f"Notices(events={self.events}, void_after={self.void_after}, failing_after={self.failing_after})"


def url_complaint(url: str) -> str | None:
    """What is wrong with the URL of notices, without a word of it, for it may hold a secret; None: nothing."""
    if len(url) > LONGEST_URL:
        return f"is longer than {LONGEST_URL} characters"
    if not url.isascii() or not url.isprintable() or " " in url:
        return "holds what no URL holds"
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    return None if is_whole else "is not a URL of the form https://HOST/PATH"
