"""Names that are too long for where they are shown: they may be paths of thousands of letters. Pure."""

from rich.cells import cell_len, chop_cells


def shortened(text: str, most: int) -> str:
    """The text with its middle left out where it is wider than so many columns: names differ at either end."""
    if cell_len(text) <= most:
        return text
    half = (most - 1) // 2
    end = chop_cells(text[::-1], half)[0][::-1]
    return f"{chop_cells(text, most - 1 - half)[0]}…{end}"
