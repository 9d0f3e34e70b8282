"""The error that conformance raises, with its place."""

AROUND = 40
"""Number of bytes that are shown before and after a difference."""


class ConformanceError(AssertionError):
    """A game breaks its contract. The text names the promise, match, window, seat and difference."""

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
    """Describe where two messages first differ, with an excerpt of each."""
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    shown = [text[max(0, at - AROUND) : at + AROUND].decode(errors="replace") for text in (one, other)]
    return f"from byte {at} of {len(one)} and {len(other)}: …{shown[0]}… but …{shown[1]}…"
