"""Attempts to reach any address but the bot's own socket. The host listens at each, and checks for arrivals."""

import ctypes
import os
import socket
import struct
import tempfile
from collections.abc import Callable, Iterable
from socket import SCM_RIGHTS, SOL_SOCKET

from .attempt import AttemptVerdict, Scene, Way, any_of, attacks, call, done

PATIENCE_SECONDS = 1.0
NAME_INSIDE = "bot"
DESCRIPTOR = struct.Struct("Niii")
"""Layout of a control message with one descriptor."""
SERVICES = (
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
)
# fmt: off
FAMILIES = {
    "INET": 2, "INET6": 10, "NETLINK": 16, "PACKET": 17, "RDS": 21, "CAN": 29, "TIPC": 30, "BLUETOOTH": 31,
    "ALG": 38, "VSOCK": 40, "KCM": 41, "QIPCRTR": 42, "SMC": 43, "XDP": 44,
}
# fmt: on


def _connecting(family: int, kind: int, address: object, word: str) -> Callable[[], str]:
    def connected() -> str:
        with socket.socket(family, kind) as line:
            line.settimeout(PATIENCE_SECONDS)
            line.connect(address)  # type: ignore[arg-type]
            line.send(f"{word}\n".encode())
            # If no program listens, the kernel reports it at the second datagram.
            line.send(f"{word}\n".encode())
        return "connected, and sent"

    return connected


def _reached(addresses: Iterable[tuple[str, int]], kind: int, word: str) -> AttemptVerdict:
    ways: list[Way] = []
    for host, port in addresses:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        ways.append((f"{host}:{port}", _connecting(family, kind, (host, port), word)))
    return any_of(ways)


@attacks("network namespace")
def reaches_tcp(scene: Scene) -> AttemptVerdict:
    """Connects to the host by TCP, at its loopback and its other addresses."""
    return _reached(scene.tcp, socket.SOCK_STREAM, "reaches-tcp")


@attacks("network namespace")
def reaches_udp(scene: Scene) -> AttemptVerdict:
    """Sends datagrams to the host, at its loopback and its other addresses."""
    return _reached(scene.udp, socket.SOCK_DGRAM, "reaches-udp")


@attacks("network namespace")
def reaches_abstract_sockets(scene: Scene) -> AttemptVerdict:
    """Connects to a Unix socket that has no file, by streams and by datagrams."""
    ways: list[Way] = []
    for name, kind in (("stream", socket.SOCK_STREAM), ("datagram", socket.SOCK_DGRAM)):
        address = f"\0{scene.abstract_socket}-{name}"
        ways.append((name, _connecting(socket.AF_UNIX, kind, address, "reaches-abstract-sockets")))
    return any_of(ways)


def _path(path: str, word: str) -> list[Way]:
    """Return ways to connect to a socket: by its path, and through the root folder of process 1."""
    places = (path, f"/proc/1/root{path}")
    return [(place, _connecting(socket.AF_UNIX, socket.SOCK_STREAM, place, word)) for place in places]


@attacks("minimal root")
def reaches_path_sockets(scene: Scene) -> AttemptVerdict:
    """Connects to a Unix socket of the host by its file."""
    return any_of(_path(scene.path_socket, "reaches-path-sockets"))


@attacks("minimal root")
def reaches_another_bots_socket(scene: Scene) -> AttemptVerdict:
    """Connects to the socket that belongs to the other bot."""
    word = "reaches-another-bots-socket"
    inside = f"/proc/{scene.targets[1].pid}/root/run/arena/{os.path.basename(scene.other_socket)}"
    return any_of([*_path(scene.other_socket, word), *_path(inside, word)])


@attacks("minimal root")
def reaches_the_referees_other_endpoints(scene: Scene) -> AttemptVerdict:
    """Connects to further endpoints of the referee, by their names and by looking around its own."""
    word = "reaches-the-referees-other-endpoints"
    own = os.environ["ARENA_ENDPOINT"].removeprefix("ipc://")
    around = os.path.dirname(os.path.dirname(own))
    name = os.path.basename(os.path.dirname(scene.other_endpoint))
    beside = f"{around}/{name}/{os.path.basename(own)}"
    return any_of([*_path(scene.other_endpoint, word), *_path(beside, word)])


