"""What `scripts/try-vm` runs inside its machine, step by step, as the user who has just logged in at a terminal.

Each step's output goes out by the third serial line, as a line of JSON.
"""

import getpass
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PLACE = "/srv/arena"
REPORT = "/dev/ttyS2"
MOST_OUTPUT = 200_000
MOST_SECONDS = 3600
DOCTOR = "scripts/arena doctor"
HOLDS = r"^isolation strict, "
SLOW_DOCTOR = """.venv/bin/python -c '
from arena.commands.main import main
from referee.proofs.escapes import examination, fixture
fixture.CPU_SECONDS, fixture.BEGIN_SECONDS, examination.PATIENCE_SECONDS = 20, 600, 900
main(["doctor"])'"""
"""On a slow machine a bot uses up doctor's two seconds of processor time before it begins."""
SLOW_HOLDS = rf"\A(?![\s\S]*  escaped\b)[\s\S]*{HOLDS}"
"""Some attempts do not end in time there, but none may succeed."""
WALLS = f"""{PLACE}/.venv/bin/python -c '
from referee import sandbox
for wall in sandbox.find_walls():
    print(wall.name, wall.how or wall.lack, sep=": ")
print("level:", sandbox.find_isolation())'"""
"""What doctor begins with, without the escapes, which take an emulated machine many minutes."""
STRICT = "^level: strict$"
MATCH = "scripts/arena match mist mist_tracker mist_hunter --seed 1 --startup-ms 300000"
"""With time for bots to start on an emulated machine."""
BOBS_MATCH = f"sudo -u bob -H sh -c 'cd && {PLACE}/{MATCH}'"
"""In a folder of his own, for its transcript."""
WHERE = "cat /proc/$$/cgroup"
SERVICE = f"systemd-run --pipe --wait --collect --quiet -p WorkingDirectory={PLACE}"
USERS_SERVICE = SERVICE.replace("systemd-run", "systemd-run --user")
TESTS = {
    "walls": "sandbox/test_walls.py sandbox/test_descriptors.py sandbox/test_ordinary.py",
    "ends of bots": "sandbox/test_end.py",
    "escapes": "sandbox/test_escapes.py",
    "builds": "sandbox/test_build.py",
    "shortage": "sandbox/test_shortage.py",
    "an arena killed": "sandbox/test_arena_killed.py",
    "kept bots": "test_kept_bots.py -k 'not sample_bots'",
    "sample bots kept": "test_kept_bots.py -k sample_bots",
    "all killed": "test_killed.py",
    "processor time": "test_processor_time.py",
}
"""Below tests/real_wire, by what they are about; perhaps with which of them."""
TOURNAMENT = "scripts/arena tournament tests/machine/cup.toml --fresh"
DEMO = "scripts/demo"
CONTAINER = """unshare --mount --cgroup sh -ec '
umount -R /sys/fs/cgroup
mount -t cgroup2 -o ro none /sys/fs/cgroup
mount -t tmpfs none /run
touch /run/.containerenv
exec "$@"' sh"""
"""As near as it comes to one as Docker starts it: no systemd to ask, and groups of its own that are read-only."""
AS_ALICE = "setpriv --reuid=alice --regid=alice --init-groups env HOME=/home/alice"
KILLED = """
rm -rf runs/try-vm
sed 's/^blocks.*/blocks = 200/' tests/machine/cup.toml > tests/machine/long.toml
scripts/arena tournament tests/machine/long.toml > /tmp/killed.log 2>&1 & arena=$!
of_bots() { find /sys/fs/cgroup -path '*/mist-arena.*/[0-9]*/cgroup.procs' -exec cat {} + 2> /dev/null; }
for wait in $(seq 900); do
    compgen -G 'runs/try-vm/transcripts/00003*' > /dev/null && [ "$(of_bots)" ] && break
    sleep 0.5
done
bots="$(of_bots)"
echo "before:" ${bots:-no process of a bot}
find /sys/fs/cgroup -path '*mist-arena*' -type d
[ "$bots" ] && kill -9 $arena || { cat /tmp/killed.log; exit 1; }
wait $arena
sleep 15
left="$(pgrep -af 'bwrap|bots/|mist.arena|-m arena' | grep -v tests.machine)"
groups="$(find /sys/fs/cgroup -name '*mist-arena*' -type d)"
echo "left: ${left:-no process}; ${groups:-no group}"
[ -z "$left" ] && [ -z "$groups" ]
"""
FEWER_CONTROLLERS = """
settings=/etc/systemd/system/user@.service.d
sudo mkdir -p $settings
printf '[Service]\\nDelegate=\\nDelegate=memory pids\\n' | sudo tee $settings/delegate.conf
sudo systemctl daemon-reload
sudo systemctl stop user@$(id -u)
slice=/sys/fs/cgroup/user.slice/user-$(id -u).slice
echo -cpu | sudo tee $slice/cgroup.subtree_control
sudo systemctl start user@$(id -u)
sleep 2
cat $slice/user@$(id -u).service/cgroup.controllers
"""
"""Lists of controllers add up, until an empty one; and systemd takes none away again that it has handed down."""


