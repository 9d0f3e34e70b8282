"""`arena replay` of files that somebody forged: what was changed is found, and its line named, in one line."""

import json
import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from click.testing import Result
from msgspec import Raw

from arena.errors import DONE, NO, WRONG_USE
from protocol.codec import encode
from referee.host.one_match import play
from referee.host.plan import Plan
from referee.transcript.chain import sealed
from tests.arena.live.local_bots import draws
from tests.builders.command_line import arena
from tests.referee.transcript.forged import Change, Lines, chained, forged, taken_apart

replay = partial(arena, "replay")

HUGE = 10**30
NO_POLICIES: tuple[Any, ...] = (
    None, [], "strict", {"x": 1}, {"main_ms": -1}, {"restarts": HUGE}, {"fault": "none"},
)  # fmt: skip
NO_SEATS: tuple[Any, ...] = (-1, 2, 9, 2**31, 2**63, -(2**63), HUGE, 1.0, "0", None, True, [])
USED = {"at": 0, "cpu": 0, "waited": 0, "withheld": 0, "throttled": 0, "behind": 0}
CUT = {"frame": "x" * 1_000, "cut": 2_000}


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A match of five turns between two bots."""
    path = tmp_path_factory.mktemp("transcripts") / "m.jsonl"
    plan = Plan(match="m", game="mist", variant="contractual-obligation", seed=1, options=Raw(b'{"max_turns":5}'))

    async def playing() -> None:
        await play(plan, (draws("ann"), draws("bob")), transcript=path)

    trio.run(playing)
    return path.read_bytes()


@pytest.fixture(scope="module")
def own(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The transcript of seat 1 alone."""
    path = tmp_path_factory.mktemp("transcripts") / "m.jsonl"
    path.write_bytes(content)
    return replay(path, "--seat", "1").stdout_bytes


def is_told(result: Result) -> bool:
    """Whether what went wrong is one line, and none that blames the arena."""
    return result.stderr.count("\n") == 1 and "fault of the arena" not in result.stderr


def first(kind: str, lines: Lines) -> dict[str, Any]:
    return next(line for line in lines if line["kind"] == kind)


def number_of(kind: str, lines: Lines) -> int:
    return next(number for number, line in enumerate(lines, 1) if line["kind"] == kind)


def set_in(kind: str, **fields: Any) -> Change:
    return lambda lines: first(kind, lines).update(fields)


def set_at(path: str, value: Any, kind: str = "header") -> Change:
    """Set a nested value, such as `clock.main_ms.turn`."""

    def change(lines: Lines) -> None:
        *way, last = path.split(".")
        place: Any = first(kind, lines)
        for step in way:
            place = place[int(step) if step.isdecimal() else step]
        place[int(last) if last.isdecimal() else last] = value

    return change


def drop(kind: str, field: str) -> Change:
    return lambda lines: first(kind, lines).pop(field)


def insert_after(after: str, /, **record: Any) -> Change:
    return lambda lines: lines.insert(number_of(after, lines), record)


