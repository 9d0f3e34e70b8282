"""Lines to bots: ZeroMQ's wire protocol over sockets of this machine and of the network."""

from referee.wire.keys import (
    MAX_KEY_FILE_BYTES,
    PUBLIC,
    KeyFileError,
    KeyPair,
    from_z85,
    new_pair,
    read_pair,
    read_public,
    write_pair,
    z85,
)
from referee.wire.line import (
    INBOX_FRAMES,
    MAX_TAKEN_BYTES,
    Arrived,
    Bell,
    HandedOver,
    Line,
    MemoryLine,
    NotReading,
    Outgoing,
    OutOf,
)
from referee.wire.local import PATH_BYTES, SOCKET_NAME, LocalLine, Wire, open_wire
from referee.wire.poll import TURN_SECONDS
from referee.wire.remote import Address, BadAddressError, Lobby, RemoteLine, open_lobby, read_address
from referee.wire.zmtp import stands_for_parts

__all__ = [
    "INBOX_FRAMES",
    "MAX_KEY_FILE_BYTES",
    "MAX_TAKEN_BYTES",
    "PATH_BYTES",
    "PUBLIC",
    "SOCKET_NAME",
    "TURN_SECONDS",
    "Address",
    "Arrived",
    "BadAddressError",
    "Bell",
    "HandedOver",
    "KeyFileError",
    "KeyPair",
    "Line",
    "Lobby",
    "LocalLine",
    "MemoryLine",
    "NotReading",
    "OutOf",
    "Outgoing",
    "RemoteLine",
    "Wire",
    "from_z85",
    "new_pair",
    "open_lobby",
    "open_wire",
    "read_address",
    "read_pair",
    "read_public",
    "stands_for_parts",
    "write_pair",
    "z85",
]
