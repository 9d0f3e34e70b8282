"""A team's matches and practice matches: what it finds, and in which order practice is played."""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
import trio
import trio.testing
from msgspec import structs

from arena.errors import WrongUse
from arena.pages import PATHS, Competition, PageMaker
from arena.pages.bots import bot_page
from arena.portal import matches, practice, seats
from arena.portal.seats import OwnSeat
from arena.submissions import ScrimmageMatch
from arena.tournament import TRANSCRIPTS, Ledger
from referee.transcript import verify_transcript
from tests.arena.portal.conftest import PRINTED, Setting, archive
from tests.arena.reports.played import secret

PANDAS, HERONS = "Red Pandas", "Blue Herons"


async def test_a_team_finds_its_matches_with_causes_newest_first(setting: Setting) -> None:
    page = (await setting.mia.get("team/matches")).text
    places = [page.index(f"match/results/{name}") for name in ("2b", "2a", "1b", "1a")]
    assert places == sorted(places)
    assert "match/results/3a" not in page  # Its block does not count yet.
    assert secret(PANDAS, 1, 0) in page
    assert (await setting.mia.get("team/matches?page=2")).status_code == HTTPStatus.NOT_FOUND
    assert (await setting.mia.get("team/matches?page=x")).status_code == HTTPStatus.NOT_FOUND


async def test_a_match_whose_block_does_not_count_is_not_shown_even_to_its_team(setting: Setting) -> None:
    for ending in ("", "/seat.jsonl", "/replay", "/log"):
        answer = await setting.mia.get(f"team/match/results/3a{ending}")
        assert answer.status_code == HTTPStatus.NOT_FOUND


