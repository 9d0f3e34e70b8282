"""Keys of CurveZMQ: creates, writes and reads them in the format of ZeroMQ's own tools (CZMQ's certificates).

A pair is two files: `NAME.key`, which is public, and `NAME.key_secret`, which is secret. Keys are in Z85
(rfc.zeromq.org/spec/32), 40 characters for 32 bytes.
"""

import os
from pathlib import Path

from msgspec import Struct

from referee.linux.files import read_regular

PUBLIC, SECRET = ".key", ".key_secret"
"""Suffixes of the files' names."""
KEY_BYTES, KEY_CHARACTERS = 32, 40
MAX_KEY_FILE_BYTES = 64 * 1024
"""The largest key file that is read, in bytes: it may be untrusted."""
_LETTERS = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_VALUES = {letter: value for value, letter in enumerate(_LETTERS)}
_WORD_BYTES, _WORD_LETTERS = 4, 5
_PUBLIC_FIELD, _SECRET_FIELD = "public-key", "secret-key"
_PUBLIC_FORM = """\
#   A public key of ZeroMQ CURVE. Give it to those who shall know you by it.

metadata
curve
    public-key = "{public}"
"""
_OWN_FORM = """\
#   A secret key of ZeroMQ CURVE. All who have it can pass for you: give it to nobody.

metadata
curve
    public-key = "{public}"
    secret-key = "{secret}"
"""


class KeyFileError(ValueError):
    """A key cannot be used or written. The text is one line that names the file and the fault."""


class KeyPair(Struct, frozen=True):
    """A public and a secret key, 32 bytes each."""

    public: bytes
    secret: bytes


def new_pair() -> KeyPair:
    """Return a new random pair."""
    from nacl.bindings import crypto_box_keypair  # noqa: PLC0415 - matches without remote bots do without

    return KeyPair(*crypto_box_keypair())


def z85(key: bytes) -> str:
    """Return a key in Z85, as ZeroMQ's tools write it."""
    letters = bytearray()
    for start in range(0, len(key), _WORD_BYTES):
        word = int.from_bytes(key[start : start + _WORD_BYTES], "big")
        spelled = [_LETTERS[word // len(_LETTERS) ** place % len(_LETTERS)] for place in range(_WORD_LETTERS)]
        letters += bytes(reversed(spelled))
    return letters.decode()


def from_z85(text: str) -> bytes:
    """Return the key written in Z85.

    Raises:
        ValueError: the text is no key.
    """
    if len(text) != KEY_CHARACTERS or not set(text.encode()) <= _VALUES.keys():
        raise ValueError(f"{text[:KEY_CHARACTERS]!r} is no key: a key has {KEY_CHARACTERS} characters of Z85")
    key = b""
    for start in range(0, KEY_CHARACTERS, _WORD_LETTERS):
        word = 0
        for letter in text[start : start + _WORD_LETTERS].encode():
            word = word * len(_LETTERS) + _VALUES[letter]
        if word >= 1 << 8 * _WORD_BYTES:
            raise ValueError(f"{text!r} is no key: {text[start : start + _WORD_LETTERS]!r} is too large")
        key += word.to_bytes(_WORD_BYTES, "big")
    return key


def write_pair(name: Path, pair: KeyPair) -> tuple[Path, Path]:
    """Write both files, the secret one readable by its owner only; return their paths.

    Raises:
        KeyFileError: one of the files exists. Keys are never overwritten.
        OSError: they cannot be written.
    """
    public, secret = name.with_name(name.name + PUBLIC), name.with_name(name.name + SECRET)
    for file in (public, secret):
        if file.exists() or file.is_symlink():
            raise KeyFileError(f"{file}: is there already; a key is not written over")
    words = {"public": z85(pair.public), "secret": z85(pair.secret)}
    _write(secret, _OWN_FORM.format(**words), 0o600)
    _write(public, _PUBLIC_FORM.format(**words), 0o644)
    return public, secret


def _write(file: Path, text: str, mode: int) -> None:
    try:
        # The file is new, and has these rights from the start.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise KeyFileError(f"{file}: is there already; a key is not written over") from None
    with os.fdopen(descriptor, "w", encoding="ascii") as opened:
        opened.write(text)


def read_public(file: Path) -> bytes:
    """Return the public key in a file.

    Raises:
        KeyFileError: there is none.
    """
    return _field(file, _PUBLIC_FIELD)


def read_pair(file: Path) -> KeyPair:
    """Return both keys in a secret file.

    Raises:
        KeyFileError: a key is missing, they do not belong together, or others may read the file.
    """
    from nacl.bindings import crypto_scalarmult_base  # noqa: PLC0415 - see `new_pair`

    pair = KeyPair(_field(file, _PUBLIC_FIELD), _field(file, _SECRET_FIELD))
    if crypto_scalarmult_base(pair.secret) != pair.public:
        raise KeyFileError(f"{file}: its two keys do not belong together")
    mode = file.stat().st_mode
    if mode & 0o077:
        raise KeyFileError(f"{file}: others may read it; try chmod 600 {file}")
    return pair


def _field(file: Path, field: str) -> bytes:
    try:
        lines = read_regular(file, MAX_KEY_FILE_BYTES).decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    for number, line in enumerate(lines, start=1):
        name, equals, value = line.partition("=")
        if equals and name.strip() == field:
            try:
                return from_z85(value.strip().strip('"'))
            except ValueError as error:
                # A secret key with one wrong letter almost gives the key away, so it is never quoted.
                what = f"is no key: a key has {KEY_CHARACTERS} characters of Z85, five of them at most 2^32 - 1"
                why = what if field == _SECRET_FIELD else error
                raise KeyFileError(f"{file}:{number}: {field}: {why}") from None
    raise KeyFileError(f"{file}: has no {field}; `arena keys` makes such files")
