"""What the attempts are told of the world outside: where the bait lies, who listens, how much is allowed."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass

FILE = "scene.json"
"""Beside the program, in the bot's folder."""
MEGABYTE = 1024 * 1024
_BAIT = re.compile(rb"arena-bait-[0-9a-f]{32}")


@dataclass(frozen=True)
class Target:
    """A process that is not the bot's to touch."""

    name: str
    pid: int
    """On the machine."""
    command_sha256: str
    """Of its /proc/PID/cmdline: a process of that number may be another one, in a namespace."""
    address: int
    """Where in its memory the bait lies."""
    descriptor: int | None = None
    """One that leads to the bait."""


@dataclass(frozen=True)
class Scene:
    """All of it. The bait itself is not in it: only its hash, to know it by."""

    mark: str
    """Unique to this run: names of files, addresses of abstract sockets."""
    bait_sha256: str
    baits: dict[str, str]
    system_secrets: tuple[str, ...]
    """Files of this machine that no bot may read."""
    homes: tuple[str, ...]
    code: str
    targets: tuple[Target, ...]
    """The referee first, then the other bot."""
    referee_environment_sha256: str
    other_folder: str
    other_scratch: str
    """As the other bot sees it."""
    other_log: str
    other_socket: str
    other_endpoint: str
    """One of the referee's that belongs to neither bot."""
    tcp: tuple[tuple[str, int], ...]
    udp: tuple[tuple[str, int], ...]
    abstract_socket: str
    path_socket: str
    interfaces: tuple[str, ...]
    """Of the machine's network."""
    host_name: str
    groups: tuple[str, ...]
    """The arena's own control groups, but for the roots of them all."""
    terminal: str | None
    shared_memory_key: int | None
    """Of a System V segment with the bait."""
    first_key: int
    """From here on the keys of System V segments that the attempts may make."""
    memory_mb: int
    processes: int
    files: int
    scratch_mb: int
    cpu_seconds: int
    cpus: float
    """Seconds of processor time a second, for all its processes together."""
    done: tuple[str, ...] = ()
    """Attempts that were made already, by a run that was ended in the middle."""

    def has_bait(self, data: bytes) -> bool:
        """Whether something that was read holds the bait."""
        return any(hashlib.sha256(found).hexdigest() == self.bait_sha256 for found in _BAIT.findall(data))

    @property
    def referee(self) -> Target:
        """The process that started the bots."""
        return self.targets[0]


def write_scene(scene: Scene) -> str:
    """As text, for `read_scene`."""
    return json.dumps(asdict(scene))


def read_scene(text: str) -> Scene:
    """What `write_scene` wrote."""
    told = json.loads(text)
    told["targets"] = tuple(Target(**target) for target in told["targets"])
    for name in ("tcp", "udp"):
        told[name] = tuple((host, port) for host, port in told[name])
    return Scene(**told)