class Step(NamedTuple):
    """A command of the shell, in the clone."""

    name: str
    command: str
    shows: str = ""
    """What its output must have in it, as a regular expression."""
    code: int | None = 0
    """With which it must end; None: with any."""


def alices(slow: bool = False) -> list[Step]:
    """Return the steps of an ordinary user. `slow`: the machine is."""
    return [
        Step("session", f"loginctl --no-pager; {WHERE}; cat /sys/fs/cgroup/cgroup.controllers; id"),
        Step("walls, plain login", WALLS, STRICT),
        Step("shell is where it was", WHERE, r"session-\w+\.scope"),
        Step("walls, scope without Delegate", f"systemd-run --user --scope --quiet {WALLS}", STRICT),
        Step("walls, scope with Delegate", f"systemd-run --user --scope --quiet -p Delegate=yes {WALLS}", STRICT),
        Step("walls, user's service without Delegate", f"{USERS_SERVICE} {WALLS}", STRICT),
        Step("walls, user's service with Delegate", f"{USERS_SERVICE} -p Delegate=yes {WALLS}", STRICT),
        Step("walls, no XDG_RUNTIME_DIR", f"env -u XDG_RUNTIME_DIR -u DBUS_SESSION_BUS_ADDRESS {WALLS}", STRICT),
        Step(
            "walls, service with User and Delegate", f"sudo {SERVICE} --uid=alice -p Delegate=yes {WALLS}", STRICT
        ),
        Step("walls, service with User", f"sudo {SERVICE} --uid=alice {WALLS}", "Delegate=yes"),
        Step("walls, by sudo as a user without a session", f"sudo -u bob -H {WALLS}", "enable-linger bob"),
        Step("match, by sudo as a user without a session", BOBS_MATCH, "enable-linger bob", code=3),
        Step(
            "walls, the same after enable-linger",
            f"sudo loginctl enable-linger bob; sleep 10; sudo -u bob -H {WALLS}",
            STRICT,
        ),
        Step("match", MATCH),
        Step("tournament", TOURNAMENT, "loginctl enable-linger"),
        Step("killed", KILLED),
        Step("demo", DEMO, "window by window"),
        _doctor(slow),
        *_tests(),
        Step(
            "walls, no user namespaces",
            f"sudo sysctl -w user.max_user_namespaces=0; {WALLS}; sudo sysctl -w user.max_user_namespaces=9999",
            "max_user_namespaces",
        ),
        Step(
            "walls, no user namespaces by Debian's switch",
            f"sudo sysctl -w kernel.unprivileged_userns_clone=0; {WALLS}; "
            "sudo sysctl -w kernel.unprivileged_userns_clone=1",
            "unprivileged_userns_clone",
        ),
        Step(
            "walls, in a container",
            f"sudo {CONTAINER} {AS_ALICE} {WALLS}",
            "cannot be written to: start the arena as root, and a container with",
        ),
        Step(
            "walls, in a container without user namespaces",
            "sudo touch /.dockerenv; "
            f"sudo {SERVICE} --uid=alice -p RestrictNamespaces=yes {WALLS}; sudo rm /.dockerenv",
            "this container may make no user namespaces; start it with --security-opt",
        ),
        Step("before walls, only memory and pids delegated", FEWER_CONTROLLERS, "^memory pids$"),
        Step("walls, memory and pids only", WALLS, "does not delegate cpu"),
        Step(
            "what these walls say to type, typed",
            f"""line=$({WALLS} 2>&1 | sed -n 's/.*As root: //p' | head -n 1); echo "$line"; sudo sh -c "$line" """,
            "^mkdir -p /etc/systemd/system/user@.service.d",
        ),
        Step("walls, after that", WALLS, STRICT),
    ]


