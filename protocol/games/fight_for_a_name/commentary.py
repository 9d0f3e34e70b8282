"""Commentary on The Fight For a Name: pillars, crests, banners and the race for the titles."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from protocol.games.fight_for_a_name import (
    Crowded,
    FightHostView,
    PillarAnswer,
    Reveal,
    RoundResult,
    Title,
)
from protocol.text import Commentary, Remark, Scene, series, verb
from protocol.words import View

PARTS = 4
"""Parts of a banner: the crest, a hex of the body's colour, two of the partings'."""
PARTINGS = 2
CLAIMED = PARTS + 1
"""Score of a seat with a title."""


def scores(view: View) -> Sequence[int]:
    """Return each seat's parts of its best banner, 0 to 4; 5 for a seat with a title."""
    host = cast("FightHostView", view)
    return [
        CLAIMED if player.position is None else _best(host, seat)[0] for seat, player in enumerate(host.players)
    ]


def _best(view: FightHostView, seat: int) -> tuple[int, str]:
    """Return how many parts of a banner the seat has, and the title of which it has most."""
    holders: Mapping[str, int] = view.history[-1].holders if view.history else {}
    held = Counter(view.setup.colours[number] for number, holder in holders.items() if holder == seat)
    best = (0, "")
    for title, banner in view.setup.titles.items():
        if title in view.claims:
            continue
        parts = (
            (title in view.players[seat].crests) + min(held[banner.body], 1) + min(held[banner.parting], PARTINGS)
        )
        if parts > best[0]:
            best = parts, title
    return best


def remarks(scene: Scene) -> list[Remark]:
    """Return the remarks on the closing of a window."""
    found = _challenge(scene)
    crowds: defaultdict[str, list[int]] = defaultdict(list)
    for event, seat in scene.told:
        if isinstance(event, PillarAnswer) and seat is not None:
            place = cast("FightHostView", scene.after).players[seat].position
            text = f"{scene.names[seat]} visits {place} and takes the crest of {event.crest}"
            found.append(Remark(text, (seat,)))
        elif isinstance(event, Crowded) and seat is not None:
            crowds[event.pillar].append(seat)
        elif isinstance(event, RoundResult):
            found += _claims(scene, event)
            found += _nearly(scene)
        elif isinstance(event, Reveal):
            found += _end(scene)
    for crowded, seats in crowds.items():
        text = f"{len(seats)} players crowd at {crowded}: nobody learns anything there"
        found.append(Remark(text, tuple(seats), 1))
    return found


def _challenge(scene: Scene) -> list[Remark]:
    """Return a remark on the winner of the timed game, once it is over."""
    before, after = cast("FightHostView | None", scene.before), cast("FightHostView", scene.after)
    if before is None or before.challenge or not after.challenge:
        return []
    first = after.challenge[0]
    return [Remark(f"{scene.names[first]} is first in the timed game", (first,))]


def _claims(scene: Scene, result: RoundResult) -> Iterator[Remark]:
    """Yield remarks on titles claimed in a round, and on seats whose crests have lost their use."""
    after = cast("FightHostView", scene.after)
    claimers = tuple(result.claimed.values())
    for title, seat in result.claimed.items():
        banner = after.setup.titles[cast("Title", title)]
        text = f"{scene.names[seat]} claims {title} with a banner of {banner.body} and {banner.parting}"
        yield Remark(text, (seat,), 2)
    if claimers and len(after.claims) == len(claimers):
        text = (
            f"{verb(claimers, 'that is the first title', 'these are the first titles')}: {scene.series(claimers)}"
        )
        yield Remark(f"{text} will win", claimers, 2)
    for title in result.claimed:
        late = [seat for seat, player in enumerate(after.players) if player.position and title in player.crests]
        if late:
            text = f"the crest of {title} is of no use to {scene.series(late)} any more"
            yield Remark(text, tuple(late), 1)


def _nearly(scene: Scene) -> Iterator[Remark]:
    """Yield a remark for each seat that now lacks one part of a banner."""
    before, after = cast("FightHostView", scene.before), cast("FightHostView", scene.after)
    for seat, player in enumerate(after.players):
        if player.position is not None:
            parts, title = _best(after, seat)
            if parts == PARTS - 1 and _best(before, seat)[0] < parts:
                yield Remark(f"{scene.names[seat]} lacks one part of the banner of {title}", (seat,), 1)


def _end(scene: Scene) -> Iterator[Remark]:
    """Yield remarks on the winners and the eliminated seat."""
    view = cast("FightHostView", scene.after)
    first = min((claim.round for claim in view.claims.values()), default=None)
    won = {claim.seat: title for title, claim in view.claims.items() if claim.round == first}
    if won:
        names = series([f"{scene.names[seat]} ({title})" for seat, title in won.items()])
        text = f"{names} {verb(list(won), 'wins', 'win')}, first to a title, in round {first}"
        yield Remark(text, tuple(won), 3)
    else:
        yield Remark("the match is over, and nobody has a title", (), 3)
    if view.eliminated is not None:
        yield Remark(f"{scene.names[view.eliminated]} is eliminated", (view.eliminated,), 3)


COMMENTARY = Commentary(remarks=remarks, scores=scores, unit="Parts of a banner", from_score=CLAIMED + 1)
"""No seat leads here: only titles count, and their claims are remarks of their own."""
