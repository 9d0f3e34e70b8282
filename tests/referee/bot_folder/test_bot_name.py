"""The name of a bot is read once: what is checked of it and what is used of it is the same path."""

from pathlib import Path

import pytest

from referee.bot_folder import BUILT_IN, BotFolderError, BotName, find_bot, folder_name, read_bot_name
from referee.bot_folder.manifest import LONGEST_PATH, Kind, last_part
from tests.referee.bot_folder.test_manifest import git, make


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with folders in whose names there is an `@`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    here = tmp_path / "here"
    for folder in ("in@2026/anna", "in/2026", "bob@corp/bots@home/x@HEAD", "mist_random@1"):
        (here / folder).mkdir(parents=True)
    monkeypatch.chdir(here)
    return here


@pytest.mark.parametrize(
    ("text", "kind", "folder", "revision"),
    [
        ("in", "folder", "in", None),
        ("in@2026", "folder", "in@2026", None),
        ("in@2026/anna", "folder", "in@2026/anna", None),
        ("in@2026/anna@main", "folder", "in@2026/anna", "main"),
        ("in@2026/gone@main", "folder", "in@2026/gone", "main"),
        ("in@2026/gone@main@{1}", "folder", "in@2026/gone", "main@{1}"),
        ("in@2026/gone", "folder", "in@2026/gone", None),
        ("in@feature/anna", "folder", "in", "feature/anna"),
        ("in@2026@x/anna", "folder", "in@2026", "x/anna"),
        ("in@2026@", "folder", "in@2026", ""),
        ("in@2025@x/anna", "folder", "in", "2025@x/anna"),
        ("gone/in@2026/anna", "folder", "gone/in", "2026/anna"),
        ("gone/in", "folder", "gone/in", None),
        ("in/../in@2026/anna@x", "folder", "in/../in@2026/anna", "x"),
        ("./in//2026@@", "folder", "in/2026", "@"),
        ("bob@corp/bots@home/x@HEAD", "folder", "bob@corp/bots@home/x@HEAD", None),
        ("bob@corp/bots@home/x@HEAD@HEAD", "folder", "bob@corp/bots@home/x@HEAD", "HEAD"),
        ("bob@corp/bots@home/x@main", "folder", "bob@corp/bots@home/x", "main"),
        ("bob@corp/bots@home@x/y", "folder", "bob@corp/bots@home", "x/y"),
        ("@main", "folder", ".", "main"),
        ("", "folder", ".", None),
        ("mist_random@1", "folder", "mist_random@1", None),
        ("nobody@main", "folder", "nobody", "main"),
        ("nobody", "unknown", "nobody", None),
        ("remote:keys/alice@corp.key", "remote", "keys/alice@corp.key", None),
        ("remote:in@2026", "remote", "in@2026", None),
        ("./console", "folder", "console", None),
    ],
)
def test_an_at_sign_begins_a_revision_behind_all_folders_that_are_there(
    here: Path, text: str, kind: Kind, folder: str, revision: str | None
) -> None:
    name = read_bot_name(text)
    assert (text, kind, Path(folder), revision) == (name.given, name.kind, name.path, name.revision)
    if kind != "unknown":
        from_elsewhere = read_bot_name(text, here)
        assert (kind, here / folder, revision) == (
            from_elsewhere.kind,
            from_elsewhere.path,
            from_elsewhere.revision,
        )


@pytest.mark.parametrize("text", ["in@2026/anna@main", "remote:in@2026/a.key", "bob@corp/bots@home/x@main"])
def test_a_name_read_relative_to_another_folder_reads_the_same_from_here(here: Path, text: str) -> None:
    for name in (read_bot_name(text, here), read_bot_name(text).resolved()):
        again = read_bot_name(name.given)
        assert (name.given, name.kind, name.path, name.revision) == (
            again.given,
            again.kind,
            again.path,
            again.revision,
        )


