"""What several programs share that are started at once on a new machine: a table, and a way to run it.

`python -m tests.first_contact THING ROUNDS …` plays so many rounds with each thing: each begins with an empty
home, starts `PROGRAMS` processes that do the same with the thing at the same moment, and looks at what came of it.
They are forks of this one, which has imported all they need: so they meet within microseconds. It prints what went
wrong, and in how many rounds.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

import msgspec
import zmq

from arena.errors import WrongUse
from arena.feed import process as feed_process
from arena.feed.lines import MAX_BYTES
from arena.reports import write_whole
from arena.tournament import Ledger, held
from arena.tournament.entries import copy_of_entry, keep_entry
from arena.web.output import open_output
from arena.workers.machine import calibrated, keep_calibration
from referee.bot_folder import find_bot
from referee.linux import cgroups
from referee.sandbox import host_machine
from referee.sandbox.build import built
from referee.wire import KeyFileError, new_pair, write_pair
from referee.wire.keys import read_pair, read_public
from tests.referee.bot_folder.hostile_repositories import git

HOUSE = Path(__file__).parents[1]
PROGRAMS = 8
ROUND_SECONDS = 60
"""A program that is not done by then has hung."""
TOML = 'name = "a"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = "*"\n'
MAKES = 'build = [["sh", "-c", "cat bot.py bot.py >made.py"]]\n'
FILES = 20
"""Of a bot's folder: it takes a moment to copy."""
RUNS_SECONDS = 0.02
"""How long a program runs from what it found."""
TOOLS = "sh cat chmod cksum cp dirname flock grep mkdir mktemp rm rmdir sleep tr".split()  # noqa: SIM905 - to be read
"""Of the machine, which scripts use."""
WON, LOST = "won", "lost"


def nothing(*_: object) -> None:
    """There is nothing to prepare, or to look at."""


class Shared(NamedTuple):
    """One thing that programs share."""

    program: Callable[[Path], str]
    """What each does with a home; it returns what it found."""
    prepare: Callable[[Path], object] = nothing
    """Makes what is there before."""
    check: Callable[[Path, list[str]], object] = nothing
    """Looks at what is there afterwards, given what the programs found."""


def bot_in(home: Path, more: str = "") -> Path:
    """Write a bot's folder."""
    folder = home / "bot"
    folder.mkdir()
    (folder / "bot.toml").write_text(TOML + more)
    (folder / "bot.py").write_text("print('hello')\n")
    for number in range(FILES):
        (folder / f"part_{number}.py").write_text(f"'{number}'\n" * 1000)
    return folder


def run_from(folder: Path, file: str = "part_7.py") -> None:
    """Run from a folder for a while, as a bot does: it stays the same one, and its files stay there."""
    begun, end = folder.stat().st_ino, monotonic() + RUNS_SECONDS
    while monotonic() < end:
        assert (folder / file).read_bytes()
        assert begun == folder.stat().st_ino, f"{folder} was taken away"
        sleep(0.0005)


def copies_of_a_bot(home: Path) -> str:
    bot = find_bot(str(home / "bot"))
    run_from(bot.folder)
    return bot.content


def copies_at_a_revision(home: Path) -> str:
    bot = find_bot(f"{home}/bot@HEAD")
    run_from(bot.folder)
    return bot.content


def build_of_a_bot(home: Path) -> str:
    bot = built(find_bot(str(home / "bot")), "none")
    run_from(bot.folder, "made.py")
    return str(bot.folder)


def damaged_copy(home: Path) -> None:
    (find_bot(str(bot_in(home))).folder / "random.py").write_text("other program")


def git_repository(home: Path) -> None:
    folder = bot_in(home)
    for command in ("init -q", "add .", "commit -q -m first"):
        git(folder, *command.split())


def all_the_same(home: Path, found: list[str]) -> None:
    """All found the same, and nothing half made is left."""
    assert 1 == len({*found}), found
    left = [path for path in (home / ".cache/mist-arena").glob("*/making-*") if not (path / "random.py").exists()]
    assert [] == left


