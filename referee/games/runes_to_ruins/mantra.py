"""Mantra: the debt that learned insight adds, and how insight reduces it."""

FREE = 6
"""Mantra removed for free at each settling."""
REMOVED = (7, 8, 9, 10, 20)
"""Mantra removed by the first five insights of a settling; the sixth removes the rest."""
DARK_STEP, DARK_LEAST = 5, 10


def settle(insight: int, mantra: int) -> tuple[int, int]:
    """Return insight and mantra after the settling at the end of a round.

    Insights are spent one by one; each of the first five only if the mantra is at least the amount that it
    removes. Mantra carried over is settled like new mantra, with the free amount removed first.
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
    """Return the mantra after `times` uses of the Power of Dark, applied one after another (R4).

    Each use adds 5 for every full 5 of mantra, and at least 10.
    """
    for _ in range(times):
        mantra += max(DARK_LEAST, DARK_STEP * (mantra // DARK_STEP))
    return mantra
