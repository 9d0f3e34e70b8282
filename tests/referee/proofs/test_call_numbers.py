"""System calls of the escape attempts have the numbers that libseccomp knows for both machines."""

import ctypes

import pytest

from referee.linux.seccomp import LIBRARY
from referee.proofs.escapes.inside.attempt import BOTH_NUMBERS

X86_64 = 0xC000003E
AARCH64 = 0xC00000B7
FEW = 5
"""Names that an older libseccomp may not know."""


@pytest.mark.parametrize(("place", "machine"), [(0, X86_64), (1, AARCH64)], ids=["x86-64", "aarch64"])
def test_numbers_are_those_of_libseccomp(place: int, machine: int) -> None:
    try:
        resolve = ctypes.CDLL(LIBRARY).seccomp_syscall_resolve_name_arch
    except OSError as error:
        pytest.skip(str(error))
    resolve.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
    ours = {name: both[place] for name, both in BOTH_NUMBERS.items()}
    theirs = {name: resolve(machine, name.encode()) for name in ours}
    known = {name: number for name, number in theirs.items() if number >= 0}
    assert len(ours) - FEW <= len(known)
    assert known == {name: ours[name] for name in known}
