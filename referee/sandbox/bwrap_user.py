"""The user of a sandboxed bot: an ordinary user's bots run as that user, root's bots each as a user of its own.

A bot must not run as root, whose number of processes the kernel does not limit. Nor can root become another user
first, who could not mount files from root's own folders. So root's bots share one user namespace, created once:
bubblewrap mounts there as root, and the bot's program continues as another user of the namespace.
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
"""First user id of root's bots. No system assigns ids from here on."""
USERS = 65_000
MAP = f"0 0 1\n1 {FIRST_USER + 1} {USERS}\n"
"""The namespace's map of user ids: root is root (without rights outside), the others are for bots."""

USERS_HERE = Path("/proc/self")
"""The folder of the maps of users and groups of this process's user namespace."""
NAMESPACES = "/proc/sys/user/max_user_namespaces"
STANDARD_OUTPUT = 1

FAR = 40_171
"""The golden section of `USERS`: with any number of processes that assign users, each starts far from the
others."""


class NoUsersError(OSError):
    """The user namespace of this root lacks the users for its bots."""


class User(Struct, frozen=True):
    """The user of a bot, and how the bot becomes it."""

    namespace: tuple[str, ...]
    """Bubblewrap's options for the user namespace."""
    number: int | None
    """The user that the launcher becomes, without the rights that bubblewrap left it; None: it is that user
    already."""
    others: int
    """Number of bubblewrap's processes that count as this user's inside the sandbox."""


STARTERS_NAMESPACE = ("--unshare-user", "--uid", "0", "--gid", "0")
"""Options for an ordinary user's warm starter. With any other id bubblewrap would remove its rights over
mounts."""
ROOTS_NAMESPACE = ("--userns", str(STANDARD_OUTPUT))
"""Options for the namespace of `standard_output`."""
OWN_USER = User(
    # The bot sees an ordinary user. It cannot create a namespace in which it would have rights.
    ("--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns"),
    None,
    others=1,
)


def roots_user(line: Path) -> User:
    """Return a user that no other bot of this arena has, after giving the socket and its folder to it.

    Raises:
        FileNotFoundError: a program of util-linux is not installed.
        NoUsersError: the user does not exist in this user namespace.
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
    """Return the counter of user numbers of a process. Those of other arenas and workers very likely differ."""
    return count(process * FAR)


def standard_output(log: int) -> int:
    """Return the descriptor for bubblewrap's standard output: as root the namespace, else the log.

    Under any other number the bot would inherit the namespace.
    """
    return _namespace() if os.geteuid() == 0 else log


def program(name: str) -> str:
    """Return the path of a program.

    Raises:
        FileNotFoundError: it is not installed.
    """
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(2, "is not installed", name)
    return found


@cache
def _namespace() -> int:
    """Return a descriptor of the user namespace of root's bots. The namespace exists while it is open.

    Raises:
        FileNotFoundError: a program of util-linux is not installed.
        NoUsersError: the users of root's bots do not exist here.
        OSError: the kernel creates no user namespace; number 0, with the complaint as text.
    """
    check_users()
    holder = subprocess.Popen(  # noqa: S603 - creates the namespace, and waits until it was opened
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
    # Set inside the namespace, so that no bot creates a further one, in which it would have rights.
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