async def test_the_files_of_one_team_delay_those_of_another_by_one(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    go = Event()

    def make(own: OwnSeat) -> bytes:
        made.append(own.name)
        go.wait(60)
        return b""

    monkeypatch.setattr(seats, "_seat_file", make)
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(setting.mia.get, "team/match/results/1a/seat.jsonl")
        while setting.portal.file_turns[setting.member(PANDAS).team or 0].statistics().tasks_waiting < 2:
            await trio.testing.wait_all_tasks_blocked(0.01)
        nursery.start_soon(setting.eve.get, "team/match/results/1a/seat.jsonl")
        while setting.portal.in_files._limiter.statistics().tasks_waiting < 1:
            await trio.testing.wait_all_tasks_blocked(0.01)
        go.set()
    assert made[1] != made[0] == made[2] == made[3]


async def test_a_match_has_the_file_replay_and_log_of_its_own_seat_alone(setting: Setting, tmp_path: Path) -> None:
    own, other = secret(PANDAS, 0, 0), secret(HERONS, 0, 0)
    texts = []
    for ending in ("", "/seat.jsonl", "/replay", "/log"):
        answer = await setting.mia.get(f"team/match/results/1a{ending}")
        assert answer.status_code == HTTPStatus.OK
        assert own in answer.text
        assert other not in answer.text
        texts.append(answer.text)
    page, lines, _, log = texts
    assert "results/match/1a.html" in page
    assert "arena ask my_bot results-1a-seat-" in page
    (tmp_path / "seat.jsonl").write_text(lines)
    assert verify_transcript(tmp_path / "seat.jsonl").header.bot.name == PANDAS  # type: ignore[union-attr]
    assert str(setting.competition.results) not in log
    other_seat = "0" if "seat-1.jsonl" in page else "1"
    refused = await setting.mia.get(f"team/match/results/1a/seat.jsonl?seat={other_seat}")
    assert refused.status_code == HTTPStatus.NOT_FOUND


async def test_a_transcript_that_was_changed_is_refused_without_a_path(setting: Setting) -> None:
    transcript = setting.competition.results / TRANSCRIPTS / "00001a.jsonl"
    content = transcript.read_bytes()
    transcript.unlink()
    transcript.write_bytes(content.replace(b"Blue", b"Blew"))
    answer = await setting.mia.get("team/match/results/1a/seat.jsonl")
    assert answer.status_code == HTTPStatus.GONE
    assert str(setting.competition.results) not in answer.text


async def test_hosts_decide_about_logs(tmp_path: Path, played: Path) -> None:
    setting = Setting(tmp_path, "[server]", 'logs = "none"')
    setting.play(played)
    await setting.join()
    page = (await setting.mia.get("team/match/results/1a")).text
    assert "as the host sees it" in page
    assert "/log" not in page
    assert (await setting.mia.get("team/match/results/1a/log")).status_code == HTTPStatus.NOT_FOUND
    with zipfile.ZipFile(io.BytesIO((await setting.mia.get("team/everything.zip")).content)) as archive:
        assert not [name for name in archive.namelist() if "/logs/" in name]
    setting.close()


PUBLIC = re.compile(r'(?:replay|story|transcript|picture)/[0-9a-f]{64}[^"#]*')
"""Paths of what everybody may see of all seats of a match."""


def public_paths(head: str) -> list[str]:
    return [str(make(head)) for folder, make in PATHS.items() if folder != "card"]


async def test_hosts_decide_when_everybody_sees_what_all_seats_saw(tmp_path: Path, played: Path) -> None:
    """Until the tournament is over, nobody can fetch what is made of a whole transcript, even by its path."""
    setting = Setting(tmp_path, "[server]", 'views = "own"')
    setting.play(played)
    await setting.join()
    (part,) = setting.portal.parts
    (head,) = {match.played.head for match in part.some([(0, 0)])}
    page = (await setting.mia.get("team/match/results/1a")).text
    assert "Replay as your bot saw it" in page
    assert "as the host sees it" not in page
    assert (await setting.mia.get("team/match/results/1a/replay")).status_code == HTTPStatus.OK
    for path in ("results/match/1a.html", "results/matches.html", "results/watch.html", "results/"):
        answer = await setting.mia.get(path)
        assert answer.status_code == HTTPStatus.OK
        assert not PUBLIC.search(answer.text)
    for path in public_paths(head):
        assert (await setting.stranger.get(path)).status_code == HTTPStatus.NOT_FOUND
    part._read = (part.stamp(), structs.replace(part.overview(), finished=True))
    for path in public_paths(head):
        assert (await setting.stranger.get(path)).status_code == HTTPStatus.OK
    assert "as the host sees it" in (await setting.mia.get("team/match/results/1a")).text
    setting.close()


async def test_a_teams_pages_never_read_the_whole_ledger(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a million matches that would take minutes, again and again while matches are played."""
    (part,) = setting.portal.parts

    def whole(*_: object) -> None:
        raise AssertionError("the whole ledger is read")

    monkeypatch.setattr(part, "overview", whole)
    monkeypatch.setattr(Ledger, "results", whole)
    await setting.portal._look()
    assert part.of_bots.is_read
    read: list[int] = []
    counted_since = Ledger.counted_since

    def noted(ledger: Ledger, attempt: int) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        read.append(attempt)
        return counted_since(ledger, attempt)

    monkeypatch.setattr(Ledger, "counted_since", noted)
    public = (await setting.mia.upload(archive())).headers["location"]
    paths = ("team/", "team/matches", "team/match/results/1a", "team/everything.zip", "team/scrimmages")
    for path in (*paths, public[1:]):
        assert (await setting.mia.get(path)).status_code == HTTPStatus.OK, path
    assert read
    assert 0 not in read


async def test_everything_is_one_archive_with_the_teams_own_and_leaves_no_file(setting: Setting) -> None:
    answer = await setting.mia.get("team/everything.zip")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    assert sum(name.endswith(".jsonl") for name in found) == len(["1a", "1b", "2a", "2b"])
    assert json.loads(found["Red Pandas/submissions.json"]) == []
    whole = "\n".join(found.values())
    assert secret(PANDAS, 1, 1) in whole
    assert secret(HERONS, 1, 1) not in whole
    assert not list((setting.competition.server / "archives").iterdir())
    team = setting.member(PANDAS).team
    assert team is not None
    setting.portal.packing.add(team)
    assert (await setting.mia.get("team/everything.zip")).status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert (await setting.eve.get("team/everything.zip")).status_code == HTTPStatus.OK


async def test_programs_list_matches_and_fetch_their_seats(setting: Setting) -> None:
    token = setting.portal.accounts.new_token(setting.member(PANDAS), "ci", "read")
    async with setting.program(token) as program:
        found = (await program.get("matches")).json()
        assert [each["match"] for each in found["matches"]] == ["2b", "2a", "1b", "1a"]
        (own,) = found["matches"][0]["own"]
        causes = [seat["causes"] for seat in found["matches"][0]["seats"]]
        assert causes[own]
        assert not causes[1 - own]
        lines = await program.get("matches/results/2b/seat")
        assert secret(PANDAS, 1, 1) in lines.text
        assert (await program.get("matches/results/3a/seat")).status_code == HTTPStatus.NOT_FOUND


async def test_a_practice_match_is_seen_with_own_eyes_at_once(setting: Setting) -> None:
    name = setting.practise(PANDAS)
    assert f"scrimmage/{name}" in (await setting.mia.get("team/scrimmages")).text
    page = (await setting.mia.get(f"team/scrimmage/{name}")).text
    assert f"{name}/1/replay" in page
    replay = (await setting.mia.get(f"team/scrimmage/{name}/1/replay")).text
    assert "data-ready" in replay or "<script" in replay
    assert PRINTED in (await setting.mia.get(f"team/scrimmage/{name}/1/log")).text
    for number in ("0", "2", "x", "9" * 30):
        answer = await setting.mia.get(f"team/scrimmage/{name}/{number}/replay")
        assert answer.status_code == HTTPStatus.NOT_FOUND


@pytest.fixture
def open_field(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> Setting:
    """Let the bots of both teams compete, in a game of two seats."""
    hashes = {PANDAS: "sha256:1", HERONS: "sha256:2"}
    monkeypatch.setattr(setting.competition, "competitors", lambda: hashes)
    monkeypatch.setattr(setting.competition, "tournament", lambda _: SimpleNamespace(seats=2))
    return setting


async def test_a_team_that_asks_for_much_delays_another_by_one_match(open_field: Setting) -> None:
    setting = open_field
    answers = [await setting.mia.post("team/scrimmages/ask", opponent=HERONS, count="10") for _ in range(20)]
    codes = [answer.status_code for answer in answers]
    assert codes == 3 * [HTTPStatus.SEE_OTHER] + 17 * [HTTPStatus.TOO_MANY_REQUESTS]
    scrimmages = setting.portal.scrimmages
    under_way = scrimmages.jobs.take("judge")
    assert under_way is not None
    assert (await setting.eve.post("team/scrimmages/ask", opponent="mist_random", count="1")).status_code == 303
    asked = scrimmages.by_id(under_way.subject)
    assert asked is not None
    match = ScrimmageMatch(seats=(PANDAS, HERONS), seat=0, points=0.0, conduct=(), transcript="match-1.jsonl")
    scrimmages.add_match(asked, under_way, match, 1_000)
    then = scrimmages.jobs.take("judge")
    assert then is not None
    assert then.team == setting.member(HERONS).team


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"opponent": "nobody", "count": "1"}, "no bot is called nobody"),
        ({"opponent": "chat", "count": "1"}, "no bot is called chat"),
        ({"opponent": HERONS, "count": "11"}, "1 to 10 matches"),
        ({"opponent": HERONS, "count": "-1"}, "not a form"),
        ({"count": "1"}, "no bot is called"),
    ],
)
async def test_what_cannot_be_played_is_refused_in_words(
    open_field: Setting, fields: dict[str, str], said: str
) -> None:
    answer = await open_field.mia.post("team/scrimmages/ask", **fields)
    assert HTTPStatus.BAD_REQUEST <= answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR
    assert said in answer.text


@pytest.mark.parametrize("busy", [True, False])
async def test_practice_that_waits_for_a_busy_machine_says_so(
    open_field: Setting, monkeypatch: pytest.MonkeyPatch, busy: bool
) -> None:
    monkeypatch.setattr(practice, "is_busy", lambda: busy)
    answer = await open_field.mia.post("team/scrimmages/ask", opponent=HERONS, count="1")
    for path in ("team/scrimmages", answer.headers["location"][1:]):
        assert busy == ("This machine is busy" in (await open_field.mia.get(path)).text)


async def test_a_form_names_a_bot_for_each_seat_or_one_for_all(
    open_field: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_field.competition, "tournament", lambda _: SimpleNamespace(seats=5))
    page = (await open_field.mia.get("team/scrimmages")).text
    assert 3 == page.count('<option value="">the same</option>')
    fields = {"opponent": HERONS, "opponent-2": "", "opponent-3": "mist_random", "opponent-4": "", "count": "1"}
    for sent in (fields, fields | {"opponent-3": ""}):
        assert (await open_field.mia.post("team/scrimmages/ask", **sent)).status_code == HTTPStatus.SEE_OTHER
    for_all, each = open_field.portal.scrimmages.of_team(open_field.member(PANDAS).team or 0)
    assert ((HERONS,), (HERONS, HERONS, "mist_random", HERONS)) == (for_all.opponents, each.opponents)


async def test_programs_ask_for_practice_and_read_what_became_of_it(open_field: Setting) -> None:
    token = open_field.portal.accounts.new_token(open_field.member(PANDAS), "ci", "submit")
    async with open_field.program(token) as program:
        asked = await program.post("scrimmages?opponent=mist_random&matches=2")
        assert asked.status_code == HTTPStatus.CREATED
        found = (await program.get(f"scrimmages/{asked.json()['id']}")).json()
        assert (found["state"], found["matches"], found["opponents"]) == ("queued", 2, ["mist_random"])
        listed = (await program.get("scrimmages")).json()
        assert listed["budget"]["used_today"] == 1
        assert HERONS in listed["opponents"]


async def test_everybody_sees_the_queue_and_no_name_in_it(open_field: Setting) -> None:
    await open_field.mia.post("team/scrimmages/ask", opponent=HERONS, count="1")
    await open_field.host.post("host/pause", paused="yes")
    assert 'href="queue"' in (await open_field.stranger.get("sign-in")).text
    page = (await open_field.stranger.get("queue")).text
    assert "paused" in page
    assert "<dt>Practice requests that wait</dt><dd>1</dd>" in page
    assert not [name for name in (PANDAS, HERONS) if name in page]


async def test_a_version_that_entered_and_its_published_code_are_linked(setting: Setting) -> None:
    public = (await setting.mia.upload(archive())).headers["location"].rpartition("/")[2]
    database = setting.portal.database
    with database.change():
        database.update("UPDATE submissions SET state = 'entered', entered = ? WHERE public = ?", PANDAS, public)
    assert 'href="../../results/bot/0.html"' in (await setting.mia.get(f"team/submission/{public}")).text
    assert 'href="../../results/bot/0.html"' in (await setting.host.get(f"host/submission/{public}")).text
    (served,) = setting.portal.parts
    for published in ("yes", "no"):
        await setting.mia.post(f"team/submission/{public}/publish", published=published)
        before = Competition.stamp(served)
        await setting.portal.show_published()
        assert Competition.stamp(served) != before  # A page in the cache is made again.
        found = [bot_page(PageMaker(live=False), served, number) for number in (0, 1)]
        has_link = [page is not None and f"team/published/{public}".encode() in page.body for page in found]
        assert has_link == [published == "yes", False]


async def test_an_archive_holds_up_no_replay(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = Event(), Event()

    def packed(*_: object) -> Path:
        begun.set()
        assert go_on.wait(20)
        raise WrongUse("stopped by the test")

    monkeypatch.setattr(matches, "_pack", packed)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(setting.mia.get, "team/everything.zip")
        assert await trio.to_thread.run_sync(begun.wait, 60)
        assert (await setting.eve.get("team/match/results/1a/replay")).status_code == HTTPStatus.OK
        assert (await setting.mia.get("team/everything.zip")).status_code == HTTPStatus.TOO_MANY_REQUESTS
        go_on.set()
    assert not setting.portal.packing
