"""What operators rely on: the announcement on all pages, health, metrics, and a complete audit log."""

import os
import re
import subprocess
from contextlib import closing

import pytest
from msgspec.structs import replace

from arena.portal import ROUTES, host
from arena.portal.operations import Disk
from arena.portal.supervisor import PROCESSES, ProcessReport
from arena.processes import show_life
from arena.tournament import LEDGER, Ledger
from protocol.codec import encode
from tests.arena.portal.conftest import Browser, Setting, archive
from tests.arena.tournament.test_ledger import FIRST

LINE = "No matches on Sunday <b>"
SHOWN = "No matches on Sunday &lt;b&gt;"


async def test_an_announcement_is_on_every_page_at_once_until_it_is_removed(setting: Setting) -> None:
    """Public pages that were made before are made again, and error pages have it, too."""
    paths = ("index.html", "results/index.html", "results/matches.html", "queue", "no-such-page")
    for path in paths:
        assert SHOWN not in (await setting.stranger.get(path)).text
    await setting.host.post("host/announce", text=LINE)
    for path in paths:
        assert 1 == (await setting.stranger.get(path)).text.count(SHOWN), path
    assert 1 == (await setting.mia.get("team/")).text.count(SHOWN)
    await setting.host.post("host/announce", text="")
    for path in paths:
        assert SHOWN not in (await setting.stranger.get(path)).text


async def test_the_audit_log_has_each_change_by_a_host_or_a_team(setting: Setting) -> None:
    """Signing in and out change nothing."""
    host, mia = setting.host, setting.mia
    accounts = setting.portal.accounts
    public = (await mia.upload(archive())).headers["location"].rpartition("/")[2]
    entry = f"team/submission/{public}"
    token = accounts.new_token(setting.member("Red Pandas"), "ci", "submit")
    changes: list[tuple[str, Browser, str, dict[str, str]]] = [
        ("token made", mia, "account/token", {"name": "laptop", "scope": "read"}),
        ("token revoked", mia, "account/token/revoke", {"id": "2"}),
        ("invited", mia, "team/members/invite", {}),
        ("invitation revoked", mia, "team/members/revoke", {"id": "4"}),
        ("submission published", mia, f"{entry}/publish", {"published": "yes"}),
        ("submission no longer published", mia, f"{entry}/publish", {}),
        ("submission withdrawn", mia, f"{entry}/withdraw", {}),
        ("restored", mia, f"{entry}/restore", {}),
        ("team made", host, "host/teams/new", {"name": "Green Newts", "uses": "1"}),
        ("invited", host, "host/teams/invite", {"team": "2", "uses": "3"}),
        ("team closed", host, "host/teams/close", {"team": "3", "closed": "yes"}),
        ("team opened", host, "host/teams/close", {"team": "3", "closed": "no"}),
        ("judge paused", host, "host/pause", {"paused": "yes"}),
        ("judge goes on", host, "host/pause", {"paused": "no"}),
        ("announced", host, "host/announce", {"text": LINE}),
        ("identity no longer linked", mia, "account/provider/remove", {}),
        ("secrets ended", setting.eve, "account/sign-out-everywhere", {}),
    ]
    for action, browser, path, fields in changes:
        (before,) = accounts.audit_log(count=1)
        await browser.post(path, **fields)
        assert action in {each.action for each in accounts.audit_log() if each.id > before.id}, path
    async with setting.program(token) as program:
        (again,) = [
            each["id"]
            for each in (await program.get("submissions")).json()["submissions"]
            if each["state"] == "received"
        ]
    for action, path, fields in (
        ("submission tried again", "retry", {}),
        ("submission refused", "refuse", {"reason": "not a bot"}),
    ):
        await host.post(f"host/submission/{again}/{path}", **fields)
        assert action == accounts.audit_log(count=1)[0].action
    await mia.post("account/leave", sure="yes")
    assert "left" == accounts.audit_log(count=1)[0].action
    covered = {path.replace(public, "{public}") for _, _, path, _ in changes}
    covered |= {f"host/submission/{{public}}/{each}" for each in ("retry", "refuse")}
    covered |= {"join/provider", "account/provider"}  # These lead to the provider, and change nothing yet.
    covered |= {"account/leave", "join", "sign-in", "account/sign-out", "team/submit", "team/scrimmages/ask"}
    assert covered == {each.path for each in ROUTES if each.method == "POST" and not each.of_programs}


async def test_the_host_reads_the_whole_audit_log_page_by_page(setting: Setting) -> None:
    setting.portal.accounts.audit("first of all", "", None, None)
    for number in range(host.SHOWN):
        setting.portal.accounts.audit(f"change {number}", "", None, None)
    page = await setting.host.get("host/log")
    assert "first of all" not in page.text
    older = re.search(r'href="(\?before=[0-9]+)"', page.text)
    assert older is not None
    rest = await setting.host.get(f"host/log{older[1]}")
    assert "first of all" in rest.text
    assert "joined" in rest.text
    assert "?before" not in rest.text


