"""Observations of Pointing."""

from collections.abc import Iterator

from protocol.games.pointing import MOST_SEATS, PointingView, Section, Tree
from referee.encoding import Filling, VectorEncoder

ROUNDS = 3
KINDS = ("chain", "loop", "node")
NOBODY = MOST_SEATS


def _parts_of_rounds() -> Iterator[tuple[str, int]]:
    for number in range(1, ROUNDS + 1):
        for kind in KINDS:
            yield f"round {number}: {kind}s by size, each / 8", MOST_SEATS
        yield f"round {number}: chains and nodes with a cut end by size, each / 8", MOST_SEATS
        yield f"round {number}: seats by steps to their end, each / 26", MOST_SEATS
        yield f"round {number}: seats by how many point at them, each / 26", MOST_SEATS


class PointingEncoder(VectorEncoder):
    """Maps as numbers: of sections by size, and of seats by their place in the trees."""

    choices = MOST_SEATS + 1
    one_choice = True
    parts = (
        ("own seat", MOST_SEATS),
        ("seats of the match, of 26", MOST_SEATS),
        ("round", ROUNDS + 1),
        *((f"own target of round {number}, or nobody", MOST_SEATS + 1) for number in range(1, ROUNDS + 1)),
        *_parts_of_rounds(),
        ("seats that are voted on", MOST_SEATS),
        ("may vote", 1),
    )

    def fill(self, row: Filling, view: PointingView) -> None:
        """See `VectorEncoder.fill`."""
        if view.seat is not None:
            row.put("own seat", view.seat)
        row.mark("seats of the match, of 26", range(view.seats))
        row.put("round", view.round - 1)
        for number, target in enumerate(view.targets, start=1):
            row.put(f"own target of round {number}, or nobody", NOBODY if target is None else target)
        for number, sections in enumerate(view.maps, start=1):
            _fill_map(row, f"round {number}", sections)
        row.mark("seats that are voted on", view.tied)
        row.put("may vote", 0, view.may_vote)


def _fill_map(row: Filling, where: str, sections: tuple[Section, ...]) -> None:
    sizes = {kind: [0] * MOST_SEATS for kind in (*KINDS, "cut")}
    depths, pointers = [0] * MOST_SEATS, [0] * MOST_SEATS
    for section in sections:
        sizes[section.kind][section.size - 1] += 1
        sizes["cut"][section.size - 1] += section.cut
        trees = section.shape if section.kind == "loop" else [section.shape]
        for tree in trees:
            for depth, branches in _seats(tree):
                depths[depth] += 1
                pointers[branches] += 1
    for kind in KINDS:
        _fill_counts(row, f"{where}: {kind}s by size, each / 8", sizes[kind], 8)
    _fill_counts(row, f"{where}: chains and nodes with a cut end by size, each / 8", sizes["cut"], 8)
    _fill_counts(row, f"{where}: seats by steps to their end, each / 26", depths, MOST_SEATS)
    _fill_counts(row, f"{where}: seats by how many point at them, each / 26", pointers, MOST_SEATS)


def _fill_counts(row: Filling, part: str, counts: list[int], scale: int) -> None:
    for index, count in enumerate(counts):
        if count:
            row.scaled(part, count, scale, index)


def _seats(tree: Tree, depth: int = 0) -> Iterator[tuple[int, int]]:
    """Yield each seat's steps to the end of its tree, and the number of its branches."""
    yield depth, len(tree)
    for branch in tree:
        yield from _seats(branch, depth + 1)
