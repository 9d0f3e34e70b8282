"""As whom a sandboxed bot runs: an ordinary user's bots as that user, root's bots each as a user of its own.

Root itself would be no good as a bot: the kernel limits no number of its processes. Nor could root become another
user first: that one could not mount what lies in root's own folders. So root's bots share one user namespace, made
once: bubblewrap mounts there as root, and the bot's program goes on as one of the other users it knows.
"""

import os
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

from msgspec import Struct

FIRST_USER = 0x7000_0000
"""Root's bots run as users from here on, whom no system hands out."""
USERS = 65_000
MAP = f"0 0 1\n1 {FIRST_USER + 1} {USERS}\n"
"""Users of the namespace and of the machine: root is root (without rights outside), the others are the bots'."""

USERS_HERE = Path("/proc/self")
"""The folder of the maps of users and groups of this process's user namespace."""
NAMESPACES = "/proc/sys/user/max_user_namespaces"
STANDARD_OUTPUT = 1

FAR = 40_171
"""The golden section of `USERS`: however many processes hand out users, each begins far from all others."""


class NoUsersError(OSError):
    """Root, in this user namespace, has no users to run its bots as."""


class User(Struct, frozen=True):
    """How a bot comes to run as whom it does."""

    namespace: tuple[str, ...]
    """Bubblewrap's options for the user namespace."""
    number: int | None
    """The user that the launcher becomes, giving up what bubblewrap left it; None: it is that user already."""
    others: int
    """Processes of bubblewrap that count as this user's, inside."""


STARTERS_NAMESPACE = ("--unshare-user", "--uid", "0", "--gid", "0")
"""Of an ordinary user's warm starter. Under any other number bubblewrap would take its rights over mounts away."""
ROOTS_NAMESPACE = ("--userns", str(STANDARD_OUTPUT))
"""That of `standard_output`."""
OWN_USER = User(
    # The bot sees an ordinary user, whichever it is. No namespace can be made in which it would have rights.
    ("--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns"),
    None,
    others=1,
)


def roots_user(line: Path) -> User:
    """A user that no other bot of this arena has; the socket and its folder become that user's.

    Raises:
        FileNotFoundError: a program of util-linux is not installed.
        NoUsersError: in this user namespace, that user does not exist.
    """
    check_users()
    number = 1 + next(_numbers(os.getpid())) % USERS
    for path in (line.parent, line):
        with suppress(FileNotFoundError):
            os.chown(path, FIRST_USER + number, FIRST_USER + number)
    rights = (word for right in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{right}"))
    return User((*ROOTS_NAMESPACE, *rights), number, others=0)


@cache
def _numbers(process: int) -> "count[int]":
    """Numbers for a process's bots. Arenas and workers hand out different ones, for all that is likely."""
    return count(process * FAR)


def standard_output(log: int) -> int:
    """The descriptor that bubblewrap gets as its standard output: for root the namespace, else the log.

    Under any other number the bot would inherit it.
    """
    return _namespace() if os.geteuid() == 0 else log


def program(name: str) -> str:
    """Where a program is.

    Raises:
        FileNotFoundError: it is not installed.
    """
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(2, "is not installed", name)
    return found


@cache
def _namespace() -> int:
    """A descriptor of the user namespace of root's bots; while it is open, the namespace is there.

    Raises:
        FileNotFoundError: a program of util-linux is not installed.
        NoUsersError: the users of root's bots do not exist here.
        OSError: number 0, with the complaint as text: the kernel makes no user namespace.
    """
    check_users()
    holder = subprocess.Popen(  # noqa: S603 - makes the namespace, and waits until it has been taken hold of
        [program("unshare"), "--user", "sh", "-c", "echo && read -r _"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    with holder:
        assert holder.stdin and holder.stdout and holder.stderr  # noqa: S101, PT018 - pipes
        if not holder.stdout.read(1):
            raise OSError(0, holder.stderr.read().decode(errors="replace").strip(), "unshare")
        place = Path("/proc") / str(holder.pid)
        (place / "uid_map").write_text(MAP)
        (place / "gid_map").write_text(MAP)
        namespace = os.open(place / "ns" / "user", os.O_RDONLY | os.O_CLOEXEC)
        holder.stdin.close()
    # From inside: no bot makes a further namespace in it, in which it would have rights.
    done = subprocess.run(  # noqa: S603 - as above
        [
            program("nsenter"),
            f"--user=/proc/self/fd/{namespace}",
            "sh",
            "-c",
            "echo 0 >/proc/sys/user/max_user_namespaces",
        ],
        pass_fds=[namespace],
        check=False,
        capture_output=True,
    )
    if done.returncode != 0:
        os.close(namespace)
        raise OSError(0, done.stderr.decode(errors="replace").strip(), "nsenter")
    return namespace


@cache
def check_users() -> None:
    """Check that the users of root's bots exist in the user namespace of this process.

    Raises:
        NoUsersError: they do not.
    """
    for kind in ("uid_map", "gid_map"):
        for line in (USERS_HERE / kind).read_text().splitlines():
            first, _, length = (int(word) for word in line.split())
            if first <= FIRST_USER + 1 and first + length > FIRST_USER + USERS:
                break
        else:
            raise NoUsersError(0, "the user namespace of this root lacks the users that root's bots run as")
