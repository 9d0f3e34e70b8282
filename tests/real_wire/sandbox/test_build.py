"""The build step: commands make a bot's program once for each content, walled in as the bot itself will be."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest
from msgspec.structs import replace

from arena.errors import WrongUse
from arena.workers.machine import ready
from referee.bot_folder.manifest import BotFolder, BotFolderError, Limits, find_bot
from referee.sandbox import build as bot_build
from referee.sandbox.build import BuildError, built, is_built, log_of
from referee.sandbox.host_machine import Isolation, find_layers
from tests.real_wire.processes import until

both = pytest.mark.parametrize("isolation", ["strict", "none"])
pytestmark = pytest.mark.usefixtures("sandboxed", "cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what is built is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def bot(tmp_path: Path, script: str, *, limits: str = "", command: str = '["./made"]') -> BotFolder:
    """Write a bot whose program is made by a shell script."""
    folder = tmp_path / "bot"
    folder.mkdir(exist_ok=True)
    (folder / "build.sh").write_text(dedent(script))
    (folder / "bot.toml").write_text(
        f'name = "b"\nversion = "1"\ncommand = {command}\nbuild = [["sh", "build.sh"]]\ngames = "*"\n'
        f"[build_limits]\n{limits}\n"
    )
    return find_bot(str(folder))


MAKES = "echo '#!/bin/sh' >made; chmod +x made\n"


@both
def test_the_bots_folder_is_then_the_one_that_the_commands_left(tmp_path: Path, isolation: Isolation) -> None:
    made = built(bot(tmp_path, MAKES), isolation)
    assert {"bot.toml", "build.sh", "made"} == {path.name for path in made.folder.iterdir()}
    assert "#!/bin/sh\n" == (made.folder / "made").read_text()
    assert os.access(made.folder / "made", os.X_OK)
    assert {"bot.toml", "build.sh"} == {path.name for path in (tmp_path / "bot").iterdir()}


@both
def test_a_content_is_built_once_and_a_changed_one_again(tmp_path: Path, isolation: Isolation) -> None:
    script = f"{MAKES}date +%N >when\n"
    first, again = (built(bot(tmp_path, script), isolation) for _ in range(2))
    assert first.folder == again.folder
    changed = built(bot(tmp_path, f"{script}# changed\n"), isolation)
    assert first.folder != changed.folder
    assert first.content != changed.content


@both
def test_a_command_that_fails_is_reported_with_its_last_words(tmp_path: Path, isolation: Isolation) -> None:
    wrong = bot(tmp_path, "echo first; echo no such header >&2; exit 4\n")
    with pytest.raises(BuildError) as failed:
        built(wrong, isolation)
    log = log_of(wrong, isolation)
    assert f"{wrong.given}: build: exit code 4: no such header; its log: {log}" == str(failed.value)
    assert ["first", "no such header"] == failed.value.said
    assert "first\nno such header\n" == log.read_text()
    assert 0o600 == log.stat().st_mode & 0o7777
    assert not is_built(wrong, isolation)
    assert [log] == list(log.parent.iterdir())


def test_a_program_of_a_name_that_no_file_can_have_was_not_made(tmp_path: Path) -> None:
    long = replace(bot(tmp_path, "true\n"), command=(f"./{'x' * 9_000}",))
    with pytest.raises(BotFolderError, match=r"build: \./x{498} was not made"):
        built(long, "none")


def test_it_has_no_network_and_sees_no_secrets(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("seed 42")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        made = built(
            bot(
                tmp_path,
                f"""\
                {MAKES}
                cat {secret} >found 2>/dev/null
                python3 -c "import socket; socket.create_connection(('127.0.0.1', {port}), 2)" 2>&1 |
                    grep -qE 'refused|unreachable|not supported' || echo in >>found
                id -u >user
                true
                """,
            ),
            "strict",
        )
    assert "" == (made.folder / "found").read_text()
    assert "0\n" != (made.folder / "user").read_text()


@pytest.mark.parametrize("leaves", ["ln -s /etc/passwd out", "mkfifo pipe", "ln -s ../../../x out"])
def test_links_out_of_the_folder_and_special_files_are_not_stored(tmp_path: Path, leaves: str) -> None:
    with pytest.raises(BotFolderError, match="build: what it made cannot be kept"):
        built(bot(tmp_path, f"{MAKES}{leaves}\n"), "strict")


@both
def test_it_is_ended_when_its_time_is_up(
    tmp_path: Path, isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_build, "BUILD_SECONDS", 0.5)
    with pytest.raises(BotFolderError, match=r"build: takes more than 0\.5 seconds"):
        built(bot(tmp_path, "sleep 600\n"), isolation)


SAYS = """\
    cc -c a.c
    a.c: In function 'main':
    a.c:1:20: error: 'y' undeclared
        1 | int main(void) { return y; }
          |                         ^
    cc -c b.c
    make: *** [Makefile:2: a.o] Error 1
