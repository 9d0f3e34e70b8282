"""The recorder of outputs: the same code puts out the same, and a word that changes is found."""

from pathlib import Path

from tests.outputs import command_line
from tests.outputs.comparison import compare


def test_two_recordings_are_the_same_and_a_changed_word_is_shown(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        command_line.record("help", folder / "command-line")
    report, is_same = compare(before, after)
    assert is_same
    assert report.splitlines()[1].split() == ["command-line", str(len(list(before.rglob("*.txt")))), "0", "0", "0"]

    file = after / "command-line/help/arena.games.txt"
    file.write_text(file.read_text().replace("List the games", "Name the games"))
    (after / "command-line/help/arena.schema.txt").unlink()
    (after / "pages").mkdir()
    (after / "pages/index.html").write_text("<p>")
    report, is_same = compare(before, after)
    assert not is_same
    assert "-  List the games, or describe GAME" in report
    assert "+  Name the games, or describe GAME" in report
    assert "new: pages/index.html\ngone: command-line/help/arena.schema.txt\n" in report
    assert report.splitlines()[2].split() == ["pages", "0", "0", "1", "0"]


def test_a_long_line_is_shown_by_the_part_that_differs(tmp_path: Path) -> None:
    for name, points in (("before", 7), ("after", 8)):
        folder = tmp_path / name / "tournaments"
        folder.mkdir(parents=True)
        rows = ",".join(f'{{"bot":"{bot}","points":{points if bot == 31 else bot}}}' for bot in range(60))
        (folder / "result.json").write_text(f"[{rows}]\n")
    report, is_same = compare(tmp_path / "before", tmp_path / "after")
    assert not is_same
    changed = [line for line in report.splitlines()[5:] if line[:1] in "+-"]
    assert changed == ['-"points":7},', '+"points":8},']
