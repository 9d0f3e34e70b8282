"""One seat's part: a file that verifies, has the published hash, and holds nothing the seat could not know."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from protocol.codec import encode
from referee.match.records import AnyRecord, Header, In, Out, Record
from referee.transcript.chain import Broken, SeatChain, TranscriptError, seat_lines
from referee.transcript.reader import read_transcript, verify_transcript
from tests.referee.transcript.transcript_sample import header, match_records, other_match_records, plain, write


def seat_file(records: list[Record], seat: int) -> list[bytes]:
    chain = SeatChain(seat)
    taken = [line for record in records if (line := chain.take(record, encode(record))) is not None]
    return [*taken, chain.close()]


@pytest.mark.parametrize("seat", [0, 1])
async def test_a_seats_file_verifies_and_its_head_is_the_one_in_the_matchs_footer(
    tmp_path: Path, seat: int
) -> None:
    transcript = await write(tmp_path / "m.jsonl", match_records())
    (tmp_path / "seat.jsonl").write_bytes(b"".join(seat_lines(read_transcript(tmp_path / "m.jsonl"), seat)))
    assert transcript.seat_heads[seat] == verify_transcript(tmp_path / "seat.jsonl").head
    assert transcript.seat_heads == verify_transcript(tmp_path / "m.jsonl").footer.heads


def test_it_holds_the_seats_own_frames_handings_over_and_end_and_no_more() -> None:
    kinds = [plain(line)["kind"] for line in seat_file(match_records(), 0)]
    expected = "seat-header in out out handed in in out seat-ended footer"
    assert expected.split() == kinds
    expected = "seat-header in out left seat-ended footer"
    assert expected.split() == [plain(line)["kind"] for line in seat_file(match_records(), 1)]


def test_its_header_holds_the_public_terms_its_own_bot_and_its_salt() -> None:
    first = plain(seat_file(match_records(), 1)[0])
    expected = "line prev kind format arena match game variant options clock seat seats bot salt"
    assert expected.split() == list(first)
    assert {"name": "beta", "version": "2", "content": "sha256:bb", "seed": 22, "token": "t1"} == first["bot"]
    assert (1, 2, "11" * 16) == (first["seat"], first["seats"], first["salt"])


def test_its_times_count_from_the_seats_own_first_record() -> None:
    times = [plain(line).get("at") for line in seat_file(match_records(), 0)]
    assert [None, 0, 50, 200, 300, 400, 5_300, 60_002_000, None, None] == times


def test_two_matches_in_which_a_seat_was_told_the_same_give_it_the_same_file() -> None:
    assert match_records() != other_match_records()
    assert seat_file(match_records(), 0) == seat_file(other_match_records(), 0)


def test_and_with_other_salts_only_the_salt_the_hashes_and_the_seal_differ() -> None:
    first, *rest = other_match_records()
    assert isinstance(first, Header)
    one = seat_file(match_records(), 0)
    other = seat_file([replace(first, salts=("ab" * 16, "cd" * 16)), *rest], 0)
    assert [len(line) for line in one] == [len(line) for line in other]
    assert [_unsalted(line) for line in one] == [_unsalted(line) for line in other]
    assert all(plain(a)["prev"] != plain(b)["prev"] for a, b in zip(one[1:], other[1:], strict=True))


def _unsalted(line: bytes) -> dict[str, Any]:
    return {key: value for key, value in plain(line).items() if key not in ("prev", "salt", "seal")}


@pytest.mark.parametrize("dropped", range(1, len(match_records())))
def test_a_record_that_is_none_of_the_seats_business_leaves_its_file_as_it_is(dropped: int) -> None:
    """Dropped whole, not changed: not even the number of such records may show."""
    records = match_records()
    record = records.pop(dropped)
    own = getattr(record, "seat", None) == 0 or type(record).__name__ == "Ended"
    assert own == (seat_file(match_records(), 0) != seat_file(records, 0))


async def test_every_message_to_and_from_the_seat_is_in_it_byte_for_byte(tmp_path: Path) -> None:
    await write(tmp_path / "m.jsonl", match_records())
    (tmp_path / "seat.jsonl").write_bytes(b"".join(seat_lines(read_transcript(tmp_path / "m.jsonl"), 0)))
    whole, own = (list(read_transcript(tmp_path / name)) for name in ("m.jsonl", "seat.jsonl"))
    assert 6 == len(frames(own, 0))
    assert frames(whole, 0) == frames(own, 0)


def frames(records: list[AnyRecord], seat: int) -> list[bytes]:
    own = [record for record in records if isinstance(record, In | Out) and record.seat == seat]
    return [record.raw() if isinstance(record, In) else bytes(record.frame) for record in own]


@pytest.mark.parametrize("seat", [-1, 2])
def test_a_seat_that_is_not_there_is_refused(seat: int) -> None:
    with pytest.raises(TranscriptError, match=f"there is no seat {seat}: the seats are 0 to 1"):
        list(seat_lines(match_records(), seat))


async def test_a_seats_file_is_not_another_seats(tmp_path: Path) -> None:
    await write(tmp_path / "m.jsonl", match_records())
    (tmp_path / "seat.jsonl").write_bytes(b"".join(seat_lines(read_transcript(tmp_path / "m.jsonl"), 0)))
    with pytest.raises(TranscriptError, match="this is the file of seat 0 alone"):
        list(seat_lines(read_transcript(tmp_path / "seat.jsonl"), 0))


async def test_a_file_that_does_not_come_out_as_the_footer_says_is_refused(tmp_path: Path) -> None:
    await write(tmp_path / "m.jsonl", match_records())
    *_, footer = read_transcript(tmp_path / "m.jsonl")
    fewer = [record for record in match_records() if getattr(record, "at", None) != 1_400]
    with pytest.raises(TranscriptError, match="the file of seat 0 does not come out"):
        list(seat_lines([*fewer, footer], 0))
    assert list(seat_lines([*match_records(), footer], 0))


def test_an_unfinished_match_gives_no_seats_file() -> None:
    with pytest.raises(TranscriptError, match="there is no footer"):
        list(seat_lines(match_records(), 0))
    with pytest.raises(TranscriptError, match="there is no header"):
        list(seat_lines(match_records()[1:], 0))


async def test_a_changed_transcript_gives_no_seats_file(tmp_path: Path) -> None:
    await write(tmp_path / "m.jsonl", match_records())
    content = (tmp_path / "m.jsonl").read_bytes()
    (tmp_path / "m.jsonl").write_bytes(content.replace(b'"beta"', b'"zeta"'))
    with pytest.raises(Broken, match="line 1: its hash"):
        list(seat_lines(read_transcript(tmp_path / "m.jsonl"), 0))


def test_the_salt_is_not_in_any_other_seats_file() -> None:
    assert header().salts[1].encode() not in b"".join(seat_file(match_records(), 0))