OF_LINES: dict[str, Change] = {
    # The issue's own, and their relatives: of a seat,
    **{f"{kind}.seat {seat}": set_in(kind, seat=seat) for kind in ("in", "out", "handed")
       for seat in NO_SEATS},
    "started of a seat there is not": insert_after("header", kind="started", at=0, seat=9),
    "left of a seat there is not": insert_after("header", kind="left", at=0, seat=-1, exit=0),
    "cpu on no cores": insert_after("header", kind="cpu", at=0, seat=0, used=0, cores=0),
    "used of a seat there is not": insert_after("header", kind="used", **USED, seat=7, number=0),
    "used of a window there is not": insert_after("header", kind="used", **USED, seat=0, number=7),
    "a pause at no time": insert_after("header", kind="pause", at=-5, on=True),
    # of a time,
    **{f"{kind}.at {at}": set_in(kind, at=at) for kind in ("in", "out", "handed", "window", "ended")
       for at in (-1, 2**63, HUGE, 0.5, "1", None)},
    "woke before its deadline": insert_after("header", kind="woke", at=1, deadline=2**50),
    "woke for no deadline": insert_after("header", kind="woke", at=1, deadline=HUGE),
    # of a frame,
    "frame and octets": set_in("in", octets="AAAA"),
    "octets that are text": lambda lines: first("in", lines).update(frame="", octets="eyJ9"),
    "octets that are no base64": set_in("in", frame="", octets="/"),
    "octets that are not ASCII": set_in("in", frame="", octets="ä"),
    "cut that is smaller than kept": set_in("in", cut=1, refused="malformed", text=""),
    "cut of billions of a short frame": set_in("in", cut=10**12, refused="oversized", text=""),
    "cut for no known reason": set_in("in", **CUT, refused="ugly", text=""),
    "cut as a flood that was none": set_in("in", **CUT, refused="flood", text=""),
    "cut as too much that was not": set_in("in", frame="", cut=70_000, refused="too-much", text=""),
    "cut as too much, and kept": set_in("in", frame="x" * 1_000, cut=70_000, refused="too-much", text=""),
    "cut as oversized that was not": set_in("in", **CUT, refused="oversized", text=""),
    "cut, oversized, and told otherwise": set_in(
        "in", frame="x" * 1_000, cut=10**9, refused="oversized", text="too long"
    ),
    "cut with a long story": set_in("in", **CUT, refused="malformed", text="y" * 999),
    "refused, but not cut": set_in("in", refused="malformed"),
    "cut below nothing": set_in("in", cut=-1),
    "a frame that is a number": set_in("in", frame=5),
    # of the header,
    "one bot": lambda lines: first("header", lines)["bots"].pop(),
    "no bot": set_in("header", bots=[], salts=[]),
    "one bot, one salt": lambda lines: [first("header", lines)[key].pop() for key in ("bots", "salts")],
    "three bots": lambda lines: [lines[0][key].append(lines[0][key][0]) for key in ("bots", "salts")],
    "no salts": set_in("header", salts=[]),
    "no field of salts": drop("header", "salts"),
    "short salts": set_in("header", salts=["ab", "cd"]),
    "salts that are no numbers": set_in("header", salts=["g" * 32, "0" * 32]),
    "an unknown game": set_in("header", game="chess"),
    "a game that is a path": set_in("header", game="../mist"),
    "an unknown variant": set_in("header", variant="x"),
    "another format": set_in("header", format=1),
    "a huge format": set_in("header", format=HUGE),
    **{f"options {value!r:.20}": set_in("header", options=value)
       for value in (*({"max_turns": turns} for turns in (HUGE, 10**9, 0, 5.0)), {"no": 1}, [], 7, "x")},
    **{f"setup {value!r:.20}": set_in("header", setup=value) for value in ({"x": 1}, [], 7, ["y"] * 10_000)},
    **{f"policy {value!r:.20}": set_in("header", policy=value)
       for value in NO_POLICIES},
    **{f"clock.{field} {value}": set_at(f"clock.{field}", value)
       for field, value in (
           ("main_ms", {}), ("main_ms", {"turn": 1}), ("main_ms", None), ("main_ms.turn", -1),
           ("main_ms.turn", HUGE), ("main_ms.turn", "x"), ("main_ms.more", 1), ("reserve_ms", -1),
           ("reserve_ms", HUGE), ("pauses", 1), ("pauses", -1), ("pause_ms", HUGE), ("pacing", "slow"),
           ("pacing", "fixed"), ("kind", "cpu"), ("kind", "moon"), ("wall_factor", 0), ("wall_factor", HUGE),
           ("increment_ms", -1), ("bronstein_ms", HUGE),
       )},
    "a cpu clock of factor 0": lambda lines: first("header", lines)["clock"].update(kind="cpu", wall_factor=0),
    "a seed that is text": set_in("header", seed="1"),
    "bots that are no list": set_in("header", bots={"0": 1}),
    # of fields that nobody knows,
    **{f"an unknown field in {kind}": set_in(kind, more=1)
       for kind in ("header", "in", "out", "handed", "window", "ended", "footer")},
    "an unknown field in a bot": set_at("bots.0.more", 1),
    "an unknown field in the clock": set_at("clock.more", 1),
    "an unknown field in a part": set_at("seats.0.more", 1, "window"),
    "an unknown field in the outcome": set_at("outcome.more", 1, "ended"),
    # of the end.
    "conduct of one": lambda lines: first("ended", lines)["conduct"].pop(),
    "refused of three": lambda lines: first("ended", lines)["refused"].append({}),
    "another conduct": set_at("conduct.0", "crashed", "ended"),
    "an unknown conduct": set_at("conduct.0", "rude", "ended"),
    "void and decided": set_in("ended", void="because"),
    "a second header": lambda lines: lines.insert(number_of("ended", lines) - 1, dict(lines[0])),
    "something after the end": lambda lines: lines.insert(-1, {"kind": "pause", "at": 10**15, "on": True}),
    "no end": lambda lines: lines.remove(first("ended", lines)),
    "another end after the end": lambda lines: lines.insert(-1, dict(first("ended", lines))),
    "a footer before": lambda lines: lines.insert(number_of("out", lines) - 1, dict(lines[-1])),
    "a seat's end in a whole": insert_after("header", kind="seat-ended", conduct="ok", refused={}),
    "an unknown kind": insert_after("header", kind="nothing", at=1),
    "no kind": insert_after("header", at=1),
    "a kind that is a number": insert_after("header", kind=1, at=1),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_LINES)
