"""Reading: whatever was changed in a transcript is found, and named by its line.

Also which window a bot left unanswered, from the transcript of a match that is still being written.
"""

from io import SEEK_END, BytesIO
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from protocol.codec import MAX_COMPLAINT_CHARACTERS, encode
from protocol.messages import Accepted, Closed, Invited, Opened, Over, Rejected, ServerMessage
from protocol.refusals import Refusal
from protocol.words import Outcome
from referee.match.records import KEPT_OF_REFUSED, AnyRecord, Footer, Header, In, Out, SeatHeader
from referee.transcript import reader
from referee.transcript.chain import Broken, Chain, TranscriptError, _seat_header, seat_lines
from referee.transcript.reader import TAIL_BYTES, lines_of, read_transcript, unanswered_window, verify_transcript
from referee.transcript.replayer import MOST_PARTS_BYTES
from referee.transcript.writer import part_of
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
def test_a_file_that_is_no_transcript_is_reported_as_such(text: bytes, what: str) -> None:
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


async def test_a_file_that_is_written_while_it_is_read_is_not_finished(whole: bytes) -> None:
    *before, last = lines(whole)
    file = BytesIO(b"".join(before))
    read = lines_of(file)
    next(read)
    place = file.tell()
    file.seek(0, SEEK_END)
    file.write(last)
    file.seek(place)
    with pytest.raises(Broken, match=f"line {len(before) + 1} was written while the file was read"):
        list(read)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError) as caught:
        verify_transcript(tmp_path / "missing.jsonl")
    assert f"{tmp_path / 'missing.jsonl'}: cannot be read: No such file or directory" == str(caught.value)


def test_a_finding_names_the_file_too(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_bytes(b"nonsense\n")
    with pytest.raises(Broken, match=r"m\.jsonl: line 1 is not JSON") as caught:
        verify_transcript(tmp_path / "m.jsonl")
    assert (1, tmp_path / "m.jsonl") == (caught.value.line, caught.value.path)


def refused_frame(**changed: Any) -> In:
    """Return the record of a frame that was too long: cut, with the reason for its refusal."""
    said: dict[str, Any] = {"at": 1, "seat": 0, "frame": "x" * KEPT_OF_REFUSED, "cut": KEPT_OF_REFUSED + 1}
    return In(**{**said, "refused": "flood", "text": "too many frames", **changed})


@pytest.mark.parametrize("refused", ["flood", "oversized", "malformed"])
def test_a_frame_that_was_refused_may_be_cut(refused: str) -> None:
    """The footer, which has no hashes of the seats here, is the first thing that is wrong."""
    longest = "x" * MAX_COMPLAINT_CHARACTERS
    found = finding(chained(header(), refused_frame(refused=refused, text=longest)))
    assert (3, True) == (found.line, "heads: one hash for each of 2 seats" in found.what)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"refused": "late"}, "refused: no frame is refused as 'late'"),
        ({"refused": ""}, "refused: no frame is refused as ''"),
        (
            {"text": "x" * (MAX_COMPLAINT_CHARACTERS + 1)},
            f"text: longer than {MAX_COMPLAINT_CHARACTERS}",
        ),
        ({"cut": KEPT_OF_REFUSED}, f"cut: {KEPT_OF_REFUSED} bytes kept of {KEPT_OF_REFUSED}"),
        ({"frame": "x" * (KEPT_OF_REFUSED - 1)}, f"cut: {KEPT_OF_REFUSED - 1} bytes kept"),
        ({"cut": 0}, "refused and text: only of a frame that was cut"),
        ({"cut": 0, "refused": ""}, "refused and text: only of a frame that was cut"),
        ({"cut": 0, "text": ""}, "refused and text: only of a frame that was cut"),
    ],
)
def test_refused_frames_in_a_wrong_form_are_found(changed: dict[str, Any], what: str) -> None:
    found = finding(chained(header(), refused_frame(**changed)))
    assert (2, True) == (found.line, what in found.what)


@pytest.mark.parametrize("field", ["options", "setup"])
@pytest.mark.parametrize("raw", [b'{"a":1,"a":2}', b'{"a": 1}', b"[1,1.0e5]"])
def test_a_headers_json_that_another_reader_might_read_otherwise_is_found(field: str, raw: bytes) -> None:
    found = finding(chained(replace(header(), **{field: Raw(raw)})))
    assert (1, True) == (found.line, f"{field}: not as JSON is written here" in found.what)


