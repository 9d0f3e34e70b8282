"""NumPy, imported at its first use, because its import would dominate a command's start. Pure."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

__all__ = ["Flags", "Numbers", "Whole", "distinct", "np"]

Numbers: TypeAlias = "NDArray[np.float64]"
Whole: TypeAlias = "NDArray[np.int64]"
Flags: TypeAlias = "NDArray[np.bool_]"

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:

    class _Later:
        """A proxy that imports the module at the first use of an attribute, and caches attributes."""

        def __getattr__(self, name: str) -> Any:
            found = getattr(import_module("numpy"), name)
            setattr(self, name, found)
            return found

    np = _Later()


def distinct(values: Whole) -> Whole:
    """Return the distinct values in ascending order. Unlike `np.unique`, this does not import masked arrays."""
    ordered: Whole = np.sort(values, axis=None)
    return ordered[np.diff(ordered, prepend=ordered[:1] - 1) > 0]