def supervised(setting: Setting, *reports: ProcessReport) -> None:
    """Let a supervisor have reported processes, this one as the one that serves."""
    folder = setting.competition.server
    serve = ProcessReport("serve", "runs", "", pid=os.getpid(), starts=1)
    (folder / PROCESSES).write_bytes(encode([serve, *reports]))
    show_life(str(folder / "supervisor.life"))


async def health(setting: Setting) -> tuple[int, str]:
    answer = await setting.stranger.get("healthz")
    return answer.status_code, answer.json()["reason"]


async def test_a_process_that_is_gone_makes_the_server_ill_and_is_named(setting: Setting) -> None:
    supervised(setting, ProcessReport("play", "done", "", starts=1))
    assert (200, "") == await health(setting)
    supervised(setting, ProcessReport("judge", "waits", "", starts=3, last="ended by SIGKILL"))
    assert (503, "judge starts again soon: ended by SIGKILL") == await health(setting)


async def test_the_desk_says_how_each_process_does_and_how_many_workers_it_has(setting: Setting) -> None:
    supervised(setting, ProcessReport("judge", "waits", "", starts=3, last="ended by SIGKILL"))
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE):  # noqa: ASYNC220, S607 - a child that waits
        desk = (await setting.host.get("host/")).text
    assert re.search(r"<dt>serve</dt><dd>runs, with [1-9][0-9]* workers?</dd>", desk)
    assert "<dt>judge</dt><dd>starts again soon: ended by SIGKILL</dd>" in desk
    assert '<p class="warning">judge starts again soon: ended by SIGKILL</p>' in desk


async def test_a_process_that_hangs_makes_the_server_ill_and_is_named(setting: Setting) -> None:
    """A clock that is set does not: signs of life have the machine's uptime."""
    folder = setting.competition.server
    supervised(setting, ProcessReport("judge", "runs", "", pid=os.getppid(), starts=1))
    show_life(str(folder / "judge.life"))
    assert (200, "") == await health(setting)
    for name in ("judge", "supervisor"):
        (folder / f"{name}.life").write_bytes(b"-100")
        status, reason = await health(setting)
        assert 503 == status
        assert re.fullmatch(rf"{name} hangs: no sign of life for [0-9]+ s", reason)
        show_life(str(folder / f"{name}.life"))


async def test_what_another_supervisor_has_left_is_no_illness(setting: Setting) -> None:
    """So a server whose three processes are units of their own is well."""
    (setting.competition.server / PROCESSES).write_bytes(
        encode([ProcessReport("serve", "stopped", ""), ProcessReport("judge", "stopped", "")])
    )
    assert (200, "") == await health(setting)


@pytest.mark.parametrize(
    ("disk", "complaint"),
    [
        (
            Disk(free=400_000_000, total=4_000_000_000, free_files=9, files=0),
            "the disk is nearly full: 0.4 of",
        ),
        (Disk(free=4 * 10**9, total=10**12, free_files=9, files=10), "the disk is nearly full: 4.0 of"),
        (Disk(free=9 * 10**9, total=10**12, free_files=9, files=10), ""),
        (Disk(free=6 * 10**8, total=10**9, free_files=1, files=100), "the disk has hardly room for more files: 1"),
    ],
)
def test_a_disk_is_nearly_full_by_bytes_by_share_or_by_files(disk: Disk, complaint: str) -> None:
    assert disk.complaint.startswith(complaint)
    assert bool(disk.complaint) == bool(complaint)


async def test_a_disk_that_is_nearly_full_makes_the_server_ill(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Disk(free=0, total=10**9, free_files=1, files=1)
    monkeypatch.setattr("arena.portal.operations.disk_of", lambda _: full)
    assert (503, "the disk is nearly full: 0.0 of 1.0 GB are free") == await health(setting)


async def test_metrics_count_what_is_played_and_name_no_team(setting: Setting) -> None:
    here = setting.browser("127.0.0.1")
    await setting.mia.upload(archive(), note="note-7d1f")
    before = (await here.get("metrics")).text
    for line in (
        'arena_submissions{state="received"} 1.0',
        'arena_queue_waiting{kind="submission"} 1.0',
        'arena_matches_counted{tournament="results"} 4.0',
        'arena_void_series{tournament="results"} 0.0',
        'arena_windows_total{tournament="results"} 0.0',
    ):
        assert line in before
    for secret in ("Red Pandas", "Blue Herons", "Mia", "note-7d1f", str(setting.competition.results)):
        assert secret not in before
    with closing(Ledger(setting.competition.results / LEDGER)) as ledger:
        ledger.give_up_unfinished()
        late = replace(FIRST, block=90)
        for number in range(3):
            ledger.void(ledger.try_match(late, setting.competition.results, f"v{number}"), "no <memory>")
    after = (await here.get("metrics")).text
    assert 'arena_void_total{tournament="results"} 3.0' in after
    assert 'arena_void_series{tournament="results"} 3.0' in after
    desk = (await setting.host.get("host/")).text
    assert "3 void attempts in a row, most recently because no &lt;memory&gt;" in desk
