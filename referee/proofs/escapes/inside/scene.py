"""The description of the host that the attempts receive: places of bait, addresses of listeners, limits."""

import hashlib
import json
import re
from dataclasses import asdict, dataclass

FILE = "scene.json"
"""Name of the scene's file in the bot's folder."""
MEGABYTE = 1024 * 1024
_BAIT = re.compile(rb"arena-bait-[0-9a-f]{32}")


@dataclass(frozen=True)
class Target:
    """A process that the bot may not touch."""

    name: str
    pid: int
    """Number of the process on the machine."""
    command_sha256: str
    """Hash of its /proc/PID/cmdline: in a namespace, another process may have the same number."""
    address: int
    """Address of the bait in its memory."""
    descriptor: int | None = None
    """Descriptor of a file with the bait."""


@dataclass(frozen=True)
class Scene:
    """The whole scene. It contains only the hash of the bait, by which the attempts recognise it."""

    mark: str
    """Text that is unique to this run, for names of files and addresses of abstract sockets."""
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
    """Path of the other bot's scratch folder, as that bot sees it."""
    other_log: str
    other_socket: str
    other_endpoint: str
    """An endpoint of the referee that belongs to neither bot."""
    tcp: tuple[tuple[str, int], ...]
    udp: tuple[tuple[str, int], ...]
    abstract_socket: str
    path_socket: str
    interfaces: tuple[str, ...]
    """Names of the machine's network interfaces."""
    host_name: str
    groups: tuple[str, ...]
    """Paths of the arena's own control groups, without the root groups."""
    terminal: str | None
    shared_memory_key: int | None
    """Key of a System V segment with the bait."""
    first_key: int
    """First of the keys of System V segments that the attempts may make."""
    memory_mb: int
    processes: int
    files: int
    scratch_mb: int
    cpu_seconds: int
    cpus: float
    """Seconds of processor time per second, for all processes of the bot together."""
    done: tuple[str, ...] = ()
    """Names of the attempts that an earlier, interrupted run has already made."""

    def has_bait(self, data: bytes) -> bool:
        """Return whether data contain the bait."""
        return any(hashlib.sha256(found).hexdigest() == self.bait_sha256 for found in _BAIT.findall(data))

    @property
    def referee(self) -> Target:
        """The process that started the bots."""
        return self.targets[0]


def write_scene(scene: Scene) -> str:
    """Return a scene as text for `read_scene`."""
    return json.dumps(asdict(scene))


def read_scene(text: str) -> Scene:
    """Decode the text of `write_scene`."""
    told = json.loads(text)
    told["targets"] = tuple(Target(**target) for target in told["targets"])
    for name in ("tcp", "udp"):
        told[name] = tuple((host, port) for host, port in told[name])
    return Scene(**told)