def test_a_forged_line_is_a_finding_with_its_number(content: bytes, tmp_path: Path, name: str) -> None:
    path = tmp_path / "forged.jsonl"
    path.write_bytes(forged(content, OF_LINES[name]))
    before, after = taken_apart(content), taken_apart(path.read_bytes())
    pairs = enumerate(zip(map(encode, before), map(encode, after), strict=False), 1)
    changed = next(number for number, (old, new) in pairs if old != new)
    for arguments in ((), ("--json",), ("--boards",), ("--seat", "1")):
        result = replay(path, *arguments)
        assert (NO, True) == (result.exit_code, is_told(result)), (arguments, result.output)
        named = result.stderr.removeprefix(f"arena: {path}: line ").split(":")[0].split()[0]
        # What a change leads to may be seen on a later line than the one that was changed.
        assert changed <= int(named) <= len(after), result.stderr
        if arguments == ("--json",):
            found = json.loads(result.stdout)
            assert (False, int(named)) == (found["holds"], found["line"])


def body_with(content: bytes, kind: str, old: bytes, new: bytes) -> bytes:
    """Forged in its bytes: what no JSON writer would write."""
    bodies = [encode(line) for line in taken_apart(content)]
    place = next(place for place, body in enumerate(bodies) if body.startswith(b'{"kind":"%s"' % kind.encode()))
    assert old in bodies[place]
    bodies[place] = bodies[place].replace(old, new, 1)
    return chained(bodies)


OF_BYTES = {
    "invalid UTF-8 in a frame": ("in", b'"frame":"', b'"frame":"\xff'),
    "invalid UTF-8 in a frame's own text": ("in", b"hello", b"\xc3\x28"),
    "invalid UTF-8 in a field nobody knows": ("in", b'"at"', b'"more":"\xff","at"'),
    "invalid UTF-8 in a message": ("out", b'"frame":{', b'"frame":{"a":"\xed\xa0\x80",'),
    "invalid UTF-8 in the options": ("header", b'"options":{', b'"options":{"\xff":1,'),
    "a lone surrogate": ("in", b'"frame":"', b'"frame":"\\ud800'),
    "a key twice": ("in", b'"seat":', b'"seat":1,"seat":'),
    "a kind twice": ("in", b'"seat":', b'"kind":"in","seat":'),
    "a line's number twice": ("in", b'"seat":', b'"line":2,"seat":'),
    "a key twice in a message": ("out", b'"frame":{', b'"frame":{"type":"over",'),
    "a key twice in the options": ("header", b'"options":{', b'"options":{"first":1,'),
    "a key twice in the policy": ("header", b'"policy":{', b'"policy":{"pauses":1,'),
    "white space": ("in", b'"seat":', b'"seat": '),
    "white space in a message": ("out", b'"frame":{', b'"frame":{ '),
    "a carriage return": ("in", b"}", b"}\r"),
    "NUL": ("in", b'"seat":', b'\0"seat":'),
    "an escape where none is needed": ("in", b'"frame":"', b'"frame":"\\u0041'),
    "a float": ("in", b'"at":', b'"at":1e3,"x":'),
    "NaN": ("in", b'"at":', b'"at":NaN,"x":'),
    "infinity": ("handed", b'"at":', b'"at":1e999,"x":'),
    "a number of 5,000 digits": ("in", b'"at":', b'"at":' + b"9" * 5_000),
    "a seed of 5,000 digits": ("header", b'"seed":', b'"seed":' + b"9" * 5_000),
    "minus zero": ("in", b'"seat":', b'"seat":-0,"x":'),
    "a leading zero": ("in", b'"at":', b'"at":0'),
    "a line nested deeply": ("in", b'"seat":', b'"more":' + b"[" * 100_000 + b"]" * 100_000 + b',"seat":'),
    "a policy nested deeply": ("header", b'"policy":{', b'"policy":{"x":' + b"[" * 900 + b"]" * 900 + b","),
    "a message nested deeply": ("out", b'"frame":{', b'"frame":{"x":' + b"[" * 900 + b"]" * 900 + b","),
    "a long line": ("in", b'"frame":"', b'"frame":"' + b"x" * 9_000_000),
    "what was taken nested deeply": ("window", b'"taken":', b'"taken":' + b"[" * 970 + b"]" * 970 + b',"x":'),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_BYTES)
