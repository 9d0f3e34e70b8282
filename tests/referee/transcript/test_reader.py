"""Reading: whatever was changed in a transcript is found, and named by its line."""

from io import BytesIO
from pathlib import Path

import pytest
from msgspec.structs import replace

from protocol.codec import encode
from referee.match.records import AnyRecord, Footer, Header, SeatHeader
from referee.transcript import reader
from referee.transcript.chain import Broken, Chain, TranscriptError
from referee.transcript.reader import lines_of, read_transcript, verify_transcript
from referee.transcript.seat import seat_lines
from tests.referee.transcript.transcript_sample import header, match_records, write


@pytest.fixture
async def whole(tmp_path: Path) -> bytes:
    await write(tmp_path / "whole", match_records())
    return (tmp_path / "whole").read_bytes()


@pytest.fixture(params=["whole match", "one seat"])
async def content(request: pytest.FixtureRequest, tmp_path: Path, whole: bytes) -> bytes:
    return (
        whole if request.param == "whole match" else b"".join(seat_lines(read_transcript(tmp_path / "whole"), 0))
    )


def finding(content: bytes) -> Broken:
    with pytest.raises(Broken) as caught:
        list(lines_of(BytesIO(content)))
    return caught.value


def lines(content: bytes) -> list[bytes]:
    return content.splitlines(keepends=True)


async def test_a_flipped_bit_in_any_byte_is_found_in_its_line(content: bytes) -> None:
    line = 1
    for place, byte in enumerate(content):
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        broken = finding(bytes(flipped))
        assert (place, line) == (place, broken.line)
        assert f"line {line}" in broken.what
        line += byte == ord("\n")


async def test_no_changed_record_is_given_out_before_the_change_is_found(whole: bytes) -> None:
    for line, text in enumerate(lines(whole), 1):
        changed = text.replace(b'"at":', b'"at":9', 1)
        if changed == text:
            continue
        given: list[int] = []  # `extend` keeps what came before the finding.
        with pytest.raises(Broken, match=f"^line {line}: its hash is not the one that line {line + 1} carries$"):
            given.extend(read.number for read in lines_of(BytesIO(whole.replace(text, changed))))
        assert list(range(1, line)) == given


async def test_a_missing_line_is_found(content: bytes) -> None:
    for gone in range(len(lines(content)) - 1):
        broken = finding(b"".join(lines(content)[:gone] + lines(content)[gone + 1 :]))
        assert gone + 1 == broken.line


async def test_a_line_said_twice_is_found(content: bytes) -> None:
    for twice in range(len(lines(content))):
        broken = finding(b"".join(lines(content)[: twice + 1] + lines(content)[twice:]))
        assert twice + 2 == broken.line


async def test_two_lines_swapped_are_found(content: bytes) -> None:
    for first in range(len(lines(content)) - 1):
        swapped = lines(content)
        swapped[first : first + 2] = reversed(swapped[first : first + 2])
        assert first + 1 == finding(b"".join(swapped)).line


async def test_a_file_cut_short_anywhere_is_found_in_the_line_of_the_cut(content: bytes) -> None:
    for end in range(1, len(content)):
        assert content[: end - 1].count(b"\n") + 1 == finding(content[:end]).line
    assert "line 1 is missing: the file is empty" == finding(b"").what


async def test_anything_after_the_footer_is_found(content: bytes) -> None:
    number = len(lines(content)) + 1
    for more in (b"\n", b" ", b"\0", lines(content)[-1], content):
        assert f"line {number} comes after the footer" == finding(content + more).what


async def test_a_line_with_the_right_place_and_a_false_seal_is_found(whole: bytes) -> None:
    *before, last = lines(whole)
    forged = last.replace(b'"heads":["', b'"heads":["0', 1)
    assert f"line {len(before) + 1}: its seal does not fit it" == finding(b"".join([*before, forged])).what


async def test_a_changed_line_whose_hash_was_carried_on_is_found_by_the_head(tmp_path: Path) -> None:
    """What no file can show by itself: a chain made anew. That is what the head is quoted for."""
    honest = (await write(tmp_path / "honest", match_records())).head
    await write(tmp_path / "forged", [*match_records()[:-2], match_records()[-1]])
    assert honest != verify_transcript(tmp_path / "forged").head


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"{}\n", "line 1 is no record: .*kind"),
        (b"nonsense\n", "line 1 is not JSON"),
        (b"\xff\xfe\n", "line 1 is not JSON"),
        (b"[" * 100_000 + b"\n", "line 1 is "),
        (b'{"kind":"handed","at":1,"seat":0}\n', "line 1 is no header"),
        (b'{"line":1,"prev":"%s","kind":"footer","heads":[]}\n' % (b"0" * 64), "line 1 is no header"),
    ],
)
def test_what_never_was_a_transcript_is_said_so(text: bytes, what: str) -> None:
    with pytest.raises(Broken, match=what):
        list(lines_of(BytesIO(text)))


def chained(*records: AnyRecord) -> bytes:
    chain = Chain()
    return b"".join(chain.link(encode(record)) for record in records) + chain.seal(Footer(heads=()))


def test_a_second_header_is_found() -> None:
    assert "line 2 is another header" == finding(chained(header(), header())).what


@pytest.mark.parametrize(("number", "age"), [(1, "an older"), (999, "a newer")])
def test_another_format_is_named_as_older_or_newer(number: int, age: str) -> None:
    with pytest.raises(Broken, match=f"line 1: format {number} is {age} arena's; this one reads 2"):
        list(lines_of(BytesIO(chained(replace(header(), format=number)))))


def test_a_line_spelled_otherwise_is_not_one_of_ours() -> None:
    spaced = chained(header()).replace(b'{"line":1,', b'{"line": 1,')
    assert "line 1 does not begin as the first lines of transcripts do" == finding(spaced).what


def test_a_first_line_that_follows_another_is_found() -> None:
    beheaded = chained(header()).replace(b"0" * 64, b"1" * 64, 1)
    assert 1 == finding(beheaded).line


def test_no_more_than_a_lines_bound_is_ever_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_LINE_BYTES", 2_000)
    asked: list[int] = []

    class Endless(BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            asked.append(size or 0)
            return b"x" * (size or 0)

    with pytest.raises(Broken, match="line 1 is longer than 2000 bytes"):
        list(lines_of(Endless()))
    assert [2_001] == asked


async def test_a_transcript_comes_to_its_lines_its_head_and_its_ends(tmp_path: Path, whole: bytes) -> None:
    verified = verify_transcript(tmp_path / "whole")
    assert len(lines(whole)) == verified.lines
    assert isinstance(verified.header, Header)
    assert 2 == len(verified.footer.heads)
    (tmp_path / "seat").write_bytes(b"".join(seat_lines(read_transcript(tmp_path / "whole"), 1)))
    assert isinstance(verify_transcript(tmp_path / "seat").header, SeatHeader)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError) as caught:
        verify_transcript(tmp_path / "missing.jsonl")
    assert f"{tmp_path / 'missing.jsonl'}: cannot be read: No such file or directory" == str(caught.value)


def test_a_finding_names_the_file_too(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_bytes(b"nonsense\n")
    with pytest.raises(Broken, match=r"m\.jsonl: line 1 is not JSON") as caught:
        verify_transcript(tmp_path / "m.jsonl")
    assert (1, tmp_path / "m.jsonl") == (caught.value.line, caught.value.path)