def all_compiled(home: Path, found: list[str]) -> None:
    """Assert that all is compiled, and nothing half made is left. One may look while another one writes."""
    if sys.dont_write_bytecode:
        assert {"nothing compiled"} == {*found}
        return
    written = sorted(path.stem for path in (home / "clone/bots").glob("*.py"))
    compiled = sorted(path.name.partition(".")[0] for path in (home / "clone/bots/__pycache__").iterdir())
    assert written == compiled


def one_won(home: Path, found: list[str]) -> None:
    """One of them has it, and the others were refused."""
    assert {WON: 1, LOST: PROGRAMS - 1} == Counter(found), found


def all_won(home: Path, found: list[str]) -> None:
    assert {WON: PROGRAMS} == Counter(found), found


@contextmanager
def until_all_others_lost(home: Path) -> Iterator[None]:
    """Keep what was won until all others have been refused."""
    yield
    while len(list(home.glob("lost-*"))) < PROGRAMS - 1:
        sleep(0.001)


def lose(home: Path) -> str:
    (home / f"lost-{os.getpid()}").touch()
    return LOST


def results_folder(home: Path) -> str:
    """One plays; the others are refused, and look at its ledger as it begins."""
    folder = home / "runs/cup"
    try:
        with held(folder), closing(Ledger(folder / "ledger.sqlite")) as ledger, until_all_others_lost(home):
            ledger.begin({"game": "mist"})
            return WON
    except WrongUse as error:
        assert "another arena is playing this tournament now" in str(error), error
        with closing(Ledger(folder / "ledger.sqlite")) as ledger:
            assert ledger.matches() == 0
        return lose(home)


def results_with_a_bot(home: Path) -> None:
    bot_in(home)
    (home / "results").mkdir()


def entries_of_results(home: Path) -> str:
    bot = find_bot(str(home / "bot"))
    keep_entry(home / "results", bot)
    run_from(copy_of_entry(home / "results", bot.content))
    return bot.content


def no_entry_half_made(home: Path, found: list[str]) -> None:
    all_the_same(home, found)
    assert [found[0].removeprefix("sha256:")] == [path.name for path in (home / "results/entries").iterdir()]


def report(home: Path) -> str:
    text = f"{os.getpid()}\n" * 20_000
    for _ in range(3):
        write_whole(home / "report.html", text)
        assert 20_000 == Counter((home / "report.html").read_text().split()).most_common(1)[0][1]
    return WON


def nothing_but_the_report(home: Path, found: list[str]) -> None:
    all_won(home, found)
    assert ["report.html"] == [path.name for path in home.glob("report*")]


def calibration(home: Path) -> str:
    mine = os.getpid() % 1000 + 1
    for _ in range(10):
        keep_calibration(mine)
        assert calibrated() is not None
    return WON


def feed(endpoint: Callable[[Path], str]) -> Callable[[Path], str]:
    """One publishes at an endpoint; the others end before it does, and it is still to be reached then."""

    def publish(home: Path) -> str:
        place = endpoint(home)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        publisher = os.fork()
        if publisher == 0:
            ours.close()
            feed_process.publish(theirs, place)
            os._exit(0)
        theirs.close()
        said = ours.recv(MAX_BYTES).decode()
        if not said.startswith("at "):
            ours.close()
            os.waitpid(publisher, 0)
            assert said == "cannot listen there: another program already does" or "already in use" in said, said
            return lose(home)
        with until_all_others_lost(home):
            pass
        assert is_reached(place, ours), f"nobody hears {place} any more"
        ours.close()
        os.waitpid(publisher, 0)
        return WON

    return publish


def is_reached(endpoint: str, line: socket.socket) -> bool:
    """Whether a subscriber at an endpoint gets what is published by way of a line."""
    with zmq.Context() as context, context.socket(zmq.SUB) as subscriber:
        subscriber.subscribe(b"")
        subscriber.connect(endpoint)
        for _ in range(500):
            line.send(b"topic\nmessage")
            if subscriber.poll(10):
                return subscriber.recv_multipart() == [b"topic", b"message"]
    return False


