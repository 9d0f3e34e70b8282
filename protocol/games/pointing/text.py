"""Pointing in text, for people and language models.

What a person types: a seat's number, or `nobody`. The rules in one page: docs/games/pointing.md, R1 to R8.
"""

from typing import Any

from protocol.games.pointing import MOST_SEATS, Point, PointingEvent, PointingView, Vote, drawing
from protocol.text import Drawing, Example, GameText, InputTerms, number

NOBODY = ("nobody", "none", "-")
DEFAULTS = {"point": "you point at nobody", "vote": "you vote for nobody"}


def forms(terms: InputTerms) -> dict[str, tuple[Example, ...]]:
    """See `protocol.text.GameText`."""
    return {
        "point": (("SEAT", f"point at that seat, any but your own, {terms.seat}"), ("nobody", "point at nobody")),
        "vote": (("SEAT", "this one of the tied seats is to go"), ("nobody", "no vote")),
    }


def examples(window: str, view: PointingView) -> tuple[Example, ...]:
    """See `protocol.text.GameText`."""
    if window == "vote":
        return (str(view.tied[0]), f"seat {view.tied[0]} is to go"), ("nobody", "no vote")
    further = 1 + view.round % (view.seats - 1)
    other = ((view.seat or 0) + further) % view.seats
    return (str(other), f"point at seat {other}"), ("nobody", "point at nobody")


def effect(window: str, view: PointingView, action: dict[str, Any]) -> str:  # noqa: ARG001 - all is in the action
    """See `protocol.text.GameText`."""
    seat = say(action)
    whom = seat if seat == NOBODY[0] else f"seat {seat}"
    return f"you vote for {whom} to go" if window == "vote" else f"you point at {whom}"


def if_nothing(window: str, action: dict[str, Any] | None) -> str:  # noqa: ARG001 - the default is always the same
    """See `protocol.text.GameText`."""
    return DEFAULTS[window]


def read(window: str, text: str) -> dict[str, Any]:
    """See `protocol.text.GameText`."""
    key = "seat" if window == "vote" else "target"
    word = text.strip().lower()
    if word in NOBODY:
        return {key: None}
    return {key: number(word, 0, MOST_SEATS - 1, "a seat's number, nor nobody")}


def ask(window: str, view: PointingView) -> str:
    """See `protocol.text.GameText`."""
    if window == "vote":
        return f"who is to go: {', '.join(map(str, view.tied))}, or nobody"
    return (
        f"round {view.round}: at whom do you point? a seat from 0 to {view.seats - 1} but {view.seat}, or nobody"
    )


def say(action: dict[str, Any]) -> str:
    """See `protocol.text.GameText`."""
    (seat,) = action.values() or (None,)
    return "nobody" if seat is None else str(seat)


def words(window: str, view: PointingView) -> tuple[str, ...]:  # noqa: ARG001 - seats are numbers
    """See `protocol.text.GameText`."""
    return ("nobody",)


_PAGE = """\
POINTING, variant {variant}. The option seats says how many seats there are; they are numbered from 0. Three
rounds. In each, every seat points at one other seat or at nobody, in secret. The seats with the most points win.

A ROUND. When all have submitted, these steps are taken in this order.
1. Loops. Follow the pointers. Seats that come back to themselves form a loop, of two seats or more.
2. Disconnect. A seat that is on no loop and points straight at a seat on a loop stops pointing: its pointer is
   cut. A seat that points at such a seat keeps its own pointer.
3. Sections. What still hangs together is a section. It is a loop; or a node, one seat alone; or a chain, a tree in
   which all pointers lead to the one seat that points at nobody, its end. The seats of a chain that nobody points
   at after the disconnect are its starts. A seat whose pointer was cut, and that somebody points at, is the end of
   its chain.
4. Points, by the section: - in a section of 9 seats or more, whatever it is, every seat scores -1; - otherwise
   each seat of a loop scores 0; - each seat of a chain scores 1 for every seat after it on the way to the end; the
   end itself scores 0; - a node scores 1 the first time that this seat is a node in the match, and -2 every later
   time. Example with seats A to M: A points at B, B at C, C at D, D at nobody, E at B; F at G; G, H, I, J, K each
   at the next and K at G; L at M and M at L. A 3, B 2, C 1, D 0, E 3. F is cut, so it is a node: 1. All others are
   on loops: 0.

THE MAP. After each round all are told a map without names: every section with its kind and size, the tree of each
chain seen from its end, whether the end's pointer was cut, and for each seat of a loop the trees whose cut pointer
hit it. Nobody is told points, its own or another's, before the end.

AFTER THE THIRD ROUND. A seat that submitted a target in all three rounds, cut or not, loses 1 garnet. A seat that
was the end of a chain in all three earns 1 point. A seat that was a start of a chain in all three loses 2 points.
Sections of 9 seats or more count for this, too; a node is neither end nor start. A rejected target is not a
submitted one.

THE RESULT. The seats with the most points are the winners. If there are at most as many winners as the option
token_threshold says, each gets a token and a garnet; otherwise nobody does. One seat is eliminated and stands
last: the one with the fewest points; among equals the one with the fewest connections, which is the number of
different other seats that were in its sections over the three rounds; among those still equal the winners vote in
the window vote. Only the tied seats may be named; a winner that is tied votes, too, and may name itself. The seat
with the most votes is eliminated. Seats that are tied even then, or all the tied ones if nobody votes, are drawn
from. Votes are told to nobody. If all seats have the same points, all are winners, and one of them is eliminated
all the same; it keeps its prizes.

TIME. If you submit nothing, you point at nobody, or you do not vote.
"""


def page(variant: str) -> str:
    """See `protocol.text.GameText.rules`."""
    return _PAGE.format(variant=variant)


_FIELDS = {
    "seat": "your own",
    "seats": "how many seats there are",
    "round": "the round being played, from 1; 4 in the window vote",
    "maps": (
        "for each round that is over the list of its sections. kind: chain, loop or node. size: how many seats it "
        "has. cut: whether the pointer of a chain's end, or of a node, was cut. shape: of a chain or a node the "
        "tree seen from its end, which is the list of the seats that point at the end, each written as the list "
        "of those that point at it, and so on. So [] is a seat at which nobody points, [[]] an end with one seat "
        "pointing at it, [[], []] with two, [[[]]] a chain of three in a row. Of a loop, shape has a list for "
        "each seat of the loop in pointing order: the trees whose cut pointer hit that seat"
    ),
    "targets": "your own target in each round that is over; null: nobody",
    "tied": "in the window vote: the seats that may be named",
}


def fields(terms: InputTerms) -> dict[str, str]:  # noqa: ARG001 - the same in every match
    """See `protocol.text.GameText`."""
    return _FIELDS


TEXT = GameText(
    actions={"point": Point, "vote": Vote},
    view=PointingView,
    event=PointingEvent,
    drawing=Drawing(drawing.board, drawing.words),
    read=read,
    ask=ask,
    say=say,
    words=words,
    forms=forms,
    examples=examples,
    effect=effect,
    if_nothing=if_nothing,
    rules=page,
    fields=fields,
)