@pytest.mark.parametrize(("seat", "line"), [(1, 2), (2, 1), (3, 1)])
def test_a_seats_own_transcript_is_of_one_of_its_seats(seat: int, line: int) -> None:
    """Of two seats, the second's breaks off after its header here."""
    own = _seat_header(header(), 1)
    found = finding(chained(replace(own, seat=seat)))
    assert (line, line == 1) == (found.line, f"there is no seat {seat} of 2" in found.what)


PARTS = "(a message of 3 parts)"


@pytest.mark.parametrize(
    ("cut", "line"), [(len(PARTS), 2), (len(PARTS) + 1, 3), (MOST_PARTS_BYTES, 3), (MOST_PARTS_BYTES + 1, 2)]
)
def test_a_message_of_parts_is_longer_than_its_name_and_no_longer_than_may_be(cut: int, line: int) -> None:
    """Else the first thing that is wrong here is the footer, which has no hashes."""
    record = refused_frame(frame=PARTS, cut=cut, refused="malformed")
    assert line == finding(chained(header(), record)).line


def test_an_error_on_a_lines_spelling_has_the_place_and_both_spellings() -> None:
    chain = Chain()
    lines = [chain.link(encode(header())), chain.link(b'{"kind":"handed","at":1, "seat":0}')]
    found = finding(b"".join(lines) + chain.seal(Footer(heads=())))
    at = lines[1].index(b' "seat"')
    assert (
        f'line 2: from byte {at + 1} on it reads "seat":0}}, where its record is written as "seat":0}}'
        == found.what
    )


OPENED = Opened(id=3, window="turn", view={}, default=None, main_ms=1_000, reserve_ms=0)
OUTCOME = Outcome(ranking=((0,), (1,)), winners=(0,), eliminated=1, scores=None, reason="decided")


def sent(seat: int, message: ServerMessage) -> Out:
    return Out(at=1, seat=seat, frame=Raw(encode(message)))


def written(folder: Path, *records: Out, rest: bytes = b"") -> Path:
    """Write a transcript that ends with these records, unfinished."""
    path = folder / "match.jsonl"
    part_of(path).write_bytes(b"".join(encode(record) + b"\n" for record in records) + rest)
    return path


def test_an_open_window_of_which_nothing_was_accepted_is_unanswered(tmp_path: Path) -> None:
    path = written(tmp_path, sent(0, OPENED))
    assert OPENED == unanswered_window(path, 0)
    assert unanswered_window(path, 1) is None
    assert unanswered_window(tmp_path / "other.jsonl", 0) is None


def test_messages_to_other_seats_do_not_answer_it(tmp_path: Path) -> None:
    other = (sent(1, Accepted(3, None)), sent(1, Over(OUTCOME)))
    assert OPENED == unanswered_window(written(tmp_path, sent(0, OPENED), *other), 0)
    path = written(tmp_path, sent(0, OPENED), sent(0, Accepted(3, None)), sent(1, OPENED))
    assert unanswered_window(path, 0) is None


@pytest.mark.parametrize(
    "message",
    [
        Accepted(3, None),
        Closed(window=3, taken=None, by_default=True, charged_ms=5, reserve_ms=0),
        Over(OUTCOME),
    ],
)
def test_an_accepted_answer_the_windows_end_and_the_matchs_end_settle_it(
    tmp_path: Path, message: ServerMessage
) -> None:
    assert unanswered_window(written(tmp_path, sent(0, OPENED), sent(0, message)), 0) is None


def test_a_refusal_and_the_beginning_of_a_line_leave_it_open(tmp_path: Path) -> None:
    refused = sent(0, Rejected(window=3, reason=Refusal.ILLEGAL, text="not there"))
    rest = encode(sent(0, Accepted(3, None)))[:-1]
    assert OPENED == unanswered_window(written(tmp_path, sent(0, OPENED), refused, rest=rest), 0)
    again = sent(0, Invited(token="t"))
    assert OPENED == unanswered_window(written(tmp_path, sent(0, OPENED), again), 0)


def test_only_the_end_of_a_long_file_is_looked_at(tmp_path: Path) -> None:
    others = [sent(1, OPENED)] * (TAIL_BYTES // 100)
    assert unanswered_window(written(tmp_path, sent(0, OPENED), *others), 0) is None
    assert OPENED == unanswered_window(written(tmp_path, sent(0, OPENED), *others, sent(0, OPENED)), 0)
