"""What an author is told between two matches, and that a host can write no file but the bot's own transcripts."""

import re
import zlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from bots.remote import news as received
from bots.remote.memory import FREE_NEWS, MOST_UNKNOWN, NEWS_OF_A_MATCH, Bounds, HostError
from bots.remote.news import News
from protocol.codec import encode
from protocol.messages import Invited
from protocol.news import MOST_PARTS, PART_BYTES, Dismissed, MatchReport, TableRow, TranscriptPart, most_unpacked

REPORT = MatchReport(
    match="m1",
    seat=1,
    seats=2,
    place=2,
    score=12,
    reason="decided",
    conduct="ok",
    head="sha256:0",
    delay_ms=12.5,
    standing=TableRow(place=3, of=9, played=14, rating=51.5, low=-20.0, high=None),
)
LINES = b"a line\n" * 1_000


def parts(data: bytes, match: str = "m1", number: int = 2) -> list[bytes]:
    size = -(-len(data) // number)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return [
        encode(TranscriptPart(match=match, seat=1, part=place, parts=len(pieces), data=piece))
        for place, piece in enumerate(pieces)
    ]


def heard(news: News, *frames: bytes) -> list[str]:
    said = []
    for frame in frames:
        lines = news.hear(frame)
        assert lines is not None
        said += lines
    return said


def test_a_report_says_place_score_reason_conduct_delay_and_rating(tmp_path: Path) -> None:
    text = (
        "match m1, seat 1: place 2, score 12, decided, conduct ok, network delay 12.5 ms;"
        " place 3 of 9 after 14 matches, rating 51.5 (-20 to ?)"
    )
    assert [text] == heard(News(tmp_path), encode(REPORT))
    void = replace(REPORT, place=None, score=None, reason="no space\x1b[2J", standing=None)
    assert ["match m1, seat 1: does not count: no space\\x1b[2J, network delay 12.5 ms"] == heard(
        News(tmp_path), encode(void)
    )


def test_a_message_of_a_match_is_no_news(tmp_path: Path) -> None:
    assert News(tmp_path).hear(encode(Invited(token="t"))) is None
    assert News(tmp_path).hear(b"garbage") is None


def test_a_dismissal_is_the_end(tmp_path: Path) -> None:
    news = News(tmp_path)
    assert [] == heard(news, encode(Dismissed(text="it is\n over")))
    assert (True, r"it is\n over") == (news.dismissed, news.farewell)


