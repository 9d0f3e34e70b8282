"""Commentary on Pointing: chains, loops and crowds, and who gains by them."""

from collections.abc import Iterator, Sequence
from typing import cast

from protocol.games.pointing import Map, PointingHostView, Reveal, Tied
from protocol.games.pointing.map import CROWD, Connections, MapSection, connect
from protocol.text import Commentary, Remark, Scene, Weight, verb
from protocol.words import View

NAMED = 4
"""The most seats of a section that are named one by one."""


def scores(view: View) -> Sequence[int]:
    """Return each seat's points so far."""
    return [
        points
        for _, points in sorted(cast("PointingHostView", view).scores.items(), key=lambda item: int(item[0]))
    ]


def remarks(scene: Scene) -> list[Remark]:
    """Return the remarks on a round or on the vote."""
    found: list[Remark] = []
    for event, _ in scene.told:
        if isinstance(event, Map):
            found += _round(scene, event.round)
        elif isinstance(event, Tied):
            found.append(
                Remark(
                    f"{scene.series(event.seats)} are tied for the last place: the winners vote", event.seats, 2
                )
            )
        elif isinstance(event, Reveal):
            found += _end(scene)
    return found


def _round(scene: Scene, number: int) -> Iterator[Remark]:
    """Yield a remark for each section of a round, the largest first, then for cut pointers."""
    played = cast("PointingHostView", scene.after).rounds[number - 1]
    targets = [played.targets[str(seat)] for seat in range(len(played.targets))]
    round_ = connect(tuple(targets))
    for part in sorted(round_.parts, key=lambda part: -len(part.members)):
        yield _section(scene, part, {int(seat): points for seat, points in played.points.items()})
    yield from _cuts(scene, round_)


def _section(scene: Scene, part: MapSection, points: dict[int, int]) -> Remark:
    """Return a remark on the points that a section brings its seats."""
    size = len(part.members)
    names = (
        scene.series(part.members) if size <= NAMED else f"{size} players, with {scene.names[part.members[-1]]},"
    )
    if size >= CROWD:
        return Remark(f"{size} players hang together, and a crowd loses: one point less for each", part.members, 2)
    if part.kind == "loop":
        what = "point at each other" if size == 2 else "point in a circle"  # noqa: PLR2004 - a pair
        return Remark(f"{names} {what}: nothing for them", part.members)
    if part.kind == "node":
        seat = part.members[0]
        gain = points[seat]
        what = "is alone and gets 1" if gain > 0 else "is alone again and loses 2"
        text = f"{scene.names[seat]} {what}"
        return Remark(text, part.members, 0 if gain > 0 else 1)
    best = max(points[seat] for seat in part.members)
    first = [seat for seat in part.members if points[seat] == best]
    weight: Weight = 1 if best >= NAMED else 0
    gets = f"{scene.series(first)} {verb(first, 'gets', 'get')} {best}"
    text = f"a chain of {size} ends at {scene.names[part.members[0]]}; {gets}"
    return Remark(text, (*first, part.members[0]), weight)


def _cuts(scene: Scene, round_: Connections) -> Iterator[Remark]:
    """Yield a remark if pointers were cut because they led into a loop."""
    cut = [seat for seat, target in enumerate(round_.cut) if target is not None]
    if cut:
        whose = scene.series(cut) if len(cut) <= NAMED else f"{len(cut)} players"
        yield Remark(
            f"{whose} pointed into a loop, and {verb(cut, 'loses the pointer', 'lose their pointers')}", tuple(cut)
        )


def _end(scene: Scene) -> Iterator[Remark]:
    view = cast("PointingHostView", scene.after)
    points = scores(view)
    best = [seat for seat, score in enumerate(points) if score == max(points)]
    yield Remark(
        f"{scene.series(best)} {'wins' if len(best) == 1 else 'win'} with {max(points)} points", tuple(best), 3
    )
    if view.eliminated is not None:
        out = view.eliminated
        yield Remark(f"{scene.names[out]} is eliminated with {points[out]}", (out,), 3)


COMMENTARY = Commentary(remarks=remarks, scores=scores, unit="Points", from_score=2)