def roots(slow: bool = False) -> list[Step]:
    """Return root's steps. `slow`: the machine is."""
    return [
        Step("session", f"loginctl --no-pager; {WHERE}; id"),
        Step("walls, login", WALLS, STRICT),
        Step("shell is where it was", WHERE, r"session-\w+\.scope"),
        Step("walls, service with Delegate", f"{SERVICE} -p Delegate=yes {WALLS}", STRICT),
        Step("walls, service without Delegate", f"{SERVICE} {WALLS}", STRICT),
        Step("walls, in a container", f"{CONTAINER} {WALLS}", "cannot be written to: start a container with"),
        Step("match", MATCH),
        Step("match, service without Delegate", f"{SERVICE} {MATCH}"),
        Step("tournament", TOURNAMENT),
        Step("killed", KILLED),
        Step("demo", DEMO, "window by window"),
        _doctor(slow),
        *_tests(),
    ]


def _doctor(slow: bool) -> Step:
    return Step("doctor", SLOW_DOCTOR, SLOW_HOLDS, code=None) if slow else Step("doctor", DOCTOR, HOLDS)


def _tests() -> Iterator[Step]:
    for name, which in TESTS.items():
        words = re.sub(r"\S+\.py", r"tests/real_wire/\g<0>", which)
        pytest = ".venv/bin/python -m pytest -q -p no:cacheprovider --timeout 3000 -rs --durations 3"
        yield Step(f"tests, {name}", f"{pytest} {words}")


STEPS = {"alice": alices, "root": roots}


def main() -> None:
    """Run the steps of the user whose name is given, and let the next user log in, or switch the machine off."""
    (user,) = sys.argv[1:]
    orders = json.loads(Path("try-vm.json").read_text())
    report({"user": user, "machine": machine()})
    if user == "root":
        subprocess.run(["chown", "-R", "root:", PLACE], check=True)
    steps = [Step(orders["command"], orders["command"])] if orders["command"] else STEPS[user](orders["slow"])
    for step in chosen(steps, orders["only"]):
        report({"user": user, **run(step)})
    users = orders["users"]
    following = users[users.index(user) + 1 :]
    sudo = [] if user == "root" else ["sudo"]
    if following:
        subprocess.run([*sudo, "systemctl", "start", "serial-getty@ttyS1.service"], check=True)
    else:
        report({"user": user, "end": True})
        subprocess.run([*sudo, "systemctl", "poweroff"], check=True)


def chosen(steps: list[Step], words: list[str]) -> list[Step]:
    """Return the steps whose names have one of these words in them, in that order; all if there are no words."""
    return list(dict.fromkeys(step for word in words or [""] for step in steps if word in step.name))


def run(step: Step) -> dict[str, Any]:
    """Run a step; return what is reported of it."""
    begun = time.monotonic()
    process = subprocess.Popen(
        ["bash", "-c", step.command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=0,
    )
    try:
        output, _ = process.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output = f"{process.communicate()[0]}\nended after {MOST_SECONDS} s"
    code = process.returncode
    shown = re.search(step.shows, output, re.MULTILINE) is not None
    return {
        "step": step.name,
        "command": step.command,
        "output": output[-MOST_OUTPUT:],
        "code": code,
        "seconds": time.monotonic() - begun,
        "good": shown and step.code in (None, code),
    }


def machine() -> str:
    """Return what this machine runs, in words."""
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    told = subprocess.run(["systemctl", "--version"], capture_output=True, text=True, check=True).stdout
    systemd = " ".join(told.split()[:2])
    groups = "version 2" if Path("/sys/fs/cgroup/cgroup.controllers").exists() else "version 1"
    return (
        f"{system}: Linux {platform.release()}, {systemd}, control groups of {groups}, "
        f"Python {platform.python_version()}, logged in as {getpass.getuser()}"
    )


def report(what: dict[str, Any]) -> None:
    """Send a line out."""
    with Path(REPORT).open("w", encoding="utf-8") as line:
        line.write(json.dumps(what) + "\n")


if __name__ == "__main__":
    main()