def test_a_transcript_is_put_together_and_writes_over_no_other(tmp_path: Path) -> None:
    news, packed = News(tmp_path / "mine"), zlib.compress(LINES)
    files = [tmp_path / "mine" / name for name in ("m1.seat-1.jsonl", "m1.seat-1.attempt-2.jsonl")]
    assert [f"transcript: {file}" for file in files] == heard(news, *parts(packed), *parts(packed))
    assert [LINES, LINES] == [file.read_bytes() for file in files]


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param(parts(zlib.compress(LINES), match="../m1"), id="another folder"),
        pytest.param(parts(zlib.compress(LINES), match="/m1"), id="a path"),
        pytest.param(parts(b"no zlib at all"), id="not packed"),
        pytest.param(parts(zlib.compress(LINES)[:-9]), id="not whole"),
        pytest.param(parts(zlib.compress(LINES))[1:], id="no beginning"),
        pytest.param(parts(zlib.compress(LINES))[:1] * 2, id="a part twice"),
        pytest.param(
            parts(zlib.compress(LINES))[:1] + parts(zlib.compress(LINES), number=3)[1:], id="other parts"
        ),
    ],
)
def test_data_that_is_no_transcript_is_not_written(frames: list[bytes], tmp_path: Path) -> None:
    heard(News(tmp_path / "mine"), *frames)
    assert [] == [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.parametrize(
    "part",
    [
        {"parts": MOST_PARTS + 1},
        {"parts": 0},
        {"part": MOST_PARTS},
        {"part": -1},
        {"seat": -1},
        {"seat": 10**30},
        {"data": "A" * (PART_BYTES // 3 * 4 + 8)},
        {"data": 7},
        {"match": None},
    ],
    ids=str,
)
def test_a_part_is_held_to_its_numbers_and_its_size(part: dict[str, object], tmp_path: Path) -> None:
    frame = encode({"type": "transcript", "match": "m1", "seat": 1, "part": 0, "parts": 2, "data": ""} | part)
    with pytest.raises(HostError, match="a message that cannot be read: "):
        News(tmp_path).hear(frame)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("field", ["seat", "seats", "place", "score", "standing.place", "standing.played"])
def test_a_report_is_held_to_numbers_that_can_be_printed(field: str, tmp_path: Path) -> None:
    text = encode(REPORT).decode()
    name = field.rpartition(".")[2]
    head, standing = text.split('"standing"')
    swapped = [re.sub(rf'"{name}":\d+', f'"{name}":{"9" * 300}', each) for each in (head, standing)]
    frame = f'{head}"standing"{swapped[1]}' if "." in field else f'{swapped[0]}"standing"{standing}'
    assert frame != text
    with pytest.raises(HostError, match="a message that cannot be read: "):
        News(tmp_path).hear(frame.encode())


def test_a_small_message_unpacks_to_no_huge_file(tmp_path: Path) -> None:
    packed = zlib.compress(bytes(250_000_000))
    assert len(packed) < 400_000
    with pytest.raises(HostError, match="a transcript that is far larger than what was sent of it"):
        heard(News(tmp_path / "mine"), *parts(packed, number=20))
    assert [] == [file for file in tmp_path.rglob("*") if file.is_file()]


def test_the_largest_transcript_is_kept_and_one_byte_more_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = zlib.compress(LINES)
    monkeypatch.setattr(received, "most_unpacked", lambda _: len(LINES))
    assert [f"transcript: {tmp_path}/m1.seat-1.jsonl"] == heard(News(tmp_path), *parts(packed))
    monkeypatch.setattr(received, "most_unpacked", lambda _: len(LINES) - 1)
    with pytest.raises(HostError):
        heard(News(tmp_path), *parts(packed))
    assert ["m1.seat-1.jsonl"] == [file.name for file in tmp_path.iterdir()]


def test_a_transcript_may_be_64_megabytes_and_a_hundred_times_what_was_sent() -> None:
    assert [2**20, 2**20 + 100_000, 2**26] == [most_unpacked(packed) for packed in (0, 1_000, 2**24)]


def test_a_folder_takes_so_much_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was there before counts: an author may run the program again and again."""
    packed = zlib.compress(LINES)
    (tmp_path / "before.jsonl").write_bytes(bytes(5_000))
    monkeypatch.setattr(received, "MOST_FOLDER_BYTES", 5_000 + len(LINES) + most_unpacked(len(packed)))
    news = News(tmp_path)
    said = heard(news, *(frame for match in ("a", "b", "c", "d") for frame in parts(packed, match=match)))
    assert [f"transcript: {tmp_path}/{match}.seat-1.jsonl" for match in "ab"] == said[:2]
    assert 3 == len(said)
    assert said[2].startswith(f"{tmp_path}: has ")
    assert said[2].endswith(" MB of transcripts: no more are saved")


def test_more_news_than_the_matches_explain_are_refused(tmp_path: Path) -> None:
    bounds = Bounds()
    news = News(tmp_path, bounds)
    bounds.begin()
    for _ in range(FREE_NEWS + NEWS_OF_A_MATCH):
        assert news.hear(encode(REPORT))
    with pytest.raises(HostError, match=r"211 reports and transcripts, after 1 matches of this bot"):
        news.hear(encode(REPORT))


def test_parts_that_belong_to_nothing_are_counted_too(tmp_path: Path) -> None:
    news = News(tmp_path)
    stray = parts(zlib.compress(LINES))[1]
    with pytest.raises(HostError, match="not of this protocol"):
        for _ in range(MOST_UNKNOWN + 1):
            news.hear(stray)
