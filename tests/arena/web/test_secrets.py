"""No byte of a secret over the web: the conformance suite's secret swap, run on what browsers are told.

Two matches that look the same to a spectator so far must give browsers the same bytes: in event streams, and in
what late browsers and late servers are told. Pages must be the same whatever is known of blocks that do not count.
"""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from httpx import ASGITransport, AsyncClient

from arena.errors import MachineCannot
from arena.tournament import LEDGER, TRANSCRIPTS, Ledger
from arena.web.cache import ServedCompetition
from arena.web.events import Streams, event
from arena.web.live import LiveFeed, LiveMatch
from arena.web.server import Application, Site
from protocol.feed import FeedEnded, FeedEvent, FeedMessage
from referee.games import GAMES
from referee.log import SILENT
from referee.proofs.conformance import ConformanceError, check_game
from referee.proofs.conformance.playing import seat_match
from referee.proofs.conformance.sitting import Chooser, ObservedTable
from tests.arena.commands.test_report import cup
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_run import TEXT
from tests.long import cases
from tests.referee.proofs.planted_leaks import private_events

SEEDS = {
    "mist": 2,
    "hive-mind": cases(1, 4),
    "pointing": cases(1, 4),
    "fight-for-a-name": cases(1, 2),
    "runes-to-ruins": cases(1, 2),
}


class Browsers:
    """A server that follows one feed, and all that it sent."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.live = LiveFeed(self._take, self._take_one, lambda: 0.0)

    def _take(self, message: Any) -> None:
        self.sent.append(event(message))

    def _take_one(self, _: str, message: Any) -> None:
        self._take(message)

    def hear(self, message: bytes, seats: int) -> list[bytes]:
        """What it sends when the feed says this, and what it then tells who comes late."""
        self.sent.clear()
        # The suite's matches have no players.
        players = b",".join([b'"x"'] * seats)
        self.live.hear(b"match/m", message.replace(b'"players":[]', b'"players":[%b]' % players, 1))
        return [*self.sent, event(self.live.snapshot())]


@contextmanager
def on_the_web() -> Iterator[None]:
    """Has the conformance suite compare what browsers are told in place of what the feed says."""

    def publish(self: Any, topic: str, message: bytes) -> None:
        if not hasattr(self, "browsers"):
            self.browsers = Browsers()
        self.fed.extend(self.browsers.hear(message, self.table.seats))

    def fork(self: Any) -> Any:
        made: Any = forked(self)
        made.browsers = deepcopy(self.browsers)
        return made

    def snapshot(self: Any) -> bytes:
        late, raw = Browsers(), []
        self.feed.fork(self.table, lambda _, message: raw.append(message)).snapshot(0)
        return b"".join([*late.hear(raw[0], self.table.seats), event(self.browsers.live.snapshot())])

    forked = ObservedTable.fork
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ObservedTable, "publish", publish)
        patch.setattr(ObservedTable, "fork", fork)
        patch.setattr(ObservedTable, "_snapshot", snapshot)
        yield


@pytest.mark.slow
@pytest.mark.parametrize("game", sorted(GAMES))
def test_two_matches_that_look_the_same_give_browsers_the_same_bytes(game: str) -> None:
    with on_the_web():
        for report in check_game(GAMES[game], range(SEEDS[game])):
            assert report.windows > 0


def test_a_leak_of_the_feed_is_found_on_the_web() -> None:
    with on_the_web(), pytest.MonkeyPatch.context() as patch:
        private_events(patch)
        with pytest.raises(ConformanceError):
            check_game(GAMES["hive-mind"], range(30))


def told_after_the_last_window(game: str, seed: int) -> tuple[list[bytes], list[bytes]]:
    """What browsers are told after a match's last window has closed; and what late ones are."""
    match, chooser = seat_match(GAMES[game], GAMES[game].variants[0].name, seed), Chooser(Random(seed))
    while match.table.window is not None:
        match.play(chooser.choose_all(match.table))
    return match.fed, [event(match.browsers.live.snapshot())]  # type: ignore[attr-defined]


@pytest.mark.parametrize("game", sorted(GAMES))
def test_how_a_match_ends_is_told_to_nobody_before_its_block_counts(game: str) -> None:
    """All matches end alike: with the board of their last window, and that they are over."""
    with on_the_web():
        for seed in range(3):
            said, late = told_after_the_last_window(game, seed)
            messages = [json.loads(each.removeprefix(b"data: ")) for each in said]
            changes = [each for each in messages if each["type"] != "all"]
            allowed = {"type", "id", "game", "variant", "players", "state", "window", "paused"}
            assert {key for each in changes for key in each} <= allowed
            assert {None} == {each.get("window") for each in changes}
            (shown,) = json.loads(late[0].removeprefix(b"data: "))["matches"]
            assert "over" == shown["state"]
            assert shown.keys() <= allowed | {"view", "log", "log_from"}


def tells_the_end_at_once(patch: pytest.MonkeyPatch) -> None:
    def leaky(self: LiveMatch, ended: FeedEnded) -> Any:
        return finish(self, ended) | self.count(None)

    finish = LiveMatch._finish
    patch.setattr(LiveMatch, "_finish", leaky)


def holds_nothing_back(patch: pytest.MonkeyPatch) -> None:
    def leaky(self: LiveMatch, message: FeedMessage) -> Any:
        told = hear(self, message)
        return told | self._release() if isinstance(message, FeedEvent) else told

    hear = LiveMatch.hear
    patch.setattr(LiveMatch, "hear", leaky)


