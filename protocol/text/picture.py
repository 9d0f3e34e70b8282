"""Text with styles, without a terminal: what drawings are made of. Who shows it turns runs into what it has."""

from typing import Union

Run = tuple[str, str]
"""A text, and the style it is shown in (rich's words, such as `bold red`), empty for none."""


class Picture:
    """Runs of text, one after the other. All characters are one column wide."""

    def __init__(self, text: str = "", style: str = "") -> None:
        self.runs: list[Run] = [(text, style)] if text else []

    @classmethod
    def assemble(cls, *parts: Union[str, Run, "Picture"]) -> "Picture":
        """All of these as one."""
        picture = cls()
        for part in parts:
            if isinstance(part, Picture):
                picture.append_text(part)
            else:
                picture.append(*((part,) if isinstance(part, str) else part))
        return picture

    @property
    def plain(self) -> str:
        """The text without its styles."""
        return "".join(text for text, _ in self.runs)

    @property
    def width(self) -> int:
        """Columns, where it is one line."""
        return len(self.plain)

    def append(self, text: str, style: str = "") -> "Picture":
        """Adds a text at the end."""
        if text:
            self.runs.append((text, style))
        return self

    def append_text(self, other: "Picture") -> "Picture":
        """Adds another picture at the end."""
        self.runs += other.runs
        return self

    def pad_right(self, columns: int) -> None:
        """Adds so many blanks; none for a number below 0."""
        self.append(" " * columns)

    def lines(self) -> list["Picture"]:
        """Line by line; what follows the last line's end counts if it is not empty."""
        lines = [Picture()]
        for text, style in self.runs:
            first, *rest = text.split("\n")
            lines[-1].append(first, style)
            lines += [Picture(line, style) for line in rest]
        return lines if lines[-1].runs else lines[:-1]