"""


def test_a_compilers_error_is_shown_in_full_as_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = bot(tmp_path, f"cat >&2 <<'END'\n{SAYS}END\nexit 2\n")
    with pytest.raises(WrongUse) as failed:
        ready([wrong], "none")
    assert "".join(f"  {line}\n" for line in SAYS.splitlines()) in capsys.readouterr().err
    words = f"{wrong.given}: build: exit code 2: a.c:1:20: error: 'y' undeclared; its log: "
    assert failed.value.format_message().startswith(words)
    assert SAYS == Path(failed.value.format_message().removeprefix(words)).read_text()


def test_an_early_error_is_shown_with_the_end_of_a_long_output(tmp_path: Path) -> None:
    before, after = "seq 1 100", "seq 1001 1100"
    wrong = bot(tmp_path, f"{before}; echo 'a.c:1: error: wrong'; {after}; exit 2\n")
    with pytest.raises(BuildError, match=r"exit code 2: a\.c:1: error: wrong; its log: ") as failed:
        built(wrong, "none")
    assert ["100", "a.c:1: error: wrong", *map(str, range(1001, 1009))] == failed.value.said[:10]
    assert ["[…]", *map(str, range(1091, 1101))] == failed.value.said[10:]


@both
def test_its_output_fills_no_disk(tmp_path: Path, isolation: Isolation) -> None:
    noisy = bot(
        tmp_path,
        "echo first; yes 2>/dev/null | head -c 30000000; echo last >&2; exit 3\n",
        limits="log_kb = 16\nscratch_mb = 4",
    )
    with pytest.raises(BuildError, match="exit code 3: last"):
        built(noisy, isolation)
    log = log_of(noisy, isolation)
    assert log.stat().st_size < 17 * 1024
    assert log.read_text().startswith("first\ny\n")
    assert log.read_text().endswith("y\nlast\n")


ATTACK = """\
import os, tarfile
made = []
for number in range(3000):  # headers of headers: Python's reader of tar calls itself for each
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 512
    made += [header.tobuf(), b"11 path=abc\\n".ljust(512, b"\\0")]
# The processes of this build alone: without a sandbox there are others.
mine = [name for name in os.listdir("/proc") if name.isdecimal() and name != str(os.getpid())]
for process in mine:
    try:
        if os.getsid(int(process)) != os.getsid(0):
            continue
        descriptors = os.listdir(f"/proc/{process}/fd")
    except OSError:
        continue
    for descriptor in descriptors:
        try:
            if os.readlink(f"/proc/{process}/fd/{descriptor}").startswith("pipe:"):
                with open(f"/proc/{process}/fd/{descriptor}", "wb", buffering=0) as pipe:
                    pipe.write(b"".join(made))
        except OSError:
            pass
