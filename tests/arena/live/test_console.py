"""A person's seat: what is typed does what it says, what happens is shown, and the clock is the referee's."""

import io
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec import Raw, Struct

from arena.live.console import Console, TimeLeft, lines_typed
from arena.live.line_editor import LineEditor
from arena.terminal import Screen
from protocol.refusals import Conduct
from referee.bot_folder import CONSOLE
from referee.host.one_match import play
from referee.host.plan import AttemptResult, Plan
from referee.host.players import LocalSeat
from referee.match.records import WindowTime
from referee.match.terms import ClockTable, Policy
from referee.transcript.reader import read_transcript
from tests.arena.live.local_bots import draws

Line = tuple[float, str]
"""Seconds after the line before, and what is typed then."""
STAY: Line = (9e9, "/quit")


class Evening(Struct):
    """A match of a person against a bot: how it came out, what the person saw, and what was taken in its seat."""

    result: AttemptResult
    screen: str
    taken: list[object]
    charged_ms: list[int]


async def typed(*lines: Line) -> AsyncGenerator[str, None]:
    for seconds, line in lines:
        await trio.sleep(seconds)
        yield line


async def play_evening(
    folder: Path,
    *lines: Line,
    live: bool = True,
    first: int = 0,
    turns: int = 1,
    policy: Policy | None = None,
    clock: ClockTable | None = None,
    editor: LineEditor | None = None,
    width: int = 200,
) -> Evening:
    """Mist with a pie rule; the person has seat 0."""
    screen = io.StringIO()
    terminal = Screen(file=screen, force_terminal=live, color_system=None, width=width)
    person = LocalSeat(CONSOLE, Console(editor or typed(*lines), terminal, final=not live).play)
    plan = Plan(
        match="m",
        game="mist",
        variant="heaven-and-hell",
        seed=1,
        options=Raw(b'{"first":%d,"max_turns":%d}' % (first, turns)),
        policy=policy or Policy(),
        clock=clock,
    )
    path = folder / "m.jsonl"
    result = await play(plan, [person, draws("bot")], transcript=path)
    parts = [
        part
        for record in read_transcript(path)
        if isinstance(record, WindowTime)
        for part in record.seats
        if part.seat == 0
    ]
    return Evening(result, screen.getvalue(), [part.taken for part in parts], [part.charged_ms for part in parts])


def cells(*names: str) -> dict[str, list[str]]:
    return {"cells": list(names)}


