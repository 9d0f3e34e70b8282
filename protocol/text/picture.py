"""Text with styles, without a terminal, as the output of drawings.

Each display converts the runs to its own styles.
"""

from typing import Union

Run = tuple[str, str]
"""A text and its style (rich's words, such as `bold red`), or "" for none."""


class Picture:
    """A sequence of runs. All characters are one column wide."""

    def __init__(self, text: str = "", style: str = "") -> None:
        self.runs: list[Run] = [(text, style)] if text else []

    @classmethod
    def assemble(cls, *parts: Union[str, Run, "Picture"]) -> "Picture":
        """Join texts, runs and pictures to one picture."""
        picture = cls()
        for part in parts:
            if isinstance(part, Picture):
                picture.append_text(part)
            else:
                picture.append(*((part,) if isinstance(part, str) else part))
        return picture

    @property
    def plain(self) -> str:
        """Text without its styles."""
        return "".join(text for text, _ in self.runs)

    @property
    def width(self) -> int:
        """Width in columns of a picture of one line."""
        return len(self.plain)

    def append(self, text: str, style: str = "") -> "Picture":
        """Append a text."""
        if text:
            self.runs.append((text, style))
        return self

    def append_text(self, other: "Picture") -> "Picture":
        """Append another picture."""
        self.runs += other.runs
        return self

    def pad_right(self, columns: int) -> None:
        """Append this number of blanks; none if it is negative."""
        self.append(" " * columns)

    def lines(self) -> list["Picture"]:
        """Split into lines; the text after the last line end counts if it is not empty."""
        lines = [Picture()]
        for text, style in self.runs:
            first, *rest = text.split("\n")
            lines[-1].append(first, style)
            lines += [Picture(line, style) for line in rest]
        return lines if lines[-1].runs else lines[:-1]
