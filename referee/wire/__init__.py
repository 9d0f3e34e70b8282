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
from referee.wire.remote import Address, BadAddressError, Lobby, RemoteLine, open_lobby, read_address
from referee.wire.socket_line import TURN_SECONDS
from referee.wire.zmtp import stands_for_parts
