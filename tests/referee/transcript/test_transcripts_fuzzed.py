"""Whatever a transcript says: it holds, or is refused with a line; nothing else, and nothing is kept of it."""

import gc
from collections import Counter
from pathlib import Path
from random import Random

import pytest
import trio
import trio.testing

from arena.replay.verification import proved
from protocol.codec import decode_json, encode
from referee.match.records import Header
from referee.transcript.chain import Broken, TranscriptError, seat_lines
from referee.transcript.reader import read_transcript
from referee.transcript.replayer import Differs
from referee.transcript.writer import open_transcript
from tests.long import cases
from tests.referee.proofs.mutations import memory, mutated, mutated_bytes
from tests.referee.transcript.forged import Lines, chained, taken_apart
from tests.referee.transcript.test_replayer import eventful_match

EXAMPLE = Path("docs/examples/three-turns.jsonl")
GROWTH = 64 * 1024 * 1024
WARM = 10
"""After one part in so many, no more memory may be needed."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """A quiet match, one with every kind of input, and a seat's own transcript of each."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "quiet").write_bytes(EXAMPLE.read_bytes())

    async def play_eventful() -> None:
        header, *records, _ = await eventful_match()
        assert isinstance(header, Header)
        async with open_transcript(folder / "eventful", header) as transcript:
            for record in records:
                transcript.append(record)  # type: ignore[arg-type]

    trio.run(play_eventful, clock=trio.testing.MockClock(autojump_threshold=0))
    whole = [folder / "quiet", folder / "eventful"]
    own = [b"".join(seat_lines(read_transcript(path), seat)) for path in whole for seat in (0, 1)]
    return [*(path.read_bytes() for path in whole), *own]


def outcome(path: Path) -> str:
    """Return the result of reading a file; any other error is a finding."""
    try:
        proved(path)
    except (Broken, Differs) as found:
        assert 1 <= found.line
        return f"line: {type(found).__name__}"
    except TranscriptError:
        return "no transcript"
    return "holds"


def changed_lines(content: bytes, rng: Random, others: Lines) -> bytes:
    """Forged: some records changed, doubled, left out, moved or taken from elsewhere, and all chained anew."""
    lines = taken_apart(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        # The first and the last are short of luck among so many, and hold the most.
        at = rng.choice((0, len(lines) - 1, len(lines) - 2, *[rng.randrange(len(lines))] * 6)) % len(lines)
        match rng.randrange(10):
            case 0:
                lines.insert(at, dict(lines[at]))
            case 1 if len(lines) > 2:
                del lines[at]
            case 2:
                lines[at], lines[at - 1] = lines[at - 1], lines[at]
            case 3:
                lines.insert(at, dict(rng.choice(others)))
            case _:
                lines[at] = mutated(lines[at], rng)
    return chained([encode(line) for line in lines])


def changed_body(content: bytes, rng: Random) -> bytes:
    """Forged in the bytes of one record."""
    bodies = [encode(line) for line in taken_apart(content)]
    at = rng.choice((0, rng.randrange(len(bodies))))
    bodies[at] = b"{" + mutated_bytes(bodies[at][1:], rng).replace(b"\n", b"")
    return chained(bodies)


@pytest.mark.parametrize(("way", "short", "long"), [("lines", 200, 800), ("body", 100, 400), ("bytes", 100, 400)])
def test_it_holds_or_its_line_is_named(
    corpus: list[bytes], tmp_path: Path, way: str, short: int, long: int
) -> None:
    others = [line for content in corpus for line in taken_apart(content)]
    path, count = tmp_path / "fuzzed", cases(short, long)
    came: Counter[str] = Counter()
    warm = 0
    for number in range(count):
        rng = Random(f"transcripts/{way}/{number}")
        content = rng.choice(corpus)
        if way == "lines":
            content = changed_lines(content, rng, others)
        else:
            content = changed_body(content, rng) if way == "body" else mutated_bytes(content, rng)
        path.write_bytes(content)
        try:
            came[outcome(path)] += 1
        except BaseException as error:
            error.add_note(f"case {way}/{number}")
            raise
        if number == count // WARM:
            gc.collect()
            warm = memory()
    gc.collect()
    assert memory() - warm < GROWTH
    # Forged lines must get beyond the hashes: some to the rules, where nothing hostile is meant to.
    assert came["line: Broken"] > count // 10
    if way == "lines":
        assert came["line: Differs"] > count // 10
    assert came["holds"] < count // 2


def test_the_corpus_holds(corpus: list[bytes], tmp_path: Path) -> None:
    for content in corpus:
        (tmp_path / "m").write_bytes(content)
        assert "holds" == outcome(tmp_path / "m")
        assert all(isinstance(decode_json(line), dict) for line in content.splitlines())
