"""Commentary on Mist: pieces placed, lost and spotted, and groups that grow together."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import cast

from protocol.games.mist import FirstChosen, MistHostView, Placed, Reveal, Swapped
from protocol.games.mist.board import BOARD
from protocol.text import Commentary, Remark, Scene, Weight, counted, series
from protocol.words import View

NUMBERS = ("no pieces", "one piece", "two pieces", "three pieces")
PLACED = ("", "piece", "pair", "three pieces")
"""Names of a turn's pieces; indexed by their number."""
JOINED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def scores(view: View) -> Sequence[int]:
    """Return the size of each seat's largest group."""
    groups = cast("MistHostView", view).groups
    return [max(groups[str(seat)], default=0) for seat in (0, 1)]


def remarks(scene: Scene) -> list[Remark]:
    """Return the remarks on a turn."""
    found: list[Remark] = []
    for event, seat in scene.told:
        if isinstance(event, FirstChosen):
            found.append(Remark(f"{scene.names[event.seat]} goes first", (event.seat,)))
        elif isinstance(event, Swapped):
            found.append(
                Remark(
                    f"{scene.names[event.seat]} swaps, and takes over the pieces on the board", (event.seat,), 2
                )
            )
        elif isinstance(event, Placed) and seat is not None and scene.before is not None:
            found += _placement(scene, event, seat)
        elif isinstance(event, Reveal):
            found.append(_end(scene))
    return found


def _placement(scene: Scene, event: Placed, mover: int) -> Iterator[Remark]:
    """Yield the remarks on a placement, the losses before what remains."""
    before = cast("MistHostView", scene.before)
    name, watcher = scene.names[mover], scene.names[1 - mover]
    if not event.cells:
        yield Remark(f"{name} places nothing", (mover,))
    yield from _losses(scene, event, mover)
    stay = [cell for cell in event.cells if cell not in event.destroyed]
    if stay:
        seen = [cell for cell in stay if cell in before.vision[1 - mover]]
        sight = f"; {watcher} sees {series(seen)}" if seen else ""
        yield Remark(f"{name} places {series(stay)}{sight}", (mover,))
        yield from _growth(scene, stay, mover)


def _losses(scene: Scene, event: Placed, mover: int) -> Iterator[Remark]:
    """Yield a remark for each cause of losses."""
    before = cast("MistHostView", scene.before)
    name, watcher = scene.names[mover], scene.names[1 - mover]
    by_cause: defaultdict[int | str, list[str]] = defaultdict(list)
    for cell in event.destroyed:
        by_cause[before.board[cell]].append(cell)
    for held, cells in by_cause.items():
        lost = f"{NUMBERS[len(cells)]} lost"
        weight: Weight = 2 if len(cells) > 1 else 1
        if held == "empty" and len(cells) == len(event.cells):
            yield Remark(
                f"{watcher} spots all of {name}'s {PLACED[len(cells)]}: {lost}", (mover, 1 - mover), weight
            )
        elif held == "empty":
            text = f"{watcher} spots {series(cells)} of {name}'s {PLACED[len(event.cells)]}: {lost}"
            yield Remark(text, (mover, 1 - mover), weight)
        elif held == "blocked":
            yield Remark(f"{name} gives up a piece in the centre", (mover,))
        elif held == mover:
            own = f"its own {'piece' if len(cells) == 1 else 'pieces'} on {series(cells)}"
            yield Remark(f"{name} runs into {own}: {lost}", (mover,), weight)
        else:
            yield Remark(f"{name} runs into {watcher} on {series(cells)}: {lost}", (mover, 1 - mover), weight)


def _growth(scene: Scene, stay: Sequence[str], mover: int) -> Iterator[Remark]:
    """Yield a remark for each group that joins others, then one if the largest group grew without joining."""
    board = cast("MistHostView", scene.before).board
    before = BOARD.mask(cell for cell, held in board.items() if held == mover)
    added = BOARD.mask(stay)
    largest = BOARD.largest(before)
    grown = largest
    for group in BOARD.groups(before | added):
        size = group.bit_count()
        joined = sum(1 for part in BOARD.groups(before) if part & group)
        if joined > 1 and group & added:
            text = f"{scene.names[mover]} joins {JOINED[joined]} groups into one of {size}"
            yield Remark(text, (mover,), 2 if size > largest else 1)
        elif joined:
            grown = max(grown, size)
    if grown > largest and grown == BOARD.largest(before | added):
        yield Remark(f"{scene.names[mover]}'s largest group grows to {grown}", (mover,))


def _end(scene: Scene) -> Remark:
    """Return a remark on the sizes of the largest groups at the end."""
    sizes = scores(scene.after)
    if sizes[0] == sizes[1]:
        return Remark(f"the match is over: both have a largest group of {sizes[0]}", (0, 1), 3)
    best = sizes.index(max(sizes))
    text = f"the match is over: {scene.names[best]}'s largest group has {counted(sizes[best], 'piece')}"
    return Remark(f"{text}, {scene.names[1 - best]}'s {sizes[1 - best]}", (best, 1 - best), 3)


COMMENTARY = Commentary(remarks=remarks, scores=scores, unit="Largest group", from_score=4)
