"""`arena site`: what is written, what stays, and what is nobody's business."""

import errno
import json
import os
import re
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from arena.commands.main import main
from arena.errors import CANNOT, DONE, NO, WRONG_USE, MachineCannot, WrongUse
from arena.pages import MatchFiles, Page, Website, replay_page, replay_path, story_path
from arena.tournament import LEDGER, TRANSCRIPTS
from arena.web import output, site
from arena.web.output import HOME, MANIFEST, PARTS, open_output
from arena.web.site import Made, Wanted, made
from referee.host.plan import AttemptResult as Attempted
from referee.host.plan import Plan
from referee.transcript import verify_transcript
from tests.arena.commands.test_report import cup
from tests.arena.stand_in import AtOnce
from tests.arena.viewer.matches import HOSTILE, written
from tests.long import mostly_slow

TURNS = (3, 4, 5)
Tree = dict[str, bytes]


@pytest.fixture(scope="session")
def matches(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Transcripts of matches of so many turns."""
    folder = tmp_path_factory.mktemp("matches")
    return [written("mist", folder / f"{turns}.jsonl", name=HOSTILE, turns=turns) for turns in TURNS]


class Recorded(AtOnce):
    """Leaves one of these transcripts with each match; after so many it stops."""

    def __init__(self, matches: Sequence[Path], *, stops_after: int | None = None) -> None:
        super().__init__(fails_after=stops_after, failure=MachineCannot("enough") if stops_after else None)
        self._matches = [(path, verify_transcript(path).head) for path in matches]

    async def __call__(self, plan: Plan, players: Sequence[str], *, transcript: Path) -> Attempted:
        """See `referee.host.one_match.play`."""
        done = await super().__call__(plan, players, transcript=transcript)
        path, head = self._matches[len(self.played) % len(self._matches)]
        shutil.copyfile(path, transcript)
        return replace(done, head=head)


@pytest.fixture
def results(tmp_path: Path, matches: list[Path]) -> Path:
    """A results folder whose matches have three transcripts between them."""
    cup(tmp_path, play=Recorded(matches))
    return tmp_path / "runs" / "cup"


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make small sites without further processes."""
    monkeypatch.setattr(site, "WORTH_PROCESSES", 100)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["site", *map(str, arguments)])


def told(*arguments: object, code: int = DONE) -> dict[str, Any]:
    result = run("--json", *arguments)
    assert code == result.exit_code, result.output
    said: dict[str, Any] = json.loads(result.stdout)
    return said


def complaint(*arguments: object, code: int = WRONG_USE) -> str:
    result = run(*arguments)
    assert code == result.exit_code, result.output
    return result.stderr.removeprefix("arena: ").rstrip("\n")


