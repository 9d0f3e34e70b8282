"""Writing: a match's transcript is chained, sealed, never in the match's way, and named only when it is whole."""

import errno
import os
import resource
import threading
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest
import trio
import trio.testing
from msgspec import Raw
from msgspec.structs import replace

from protocol.messages import MAX_FRAME_BYTES
from referee.match.records import Handed, Header, In, Out
from referee.transcript import writer
from referee.transcript.chain import MAX_LINE_BYTES, TranscriptError, seat_lines
from referee.transcript.reader import read_transcript, verify_transcript
from referee.transcript.writer import (
    FLUSH_SECONDS,
    HURRY_BYTES,
    MAX_WAITING_BYTES,
    PartFile,
    Transcript,
    open_transcript,
)
from tests.referee.transcript.transcript_sample import header, match_records, plain, under_way, write


def part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def names(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


async def test_every_line_has_its_number_and_the_hash_of_the_line_before(tmp_path: Path) -> None:
    await write(tmp_path / "m.jsonl", match_records())
    lines = (tmp_path / "m.jsonl").read_bytes().splitlines(keepends=True)
    assert len(match_records()) + 1 == len(lines)
    expected = "0" * 64
    for number, line in enumerate(lines, 1):
        assert (number, expected) == (plain(line)["line"], plain(line)["prev"])
        expected = sha256(line).hexdigest()


async def test_the_head_is_the_hash_of_the_last_line_which_is_sealed(tmp_path: Path) -> None:
    transcript = await write(tmp_path / "m.jsonl", match_records())
    last = (tmp_path / "m.jsonl").read_bytes().splitlines(keepends=True)[-1]
    unsealed, seal = last.split(b',"seal":')
    assert sha256(last).hexdigest() == transcript.head
    assert f'"{sha256(unsealed + b"}").hexdigest()}"}}\n'.encode() == seal
    assert list(transcript.seat_heads) == plain(last)["heads"]


async def test_the_appended_records_are_read_back(tmp_path: Path) -> None:
    await write(tmp_path / "m.jsonl", match_records())
    *read, _footer = read_transcript(tmp_path / "m.jsonl")
    written = match_records()
    assert [type(record) for record in written] == [type(record) for record in read]
    assert [_frame(record) for record in written] == [_frame(record) for record in read]
    assert [replace(r, frame=b"") for r in written if isinstance(r, Out)] == [
        replace(r, frame=b"") for r in read if isinstance(r, Out)
    ]
    skipped = Out, type(written[0]), type(written[-1])  # They hold Raw, or a game's own values.
    assert [r for r in written if not isinstance(r, skipped)] == [r for r in read if not isinstance(r, skipped)]


def _frame(record: object) -> bytes | None:
    return bytes(record.frame) if isinstance(record, Out) else None


async def test_every_seat_gets_a_salt_of_its_own_where_the_header_has_none(tmp_path: Path) -> None:
    for name in "ab":
        await write(tmp_path / name, [replace(header(), salts=())])
    headers = [next(read_transcript(tmp_path / name)) for name in "ab"]
    salts = [salt for first in headers if isinstance(first, Header) for salt in first.salts]
    assert {32} == {len(salt) for salt in salts}
    assert 4 == len(set(salts))


async def test_a_transcript_has_its_name_only_when_it_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    async with open_transcript(path, header()) as transcript:
        assert (True, False) == (part(path).exists(), path.exists())
        assert transcript.head is None
    assert (False, True) == (part(path).exists(), path.exists())


async def test_a_match_that_fails_leaves_all_that_was_appended_in_an_unfinished_file(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with pytest.raises(ZeroDivisionError):
        async with open_transcript(path, header()) as transcript:
            transcript.append(Handed(at=1, seat=0))
            raise ZeroDivisionError
    assert not path.exists()
    assert ["header", "handed"] == [plain(line)["kind"] for line in part(path).read_bytes().splitlines()]
    with pytest.raises(TranscriptError, match="line 2 is the last, and no footer"):
        verify_transcript(part(path))


async def test_so_does_one_that_is_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with trio.CancelScope() as scope:
        async with open_transcript(path, header()) as transcript:
            transcript.append(Handed(at=1, seat=0))
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert 2 == len(part(path).read_bytes().splitlines())


@pytest.mark.parametrize("name", ["m.jsonl", "m.jsonl.part"])
async def test_existing_files_are_not_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"precious")
    with pytest.raises(TranscriptError, match=f"{name}: .* not written over$"):
        await write(tmp_path / "m.jsonl", match_records())
    assert b"precious" == (tmp_path / name).read_bytes()
    assert [name] == names(tmp_path)


async def test_a_file_that_appeared_during_the_match_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    with pytest.raises(TranscriptError, match="not written over"):
        async with open_transcript(path, header()):
            path.write_bytes(b"precious")
    assert b"precious" == path.read_bytes()
    assert 2 == len(part(path).read_bytes().splitlines())


async def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for directory, why in [("missing", "No such file or directory"), ("file", "Not a directory")]:
        path = tmp_path / directory / "m.jsonl"
        with pytest.raises(TranscriptError) as caught:
            await write(path, match_records())
        assert f"{part(path)}: cannot be written: {why}" == str(caught.value)


async def test_a_disk_that_fills_cancels_the_match_and_keeps_the_whole_lines_before(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    real_write = PartFile._write_all

    def write_on_a_small_disk(file: PartFile, data: bytes) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
        try:
            real_write(file, data)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    monkeypatch.setattr(PartFile, "_write_all", write_on_a_small_disk)
    with pytest.raises(TranscriptError) as caught:
        async with open_transcript(path, header()) as transcript:
            await trio.sleep(1)
            for at in range(100):
                transcript.append(Handed(at=at, seat=0))
            await trio.sleep_forever()
    assert path == caught.value.path
    assert f"{path}: cannot be written: File too large" == str(caught.value)
    assert not path.exists()
    assert ["header"] == [plain(line)["kind"] for line in part(path).read_bytes().splitlines()]
    assert FLUSH_SECONDS + 1 == pytest.approx(autojump_clock.current_time())


@pytest.mark.parametrize("method", ["write", "finish"])
async def test_a_disk_that_fails_at_the_end_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def full(file: object, *_: object) -> None:
        raise TranscriptError("cannot be written: No space left on device", file.path)  # type: ignore[attr-defined]

    with pytest.raises(TranscriptError, match=r"m\.jsonl: cannot be written: No space left on device"):
        async with open_transcript(tmp_path / "m.jsonl", header()):
            monkeypatch.setattr(PartFile, method, full)
    assert not (tmp_path / "m.jsonl").exists()


def test_only_its_owner_can_read_it_from_its_first_byte_on(tmp_path: Path) -> None:
    """Its header holds the seed and the tokens of a match that is being played."""
    before = os.umask(0)
    try:
        file = PartFile(tmp_path / "m.jsonl")
    finally:
        os.umask(before)
    assert 0o600 == file.part.stat().st_mode & 0o777
    file.finish([b"line\n"])
    assert 0o600 == file.path.stat().st_mode & 0o777


def test_every_failing_call_of_the_file_names_its_path(tmp_path: Path) -> None:
    file = PartFile(tmp_path / "m.jsonl")
    file._file.close()
    file._file = Path("/dev/full").open("r+b", buffering=0)  # noqa: SIM115 - closed by `abandon`
    with pytest.raises(TranscriptError) as caught:
        file.write([b"line\n"])
    file.abandon([])
    assert isinstance(caught.value.__cause__, OSError)
    assert errno.ENOSPC == caught.value.__cause__.errno
    assert tmp_path / "m.jsonl" == caught.value.path


async def test_once_the_transcript_has_failed_every_append_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    spanning = Out(at=0, seat=0, frame=Raw(b'{\n"type":"over"}'))
    with pytest.raises(TranscriptError, match=r"line 2 cannot be written: .* spans lines"):
        async with open_transcript(path, header()) as transcript:
            transcript.append(spanning)
            with trio.move_on_after(2 * FLUSH_SECONDS), trio.CancelScope(shield=True):
                await trio.sleep(FLUSH_SECONDS + 0.4)
            with pytest.raises(TranscriptError, match="line 2 cannot be written"):
                transcript.append(Handed(at=1, seat=0))
    assert not path.exists()


async def test_a_failure_met_deep_in_the_match_comes_out_as_itself(tmp_path: Path) -> None:
    async def player(transcript: Transcript) -> None:
        transcript.append(Out(at=0, seat=0, frame=Raw(b"\n")))

    with pytest.raises(TranscriptError, match="line 2 cannot be written"):
        async with open_transcript(tmp_path / "m.jsonl", header()) as transcript, trio.open_nursery() as nursery:
            nursery.start_soon(player, transcript)
            nursery.start_soon(trio.sleep_forever)


@pytest.mark.parametrize(
    "record",
    [
        Out(at=0, seat=0, frame=Raw(b'"%s"' % (b"x" * MAX_LINE_BYTES))),
        Out(at=0, seat=0, frame=object()),  # type: ignore[arg-type]
        Handed(at="\ud800", seat=0),  # type: ignore[arg-type]
    ],
    ids=["too long", "not JSON", "not Unicode"],
)
async def test_a_record_that_cannot_be_a_line_is_no_line(tmp_path: Path, record: Out | Handed) -> None:
    with pytest.raises(TranscriptError, match="line 2 cannot be written"):
        async with open_transcript(tmp_path / "m.jsonl", header()) as transcript:
            transcript.append(record)
    assert 1 == len(part(tmp_path / "m.jsonl").read_bytes().splitlines())


async def test_lines_wait_for_the_disk_no_longer_than_half_a_second_and_go_in_one_batch(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[tuple[float, int]] = []
    written = trio.Event()
    real_write = PartFile.write

    def observed_write(file: PartFile, lines: Sequence[bytes]) -> None:
        real_write(file, lines)
        batches.append((autojump_clock.current_time(), len(lines)))
        trio.from_thread.run_sync(written.set)

    monkeypatch.setattr(PartFile, "write", observed_write)
    async with open_transcript(tmp_path / "m.jsonl", header()) as transcript:
        for at in range(50):
            transcript.append(Handed(at=at, seat=0))
        await written.wait()
        on_disk = part(tmp_path / "m.jsonl").read_bytes().count(b"\n")
    assert 51 == on_disk
    assert [51, 1] == [lines for _, lines in batches]  # The other is the footer's.
    assert pytest.approx(0.5) == batches[0][0]


async def test_a_slow_disk_does_not_hold_up_the_match(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert autojump_clock.autojump_threshold == 0
    stuck, released = trio.Event(), threading.Event()
    real_write = PartFile.write

    def stuck_write(file: PartFile, lines: Sequence[bytes]) -> None:
        trio.from_thread.run_sync(stuck.set)
        released.wait()
        real_write(file, lines)

    monkeypatch.setattr(PartFile, "write", stuck_write)
    async with open_transcript(tmp_path / "m.jsonl", header()) as transcript:
        await stuck.wait()
        for at in range(1_000):
            transcript.append(Handed(at=at, seat=0))
        await trio.sleep(60)
        released.set()
    assert 1_002 == verify_transcript(tmp_path / "m.jsonl").lines


async def test_but_what_waits_for_it_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MAX_WAITING", 100)
    with pytest.raises(TranscriptError, match="the disk does not keep up"):
        async with open_transcript(tmp_path / "m.jsonl", header()) as transcript:
            for at in range(1_000):
                transcript.append(Handed(at=at, seat=0))


async def test_so_are_its_bytes_those_on_their_way_to_the_disk_among_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots' frames may be most of a line: so many lines as may wait would not fit into any memory."""
    released = threading.Event()
    real_write = PartFile.write

    def stuck_write(file: PartFile, lines: Sequence[bytes]) -> None:
        released.wait()
        real_write(file, lines)

    monkeypatch.setattr(PartFile, "write", stuck_write)
    appended = 0
    with pytest.raises(TranscriptError, match=r"the disk does not keep up: \d+ records, \d{8} bytes wait for it"):
        async with open_transcript(tmp_path / "m.jsonl", header()) as transcript:
            try:
                for at in range(100_000):
                    transcript.append(In(at=at, seat=0, frame="x" * MAX_FRAME_BYTES))
                    transcript.catch_up()
                    appended += 1
                    await trio.lowlevel.checkpoint()
            finally:
                released.set()
    assert MAX_WAITING_BYTES // MAX_FRAME_BYTES - 1 <= appended <= MAX_WAITING_BYTES // MAX_FRAME_BYTES


async def test_a_megabyte_goes_to_the_disk_at_once(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = trio.Event()
    real_write = PartFile.write

    def observed_write(file: PartFile, lines: Sequence[bytes]) -> None:
        real_write(file, lines)
        trio.from_thread.run_sync(written.set)

    monkeypatch.setattr(PartFile, "write", observed_write)
    async with open_transcript(tmp_path / "m.jsonl", header()) as transcript:
        for at in range(HURRY_BYTES // MAX_FRAME_BYTES):
            transcript.append(In(at=at, seat=0, frame="x" * MAX_FRAME_BYTES))
        transcript.catch_up()
        await written.wait()
        assert pytest.approx(0) == autojump_clock.current_time()


def test_many_lines_are_written_whole_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "WRITE_BYTES", 10)
    lines = [b"%d\n" % number for number in range(8, 1_000, 3)]
    file = PartFile(tmp_path / "m.jsonl")
    file.write(lines)
    file.finish([])
    assert (b"".join(lines), len(b"".join(lines))) == ((tmp_path / "m.jsonl").read_bytes(), file.size)


async def test_appended_records_become_lines_when_the_match_permits(tmp_path: Path) -> None:
    async with open_transcript(tmp_path / "m.jsonl", header()) as transcript:
        transcript.append(Handed(at=1, seat=0))
        assert (0, 2) == (len(transcript._lines), len(transcript._records))
        transcript.catch_up()
        assert (2, 0) == (len(transcript._lines), len(transcript._records))


async def test_a_record_that_cannot_become_a_line_ends_the_match(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="line 2 cannot be written"):
        async with open_transcript(tmp_path / "m.jsonl", header()) as transcript:
            transcript.append(Out(at=0, seat=0, frame=Raw(b"\n")))
            transcript.catch_up()
            await trio.sleep_forever()
    assert 1 == len(part(tmp_path / "m.jsonl").read_bytes().splitlines())


async def test_seats_own_hashes_come_from_the_file_however_long_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "READ_BYTES", 100)
    transcript = await write(tmp_path / "m.jsonl", match_records())
    for seat, head in enumerate(transcript.seat_heads):
        *_, last = seat_lines(read_transcript(tmp_path / "m.jsonl"), seat)
        assert head == sha256(last).hexdigest()


async def test_one_that_was_closed_early_has_its_name_and_is_not_finished_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.jsonl"
    async with under_way(path) as transcript:
        await transcript.close()
        whole = path.read_bytes()
        await trio.sleep(2 * FLUSH_SECONDS)
        monkeypatch.setattr(writer, "SeatChains", None)
    assert whole == path.read_bytes()
    assert len(match_records()) + 1 == verify_transcript(path).lines
    assert not part(path).exists()


async def test_records_appended_after_an_early_end_raise_an_error(tmp_path: Path) -> None:
    header, *records = match_records()
    assert isinstance(header, Header)
    with pytest.raises(TranscriptError, match="nothing can be added after its end"):
        async with open_transcript(tmp_path / "m.jsonl", header) as transcript:
            transcript.append(records[0])
            await transcript.close()
            transcript.append(records[1])


async def test_an_error_at_an_early_end_is_raised_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "m.jsonl"
    header, *records = match_records()
    assert isinstance(header, Header)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TranscriptError, match="No space left"):
        async with open_transcript(path, header) as transcript:
            transcript.append(records[0])
            await transcript.close()
            monkeypatch.undo()
    assert not path.exists()
    assert part(path).exists()


async def test_a_disk_that_fails_just_before_the_end_leaves_no_finished_file(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines wait for the disk when the last one is made: if they do not get there, it must not."""
    path = tmp_path / "m.jsonl"
    failures = [TranscriptError("it is full", path)]

    async def take_a_second(_chains: object, _lines: object) -> None:
        await trio.sleep(1)

    def write(self: PartFile, lines: Sequence[bytes]) -> None:
        if failures:
            raise failures.pop()

    with pytest.raises(TranscriptError, match="it is full"):
        async with under_way(path) as transcript:
            monkeypatch.setattr(transcript, "_take", take_a_second)
            monkeypatch.setattr(PartFile, "write", write)
            await transcript.close()
    assert not path.exists()
    assert part(path).exists()


async def test_a_close_that_is_broken_off_is_gone_on_with(tmp_path: Path) -> None:
    for ticks in range(12):
        path = tmp_path / f"{ticks}.jsonl"
        async with under_way(path) as transcript, trio.open_nursery() as nursery:
            nursery.start_soon(transcript.close)
            for _ in range(ticks):
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        assert len(match_records()) + 1 == verify_transcript(path).lines


async def test_no_line_is_lost_if_the_match_ends_just_when_lines_go_to_the_disk(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    """Both wake at the same tick, in any order: hence so many times."""
    for number in range(40):
        path = tmp_path / f"{number}.jsonl"
        async with under_way(path):
            await trio.sleep(FLUSH_SECONDS)
        assert len(match_records()) + 1 == verify_transcript(path).lines


@pytest.mark.parametrize(("most", "fits"), [(100, 99), (101, 100)])
async def test_so_many_records_wait_and_the_next_one_says_so_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, fits: int
) -> None:
    """The header is the first of them."""
    monkeypatch.setattr(writer, "MAX_WAITING", most)
    appended = 0
    with pytest.raises(TranscriptError, match=f"the disk does not keep up: {most} records"):
        async with open_transcript(tmp_path / "m.jsonl", header()) as transcript:
            for at in range(fits):
                transcript.append(Handed(at=at, seat=0))
            assert transcript.error is None
            appended = fits
            transcript.append(Handed(at=fits, seat=0))
            appended += 1
    assert fits == appended


async def test_lines_on_the_disk_do_not_wait_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transcript may be much longer than what may wait."""
    monkeypatch.setattr(writer, "MAX_WAITING_BYTES", 10_000)
    monkeypatch.setattr(writer, "FLUSH_SECONDS", 0)
    async with open_transcript(tmp_path / "m.jsonl", header()) as transcript:
        for at in range(20):
            transcript.append(In(at=at, seat=0, frame="x" * 2_000))
            transcript.catch_up()
            with trio.fail_after(60):
                while transcript._waiting_bytes:  # noqa: ASYNC110 - the disk rings no bell
                    await trio.sleep(0.001)
    assert 40_000 < (tmp_path / "m.jsonl").stat().st_size


def test_lines_are_written_in_batches_of_at_least_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "WRITE_BYTES", 10)
    lines = [b"12345\n", b"1234\n", b"123456789\n", b"1\n"]
    batches = [b"".join(batch) for batch in writer._batches(lines)]
    assert [b"12345\n1234\n", b"123456789\n", b"1\n"] == batches
