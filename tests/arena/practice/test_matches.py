"""Practice matches over HTTP: whole matches of each game, and what may happen in one."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Event

import pytest
import trio

from arena.practice import process, tables
from arena.practice.process import ABSENT_TEXT
from arena.practice.protocol import SOCKET
from arena.practice.seat_log import OVER
from arena.practice.tables import MOST_TABLES
from referee.games import GAMES
from tests.arena.practice.people import Line, Room, Visitor, open_room, play_whole
from tests.outside import KUHN, install_package, python

GAME = "mist"
FRIEND_FIRST = "first 1"
QUICK = "hive-mind"
"""A game whose matches have few windows."""


async def two(room: Room, *, pace: str = "slow") -> tuple[Visitor, Visitor, Line, Line]:
    """Begin a match of two people, the first of whom is to act."""
    host, friend = room.visitor(), room.visitor()
    await host.begin(game=GAME, pace=pace, seats=["me", "friend"])
    await host.invite(friend, 1)
    lines = host.line(), friend.line()
    for line in lines:
        await line.message("begun")
    await lines[0].message("window")
    return host, friend, *lines


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something is the case."""
    with trio.fail_after(60):
        while not holds():  # noqa: ASYNC110 - a process or the match does it
            await trio.sleep(0.01)


def words(line: Line, number: int) -> str:
    """Return one of the actions that the open window offers."""
    window = line.window
    assert window is not None
    return str(window["examples"][number][0])


@pytest.mark.parametrize("game", ["fight-for-a-name", "hive-mind", "mist", "pointing", "runes-to-ruins"])
async def test_people_play_a_whole_match_of_each_game_against_each_other(room: Room, game: str) -> None:
    seats = GAMES[game].seats(GAMES[game].read_options(GAMES[game].variants[0].name, None))
    outcomes = await play_whole(room, game, ["me"] + ["friend"] * (seats - 1))
    assert seats == len(outcomes)
    assert all(each["ranking"] == outcomes[0]["ranking"] for each in outcomes)
    assert list(range(seats)) == sorted(seat for place in outcomes[0]["ranking"] for seat in place)


@pytest.mark.usefixtures("sandboxed")
@pytest.mark.parametrize(
    ("game", "bot"),
    [
        ("fight-for-a-name", "fight_for_a_name_random"),
        ("hive-mind", "hive_mind_random"),
        ("mist", "mist_cautious"),
        ("pointing", "pointing_random"),
        pytest.param("runes-to-ruins", "runes_to_ruins_seeker", marks=pytest.mark.slow),
    ],
)
async def test_a_person_plays_a_whole_match_of_each_game_with_a_sample_bot(
    room: Room, game: str, bot: str
) -> None:
    seats = GAMES[game].seats(GAMES[game].read_options(GAMES[game].variants[0].name, None))
    (outcome,) = await play_whole(room, game, ["me"] + [bot] * (seats - 1))
    assert seats == len(outcome["places"])


def test_two_people_play_a_game_of_another_package(tmp_path: Path) -> None:
    site = install_package(KUHN, tmp_path)
    played = python(site, "-m", "tests.arena.practice.people", "kuhn-poker", tmp_path / "practice", here=tmp_path)
    assert played.stderr == ""
    first, second = played.stdout.splitlines()
    assert first == second


async def test_a_reload_in_the_middle_gets_all_again_and_plays_on(room: Room) -> None:
    host, friend, line, other = await two(room)
    await host.say(do="submit", window=(line.window or {})["id"], text=FRIEND_FIRST, final=True)
    await other.message("window")
    again = host.line()
    closed = [await each.message("closed") for each in (line, again)]
    assert closed[0] == closed[1]
    before = [
        [message for message in each.messages[: each.messages.index(closed[0])] if message["type"] != "people"]
        for each in (line, again)
    ]
    assert before[0][0]["type"] == before[1][0]["type"] == "now"
    assert before[0][1:] == before[1][1:]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(friend.play, other, Random(2))
        assert (await host.play(again, Random(1)))["places"]


async def test_a_lost_line_comes_back_and_gets_what_it_missed_once(room: Room) -> None:
    host, _, line, other = await two(room)
    last = line.last
    line.lose()
    await line.end()
    people = await other.message("people")
    await other.until(lambda: not other.all("people")[-1]["seats"][0]["here"])
    assert people["seats"][0]["kind"] == "person"
    await host.say(do="submit", window=(line.window or {})["id"], text=FRIEND_FIRST, final=True)
    await other.message("window")
    back = host.line(last)
    await back.message("closed")
    assert back.all("table") == back.all("begun") == []
    await other.until(lambda: other.all("people")[-1]["seats"][0]["here"])


async def test_an_action_is_seen_before_it_is_sent_changed_and_taken_back(room: Room) -> None:
    host, _, line, other = await two(room)
    window = line.window or {}
    first, second = words(line, 0), words(line, 1)
    shown = (await host.say(do="preview", window=window["id"], text=first)).json()
    assert (shown["ok"], shown["text"], shown["effect"]) == (True, first, "you go first")
    for wrong in ("nonsense", "{}", '{"first": 7}', "[" * 3_000, "{" * 3_000, "first 2", "\0"):
        refused = (await host.say(do="preview", window=window["id"], text=wrong)).json()
        assert refused["ok"] is False
        assert refused["text"]
    assert line.all("accepted") == []
    for count, text in enumerate((first, second), 1):
        await host.say(do="submit", window=window["id"], text=text)
        await line.until(lambda count=count: len(line.all("accepted")) == count)  # type: ignore[misc]
    texts = [each["text"] for each in line.all("accepted")]
    assert len(set(texts)) == 2
    await host.say(do="undo", window=window["id"])
    await line.until(lambda: len(line.all("accepted")) == 3)
    assert line.all("accepted")[2]["action"] is None
    assert other.all("window") == []
    await host.say(do="submit", window=window["id"], text=first)
    await host.say(do="done", window=window["id"])
    closed = await line.message("closed")
    assert closed["text"] == texts[0]
    assert closed["by_default"] is False


