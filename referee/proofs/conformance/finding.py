"""What conformance finds wrong, and where."""

AROUND = 40
"""How many bytes of each side of a difference are shown."""


class ConformanceError(AssertionError):
    """A game breaks its contract. Says which promise, in which match, window and seat, and what was seen."""

    def __init__(
        self,
        promise: str,
        what: str,
        *,
        variant: str,
        seed: int | None = None,
        window: int | None = None,
        seat: int | None = None,
    ) -> None:
        places = (("seed", seed), ("window", window), ("seat", seat))
        where = ", ".join([variant, *(f"{name} {value}" for name, value in places if value is not None)])
        super().__init__(f"{promise} ({where}): {what}")
        self.promise = promise
        self.variant = variant
        self.seed = seed
        self.window = window
        self.seat = seat


def difference(one: bytes, other: bytes) -> str:
    """Where two messages first differ, and what stands there in each."""
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    shown = [text[max(0, at - AROUND) : at + AROUND].decode(errors="replace") for text in (one, other)]
    return f"from byte {at} of {len(one)} and {len(other)}: …{shown[0]}… but …{shown[1]}…"