"""


@both
def test_text_that_its_processes_write_to_a_pipe_is_at_most_output(tmp_path: Path, isolation: Isolation) -> None:
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot/attack.py").write_text(ATTACK)
    made = built(bot(tmp_path, f"{MAKES}python3 attack.py\n"), isolation)
    assert {"bot.toml", "build.sh", "attack.py", "made"} == {path.name for path in made.folder.iterdir()}


@both
def test_no_process_of_it_continues_and_could_change_the_result(tmp_path: Path, isolation: Isolation) -> None:
    """Neither what it leaves in the background, nor what has left its session for that."""
    mark = f"6{os.getpid()}"
    left = f"{MAKES}sleep {mark} &\nsetsid sleep {mark} &\n(setsid sh -c 'sleep {mark} & sleep {mark}' &)\n"
    stubborn = (
        "(trap '' TERM HUP INT; while :; do echo x >>made; sleep 0.01; done) &\nwhile [ ! -s made ]; do :; done\n"
    )
    made = built(bot(tmp_path, f"{left}{stubborn}"), isolation)
    assert [] == [line for line in command_lines() if mark in line]
    first = (made.folder / "made").read_bytes()
    assert made.folder == built(bot(tmp_path, f"{left}{stubborn}"), isolation).folder
    assert first == (made.folder / "made").read_bytes()


def command_lines() -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found.append((process / "cmdline").read_text())
    return found


ENDS: dict[str, tuple[str, str, str]] = {
    "by a signal": ("kill -SEGV $$", "", r"ended by SIGSEGV: "),
    "by its processor time": (
        "while :; do :; done",
        "cpu_seconds = 1",
        r"ended by SIGXCPU, as a process is that uses more than build_limits\.cpu_seconds = 1",
    ),
    "without a word": ("exit 7", "", r"exit code 7; its log: "),
    "with last words that do nothing to the terminal": (
        r"printf 'gone\033[2J\007\n'; exit 4",
        "",
        r"exit code 4: gone\\x1b\[2J\\x07; its log: ",
    ),
    "without its program": ("true", "", r"\./made was not made"),
}
WALLED_ENDS: dict[str, tuple[str, str, str]] = {
    "with too much made": (
        f"{MAKES}head -c 8000000 /dev/zero >big",
        "scratch_mb = 4",
        r"makes more than build_limits\.scratch_mb = 4: .*No space left",
    ),
    "with too many processes": (
        "for i in 1 2 3 4 5 6 7 8; do sleep 9 & done; exit 1",
        "processes = 6",
        r"exit code 2; it wanted more processes than build_limits\.processes = 6: ",
    ),
}


@both
@pytest.mark.parametrize(("script", "limits", "complaint"), ENDS.values(), ids=ENDS)
def test_a_build_that_is_ended_says_by_what(
    tmp_path: Path, isolation: Isolation, script: str, limits: str, complaint: str
) -> None:
    with pytest.raises(BotFolderError, match=f"build: {complaint}"):
        built(bot(tmp_path, f"{script}\n", limits=limits), isolation)


@pytest.mark.parametrize(("script", "limits", "complaint"), WALLED_ENDS.values(), ids=WALLED_ENDS)
def test_a_build_behind_walls_that_is_ended_says_by_what(
    tmp_path: Path, script: str, limits: str, complaint: str
) -> None:
    if limits.startswith("processes") and (lack := find_layers().no_groups):
        pytest.skip(lack)
    with pytest.raises(BotFolderError, match=f"build: {complaint}"):
        built(bot(tmp_path, f"{script}\n", limits=limits), "strict")


HOGS = """\
import os, signal
for _ in range(4):
    if os.fork() == 0:
        hoard = b"x" * (90 << 20)
        signal.pause()