async def test_a_window_that_runs_out_takes_the_default(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "SLOW_MS", 50)
    _, _, line, other = await two(room)
    closed = await line.message("closed")
    assert closed["by_default"] is True
    assert closed["text"] == line.all("window")[0]["default_text"]
    assert (await other.message("window"))["main_ms"] == 50


async def test_a_submission_that_is_not_final_counts_when_the_time_is_up(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "SLOW_MS", 1_000)
    host, _, line, _ = await two(room)
    await host.say(do="submit", window=(line.window or {})["id"], text=words(line, 0))
    accepted, closed = await line.message("accepted"), await line.message("closed")
    assert closed["by_default"] is False
    assert closed["text"] == accepted["text"]


async def test_the_match_goes_on_without_a_person_that_leaves(room: Room) -> None:
    host, friend, line, other = await two(room)
    assert (await host.say(do="leave")).json() == {"ok": True}
    assert (await friend.play(other, Random(1)))["places"] == (await line.message("over"))["places"]
    await line.end()
    late = await host.say(do="submit", window=0, text="a1")
    assert (late.status_code, late.json()) == (410, {"ok": False, "text": OVER})


async def test_a_person_pauses_the_clocks_and_ends_the_pause(room: Room) -> None:
    host, friend, line, other = await two(room)
    await host.say(do="pause")
    await line.message("paused")
    await other.message("paused")
    not_theirs = (await friend.say(do="resume")).json()
    assert not_theirs["ok"] is False
    assert (await host.say(do="resume")).json() == {"ok": True}
    await other.message("resumed")


async def test_a_match_without_any_person_ends_with_a_reason(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LOOK_SECONDS", 0.01)
    host, _, line, other = await two(room)
    monkeypatch.setattr(process, "ABSENT_SECONDS", 0.05)
    for each in (line, other):
        each.lose()
        await each.end()
    await until(lambda: room.matches[0].has_ended)
    back = host.line()
    assert (await back.message("gone"))["text"] == ABSENT_TEXT
    assert back.all("window")


async def test_a_match_that_is_over_frees_its_place_and_stays_reachable(room: Room) -> None:
    """More matches than the site has tables are played one after the other."""
    for number in range(MOST_TABLES + 1):
        visitor = room.visitor()
        seats = ["me"] + ["friend"] * 4
        people = [visitor, *(room.visitor() for _ in range(4))]
        answer = await visitor.begin(game=QUICK, pace="slow", seats=seats)
        assert answer.status_code == 200, answer.text
        for seat in range(1, 5):
            await visitor.invite(people[seat], seat)
        lines = [each.line() for each in people]
        async with trio.open_nursery() as nursery:
            for person, line in zip(people, lines, strict=True):
                nursery.start_soon(person.play, line, Random(number))
        for line in lines:
            await line.end()
            assert line.messages[-1] == {"type": "gone", "text": OVER}
    for path, kind in (("", "text/html"), ("replay", "text/html"), ("transcript.jsonl", "application/jsonl")):
        answer = await visitor.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
    back = visitor.line()
    await back.end()
    assert back.all("over") == lines[0].all("over")
    middle = visitor.line(5)
    await middle.end()
    assert middle.messages == back.messages[6:]
    assert f'<a href="{visitor.match}/">Hive Mind, over</a>' in (await visitor.http.get("")).text
    stranger = room.visitor()
    assert visitor.match not in (await stranger.http.get("")).text
    stranger.match = visitor.match
    assert (await stranger.get("replay")).status_code == 403


async def test_a_match_frees_its_place_before_its_replay_is_made(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_begun = Event()

    def replay(transcript: Path) -> bytes:
        assert transcript.is_file()
        assert has_begun.wait(60)
        return b"a replay"

    monkeypatch.setattr(process, "_replay", replay)
    monkeypatch.setattr(tables, "MOST_TABLES", 1)
    host, friend, line, other = await two(room)
    assert (await room.visitor().begin(game=GAME)).status_code == 503
    async with trio.open_nursery() as nursery:
        nursery.start_soon(friend.play, other, Random(2))
        await host.play(line, Random(1))
    await until(lambda: room.matches[0].over)
    assert (await host.get("replay")).status_code == 404
    assert (await room.visitor().begin(game=GAME, seats=["me", "friend"])).status_code == 200
    has_begun.set()
    assert (await line.message("replay"))["ready"] is True
    assert (await host.get("replay")).text == "a replay"


async def test_a_web_server_that_starts_again_finds_the_match(room: Room, tmp_path: Path) -> None:
    host, friend, line, other = await two(room)
    await room.serve()
    back, other_back = host.line(line.last), friend.line(other.last)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(friend.play, other_back, Random(2))
        back.messages[:0] = line.messages  # The page still has them.
        assert (await host.play(back, Random(1)))["places"]


async def test_a_match_has_a_process_of_its_own_which_ends_with_it(tmp_path: Path) -> None:
    async with open_room(tmp_path / "practice", processes=True) as room:
        host, friend, line, other = await two(room)
        assert f'<a href="{host.match}/">Mist: go on</a>' in (await host.http.get("")).text
        async with trio.open_nursery() as nursery:
            nursery.start_soon(friend.play, other, Random(2))
            await host.play(line, Random(1))
        await line.end()
        await until(lambda: not (room.folder / host.match / SOCKET).exists())
        assert (room.folder / host.match / "errors.txt").read_text() == ""
