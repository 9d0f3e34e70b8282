"""NumPy, imported when it is first used: at a command's start it would take longer than all else. Pure."""

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
        """Stands for the module until something of it is asked for, and then for what was."""

        def __getattr__(self, name: str) -> Any:
            found = getattr(import_module("numpy"), name)
            setattr(self, name, found)
            return found

    np = _Later()


def distinct(values: Whole) -> Whole:
    """Return the different values, ascending. For this alone, `np.unique` would import NumPy's masked arrays."""
    ordered: Whole = np.sort(values, axis=None)
    return ordered[np.diff(ordered, prepend=ordered[:1] - 1) > 0]