ASKED = "0 to 2 cells that do not touch, not E5, or none. If you submit nothing, you place no piece."
NEXT_TO = "not accepted: C4 is next to another cell of this turn"
Case = tuple[list[Line], dict[str, Any], list[Any], list[int] | None, list[str]]
"""What is typed, how the match is played, what is taken, the milliseconds charged, and what the screen says."""
EVENINGS: dict[str, Case] = {
    "a cell": ([(1, "C3"), (1, "/done")], {}, [cells("C3")], None, []),
    "cells in any order": ([(1, "f3 d7"), (1, "/done")], {}, [cells("D7", "F3")], None, []),
    "submit": ([(1, "/submit A4 G5"), (1, "/done")], {}, [cells("A4", "G5")], None, []),
    "commas": ([(1, "c3,e7"), (1, "/done")], {}, [cells("C3", "E7")], None, []),
    "none": ([(1, "none"), (1, "/done")], {}, [cells()], None, []),
    "json": ([(1, '{"cells": ["B2"]}'), (1, "/done")], {}, [cells("B2")], None, []),
    "until time is up another action replaces the first": (
        [(10, "C3"), (40, "D7")], {}, [cells("D7")], [50_000],
        ["submitted: C3; an empty line lets it stand, another action replaces it"],
    ),
    "done lets it stand at once": ([(10, "C3"), (5, "/done"), (5, "D7")], {}, [cells("C3")], [15_000], []),
    "an empty line, too": ([(10, "C3"), (5, ""), (5, "D7")], {}, [cells("C3")], [15_000], []),
    "with an exclamation mark it stands at once": ([(10, "C3!")], {}, [cells("C3")], [10_000], []),
    "done before anything takes the default, and an empty line only says so": (
        [(10, ""), (10, "/done")], {}, [cells()], [20_000],
        ["nothing is submitted; /done takes the default: none (you place no piece)"],
    ),
    # R11: nothing is submitted when the minute ends, so the first submission in the reserve is taken at once.
    "undo goes back to the default, and then the reserve runs": (
        [(10, "C3"), (10, "/undo"), (100, "D7")], {}, [cells("D7")], [120_000], ["withdrawn: back to the default"]
    ),
    "a refusal is shown, and the earlier submission stands": (
        [(10, "C3"), (10, "C3 C4")], {}, [cells("C3")], None, [NEXT_TO]
    ),
    "what stands is not what was refused last": (
        [(10, "C3"), (10, "C3 C4"), (5, "/done")], {}, [cells("C3")], [25_000], []
    ),
    "nor with an empty line": ([(10, "C3"), (10, "C3 C4"), (5, "")], {}, [cells("C3")], [25_000], []),
    "done means what is on its way": ([(10, "C3"), (0, "/done")], {}, [cells("C3")], [10_000], []),
    # R5: on the second player's first turn only.
    "a swap": (
        [(1, "swap!")], {"first": 1, "turns": 2}, [{"swap": True}], None,
        ["seat 0 swaps: the pieces on the board change owner", "you have the vision that came with the pieces"],
    ),
    "a swap that may not be": (
        [(1, "swap"), (1, "none!")], {}, [cells()], None, ["not accepted: this turn may not be a swap"]
    ),
    "a pause stops the clocks": (
        [(10, "/pause"), (400, "C3!")], {"policy": Policy(pauses=1, pause_ms=500_000)}, [cells("C3")], [10_000],
        ["paused (seat 0): the clocks stand still"],
    ),
    "a pause that is not granted": (
        [(10, "/pause"), (1, "C3!")], {}, [cells("C3")], None, ["not accepted: no pause is to be had now"]
    ),
    "what is typed ahead waits for its window": (
        [(0, "C3!"), (0, "D7!")], {"turns": 3}, [cells("C3"), cells("D7")], None, []
    ),
    "lines from a pipe stand at once, and a wrong one does not cost the window": (
        [(0, "C3"), (0, ""), (0, "Z9"), (0, "D7")], {"live": False, "turns": 3},
        [cells("C3"), cells("D7")], [0, 0], [],
    ),
    "increments are told": (
        [(2, "c3!")], {"clock": ClockTable(budget_ms=10_000, increment_ms=100)}, [cells("C3")], [2_000],
        ["time: first 0 s, turn 0 s, reserve 10 s, 0.1 s more after each window."],
    ),
    "where processor time counts, a person thinks all the time": (
        [(4, "c3!")], {"clock": ClockTable(kind="cpu", main_ms=60_000)}, [cells("C3")], [4_000], []
    ),
    "commands in any case, and a line that is too long": (
        [(1, "/SUBMIT c3"), (1, "D" * 4_001), (1, "/Done")], {}, [cells("C3")], None,
        ["a line of 4001 characters; 4000 are read"],
    ),
    "a refusal is followed by what may be typed": (
        [(1, "J9"), (1, "C3 C4"), (1, "none!")], {}, [cells()], None,
        [f"not sent: J9 is no cell: rows are A to I, from A1 to A5 and E1 to E9\n{ASKED}", f"{NEXT_TO}\n{ASKED}"],
    ),
    "the board, what may be typed and the end are shown": (
        [(3.5, "/help"), (1, "/board"), (1, "C3!")], {}, [cells("C3")], None,
        [ASKED, "/undo          withdraw what is submitted", *["turn 1, seat 0 to move (as seat 0, O)"] * 2,
         "seat 0 opens the match with C3", "over (turn_limit)"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", EVENINGS.values(), ids=EVENINGS)
async def test_typed_commands_have_their_effect(tmp_path: Path, autojump_clock: object, case: Case) -> None:
    lines, how, taken, charged_ms, said = case
    evening = await play_evening(tmp_path, *lines, STAY, **how)
    assert taken == evening.taken
    assert charged_ms in (None, evening.charged_ms)
    assert [] == [text for text in said if evening.screen.count(text) < said.count(text)]
    assert "$" not in evening.screen


@pytest.mark.parametrize(
    ("live", "longest", "line"),
    [
        (True, 60, "an empty line  let what is submitted stand: the window may"),
        (False, 200, "an empty line  let what is submitted stand: the window may close at once"),
    ],
)
async def test_at_a_terminal_lines_break_between_words_and_elsewhere_not_at_all(
    tmp_path: Path, autojump_clock: object, *, live: bool, longest: int, line: str
) -> None:
    evening = await play_evening(tmp_path, (1, "/help"), STAY, width=60, live=live)
    lines = [each.rstrip() for each in evening.screen.splitlines()]
    assert line in lines
    assert max(map(len, lines)) <= longest


async def test_the_choice_of_the_first_seat_is_typed_as_first_and_a_seat(
    tmp_path: Path, autojump_clock: object
) -> None:
    """R6."""
    screen = io.StringIO()
    terminal = Screen(file=screen, force_terminal=True, color_system=None, width=200)
    lines = typed((1, "first"), (1, "first 1!"), STAY)
    plan = Plan(match="m", game="mist", variant="contractual-obligation", seed=1, options=Raw(b'{"max_turns":1}'))
    person = LocalSeat(CONSOLE, Console(lines, terminal).play)
    await play(plan, [person, draws("bot")], transcript=tmp_path / "m.jsonl")
    assert "type first 0 or first 1" in screen.getvalue()
    assert "seat 1 goes first" in screen.getvalue()


async def test_a_person_who_quits_has_left_and_the_match_continues_with_defaults(
    tmp_path: Path, autojump_clock: object
) -> None:
    evening = await play_evening(tmp_path, (1, "C3!"), (1, "/quit"), turns=5)
    assert (Conduct.DISCONNECTED, Conduct.OK) == evening.result.conduct
    assert [{"cells": ["C3"]}, {"cells": []}, {"cells": []}] == evening.taken


async def test_when_the_pipe_ends_what_was_typed_is_played_first(tmp_path: Path, autojump_clock: object) -> None:
    evening = await play_evening(tmp_path, (0, "C3"), (0, "D7"), live=False, turns=5)
    assert [{"cells": ["C3"]}, {"cells": ["D7"]}, {"cells": []}] == evening.taken


def test_the_clock_shows_main_time_then_the_reserve_and_stands_in_a_pause() -> None:
    left = TimeLeft(100, main_ms=60_000, reserve_ms=300_000)
    assert "0:48 +5:00" == left.text(112)
    left.pause(120)
    assert "0:40 +5:00" == left.text(500)
    left.resume(500)
    assert "reserve 4:55" == left.text(545)
    assert "reserve 0:00" == left.text(2_000)
    assert "0:05" == TimeLeft(0, 65_000, 0).text(60)


def test_hours_are_told_from_minutes_and_the_prompt_stays_where_it_is() -> None:
    left = TimeLeft(0, main_ms=86_400_000, reserve_ms=3_600_000)
    assert "23:59:57 +1:00:00" == left.text(3)
    assert "59:59 +1:00:00" == left.text(82_801)
    assert "reserve 59:59" == left.text(86_401)
    assert len("23:59:57 +1:00:00") == left.width
    assert len("reserve 4:10") == TimeLeft(0, 60_000, 0).width


async def test_lines_are_read_from_a_pipe_without_holding_up_the_loop() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"C3 \nD")
    lines = lines_typed(reading)
    assert "C3" == await anext(lines)
    with trio.move_on_after(0.01) as waited:
        await anext(lines)
    assert waited.cancelled_caught
    os.close(writing)
    os.close(reading)


async def test_lines_are_read_from_a_file_to_its_last_even_without_an_end_of_line(tmp_path: Path) -> None:
    file = tmp_path / "moves"
    file.write_bytes(b"C3\n\xff\nD7")
    with file.open("rb") as moves:
        assert ["C3", "\ufffd", "D7"] == [line async for line in lines_typed(moves.fileno())]


class SilentEditor(LineEditor):
    """An editor without a terminal: lines come from a list, and what it was told to do is kept."""

    def __init__(self, *lines: Line) -> None:
        super().__init__(sys.stdin, sys.stderr)
        self._typed = typed(*lines)
        self.told: list[tuple[float, str, int | None]] = []
        self.completed: set[str] = set()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None, None]:
        yield

    def lines(self) -> AsyncGenerator[str, None]:
        return self._typed

    def show(self, prompt: str, window: int | None) -> None:
        self.told.append((trio.current_time(), prompt, window))
        self.completed |= set(self.words)

    def empty(self) -> None:
        self.told.append((trio.current_time(), "emptied", None))


async def edit_evening(folder: Path, *lines: Line, **how: Any) -> tuple[SilentEditor, Evening]:
    editor = SilentEditor(*lines)
    return editor, await play_evening(folder, editor=editor, **how)


async def test_the_prompt_shows_the_clock_and_the_line_is_emptied_when_its_window_ends(
    tmp_path: Path, autojump_clock: object
) -> None:
    editor, evening = await edit_evening(tmp_path, (3.5, "/board"), (6.5, "C3!"), STAY)
    assert ([{"cells": ["C3"]}], [10_000]) == (evening.taken, evening.charged_ms)
    told = [f"{at - editor.told[0][0]:.0f} {what}, {window}" for at, what, window in editor.told]
    assert "0 [  waiting   ] > , None" == told[0]
    assert "0 [ 1:00 +5:00 ] > , 0" in told
    assert "3 [ 0:57 +5:00 ] > , 0" in told
    ended = told.index("10 emptied, None")
    assert "10 [  waiting   ] > , None" == told[ended + 1]
    assert {"C3", "none", "/undo"} <= editor.completed
    assert {"/undo"} == editor.completed & {"/undo", "E5"}


async def test_when_time_is_up_the_line_is_emptied_too(tmp_path: Path, autojump_clock: object) -> None:
    editor, evening = await edit_evening(tmp_path, STAY)
    assert [{"cells": []}] == evening.taken
    assert ["emptied"] == [what for _, what, _ in editor.told if what == "emptied"]
    assert "time is up, taken by default: none (you place no piece) (360.0 s)" in evening.screen


async def test_actions_entered_before_a_window_are_stored_reported_and_dropped_by_undo(
    tmp_path: Path, autojump_clock: object
) -> None:
    lines = ((1, "B2!"), (1, "C3"), (1, "/Undo"), (1, "D7!"), STAY)
    _, evening = await edit_evening(tmp_path, *lines, turns=3, policy=Policy(pacing="fixed"))
    assert "kept for your next window: C3; /undo drops it" in evening.screen
    assert "dropped: C3" in evening.screen
    assert [{"cells": ["B2"]}, {"cells": ["D7"]}] == evening.taken