def test_forged_bytes_are_a_finding_too(content: bytes, tmp_path: Path, name: str) -> None:
    path = tmp_path / "forged.jsonl"
    path.write_bytes(body_with(content, *OF_BYTES[name]))
    for arguments in ((), ("--seat", "0"), ("--boards",)):
        result = replay(path, *arguments)
        assert (NO, True) == (result.exit_code, is_told(result)), (arguments, result.output[:500])
        assert result.stderr.startswith(f"arena: {path}: line ")


@pytest.mark.parametrize("seat", [0, 1])
def test_heads_that_are_not_those_of_the_seats_files_are_found(content: bytes, tmp_path: Path, seat: int) -> None:
    *bodies, _ = [encode(line) for line in taken_apart(content)]
    heads = list(taken_apart(content)[-1]["heads"])
    path = tmp_path / "forged.jsonl"
    for wrong in ("0" * 64, heads[1 - seat]):
        changed = [*heads[:seat], wrong, *heads[seat + 1 :]]
        path.write_bytes(_as_it_stands([*bodies, encode({"kind": "footer", "heads": changed})]))
        result = replay(path)
        assert (NO, True) == (result.exit_code, is_told(result))
        assert f"line {len(bodies) + 1}: the hash of seat {seat}'s own transcript" in result.stderr


@pytest.mark.parametrize("heads", [[], ["0" * 64], ["0" * 64] * 3, ["x" * 64] * 2, [""] * 2, "0" * 64])
def test_heads_of_another_form_are_found(content: bytes, tmp_path: Path, heads: object) -> None:
    *bodies, _ = [encode(line) for line in taken_apart(content)]
    path = tmp_path / "forged.jsonl"
    path.write_bytes(_as_it_stands([*bodies, encode({"kind": "footer", "heads": heads})]))
    for arguments in ((), ("--seat", "1")):
        result = replay(path, *arguments)
        assert (NO, True) == (result.exit_code, is_told(result))
        assert f"line {len(bodies) + 1}" in result.stderr


def test_a_changed_salt_is_found(content: bytes, tmp_path: Path) -> None:
    lines = taken_apart(content)
    lines[0]["salts"] = ["ab" * 16, "cd" * 16]
    path = tmp_path / "forged.jsonl"
    path.write_bytes(_as_it_stands([encode(line) for line in lines]))
    result = replay(path)
    assert (NO, True) == (result.exit_code, is_told(result))
    assert f"line {len(lines)}: " in result.stderr


def _as_it_stands(bodies: list[bytes]) -> bytes:
    """Chained, but for the seats' hashes."""
    footer = bodies[-1]
    marked = chained([*bodies[:-1], b'{"kind":"footer"}'])
    *lines, last = marked.splitlines(keepends=True)
    return b"".join([*lines, sealed(last[: last.index(b'"kind"')] + footer[1:])])