@attacks("minimal root")
def reaches_the_machines_services(scene: Scene) -> AttemptVerdict:
    """Connects to the sockets of containers, D-Bus and systemd."""

    def connect(path: str) -> None:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(PATIENCE_SECONDS)
            line.connect(path)

    return any_of((path, done("connected", connect, path)) for path in SERVICES)


@attacks("network namespace")
def sees_the_machines_network(scene: Scene) -> AttemptVerdict:
    """Finds an interface of the machine other than the loopback."""
    others = set(scene.interfaces) - {"lo"}
    if not others:
        return AttemptVerdict("not tried", "this machine has no interface but its loopback")

    def seen() -> str:
        return ", ".join(others.intersection(dict(socket.if_nameindex()).values()))

    def listed() -> str:
        return ", ".join(others.intersection(os.listdir("/sys/class/net")))

    return any_of([("names", seen), ("/sys/class/net", listed)])


@attacks("no capabilities")
def opens_raw_sockets(scene: Scene) -> AttemptVerdict:
    """Opens sockets that read and forge packets."""
    every = socket.htons(3)

    def opened(family: int, protocol: int) -> Callable[[], str]:
        return done("opened", lambda: socket.socket(family, socket.SOCK_RAW, protocol).close())

    ways = [("ICMP", opened(socket.AF_INET, socket.IPPROTO_ICMP)), ("packets", opened(socket.AF_PACKET, every))]
    return any_of(ways)


@attacks("system-call filter")
def opens_new_network_sockets(scene: Scene) -> AttemptVerdict:
    """Makes a socket of any kind but Unix: netlink, and doors to rarely used parts of the kernel."""

    def made(number: int) -> Callable[[], str]:
        def way() -> str:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
                try:
                    socket.socket(number, kind).close()
                except OSError as error:
                    last = error
                else:
                    return "made"
            raise last

        return way

    return any_of((name, made(number)) for name, number in FAMILIES.items())


@attacks("host name namespace")
def sees_the_machines_name(scene: Scene) -> AttemptVerdict:
    """Reads the machine's name."""
    name = os.uname().nodename
    if scene.host_name == NAME_INSIDE:
        return AttemptVerdict("not tried", "this machine has the name that bots see")
    return AttemptVerdict("escaped" if name == scene.host_name else "held", f"the name is {name}")


@attacks("host name namespace")
def changes_the_machines_name(scene: Scene) -> AttemptVerdict:
    """Sets the host name to what it is."""
    name = os.uname().nodename.encode()
    return any_of([("sethostname", done("set", call, "sethostname", ctypes.c_char_p(name), len(name)))])


@attacks("system-call filter")
def sends_descriptors(scene: Scene) -> AttemptVerdict:
    """Passes a file on, at its own socket too: the receiver has to free what is behind it."""
    line = os.environ["ARENA_ENDPOINT"].removeprefix("ipc://")

    def with_file(send: Callable[[socket.socket, int], object]) -> Callable[[], str]:
        def sent() -> str:
            near, far = socket.socketpair()
            with tempfile.TemporaryFile() as file, near, far:
                return f"the kernel answered {send(near, file.fileno())}"

        return sent

    def to_the_referee(_: socket.socket, file: int) -> object:
        with socket.socket(socket.AF_UNIX) as near:
            near.connect(line)
            return socket.send_fds(near, [b"x"], [file])

    def many(near: socket.socket, file: int) -> int:
        byte = ctypes.create_string_buffer(b"x", 1)
        data = (ctypes.c_size_t * 2)(ctypes.addressof(byte), 1)
        size = DESCRIPTOR.size
        control = ctypes.create_string_buffer(DESCRIPTOR.pack(size, SOL_SOCKET, SCM_RIGHTS, file), 24)
        message = (ctypes.c_size_t * 8)(0, 0, ctypes.addressof(data), 1, ctypes.addressof(control), size)
        return call("sendmmsg", near.fileno(), message, 1, 0)

    return any_of(
        [
            ("sendmsg", with_file(lambda near, file: socket.send_fds(near, [b"x"], [file]))),
            ("sendmsg to the referee", with_file(to_the_referee)),
            ("sendmmsg", with_file(many)),
            ("pidfd_getfd", with_file(lambda _, file: call("pidfd_getfd", os.pidfd_open(os.getpid()), file, 0))),
        ]
    )
