"""What others wrote does nothing to a terminal, and is still to be read."""

import pytest

from referee.display_text import printable


@pytest.mark.parametrize(
    ("spelled", "text"),
    [
        (r"\x1b[2J\x07", "\x1b[2J\a"),
        (r"\x0d\x0a\x09", "\r\n\t"),
        (r"\x7f\x9b31m", "\x7f\x9b31m"),
        (r"\u202eevil\u2069", "\u202eevil\u2069"),
        (r"a\u200b\xad\ufe0f\u3164", "a\u200b\xad\ufe0f\u3164"),
        (r"a\xa0b\u2028", "a\xa0b\u2028"),
        (r"\udcff\U000e0041", "\udcff\U000e0041"),
    ],
)
def test_controls_are_spelled_out(spelled: str, text: str) -> None:
    assert spelled == printable(text)


@pytest.mark.parametrize("text", ["", "plain [1]", "Zoë 将 🎲", "back\\slash"])
def test_all_else_stays(text: str) -> None:
    assert text == printable(text)
