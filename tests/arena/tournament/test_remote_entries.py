"""Entries that are keys: what their file may say, what is kept of them, and how they come, change and go."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena.commands.main import main
from arena.config.tournament_file import read_tournament
from arena.errors import DONE, WRONG_USE, WrongUse
from arena.schedule.fields import Entered
from arena.statistics import CountedMatch, RunningRating
from arena.tournament.observers import keys_of, standings_by_key, withdrawing
from arena.tournament.results import CountingMatches
from arena.tournament.results_folder import ENTRIES, LEDGER
from referee.host.players import RemoteBot, remote_bot
from referee.wire.keys import new_pair, write_pair
from tests.arena.ledgers import OpenLedger
from tests.arena.simulated import result as simulated
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_entries import playing

TEXT = """\
game = "mist"
bots = ["mist_random", "remote:keys/alice.pub", "remote:keys/bob.key"]
blocks = 2
seed = 4
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "keys").mkdir()
    for name in ("alice", "bob", "carol"):
        write_pair(tmp_path / "keys" / name, new_pair())
    (tmp_path / "keys" / "alice.key").rename(tmp_path / "keys" / "alice.pub")
    path = tmp_path / "cup.toml"
    path.write_text(TEXT)
    return path


def entry(name: str, file: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["entry", name, str(file), *words])


def complaint(file: Path, was: str, becomes: str) -> str:
    assert was in TEXT
    file.write_text(TEXT.replace(was, becomes))
    with pytest.raises(WrongUse) as caught:
        read_tournament(file)
    return caught.value.format_message().removeprefix(f"{file}:")


def test_a_remote_bot_is_named_as_its_keys_file_and_its_content_is_its_key(file: Path) -> None:
    tournament = read_tournament(file)
    assert ("mist_random", "alice", "bob") == tournament.labels
    assert ["alice", "bob"] == [bot.name for bot in tournament.remote]
    alice = tournament.bots[1]
    assert isinstance(alice, RemoteBot)
    assert (alice.content.partition(":")[0], alice) == ("key", remote_bot("alice", alice.content))
    results = playing(file, AtOnce())
    assert alice.content == results.terms["content of alice"] == results.content(1)
    assert "files of alice" not in results.terms
    assert {"remote.credit_ms": 0} == {key: results.terms[key] for key in results.terms if "remote." in key}
    copies = (file.parent / "runs/cup" / ENTRIES).iterdir()
    assert [tournament.folders[0].content] == [f"sha256:{copy.name}" for copy in copies]


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("alice.pub", "nobody.pub", "keys/nobody.pub: cannot be read: No such file or directory"),
        (
            "alice.pub",
            "alice.key_secret",
            "keys/alice.key_secret: holds a secret key, which only its owner may have",
        ),
        (
            "seed = 4",
            'format = "ladder"\nrounds = 2\nfill = "remote:keys/carol.key"',
            "6: fill: the house's bot plays on this machine",
        ),
        ("seed = 4", "[policy]\nponder = false", "5: policy.ponder: a bot on another machine cannot be kept from"),
        ("seed = 4", "[remote]\nwait = 0", "5: remote.wait: 0"),
        ("seed = 4", "[remote]\ncredit_ms = 10_001", "5: remote.credit_ms: 10001"),
        ("seed = 4", "[remote]\nwaits = 9", "5: remote.waits: is not a known field; did you mean wait?"),
    ],
)
def test_fields_that_remote_bots_do_not_allow_are_refused(was: str, becomes: str, said: str, file: Path) -> None:
    assert said in complaint(file, was, becomes)


def test_two_bots_have_no_key_in_common(file: Path) -> None:
    (file.parent / "keys/bob.key").write_bytes((file.parent / "keys/alice.pub").read_bytes())
    assert "2: bots[1]: another bot has the same key" == complaint(file, "seed = 4", "seed = 5")


def test_another_key_in_the_same_file_is_no_longer_what_was_begun(file: Path) -> None:
    playing(file, AtOnce())
    key = file.parent / "keys/bob.key"
    key.unlink()
    write_pair(file.parent / "keys/new", new_pair())
    (file.parent / "keys/new.key").rename(key)
    with pytest.raises(WrongUse, match=r"content of bob was key:.* \(to take it in: .* entry update .* bob\)"):
        playing(file, AtOnce())


def test_the_wait_for_bots_may_change_and_their_credit_may_not(file: Path) -> None:
    playing(file, AtOnce())
    file.write_text(f"{TEXT}[remote]\nwait = 5\n")
    playing(file, AtOnce())
    file.write_text(f"{TEXT}[remote]\ncredit_ms = 5\n")
    with pytest.raises(WrongUse, match=r"remote.credit_ms was 0, is 5\."):
        playing(file, AtOnce())


