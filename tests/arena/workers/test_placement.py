"""What a pool is made of: players that are built here, a cluster's that are built there, and what cannot be."""

from pathlib import Path

import pytest

from arena.errors import WrongUse
from arena.workers.machine import ready
from arena.workers.placement import LOCAL, Placement, PoolSetup
from arena.workers.remote_seats import Hosting, RemoteSeats
from referee.bot_folder import BotFolder
from referee.bot_folder.manifest import read_bot
from referee.host.players import RemoteBot, SandboxedBot
from referee.wire.keys import new_pair, z85
from referee.wire.remote import Address

TOML = 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = "*"\n'
BUILD = 'build = [["sh", "-c", "echo first line; echo no compiler; exit 3"]]\n'
AWAY = RemoteBot(name="alice", key=z85(new_pair().public))


@pytest.fixture
def bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[BotFolder, BotFolder]:
    """One that needs no build, and one whose build fails."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, more in (("good", ""), ("bad", BUILD)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bot.py").write_text("")
        (folder / "bot.toml").write_text(TOML + more)
    good, bad = (read_bot(tmp_path / name, given=name) for name in ("good", "bad"))
    return good, bad


def where(on: str, concurrency: int | None = None, workers: int | None = None) -> Placement:
    return Placement(on=on, transcripts=None, concurrency=concurrency, workers=workers)


def test_the_first_build_that_fails_ends_it_and_says_what_the_build_said(
    bots: tuple[BotFolder, BotFolder], capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = bots
    assert [good] == ready([good], "none")
    assert not capsys.readouterr().err
    with pytest.raises(WrongUse, match=r"^bad: build: exit code 3: no compiler; its log: "):
        ready([good, bad], "none")
    assert ["building bad", "  first line", "  no compiler"] == capsys.readouterr().err.splitlines()


def test_each_bot_has_its_place_and_each_failed_build_its_bots(
    bots: tuple[BotFolder, BotFolder],
) -> None:
    good, bad = bots
    failed: dict[int, str] = {}
    assert [bad, good, bad] == ready([bad, good, bad], "none", failed)
    assert {0, 2} == set(failed)
    assert all(why.startswith("build: exit code 3: no compiler; its log: ") for why in failed.values())


def test_a_failed_build_is_that_of_its_entrant_also_beside_bots_of_other_machines(
    bots: tuple[BotFolder, BotFolder],
) -> None:
    good, bad = bots
    failed: dict[int, str] = {}
    seats = RemoteSeats(Hosting(Address("127.0.0.1", 0), new_pair(), 1.0), slots=1)
    players, _ = PoolSetup(where=where(LOCAL), isolation="none", remote=seats).pool_for(
        [good, AWAY, bad], failed=failed
    )
    assert (SandboxedBot(good), AWAY, SandboxedBot(bad)) == players
    assert {2} == set(failed)


@pytest.mark.parametrize(("concurrency", "workers"), [(2, None), (None, 1), (2, 1)])
def test_the_number_of_matches_cannot_be_set_for_a_cluster(
    bots: tuple[BotFolder, BotFolder], concurrency: int | None, workers: int | None
) -> None:
    with pytest.raises(
        WrongUse, match="--concurrency and --workers are of this machine; a cluster's workers have"
    ):
        PoolSetup(where=where("dask://here:1", concurrency, workers), isolation="none").pool_for(bots)


def test_a_clusters_players_are_not_built_here(bots: tuple[BotFolder, BotFolder]) -> None:
    players, _ = PoolSetup(where=where("dask://here:1"), isolation="none").pool_for(bots)
    assert tuple(SandboxedBot(bot) for bot in bots) == players


def test_workers_have_no_cores_of_their_own_where_there_are_too_few(
    bots: tuple[BotFolder, BotFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = "cup.toml:3: workers.affinity"
    monkeypatch.setattr("arena.workers.machine.cores", lambda: 2)
    lack = "3 workers cannot each have a core: the arena may use 2; give --workers 2, or fewer"
    with pytest.raises(WrongUse, match=f"^{place}: {lack}$"):
        PoolSetup(where=where(LOCAL, 4, 3), isolation="none", affinity=place).pool_for(bots[:1])
    # No more are started than matches are played at once.
    PoolSetup(where=where(LOCAL, 2, 3), isolation="none", affinity=place).pool_for(bots[:1])


def test_cores_are_given_to_workers_of_this_machine_only(bots: tuple[BotFolder, BotFolder]) -> None:
    place = "cup.toml:3: workers.affinity"
    with pytest.raises(WrongUse, match=rf"^{place}: is for this machine; .*: taskset --cpu-list 0-3 dask worker "):
        PoolSetup(where=where("dask://here:1"), isolation="none", affinity=place).pool_for(bots)
    seats = RemoteSeats(Hosting(Address("127.0.0.1", 0), new_pair(), 1.0), slots=1)
    with pytest.raises(WrongUse, match=f"^{place}: with remote bots the arena's own process plays all matches"):
        PoolSetup(where=where(LOCAL), isolation="none", affinity=place, remote=seats).pool_for([bots[0], AWAY])
