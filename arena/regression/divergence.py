"""Where a new version of a bot would have acted otherwise than the old one, and how their matches came out. Pure.

`explainer` asks it; here its answers are held against what the old version did.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from arena.regression.model import BASE, HEAD
from arena.statistics import Played, points
from protocol.codec import decode_json, encode
from protocol.messages import Closed, Opened
from referee.host import Answer, Asked, Interviewed

TURNS = ("turn", "round")
"""What games call the fields of a view that count time, the first that is there."""


class Place(Struct, frozen=True, kw_only=True):
    """A match of base's whose questions are asked again."""

    block: int
    seating: int
    seat: int
    """Base's."""
    head: str
    """Hash of its transcript's last line."""
    base_points: float
    """See `standings.points`."""
    head_points: float
    """Head's, in the same seat of the same deal."""


class Decision(Struct, frozen=True, kw_only=True):
    """One question: what base did, and what head would have done. Actions are plain values."""

    window: int
    """The seat's own count."""
    name: str
    turn: int | None
    """As the game counts, where it does."""
    base: Any
    base_by_default: bool
    head: Any
    head_by_default: bool
    trouble: str = ""
    """Why head's is a default; empty where it answered, or asked for that."""

    @property
    def parts(self) -> bool:
        """Whether head would have gone another way."""
        return bool(self.base != self.head)


class Explained(Struct, frozen=True, kw_only=True):
    """One match of base's, asked anew."""

    place: Place
    asked: int
    """Questions that head was asked."""
    decisions: tuple[Decision, ...]
    """Those in which it parts from base, or was in trouble."""
    gone: str = ""
    """Why head was not asked to the end."""
    left: int = 0
    """How many questions it was not asked for that."""

    @property
    def partings(self) -> int:
        """In how many questions the two part."""
        return sum(decision.parts for decision in self.decisions)


class Group(Struct, frozen=True):
    """Matches that came out alike, and how."""

    matches: int
    base: float | None
    """Base's mean points; None of no matches."""
    head: float | None
    """Head's, in the same seats of the same deals."""


class Total(Struct, frozen=True, kw_only=True):
    """What all matches come to."""

    asked: int
    partings: int
    illegal: int
    """Questions that were answered by breaking a rule, and by nothing better."""
    unanswered: int
    left: int
    """Questions that were not asked, head being gone."""
    parted: Group
    """Matches in which they part at least once."""
    same: Group
    """Matches in which they never do, asked to the end."""
    cut_short: Group
    """Matches in which they had not parted when head was gone."""


def places(played: Sequence[Played]) -> list[Place]:
    """Where base sat, in schedule order; each with head's match in the same seat of the same deal."""
    blocks: dict[int, list[Played]] = {}
    for match in played:
        blocks.setdefault(match.block, []).append(match)
    return [
        _place(match, _paired(match, matches))
        for matches in blocks.values()
        for match in matches
        if BASE in match.entrants
    ]


def _paired(match: Played, block: Sequence[Played]) -> Played:
    """The match of the block with head in base's seat, and as far as it can be the same others in theirs."""
    two = HEAD in match.entrants
    swap = {BASE: HEAD, HEAD: BASE} if two else {BASE: HEAD}
    wanted = tuple(swap.get(entrant, entrant) for entrant in match.entrants)
    return next(other for other in block if other.entrants == wanted)


def _place(match: Played, paired: Played) -> Place:
    seat = match.entrants.index(BASE)
    return Place(
        block=match.block,
        seating=match.seating,
        seat=seat,
        head=match.head,
        base_points=points(match.outcome, seat),
        head_points=points(paired.outcome, seat),
    )


def explained(place: Place, interviewed: Interviewed) -> Explained:
    """Head's answers held against what base did, where base was told what came of its own."""
    told = [(asked, asked.closed) for asked in interviewed.asked if asked.closed is not None]
    answered = [(asked, closed, asked.answer) for asked, closed in told if asked.answer is not None]
    decisions = [decision_of(*each) for each in answered]
    return Explained(
        place=place,
        asked=len(answered),
        decisions=tuple(each for each in decisions if each.parts or each.trouble),
        gone=interviewed.gone if len(answered) < len(told) else "",
        left=len(told) - len(answered),
    )


ILLEGAL = "illegal: "
UNANSWERED = "no answer in its time"


def decision_of(asked: Asked, closed: Closed, answer: Answer) -> Decision:
    """One answer beside what was done in the match."""
    opened = asked.opened
    by_default = answer.action is None
    trouble = "" if not by_default or answer.chosen else ILLEGAL + answer.illegal if answer.illegal else UNANSWERED
    return Decision(
        window=opened.id,
        name=opened.window,
        turn=next((opened.view[name] for name in TURNS if name in opened.view), None),
        base=closed.taken,
        base_by_default=closed.by_default,
        # A default that is drawn when the window closes would have been drawn as base's was.
        head=_default(opened, closed) if by_default else decode_json(encode(answer.action)),
        head_by_default=by_default,
        trouble=trouble,
    )


def _default(opened: Opened, closed: Closed) -> Any:
    """What head's default would have been: base's, where that took it too."""
    return closed.taken if closed.by_default else opened.default


def total(matches: Sequence[Explained]) -> Total:
    """The sum of all matches."""
    troubles = [decision.trouble for match in matches for decision in match.decisions]
    return Total(
        asked=sum(match.asked for match in matches),
        partings=sum(match.partings for match in matches),
        illegal=sum(trouble.startswith(ILLEGAL) for trouble in troubles),
        unanswered=troubles.count(UNANSWERED),
        left=sum(match.left for match in matches),
        parted=_group([match for match in matches if match.partings]),
        same=_group([match for match in matches if not match.partings and not match.left]),
        cut_short=_group([match for match in matches if not match.partings and match.left]),
    )


def _group(matches: Sequence[Explained]) -> Group:
    if not matches:
        return Group(0, None, None)
    base = sum(match.place.base_points for match in matches) / len(matches)
    return Group(len(matches), base, sum(match.place.head_points for match in matches) / len(matches))