def left_socket(home: Path) -> None:
    """Leaves what a killed publisher leaves."""
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(home / "feed.sock"))


def free_port(home: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        (home / "port").write_text(str(free.getsockname()[1]))


def key_pair(home: Path) -> str:
    try:
        write_pair(home / "key", new_pair())
    except KeyFileError as error:
        assert "is there already" in str(error), error
        return LOST
    return WON


def one_pair(home: Path, found: list[str]) -> None:
    one_won(home, found)
    assert read_pair(home / "key.key_secret").public == read_public(home / "key.key")


def site(home: Path) -> str:
    try:
        with open_output(home / "site"), until_all_others_lost(home):
            return WON
    except WrongUse as error:
        assert "another arena is writing this site now" in str(error), error
        return lose(home)


def control_groups(home: Path) -> str:
    """Each has groups of its own while all sweep away what killed arenas left."""
    try:
        group = cgroups.ControlGroup(memory_mb=64, cpus=1, processes=8)
    except cgroups.NoGroupsError as error:
        return str(error)
    try:
        cgroups.sweep()
        group.cpu_us()
        assert group.memory_kills() == 0
    finally:
        group.close()
        made = cgroups.tree()
        for place in {*made.places.values()}:
            assert place.is_dir(), f"{place} was taken away"
            place.rmdir()
    return WON


def all_have_groups_or_none(home: Path, found: list[str]) -> None:
    assert 1 == len({*found}), found


def new_clone(home: Path) -> None:
    """Make a clone in which nothing has been compiled."""
    (home / "clone/bots").mkdir(parents=True)
    for path in sorted((host_machine.PROJECT / "bots").glob("*.py"))[:4]:
        shutil.copy(path, home / "clone/bots")


def compiled_kit(home: Path) -> str:
    host_machine.PROJECT = home / "clone"
    for path in host_machine.importable():
        whole = home / "clone" / path
        if whole.name == "__pycache__":
            return str(sorted(file.name for file in whole.glob("*.pyc")))
    return "nothing compiled"


def new_clone_with_scripts(home: Path) -> None:
    """Make a clone with its scripts, on a machine whose pip and apt-get only write down their calls."""
    (home / "clone").mkdir()
    shutil.copytree(HOUSE / "scripts", home / "clone/scripts")
    (home / "clone/requirements.lock").write_text("a==1\n")
    for name, text in {
        "python3": """case "$*" in
            *install*) sleep 0.02; echo "$*" >> "$HOME/calls" ;;
            *venv*) mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
        esac""",
        "id": "echo 0",
        # As the real one: refused while another has its lock.
        "apt-get": """[ "$1" = update ] || echo "$*" >> "$HOME/calls"
        mkdir "$HOME/apt" || exit 100
        sleep 0.01
        [ "$1" = update ] || { echo exit > "$HOME/bin/bwrap"; chmod +x "$HOME/bin/bwrap"; }
        rmdir $HOME/apt""",
    }.items():
        program = home / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    for name in TOOLS:
        (home / "bin" / name).symlink_to(str(shutil.which(name)))


def script(name: str) -> Callable[[Path], str]:
    """Run a script of a clone, which must end well."""

    def run(home: Path) -> str:
        program = [home / "clone/scripts" / name]
        machine = {"HOME": str(home), "PATH": str(home / "bin")}
        done = subprocess.run(program, env=machine, capture_output=True, text=True, check=False)  # noqa: S603 - ours
        assert done.returncode == 0, done.stderr
        return WON

    return run


def made_once(home: Path, found: list[str]) -> None:
    """Assert that the packages were installed by one of them."""
    all_won(home, found)
    calls = (home / "calls").read_text().splitlines()
    assert sum("--requirement" in call or "bubblewrap" in call for call in calls) == 1, calls


THINGS = {
    "a bot's copy": Shared(copies_of_a_bot, bot_in, all_the_same),
    "a bot's damaged copy": Shared(copies_of_a_bot, damaged_copy, all_the_same),
    "a bot's copy at a revision": Shared(copies_at_a_revision, git_repository, all_the_same),
    "a bot's build": Shared(build_of_a_bot, lambda home: bot_in(home, MAKES), all_the_same),
    "a results folder": Shared(results_folder, check=one_won),
    "a results folder's copies of bots": Shared(entries_of_results, results_with_a_bot, no_entry_half_made),
    "a report": Shared(report, check=nothing_but_the_report),
    "the calibration": Shared(calibration, check=all_won),
    "a feed's socket": Shared(feed(lambda home: f"ipc://{home}/feed.sock"), check=one_won),
    "a feed's socket that was left": Shared(feed(lambda home: f"ipc://{home}/feed.sock"), left_socket, one_won),
    "a feed's port": Shared(
        feed(lambda home: f"tcp://127.0.0.1:{(home / 'port').read_text()}"), free_port, one_won
    ),
    "a pair of keys": Shared(key_pair, check=one_pair),
    "a site": Shared(site, check=one_won),
    "control groups": Shared(control_groups, check=all_have_groups_or_none),
    "compiled code": Shared(compiled_kit, new_clone, all_compiled),
    "a clone's environment": Shared(script("environment"), new_clone_with_scripts, made_once),
    "the machine's packages": Shared(script("bubblewrap"), new_clone_with_scripts, made_once),
}
"""What two arenas share, by what it is called in docs/sandbox.md."""


def main(name: str, rounds: int) -> int:
    """Play rounds with one thing; 1 if anything went wrong in any of them."""
    wrong = 0
    for number in range(rounds):
        complaints = played(THINGS[name])
        wrong += bool(complaints)
        for complaint in complaints:
            sys.stdout.write(f"round {number}: {complaint}\n")
    sys.stdout.write(f"{name}: {wrong} of {rounds} rounds went wrong\n")
    return int(wrong > 0)


def played(shared: Shared) -> list[str]:
    """One round; what went wrong."""
    home = Path(tempfile.mkdtemp(prefix="first-"))
    try:
        # Also this in a process of its own: what a program remembers is empty at its start.
        (prepared,) = run_at_once(home, lambda: str(shared.prepare(home)), 1)
        if prepared.error:
            return [prepared.error]
        ended = run_at_once(home, lambda: shared.program(home), PROGRAMS)
        if errors := [each.error for each in ended if each.error]:
            return errors
        try:
            shared.check(home, [each.found for each in ended])
        except AssertionError:
            return [traceback.format_exc()]
        return []
    finally:
        shutil.rmtree(home, ignore_errors=True)


class Ended(msgspec.Struct):
    """How a program ended: with what it returned, or with an error."""

    found: str = ""
    error: str = ""


def run_at_once(home: Path, program: Callable[[], str], count: int) -> list[Ended]:
    """Run a program in so many new processes, which begin together."""
    gate, key = os.pipe()
    answers = [home / f"answer-{number}" for number in range(count)]
    pids = [_forked(home, program, answer, gate, key) for answer in answers]
    os.close(gate)
    os.close(key)  # The gate opens when all have closed it, too.
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    return [
        msgspec.json.decode(answer.read_bytes(), type=Ended) if code == 0 else Ended(error=f"ended with {code}")
        for answer, code in zip(answers, codes, strict=True)
    ]


def _forked(home: Path, program: Callable[[], str], answer: Path, gate: int, key: int) -> int:
    """Start a process that waits for the gate; return its number."""
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(ROUND_SECONDS)
            os.environ.update(HOME=str(home), XDG_CACHE_HOME=str(home / ".cache"))
            os.close(key)
            os.read(gate, 1)
            ended = Ended(found=program())
        except BaseException:  # noqa: BLE001 - whatever it is, it is told
            ended = Ended(error=traceback.format_exc())
        answer.write_bytes(msgspec.json.encode(ended))
        os._exit(0)
    return pid


if __name__ == "__main__":
    sys.exit(max([main(thing, int(rounds)) for thing, rounds in zip(sys.argv[1::2], sys.argv[2::2], strict=True)]))
