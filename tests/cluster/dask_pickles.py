"""What a worker of a cluster gives that means harm: an object that does something where it is unpickled."""

from pathlib import Path
from typing import Any


class Harm:
    """Writes a file where it is unpickled."""

    def __init__(self, file: str) -> None:
        self._file = Path(file)

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._file,)


def pickled(file: str) -> Any:
    return Harm(file)
