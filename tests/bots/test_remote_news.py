"""What an author is told between two matches, and that a host can write no file but the bot's own transcripts."""

import zlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from bots import remote_news
from bots.remote_news import News
from protocol.codec import encode
from protocol.messages import Invited
from protocol.news import MOST_PARTS, Dismissed, MatchReport, TableRow, TranscriptPart

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
    assert ["it is over"] == heard(news, encode(Dismissed(text="it is over")))
    assert news.dismissed


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
            [encode(TranscriptPart(match="m1", seat=1, part=0, parts=MOST_PARTS + 1, data=b""))], id="too many"
        ),
    ],
)
def test_what_is_no_transcript_is_not_written(frames: list[bytes], tmp_path: Path) -> None:
    heard(News(tmp_path / "mine"), *frames)
    assert [] == [file for file in tmp_path.rglob("*") if file.is_file()]


def test_a_small_message_unpacks_to_no_huge_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_news, "MOST_BYTES", 10_000)
    said = heard(News(tmp_path / "mine"), *parts(zlib.compress(bytes(1_000_000))))
    assert ["the transcript of match m1 cannot be unpacked: it is too long, or not whole"] == said
    assert [] == [file for file in tmp_path.rglob("*") if file.is_file()]
