"""What bots wrote is shown in Markdown as it stands, and does nothing there."""

import pytest

from arena.reports.markdown import escaped, table_lines


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (r"a\|b", "a|b"),
        (r"a\\\|b", r"a\|b"),
        (r"\<script\>", "<script>"),
        (r"\!\[x\](http\://y)", "![x](http://y)"),
        (r"\`rm\`", "`rm`"),
        (r"a\\x0d\\x0a\#\# b", "a\r\n## b"),
        ("my_bot`@`e.vil", "my_bot@e.vil"),
        ("plain (1.5 %)", "plain (1.5 %)"),
        ("my_bot@main: -1.5 to +2", "my_bot@main: -1.5 to +2"),
    ],
)
def test_what_would_do_something_is_escaped(told: str, text: str) -> None:
    assert told == escaped(text)


def test_a_table_has_its_line_below_the_headings() -> None:
    assert ["| a | b |", "| --- | --- |", r"| 1 | \<2 |"] == table_lines(("a", "b"), [("1", "<2")])