@pytest.mark.usefixtures("here")
def test_a_sample_bot_has_no_path_that_could_be_a_link() -> None:
    assert ("sample", BUILT_IN / "mist_random", None) == _read("mist_random")
    assert ("sample", BUILT_IN / "mist_random", "main") == _read("mist_random@main")
    assert ("unknown", Path("../bots/mist_random"), None) != _read("../bots/mist_random")
    assert not read_bot_name("mist_random").is_link


def _read(text: str) -> tuple[str, Path, str | None]:
    name = read_bot_name(text)
    return name.kind, name.path, name.revision


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("in@2026/link", "in@2026/link"),
        ("in@2026/link/x", "in@2026/link"),
        ("in@2026/link@main", "in@2026/link"),
        ("in@2026/link/x@main", "in@2026/link"),
        ("link@2026", "link@2026"),
        ("link@2026/anna", "link@2026"),
        ("link@2026/anna@main", "link@2026"),
        ("in@2026/to_file@x", "in@2026/to_file@x"),
        ("in@2026/to_file@x/y", "in@2026/to_file@x"),
        ("in@2026/to_nothing@x", "in@2026/to_nothing@x"),
        ("remote:in@2026/link/a.key", "in@2026/link"),
        ("remote:in@2026/to_file@x", "in@2026/to_file@x"),
        ("mist_hunter", "mist_hunter"),
    ],
)
def test_the_first_link_is_found_wherever_there_is_an_at_sign(here: Path, text: str, link: str) -> None:
    (here / "in@2026/link").symlink_to(BUILT_IN)
    (here / "link@2026").symlink_to(BUILT_IN)
    (here / "mist_hunter").symlink_to(BUILT_IN / "mist_hunter")
    (here / "in@2026/to_file@x").symlink_to(__file__)
    (here / "in@2026/to_nothing@x").symlink_to("nothing")
    assert Path(link) == read_bot_name(text).first_link()
    assert here / link == read_bot_name(text, here).first_link()


def test_links_above_the_folder_that_a_name_starts_from_are_the_hosts_own(here: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(here)
    assert read_bot_name("in@2026/anna", tmp_path / "link").first_link() is None
    assert tmp_path / "link" == read_bot_name(str(tmp_path / "link/in@2026/anna")).first_link()


def test_a_folder_whose_path_is_known_has_no_revision(here: Path) -> None:
    del here
    name = folder_name(Path("gone@HEAD"))
    assert ("folder", Path("gone@HEAD"), None) == (name.kind, name.path, name.revision)


@pytest.mark.parametrize(
    "text", ["x" * 300, "x/" * 5_000, "./" * (LONGEST_PATH + 1), "a\0b", "in/\0@x", "console"]
)
def test_an_impossible_name_is_refused_in_one_line(here: Path, text: str) -> None:
    del here
    name = read_bot_name(text)
    assert (name.first_link(), name.is_link) == (None, False)
    assert isinstance(name.resolved(), BotName)
    with pytest.raises(BotFolderError) as refused:
        find_bot(name)
    assert "\n" not in str(refused.value)


def test_a_loop_of_links_is_a_link(here: Path) -> None:
    (here / "loop@x").symlink_to("loop@x")
    name = read_bot_name("loop@x/y")
    assert Path("loop@x") == name.first_link()
    assert isinstance(name.resolved(), BotName)


def test_a_bot_at_a_revision_is_found_below_a_folder_with_an_at_sign(here: Path) -> None:
    repository = here / "in@2026"
    git(repository, "init", "-q")
    make(repository / "bert", version='"one"')
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "one")
    make(repository / "bert", version='"two"')
    assert ("two", "one") == (find_bot("in@2026/bert").version, find_bot("in@2026/bert@HEAD").version)


def test_a_bots_label_does_not_depend_on_the_disk(here: Path) -> None:
    before = [last_part(text) for text in ("in@2026/anna", "x@HEAD", "remote:a@b.key")]
    (here / "in@2026/anna").rmdir()
    (here / "in@2026").rmdir()
    assert ["anna", "x@HEAD", "a@b.key"] == before
    assert "anna" == last_part("in@2026/anna")