os.wait()
os._exit(1)
"""


def test_a_build_that_uses_too_much_memory_says_so(tmp_path: Path) -> None:
    if lack := find_layers().no_groups:
        pytest.skip(lack)
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot/hogs.py").write_text(HOGS)
    limits = "memory_mb = 128\nscratch_mb = 1"
    with pytest.raises(BuildError, match=r"build: uses more than build_limits\.memory_mb = 128"):
        built(bot(tmp_path, "python3 hogs.py\n", limits=limits), "strict")


@both
def test_files_that_the_hash_does_not_cover_are_not_in_its_input(tmp_path: Path, isolation: Isolation) -> None:
    """Else whoever built first would decide what all others of that content play."""
    honest = bot(
        tmp_path, f"{MAKES}for evil in __pycache__ .git lib/__pycache__; do cp $evil/evil made; done\ntrue\n"
    )
    for name in ("__pycache__", ".git", "lib/__pycache__"):
        (honest.folder / name).mkdir(parents=True)
        (honest.folder / name / "evil").write_text("#!/bin/sh\nevil\n")
    evil = find_bot(str(honest.folder))
    assert honest.content == evil.content
    assert "#!/bin/sh\n" == (built(evil, isolation).folder / "made").read_text()


@both
@pytest.mark.parametrize("name", ["__pycache__", ".git"])
def test_files_that_the_hash_does_not_cover_are_not_in_its_result(
    tmp_path: Path, isolation: Isolation, name: str
) -> None:
    made = built(bot(tmp_path, f"{MAKES}mkdir {name}; touch {name}/x\n"), isolation)
    assert {"bot.toml", "build.sh", "made"} == {path.name for path in made.folder.iterdir()}


def test_levels_share_no_result(tmp_path: Path) -> None:
    honest = bot(tmp_path, MAKES)
    folders = {built(honest, isolation).folder for isolation in ("strict", "standard", "none")}
    assert 3 == len(folders)


SEEN: dict[str, Callable[[BotFolder], BotFolder]] = {
    "the commands": lambda bot: replace(bot, build=(("true",), *bot.build)),
    "the limits": lambda bot: replace(bot, build_limits=Limits(memory_mb=100)),
    "the content": lambda bot: replace(bot, content=f"sha256:{'0' * 64}"),
}


@pytest.mark.parametrize("change", SEEN.values(), ids=SEEN)
def test_a_result_is_for_what_the_build_saw_alone(
    tmp_path: Path, change: Callable[[BotFolder], BotFolder]
) -> None:
    honest = bot(tmp_path, MAKES)
    built(honest, "none")
    assert is_built(honest, "none")
    assert not is_built(change(honest), "none")


def test_a_result_is_for_these_tools_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = bot(tmp_path, MAKES)
    built(honest, "none")
    assert sys.version in bot_build._toolchain()
    monkeypatch.setattr(bot_build, "_toolchain", lambda: ("another interpreter",))
    assert not is_built(honest, "none")


def rewrite(file: Path) -> None:
    mode = file.stat().st_mode & 0o777
    file.chmod(0o600)  # Only root may write to it as it is.
    file.write_text("#!/bin/sh\nevil\n")
    file.chmod(mode)


SPOILT: dict[str, Callable[[Path], object]] = {
    "its program changed": lambda folder: rewrite(folder / "made"),
    "a file more": lambda folder: (folder / "sitecustomize.py").touch(),
    "a file less": lambda folder: (folder / "build.sh").unlink(),
    "a right more": lambda folder: (folder / "build.sh").chmod(0o755),
    "a pipe in it": lambda folder: os.mkfifo(folder / "pipe"),
    "another name": lambda folder: folder.rename(folder.with_name(f"{folder.name[:-64]}{'0' * 64}")),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_result_that_was_changed_is_not_played(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    honest = bot(tmp_path, MAKES)
    spoil(built(honest, "none").folder)
    with pytest.raises(
        BotFolderError, match=r"bot: build: .*/built/[0-9a-f-]+: was changed since it was made: delete it"
    ):
        built(honest, "none")


@pytest.mark.parametrize("name", ["mist-arena", "mist-arena/built"])
def test_a_cache_that_others_may_write_to_is_refused(tmp_path: Path, cache: Path, name: str) -> None:
    (cache / name).mkdir(parents=True)
    (cache / name).chmod(0o777)
    with pytest.raises(BotFolderError, match=f"bot: .*{name}: may be written by other users"):
        built(bot(tmp_path, MAKES), "none")


@both
def test_two_arenas_may_build_the_same_at_once(tmp_path: Path, isolation: Isolation) -> None:
    honest = bot(tmp_path, f"{MAKES}date +%N >>made\n")
    with ThreadPoolExecutor(4) as arenas:
        made = list(arenas.map(lambda _: built(honest, isolation), range(4)))
    assert 1 == len({(bot.folder, (bot.folder / "made").read_text()) for bot in made})
    log = log_of(honest, isolation)
    assert {log, made[0].folder} == set(log.parent.iterdir())


@pytest.mark.slow
@both
def test_a_killed_arena_leaves_nothing_that_is_taken_for_a_result(
    tmp_path: Path, cache: Path, isolation: Isolation
) -> None:
    mark = f"7{os.getpid()}"
    slow = bot(tmp_path, f"{MAKES}setsid sleep {mark} & echo begun; sleep {mark}\n")
    program = f"import sys; from {__name__} import built, find_bot; built(find_bot(sys.argv[1]), sys.argv[2])"
    arena = subprocess.Popen([sys.executable, "-c", program, slow.given, isolation])  # noqa: S603 - ours
    places = cache / "mist-arena/built"
    try:
        until(lambda: any(log.read_text() for log in places.glob("making-*/*.log")))
    finally:
        arena.kill()
        arena.wait()
    until(lambda: not [line for line in command_lines() if mark in line])
    assert not is_built(slow, isolation)
    made = built(bot(tmp_path, MAKES), isolation)
    assert {made.folder, log_of(find_bot(str(tmp_path / "bot")), isolation)} == set(places.iterdir())