def tree(folder: Path) -> Tree:
    """All files that others see."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and HOME not in path.parts
    }


def test_pages_replays_and_transcripts_are_written(results: Path, out: Path, matches: list[Path]) -> None:
    said = told(out, results)
    files = tree(out)
    assert {"index.html", "cup/index.html", ".nojekyll"} <= set(files)
    for match in matches:
        head = verify_transcript(match).head
        assert match.read_bytes() == files[f"transcript/{head}.jsonl"]
        assert replay_page(match, head) == files[replay_path(head) or ""]
        assert MatchFiles(match, head).content("story") == files[story_path(head) or ""]
    assert (len(files), sum(map(len, files.values()))) == (said["written"], said["size"])
    assert (0, 0) == (said["deleted"], said["failures"])


def test_what_is_there_is_not_written_again(results: Path, out: Path) -> None:
    told(out, results)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if HOME not in path.parts}
    said = told(out, results)
    assert (0, 0, 0) == (said["written"], said["size"], said["deleted"])
    assert before == {path: path.stat().st_mtime_ns for path in out.rglob("*") if HOME not in path.parts}


def test_a_replay_is_made_once(results: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told(out, results)
    monkeypatch.setattr(site, "made", lambda *_, **__: pytest.fail("it is looked at again"))
    told(out, results)


def test_what_is_new_is_added(tmp_path: Path, out: Path, matches: list[Path]) -> None:
    with pytest.raises(MachineCannot):
        cup(tmp_path, play=Recorded(matches[:1], stops_after=6))
    told(out, tmp_path / "runs")
    before = tree(out)
    cup(tmp_path, play=Recorded(matches[1:2]))
    said = told(out, tmp_path / "runs")
    after = tree(out)
    assert set(before) < set(after)
    head = verify_transcript(matches[1]).head
    assert {f"transcript/{head}.jsonl", replay_path(head)} <= set(after) - set(before)
    assert len([path for path in after if before.get(path) != after[path]]) == said["written"]


def test_with_its_address_pages_and_replays_have_previews_and_a_line_for_other_sites(
    results: Path, out: Path, matches: list[Path]
) -> None:
    told(out, results)
    assert "card" not in set(map(os.path.dirname, tree(out)))
    assert b"og:image" not in b"".join(tree(out).values())
    told(out, results, "--url", "https://example.org/cups")
    files = tree(out)
    cards = {path for path in files if path.startswith("card/")}
    assert len(TURNS) == len(cards)
    replays = [content for path, content in files.items() if path.startswith("replay/")]
    for page in (files["cup/match/1a.html"], files["cup/index.html"], *replays):
        (image,) = re.findall(rb'<meta property="og:image" content="https://example\.org/cups/([^"]*)">', page)
        assert image.decode() in cards
        assert 1 == page.count(b'<meta property="og:title" content="') == page.count(b'"summary_large_image"')
    assert b"&lt;iframe src=&#34;https://example.org/cups/replay/" in files["cup/match/1a.html"]
    assert 0 == told(out, results, "--url", "https://example.org/cups/")["written"]
    assert len(TURNS) < told(out, results, "--url", "https://example.org/")["written"]
    assert 2 * len(cards) == told(out, results, "--no-pictures", "--url", "https://example.org/")["deleted"]
    assert b"og:image" not in b"".join(tree(out).values())


@pytest.mark.parametrize("url", ["example.org", "ftp://example.org", "https://x/?a", "https://x/<b>", "https://"])
def test_what_is_no_address_of_a_site_is_refused(results: Path, out: Path, url: str) -> None:
    assert complaint(out, results, "--url", url).startswith(f"--url {url}: ")


@pytest.mark.parametrize("origin", ["'self'", "https://x; script-src *", "x", "https://x/y", "data:", ""])
def test_what_is_no_origin_may_not_show_replays(results: Path, origin: str) -> None:
    result = CliRunner().invoke(main, ["serve", str(results), "--port", "0", "--embed", origin])
    assert WRONG_USE == result.exit_code
    assert f"--embed {origin}: is neither" in result.stderr


@pytest.mark.slow
def test_by_processes_it_is_the_same_site(
    results: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(out, results, "--jobs", 1)
    monkeypatch.setattr(site, "WORTH_PROCESSES", 1)
    told(tmp_path / "other", results, "--jobs", 2)
    assert tree(out) == tree(tmp_path / "other")


def killing(wanted: Wanted, parts: Path) -> list[Made]:
    """The third match takes its process with it."""
    if wanted.part == "2":
        os.kill(os.getpid(), signal.SIGKILL)
    return made(wanted, parts)


@pytest.mark.slow
def test_a_transcript_that_kills_its_process_leaves_the_others(
    results: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(tmp_path / "other", results)
    monkeypatch.setattr(site, "WORTH_PROCESSES", 1)
    monkeypatch.setattr(site, "made", killing)
    said = told(out, results, "--jobs", 2, code=NO)
    monkeypatch.setattr(site, "made", made)
    assert {"the process that made it was killed"} == {why for _, why in said["failed"]}
    whole, found = tree(tmp_path / "other"), tree(out)
    differing = [path for path in whole if whole[path] != found.get(path)]
    others = {Path(path).parent.name: found.get(path) for path in differing}
    assert {"match", "replay", "story", "transcript", "picture"} == set(others)
    assert b"the process that made it was killed" in (others["replay"] or b"")
    assert len(differing) == told(out, results)["written"]
    assert whole == tree(out)


def test_pages_of_matches_are_made_once_and_again_when_they_are_others(
    results: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_now: list[str] = []
    pages = Website.match_pages

    def noted(
        self: Website, slug: str, refused: Mapping[str, str]
    ) -> Iterator[tuple[str, str, Callable[[], Page]]]:
        def note(path: str, make: Callable[[], Page]) -> Page:
            made_now.append(path)
            return make()

        for path, source, make in pages(self, slug, refused):
            yield path, source, partial(note, path, make)

    monkeypatch.setattr(Website, "match_pages", noted)
    told(out, results)
    assert 12 == len(made_now)
    made_now.clear()
    told(out, results)
    assert not made_now
    gone = min((results / TRANSCRIPTS).iterdir())
    gone.unlink()
    told(out, results)
    (changed,) = made_now
    assert b"The transcript is not in the results folder." in (out / changed).read_bytes()


def test_no_page_links_to_what_is_not_there(results: Path, out: Path) -> None:
    """Whatever was left out."""
    for options in ([], ["--no-replays"], ["--no-transcripts"], ["--no-replays", "--no-transcripts"]):
        told(out, results, *options)
        for path in tree(out):
            if path.endswith(".html") and not path.startswith("replay/"):
                for link in re.findall(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"', (out / path).read_text()):
                    assert (out / path).parent.joinpath(link).is_file(), (path, link)


def test_options_leave_replays_and_transcripts_out_and_delete_what_was_written(results: Path, out: Path) -> None:
    told(out, results)
    whole = set(map(os.path.dirname, tree(out)))
    assert {"replay", "story", "transcript", "picture"} <= whole
    assert len(TURNS) == told(out, results, "--no-pictures")["deleted"]
    assert "picture" not in set(map(os.path.dirname, tree(out)))
    said = told(out, results, "--no-replays")
    assert 2 * len(TURNS) == said["deleted"]
    assert whole - {"replay", "story", "picture"} == set(map(os.path.dirname, tree(out)))
    told(out, results, "--no-replays", "--no-transcripts")
    assert whole - {"replay", "story", "picture", "transcript"} == set(map(os.path.dirname, tree(out)))
    assert not (out / "replay").exists()


def test_pages_of_a_competition_that_is_gone_are_deleted_but_not_what_others_wrote_or_changed(
    results: Path, out: Path, tmp_path: Path
) -> None:
    other = tmp_path / "runs" / "league"
    shutil.copytree(results, other)
    told(out, results, other)
    (out / "league" / "CNAME").write_text("example.org")
    (out / "league" / "index.html").write_text("mine now")
    said = told(out, results)
    assert 1 == said["left"]
    assert {"league/CNAME", "league/index.html"} == {path for path in tree(out) if path.startswith("league/")}
    told(out, results)
    assert "mine now" == (out / "league" / "index.html").read_text()
    assert "is in the way of a page" in complaint(out, results, other)
    assert "mine now" == (out / "league" / "index.html").read_text()


def test_a_page_that_somebody_changed_is_mended(results: Path, out: Path) -> None:
    told(out, results)
    whole = tree(out)
    (out / "index.html").write_text("broken")
    assert 1 == told(out, results)["written"]
    assert whole == tree(out)


@pytest.mark.parametrize("killed_at", mostly_slow(4, sorted(range(1, 12), key=lambda number: number % 3)))
def test_a_build_that_was_killed_is_gone_on_with(
    results: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_at: int
) -> None:
    """It is killed before or after a file is put in its place."""
    left = killed_at
    moved = Path.replace

    def replace_or_die(self: Path, target: Path) -> Path:
        nonlocal left
        left -= 1
        if not left and killed_at % 2:
            moved(self, target)
        if not left:
            raise KeyboardInterrupt
        return moved(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", replace_or_die)
        run(out, results, "--jobs", 1)
    assert 0 == left
    (out / HOME / PARTS / "half").write_bytes(b"a replay, up to he")
    told(out, results, "--jobs", 1)
    told(tmp_path / "other", results, "--jobs", 1)
    assert tree(out) == tree(tmp_path / "other")
    assert [] == list((out / HOME / PARTS).iterdir())


def test_a_page_is_deleted_also_if_the_build_that_would_have_changed_it_was_killed(tmp_path: Path) -> None:
    with open_output(tmp_path / "out") as folder:
        folder.write("a/b.html", b"old")
    with open_output(tmp_path / "out") as folder:
        part = folder.parts / "page"
        with pytest.raises(WrongUse):
            folder.put("a/b.html", part, b"hash of what was never written", 5)
    with open_output(tmp_path / "out") as folder:
        assert (1, 0) == folder.delete_rest()
    assert {} == tree(tmp_path / "out")


def test_a_full_disk_is_the_machines_and_is_gone_on_with(
    results: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        assert f"{out}: cannot be written: No space left on device" == complaint(out, results, code=CANNOT)
    told(out, results)


def test_a_transcript_that_was_changed_is_named_and_all_else_is_written(
    results: Path, out: Path, matches: list[Path]
) -> None:
    head = verify_transcript(matches[0]).head
    for transcript in (results / TRANSCRIPTS).iterdir():
        if transcript.read_bytes() == matches[0].read_bytes():
            transcript.write_bytes(transcript.read_bytes().replace(b'"seed":1', b'"seed":2', 1))
    said = told(out, results, code=NO)
    assert said["failures"] == len(said["failed"]) > 0
    assert {"line 1: its hash is not the one that line 2 carries"} == {why for _, why in said["failed"]}
    files = tree(out)
    assert "cup/index.html" in files
    assert 2 == len([path for path in files if path.startswith("transcript/")])
    said_why = b"cannot be shown: line 1: its hash is not the one that line 2 carries."
    told_of = {path for path, content in files.items() if said_why in content}
    assert replay_path(head) in told_of
    assert {"cup/match", "replay"} == set(map(os.path.dirname, told_of))
    for transcript in (results / TRANSCRIPTS).iterdir():
        transcript.write_bytes(transcript.read_bytes().replace(b'"seed":2', b'"seed":1', 1))
    told(out, results)
    files = tree(out)
    assert replay_page(matches[0], head) == files[replay_path(head) or ""]
    assert not [path for path, content in files.items() if said_why in content]


def test_a_ledgers_own_words_lead_nowhere(results: Path, out: Path, tmp_path: Path) -> None:
    """Its transcripts may have any names and heads."""
    (tmp_path / "secret.jsonl").write_text("secret")
    with closing(sqlite3.connect(results / LEDGER)) as ledger, ledger:
        ledger.execute("UPDATE attempts SET transcript = '../../../secret.jsonl' WHERE id = 1")
        ledger.execute("UPDATE attempts SET transcript = '..' WHERE id = 2")
        ledger.execute("UPDATE attempts SET transcript = 'a' || char(0) || 'b' WHERE id = 3")
        forged = "json_set(played, '$.head', '../../../../escaped')"
        ledger.execute(f"UPDATE attempts SET played = {forged} WHERE id = 4")  # noqa: S608 - our own words
    told(out, results)
    assert not [path for path in tmp_path.rglob("escaped*") if path.is_file()]
    assert b"secret" not in b"".join(content for path, content in tree(out).items() if path.endswith(".jsonl"))


def test_a_ledger_that_cannot_be_read_keeps_the_others_and_deletes_nothing(
    results: Path, out: Path, tmp_path: Path
) -> None:
    other = tmp_path / "runs" / "league"
    shutil.copytree(results, other)
    told(out, results, other)
    before = set(tree(out))
    (other / LEDGER).write_text("no ledger")
    result = run(out, results, other)
    assert WRONG_USE == result.exit_code
    assert f"arena: {other / LEDGER}: file is not a database" in result.stderr
    assert before == set(tree(out))


@pytest.mark.parametrize("name", ["index.html", "notes.txt", "cup"])
def test_a_folder_of_somebody_elses_is_refused(results: Path, out: Path, name: str) -> None:
    out.mkdir()
    (out / name).write_text("mine")
    assert f"{out}: holds {name}, and was not written by arena site; give a new or an empty folder" == complaint(
        out, results
    )
    assert {name: b"mine"} == tree(out)


def test_an_empty_folder_under_version_control_will_do(results: Path, out: Path) -> None:
    (out / ".git").mkdir(parents=True)
    told(out, results)


def test_a_results_folder_is_no_place_for_a_site_nor_is_one_in_it_or_around_it(
    results: Path, tmp_path: Path
) -> None:
    shutil.copytree(results, tmp_path / "runs" / "league")
    is_one = f"{results}: is a folder of results; a site is for all to see: give another"
    assert is_one == complaint(results, tmp_path / "runs" / "league")
    inside = results / "public" / "site"
    assert f"{inside}: is in a folder of results; a site is for all to see: give another" == complaint(
        inside, results
    )
    assert not inside.exists()
    around = results.parent
    assert f"{around}: holds the results {results}, which must not be published: give another folder" == complaint(
        around, results
    )


@pytest.mark.parametrize("place", ["cup", "replay", HOME, f"{HOME}/{PARTS}"])
def test_a_link_in_the_folder_leads_nowhere(results: Path, out: Path, tmp_path: Path, place: str) -> None:
    told(out, results, "--no-replays")
    (tmp_path / "elsewhere").mkdir()
    shutil.rmtree(out / place, ignore_errors=True)
    (out / place).symlink_to(tmp_path / "elsewhere")
    assert "is in the way of a folder" in complaint(out, results) or place == HOME
    assert [] == list((tmp_path / "elsewhere").iterdir())


def test_a_link_in_a_pages_place_is_not_followed(results: Path, out: Path, tmp_path: Path) -> None:
    told(out, results)
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (out / "index.html").unlink()
    (out / "index.html").symlink_to(mine)
    assert f"{out}/index.html: is in the way of a page" in complaint(out, results)
    assert "mine" == mine.read_text()


def test_one_site_is_written_by_one_arena_at_a_time(results: Path, out: Path) -> None:
    with open_output(out):
        assert f"{out}: another arena is writing this site now" == complaint(out, results)
    told(out, results)


def test_a_manifest_of_others_deletes_nothing_outside(results: Path, out: Path, tmp_path: Path) -> None:
    told(out, results)
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (out / "link").symlink_to(tmp_path)
    digest = output._digest(mine)
    with closing(sqlite3.connect(out / HOME / MANIFEST)) as manifest, manifest:
        for path in ("../mine", str(mine), "link/mine", "", ".", "..", "a\0b", f"{HOME}/lock"):
            manifest.execute("INSERT INTO files VALUES (?, ?, NULL, 4, 0, '')", (path, digest))
    told(out, results)
    assert "mine" == mine.read_text()
    assert (out / HOME / "lock").exists()


@pytest.mark.parametrize("script", ["DROP TABLE builds", "CREATE VIEW strange AS SELECT 1"])
def test_a_manifest_of_another_kind_is_refused(results: Path, out: Path, script: str) -> None:
    told(out, results)
    with closing(sqlite3.connect(out / HOME / MANIFEST)) as manifest:
        manifest.execute(script)
    assert "is not a manifest of this version of arena site; give a new folder" in complaint(out, results)


def test_a_manifest_that_is_no_database_is_refused(results: Path, out: Path) -> None:
    told(out, results)
    (out / HOME / MANIFEST).write_bytes(b"strange" * 1000)
    assert f"{out / HOME / MANIFEST}: " in complaint(out, results)