OF_ONE_SEAT: dict[str, Change] = {
    "another seat's frame": set_in("in", seat=0),
    "a record of the whole": lambda lines: lines.insert(3, {"kind": "started", "at": 1, "seat": 1}),
    "the end of the whole": lambda lines: lines.insert(
        -1, {"kind": "ended", "at": 1, "outcome": None, "conduct": ["ok"], "refused": [{}], "void": "x"}
    ),
    "no end": lambda lines: lines.pop(-2),
    "two ends": lambda lines: lines.insert(-1, dict(lines[-2])),
    "heads": set_in("footer", heads=["0" * 64]),
    "a seat there is not": set_in("seat-header", seat=2),
    "a seat below": set_in("seat-header", seat=-1),
    "too many seats": set_in("seat-header", seats=3),
    "no seats": set_in("seat-header", seats=0),
    "no salt": set_in("seat-header", salt=""),
    "an unknown game": set_in("seat-header", game="chess"),
    "an unknown variant": set_in("seat-header", variant="x"),
    "options of nothing": set_in("seat-header", options={"x": 1}),
    "a clock of nothing": set_at("clock.main_ms", {}, "seat-header"),
    "an unknown field": set_in("seat-header", more=1),
    "an unknown field in the end": set_in("seat-ended", more=1),
    "an unknown conduct": set_in("seat-ended", conduct="rude"),
    "a negative time": set_in("out", at=-1),
    "octets that are text": set_in("in", frame="", octets="eyJ9"),
    "a cut for no reason": set_in("in", cut=5_000),
    "refused for no reason": set_in("in", frame="x" * 1_000, cut=5_000, refused="late", text=""),
}


@pytest.mark.parametrize("name", OF_ONE_SEAT)
def test_a_forged_line_of_one_seats_own_file_is_found(own: bytes, tmp_path: Path, name: str) -> None:
    path = tmp_path / "forged.jsonl"
    path.write_bytes(forged(own, OF_ONE_SEAT[name]))
    result = replay(path)
    assert (NO, True) == (result.exit_code, is_told(result)), result.output
    assert result.stderr.startswith(f"arena: {path}: line ")


def test_a_forgery_without_a_change_is_valid(content: bytes, own: bytes, tmp_path: Path) -> None:
    """So that the others are found for what was changed, and not for how."""
    for number, honest in enumerate((content, own)):
        (path := tmp_path / f"{number}.jsonl").write_bytes(forged(honest, len))
        assert (honest, DONE) == (path.read_bytes(), replay(path).exit_code)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link_to_a_fifo(path: Path) -> None:
    fifo(path.with_name("fifo"))
    path.symlink_to("fifo")


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


PLACES: dict[str, Callable[[Path], object]] = {
    "a fifo": fifo,
    "a socket": unix_socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "another device": lambda path: path.symlink_to("/dev/null"),
    "a link to a fifo": link_to_a_fifo,
    "a loop of links": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
}


@pytest.mark.parametrize("kind", PLACES)
def test_a_path_that_is_no_file_is_wrong_use_and_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    PLACES[kind](tmp_path / "m")
    for arguments in ((), ("--seat", "0"), ("--boards",), ("--json",)):
        result = replay(tmp_path / "m", *arguments)
        assert (WRONG_USE, True) == (result.exit_code, is_told(result))
        assert result.stderr.startswith(f"arena: {tmp_path}/m: cannot be read: ")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"\0",
        b"\0" * 9_000_000,
        b"\x1f\x8b\x08\0",
        b"{}",
        b"{}\n",
        b"[]\n",
        b"null\n",
        b"\xff\xfe",
        b"\r\n",
    ],
)
def test_a_file_that_is_no_transcript_fails_in_line_1(tmp_path: Path, text: bytes) -> None:
    (path := tmp_path / "m").write_bytes(text)
    result = replay(path)
    assert (NO, True) == (result.exit_code, is_told(result))
    assert result.stderr.startswith(f"arena: {path}: line 1")


def test_a_hole_of_a_tebibyte_is_not_read(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m"
    for head in (b"", content):
        path.write_bytes(head)
        os.truncate(path, 2**40)
        result = replay(path)
        assert (NO, True) == (result.exit_code, is_told(result))


def test_text_of_a_stranger_does_nothing_to_the_terminal(content: bytes, tmp_path: Path) -> None:
    """Wherever a complaint quotes the file."""
    hostile = "\x1b]0;x\x07\x9b31m\u202e[bold red]"
    path = tmp_path / "m"
    for change in (
        set_in("header", game=hostile),
        set_in("header", variant=hostile),
        set_in("in", more=hostile),
        set_in("in", **{hostile: 1}),
        set_in("header", options={hostile: 1}),
        set_in("header", policy={hostile: 1}),
        set_in("in", refused=hostile),
        set_in("window", window=hostile),
        set_in("ended", void=hostile, outcome=None),
    ):
        path.write_bytes(forged(content, change))
        result = replay(path)
        assert not set(result.output) & set("\x1b\x07\x9b\u202e")
        assert result.exit_code in (DONE, NO)