def shows_the_last_view(patch: pytest.MonkeyPatch) -> None:
    def leaky(self: LiveMatch, ended: FeedEnded) -> Any:
        return finish(self, ended) | {"view": ended.view}

    finish = LiveMatch._finish
    patch.setattr(LiveMatch, "_finish", leaky)


@pytest.mark.parametrize("leak", [tells_the_end_at_once, holds_nothing_back, shows_the_last_view])
def test_an_end_that_is_told_too_early_is_found(leak: Callable[[pytest.MonkeyPatch], None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        leak(patch)
        with pytest.raises(AssertionError):
            test_how_a_match_ends_is_told_to_nobody_before_its_block_counts("hive-mind")


# --- Pages: of what does not count, there is nothing on them.

PATHS = (
    "index",
    "matches",
    "bots",
    "schedule",
    "live",
    "kiosk",
    "bot/0",
    "bot/1",
    "match/1a",
    "match/1b",
    "match/0-0",
)
UNCOUNTED = "FROM attempts WHERE id NOT IN (SELECT attempt FROM results)"
SEED = 918273645546372
STOPS_AFTER = 5
"""Matches of two a block: the third block has one that is over and does not count."""


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with a block of which one match is over."""
    folder = tmp_path_factory.mktemp("stopped")
    with pytest.raises(MachineCannot):
        cup(
            folder,
            TEXT.replace("seed = 4", f"seed = {SEED}"),
            AtOnce(fails_after=STOPS_AFTER, failure=MachineCannot("enough")),
        )
    results = folder / "runs" / "cup"
    with closing(sqlite3.connect(results / LEDGER)) as ledger:
        assert (1,) == ledger.execute(f"SELECT count(*) {UNCOUNTED} AND played IS NOT NULL").fetchone()
    return results


async def pages_of(results: Path) -> dict[str, bytes]:
    """By path, what the server answers, headers left out that say when."""
    competition = ServedCompetition("cup", results)
    application = Application(Site({"cup": competition}), Streams(), lambda _: None, SILENT)
    found = {}
    async with AsyncClient(transport=ASGITransport(application), base_url="http://arena.example") as client:
        paths = ["", *(f"cup/{path}.html" for path in PATHS)]
        paths += [f"cup/match/{block}-{seating}.html" for block in range(12) for seating in range(2)]
        paths += [f"cup/match/{block + 1}{letter}.html" for block in range(12) for letter in "ab"]
        with closing(sqlite3.connect(results / LEDGER)) as ledger:
            heads = ledger.execute("SELECT json_extract(played, '$.head') FROM attempts").fetchall()
        paths += [f"transcript/{head}.jsonl" for (head,) in heads if head]
        for path in paths:
            answer = await client.get(f"/{path}")
            found[path] = b"%d\n" % answer.status_code + answer.content
    return found


def other(results: Path, folder: Path) -> Path:
    """The same competition, but for all that is known of blocks that do not count."""
    made = folder / "runs" / "cup"
    shutil.copytree(results, made)
    with closing(sqlite3.connect(made / LEDGER)) as ledger, ledger:
        ((number, played),) = ledger.execute(f"SELECT id, played {UNCOUNTED} AND played IS NOT NULL")
        known = json.loads(played)
        known["outcome"]["ranking"] = known["outcome"]["ranking"][::-1]
        known["outcome"]["reason"] = "SECRET"
        ledger.execute("UPDATE attempts SET played = ? WHERE id = ?", [json.dumps(known), number])
        for (void,) in ledger.execute(f"SELECT id {UNCOUNTED} AND void IS NOT NULL").fetchall():
            ledger.execute("UPDATE attempts SET void = 'SECRET' WHERE id = ?", [void])
    for transcript in (made / TRANSCRIPTS).iterdir():
        transcript.write_bytes(b"SECRET")
    return made


async def test_pages_depend_on_nothing_that_does_not_count(stopped: Path, tmp_path: Path) -> None:
    one, two = await pages_of(stopped), await pages_of(other(stopped, tmp_path))
    assert one == two
    assert b"200\n" == one["cup/match/0-0.html"][:4]
    assert b"404\n" == one["cup/match/2-0.html"][:4]
    assert (b"200\n", b"404\n") == (one["cup/match/1a.html"][:4], one["cup/match/3a.html"][:4])


async def test_a_page_that_shows_what_does_not_count_is_found(
    stopped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = other(stopped, tmp_path)
    monkeypatch.setattr(Ledger, "results", lambda ledger, *_: [played for played, _ in ledger.played()])
    one, two = await pages_of(stopped), await pages_of(made)
    assert b"200\n" == one["cup/index.html"][:4] == two["cup/index.html"][:4]
    assert one["cup/index.html"] != two["cup/index.html"]


async def test_the_seed_of_deals_to_come_is_on_no_page(stopped: Path) -> None:
    with closing(Ledger(stopped / LEDGER)) as ledger:
        assert str(SEED) == str(ledger.terms()["seed"])
    for path, page in (await pages_of(stopped)).items():
        assert str(SEED).encode() not in page, path


def test_the_suite_compares_what_a_browser_gets() -> None:
    """A sitting's bytes are events of a stream."""
    with on_the_web():
        match = seat_match(GAMES["mist"], GAMES["mist"].variants[0].name, 0)
        assert match.fed
        assert all(each.startswith(b"data: {") for each in match.fed)
        told = msgspec.json.decode(match.fed[-1].removeprefix(b"data: "))
        assert "all" == told["type"]
        assert match.fork().browsers is not match.browsers  # type: ignore[attr-defined]
