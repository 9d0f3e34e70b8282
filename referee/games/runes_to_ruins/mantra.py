"""Mantra: the debt that learned insight brings, and what insight removes of it."""

FREE = 6
"""How much goes for free each time."""
REMOVED = (7, 8, 9, 10, 20)
"""What the first five insights of a settling remove; the sixth removes all that is left."""
DARK_STEP, DARK_LEAST = 5, 10


def settle(insight: int, mantra: int) -> tuple[int, int]:
    """Insight and mantra after the settling at a round's end.

    Insight is spent one by one, each only while the mantra is at least what it would remove. Mantra carried over
    is settled like new mantra, beginning again with what is free.
    """
    if mantra <= FREE:
        return insight, 0
    mantra -= FREE
    for removed in REMOVED:
        if not insight or mantra < removed:
            return insight, mantra
        mantra -= removed
        insight -= 1
    return (insight - 1, 0) if insight and mantra else (insight, mantra)


def darken(mantra: int, times: int) -> int:
    """Mantra after so many uses of the Power of Dark, one after another, each on what the last one left (R4).

    Each adds 5 for every full 5 there are, and at least 10.
    """
    for _ in range(times):
        mantra += max(DARK_LEAST, DARK_STEP * (mantra // DARK_STEP))
    return mantra