def test_keys_enter_change_and_withdraw_under_way(file: Path, open_ledger: OpenLedger) -> None:
    file.write_text(TEXT.replace(', "remote:keys/bob.key"', ""))
    playing(file, AtOnce())
    keys = file.parent / "keys"
    added = entry("add", file, f"remote:{keys / 'bob.key'}")
    assert DONE == added.exit_code, added.stderr
    assert "bob will enter at block " in added.stderr
    again = entry("add", file, f"remote:{keys / 'alice.pub'}", "--label", "twin")
    assert (WRONG_USE, "arena: twin: alice has the same key\n") == (again.exit_code, again.stderr)
    same = entry("update", file, "alice")
    assert (WRONG_USE, True) == (same.exit_code, "has not changed since alice," in same.stderr)
    for command, *words in (("update", "alice", f"remote:{keys / 'carol.key'}"), ("withdraw", "bob")):
        done = entry(command, file, *words)
        assert DONE == done.exit_code, done.stderr
    results = playing(file, AtOnce())
    now = results.tournament
    assert ("mist_random", "alice", "bob", "alice v2") == now.labels
    bots = {label: bot for label, bot in zip(now.labels, now.bots, strict=True) if isinstance(bot, RemoteBot)}
    assert {bots["alice v2"].key} == keys_of(now, competing_now=True)
    assert {bots["alice"].key, bots["bob"].key} == keys_of(now, competing_now=False)
    ledger = open_ledger(file.parent / "runs/cup" / LEDGER)
    entered = [event.what.content for event in ledger.events() if isinstance(event.what, Entered)]
    ledger.close()
    assert [bots["bob"].content, bots["alice v2"].content] == entered


def test_a_key_that_comes_back_is_waited_for_and_told_of_its_new_row(file: Path, open_ledger: OpenLedger) -> None:
    playing(file, AtOnce())
    key = f"remote:{file.parent / 'keys/bob.key'}"
    bob = read_tournament(file).remote[1].key
    seen = []
    for command, *words in (("withdraw", "bob"), ("add", key, "--label", "bob-again")):
        done = entry(command, file, *words)
        assert DONE == done.exit_code, done.stderr
        for _ in ("waits", "taken in"):
            ledger = open_ledger(file.parent / "runs/cup" / LEDGER)
            seen.append(withdrawing(read_tournament(file), ledger.events()))
            ledger.close()
            results = playing(file, AtOnce())
    assert [{bob}, {bob}, set(), set()] == seen
    now = results.tournament
    assert bob in keys_of(now, competing_now=True) - keys_of(now, competing_now=False)
    told = standings_by_key(now, results.contest.seed, CountingMatches(played=results.played))[bob]
    rows = [now.labels[row.entrant] for row in results.standings]
    assert rows.index("bob-again") + 1 == told.place < rows.index("bob") + 1


def test_an_author_is_told_place_and_rating_as_the_table_has_them(file: Path) -> None:
    results = playing(file, AtOnce())
    played: list[CountedMatch] = results.played
    told = standings_by_key(results.tournament, results.contest.seed, CountingMatches(played=played))
    for place, row in enumerate(results.standings, 1):
        bot = results.tournament.bots[row.entrant]
        if isinstance(bot, RemoteBot):
            rating = results.digest.ratings.ratings[row.entrant]
            mine = told[bot.key]
            assert (place, 3, row.played, round(rating.elo, 1)) == (mine.place, mine.of, mine.played, mine.rating)
            assert rating.low is not None
            assert rating.high is not None
            assert (round(rating.low, 1), round(rating.high, 1)) == (mine.low, mine.high)
    assert 2 == len(told)


def test_authors_on_an_endless_ladder_receive_their_own_rating_and_its_95_percent_interval(file: Path) -> None:
    file.write_text(TEXT.replace("blocks = 2", 'format = "ladder"\nendless = true'))
    tournament = read_tournament(file)
    played = [simulated(block, 0, (0, 1 + block % 2), [[0], [1]]) for block in range(6)]
    running = tuple([RunningRating(rating=100.0 * bot, error=10.0 + bot, blocks=4) for bot in range(3)])
    told = standings_by_key(tournament, 4, CountingMatches(played=played, running=running))
    alice, bob = (told[bot.key] for bot in tournament.remote[:2])
    assert (100.0, 78.4, 121.6) == (alice.rating, alice.low, alice.high)
    assert (200.0, 176.5, 223.5) == (bob.rating, bob.low, bob.high)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--listen ADDRESS:PORT is needed for bots on other machines: {file} names remote:alice"),
        (("--key", "k"), "--listen ADDRESS:PORT is needed"),
        (("--listen", "localhost:1"), "--listen: 'localhost:1': 'localhost' is not a numeric address"),
        (("--listen", ":0", "--on", "dask://h:1"), "--on: with remote bots the arena's own process plays all"),
        (("--on", "dask://h:1"), "go on without --on, with --listen ADDRESS:PORT: {file} names remote:alice"),
        (("--listen", ":0", "--workers", "2"), "--workers: with remote bots the arena's own process plays all"),
        (("--listen", ":0", "--transcripts", "s3://b"), "--transcripts: with remote bots the arena's own"),
    ],
)
def test_the_command_says_what_remote_bots_need(words: tuple[str, ...], said: str, file: Path) -> None:
    result = CliRunner().invoke(main, ["tournament", str(file), *words])
    assert (WRONG_USE, 1) == (result.exit_code, result.stderr.count("\n"))
    assert said.format(file=file) in result.stderr


def test_a_regression_test_has_no_remote_bots(file: Path) -> None:
    words = ("regress", "mist", "--base", "mist_random", "--head", f"remote:{file.parent / 'keys/bob.key'}")
    result = CliRunner().invoke(main, [*words, "--results", str(file.parent / "r")])
    assert WRONG_USE == result.exit_code
    assert "a remote bot plays in `arena host` and `arena tournament` alone" in result.stderr
