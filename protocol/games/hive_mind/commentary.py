"""Commentary on Hive Mind: what shapes score, where they spoil each other's hexes, and what guesses bring."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

from protocol.games.hive_mind import BUYING_ROUND, HiveMindHostView, Points, Reveal, Round, RoundResult, TokenGiven
from protocol.games.hive_mind.board import CELLS
from protocol.text import Commentary, Remark, Scene, Weight, series
from protocol.words import View

MUCH = 8
"""Points of a round from which on a gain is a turning point."""
SETS = ("no set", "one of the three sets", "two of the three sets", "all three sets")


def scores(view: View) -> Sequence[int]:
    """Return each seat's points so far."""
    return [_total(points) for points in cast("HiveMindHostView", view).points]


def remarks(scene: Scene) -> list[Remark]:
    """Return the remarks on a round, a guess, a gift or the end."""
    found: list[Remark] = []
    for event, _ in scene.told:
        if isinstance(event, RoundResult):
            found += _round(scene, event)
        elif isinstance(event, TokenGiven):
            found.append(
                Remark(
                    f"{scene.names[event.giver]} gives the second token to {scene.names[event.to]}",
                    (event.giver, event.to),
                    2,
                )
            )
        elif isinstance(event, Reveal):
            found += _end(scene)
    return found


def _round(scene: Scene, result: RoundResult) -> Iterator[Remark]:
    """Yield the remarks on a round of all Hives in play."""
    view = cast("HiveMindHostView", scene.after)
    actions = view.rounds[-1]
    number = next(iter(result.hives.values())).round
    if number == 1:
        for hive in result.hives:
            yield _first(scene, hive, actions)
        return
    before = cast("HiveMindHostView", scene.before)
    for hive in result.hives:
        yield from _spoiled(scene, hive, before.current[hive], actions)
    yield from _gains(scene, before.points, view.points)
    if number == BUYING_ROUND:
        yield from _bought(scene, actions)


def _first(scene: Scene, hive: str, actions: Sequence[Round]) -> Remark:
    """Return a remark on the first shapes placed on a Hive."""
    placed = [seat for seat, action in enumerate(actions) if hive in action.place]
    shapes = series([f"{scene.names[seat]} {actions[seat].place[hive]}" for seat in placed])
    return Remark(f"Hive {hive}, first shapes: {shapes or 'none'}", tuple(placed))


def _spoiled(scene: Scene, hive: str, values: str, actions: Sequence[Round]) -> Iterator[Remark]:
    """Yield a remark for each 3 that an even number of shapes covers: nobody scores it."""
    over = Counter(cell for action in actions for cell in action.place.get(hive, ""))
    for cell, value in zip(CELLS, values, strict=True):
        if value == "3" and over[cell] and over[cell] % 2 == 0:
            seats = tuple(seat for seat, action in enumerate(actions) if cell in action.place.get(hive, ""))
            text = f"{scene.series(seats)} spoil each other's 3 on {cell} of Hive {hive}"
            yield Remark(text, seats, 1)


def _gains(scene: Scene, before: Sequence[Points], after: Sequence[Points]) -> Iterator[Remark]:
    """Yield a remark on each seat's gain in the round, the largest first."""
    gains = [(_total(new) - _total(old), seat) for seat, (old, new) in enumerate(zip(before, after, strict=True))]
    for gain, seat in sorted(gains, key=lambda item: (-item[0], item[1])):
        old, new = before[seat], after[seat]
        parts = [
            (new.hexes - old.hexes, "on hexes"),
            (new.blocks - old.blocks, "by a Block"),
            (new.guesses - old.guesses, f"for a guess of {SETS[min(new.guesses - old.guesses, 3)]}"),
        ]
        if gain:
            why = series([f"{points} {what}" for points, what in parts if points])
            weight: Weight = 2 if gain >= MUCH else 0
            yield Remark(f"{scene.names[seat]} gains {why}", (seat,), weight)
        else:
            yield Remark(f"{scene.names[seat]} gains nothing", (seat,), 1)


def _bought(scene: Scene, actions: Sequence[Round]) -> Iterator[Remark]:
    """Yield remarks on the seats that double or block in the last round."""
    for seat, action in enumerate(actions):
        if action.double:
            yield Remark(
                f"{scene.names[seat]} doubles on Hive {series(action.double)}, and all know it", (seat,), 1
            )
        if action.block:
            yield Remark(f"{scene.names[seat]} blocks on Hive {series(action.block)}, in secret", (seat,), 1)


def _end(scene: Scene) -> Iterator[Remark]:
    totals = scores(scene.after)
    best = [seat for seat, total in enumerate(totals) if total == max(totals)]
    text = f"{scene.series(best)} have most points: {max(totals)}"
    if len(best) == 1:
        text = f"{scene.names[best[0]]} wins with {max(totals)} points"
    yield Remark(text, tuple(best), 3)
    last = min(range(len(totals)), key=totals.__getitem__)
    yield Remark(f"{scene.names[last]} is last with {totals[last]}", (last,), 3)


def _total(points: Points) -> int:
    return points.hexes + points.guesses + points.blocks + points.score_guesses


COMMENTARY = Commentary(remarks=remarks, scores=scores, unit="Points", from_score=4)
