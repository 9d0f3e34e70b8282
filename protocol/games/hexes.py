"""Hexes as bits: a board's cells packed into one integer, so that a set of cells is a mask and moving is a shift.

Shared geometry, pure, for rules and bots; games decide the contents of cells. A cell has a name and a place on the
page in half hexes, x to the right and y down. The two orientations differ only in the steps to neighbours.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

Place = tuple[int, int]
"""(x, y) of a cell's centre on the page: x to the right, y down, in half hexes."""

POINTED: dict[str, Place] = {"E": (2, 0), "SE": (1, 1), "SW": (-1, 1), "W": (-2, 0), "NW": (-1, -1), "NE": (1, -1)}
"""Steps between hexes with a corner on top: rows of cells that touch, each row shifted half a hex."""
FLAT: dict[str, Place] = {"N": (0, -2), "NE": (1, -1), "SE": (1, 1), "S": (0, 2), "SW": (-1, 1), "NW": (-1, -1)}
"""Steps between hexes with a side on top: columns of cells that touch, each column shifted half a hex."""


def centred_rows(rows: Sequence[Sequence[str]]) -> dict[str, Place]:
    """Return the places of named cells in centred rows; lengths of successive rows differ by an odd number."""
    return {name: (2 * i + 1 - len(row), y) for y, row in enumerate(rows) for i, name in enumerate(row)}


class Hexes:
    """A board of hexes. A mask is an integer with one bit per cell; ascending bits are row order.

    Places are sheared to (x + y) / 2, which is whole on either lattice, and packed row by row with an empty column
    between: every step is then one shift, and a step over the edge leads to no cell.
    """

    def __init__(self, places: Mapping[str, Place], steps: Mapping[str, Place]) -> None:
        """Pack cells; `places` must be listed by rows from the top, left to right."""
        self.names = tuple(places)
        """All cells in row order."""
        columns = [(x + y) // 2 for x, y in places.values()]
        top, left = min(y for _, y in places.values()), min(columns)
        stride = max(columns) - left + 2
        bits = [1 << ((y - top) * stride + q - left) for q, (_, y) in zip(columns, places.values(), strict=True)]
        self.bit = dict(zip(self.names, bits, strict=True))
        """Name to one-cell mask."""
        self.name = dict(zip(bits, self.names, strict=True))
        """One-cell mask to name."""
        self._few = {0: (), **{bit: (name,) for bit, name in self.name.items()}}
        """Names of masks with no cell or one, the most frequent arguments of `cells`."""
        self.all = sum(bits)
        self.at_length = {bit.bit_length(): (name, bit) for name, bit in self.bit.items()}
        """Bit length of a one-cell mask to its name and the mask.

        `at_length[mask.bit_length()]` is a mask's last cell. The first, `mask & -mask`, takes twice as long:
        negative numbers are slow, and so are hashes of long ones.
        """
        self._first_half = sum(bits[: len(bits) // 2 + 1])
        self._shifts = {way: y * stride + (x + y) // 2 for way, (x, y) in steps.items()}
        self._up = tuple(shift for shift in self._shifts.values() if shift > 0)
        self._down = tuple(-shift for shift in self._shifts.values() if shift < 0)

    def step(self, mask: int, way: str) -> int:
        """Return the cells one step from the mask's cells in a direction; steps over the edge lead to no cell."""
        shift = self._shifts[way]
        return (mask << shift if shift > 0 else mask >> -shift) & self.all

    def grow(self, mask: int) -> int:
        """Return the mask with all its neighbours."""
        a, b, c = self._up
        d, e, f = self._down
        return (mask | mask << a | mask << b | mask << c | mask >> d | mask >> e | mask >> f) & self.all

    def neighbours(self, mask: int) -> int:
        """Return the cells outside the mask that touch it."""
        return self.grow(mask) & ~mask

    def ball(self, mask: int, radius: int) -> int:
        """Return the cells at most `radius` steps from any of the mask's."""
        for _ in range(radius):
            mask = self.grow(mask)
        return mask

    def groups(self, mask: int) -> Iterator[int]:
        """Yield the mask's connected groups, each as a mask, ordered by their first cell."""
        while mask:
            group = self.group(mask & -mask, mask)
            mask ^= group
            yield group

    def group(self, cell: int, mask: int) -> int:
        """Return the connected group of the mask that holds `cell`, which is one of its cells."""
        a, b, c = self._up
        d, e, f = self._down
        edge, left = cell, mask ^ cell
        while edge:
            # This is `grow` without its call, because a match spends most of its time here.
            edge = (edge << a | edge << b | edge << c | edge >> d | edge >> e | edge >> f) & left
            left ^= edge
        return mask ^ left

    def group_to(self, cells: int, mask: int) -> int:
        """Return the connected group of the mask that holds the last of `cells`, which are cells of the mask.

        If the group holds all of `cells`, the search stops early and may return only a part of it.
        """
        a, b, c = self._up
        d, e, f = self._down
        if not cells:
            return 0
        _, edge = self.at_length[cells.bit_length()]
        left = mask ^ edge
        while edge and cells & left:
            edge = (edge << a | edge << b | edge << c | edge >> d | edge >> e | edge >> f) & left
            left ^= edge
        return mask ^ left

    def largest(self, mask: int) -> int:
        """Return the number of cells in the mask's largest connected group; 0 for no cells."""
        most = 0
        while mask.bit_count() > most:
            group = self.group(self.at_length[mask.bit_length()][1], mask)
            most = max(most, group.bit_count())
            mask ^= group
        return most

    def has_group_over(self, mask: int, size: int) -> bool:
        """Return whether a connected group of the mask has more than `size` cells.

        Stops as soon as that is known.
        """
        a, b, c = self._up
        d, e, f = self._down
        while mask.bit_count() > size:
            # A group grows fastest from the middle of the board.
            _, edge = self.at_length[(mask & self._first_half or mask).bit_length()]
            left, enough = mask ^ edge, mask.bit_count() - size
            while edge:
                if left.bit_count() < enough:
                    return True
                edge = (edge << a | edge << b | edge << c | edge >> d | edge >> e | edge >> f) & left
                left ^= edge
            mask = left
        return False

    def sizes(self, mask: int) -> list[int]:
        """Return the number of cells of each connected group of the mask, largest first."""
        return sorted((group.bit_count() for group in self.groups(mask)), reverse=True)

    def apart(self, cells: Iterable[int]) -> bool:
        """Return whether all of these one-cell masks differ and no two touch."""
        taken = 0
        for cell in cells:
            if cell & taken:
                return False
            taken |= self.grow(cell)
        return True

    def each(self, mask: int) -> Iterator[int]:
        """Iterate over the mask's cells in row order, each as a mask."""
        at_length = self.at_length
        cells: list[int] = []
        while mask:
            _, cell = at_length[mask.bit_length()]
            cells.append(cell)
            mask ^= cell
        return reversed(cells)

    def mask(self, names: Iterable[str]) -> int:
        """Return the mask of named cells. Raises KeyError where there is no such cell."""
        mask = 0
        for name in names:
            mask |= self.bit[name]
        return mask

    def cells(self, mask: int) -> tuple[str, ...]:
        """Return the names of a mask's cells, in row order."""
        if (few := self._few.get(mask)) is not None:
            return few
        at_length = self.at_length
        names: list[str] = []
        while mask:
            name, cell = at_length[mask.bit_length()]
            names.append(name)
            mask ^= cell
        return tuple(names[::-1])
