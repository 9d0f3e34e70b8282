"""The filter of system calls: how it is made, and what it decides, run as the kernel runs it.

As a tree it decides as libseccomp's plain list does, in fewer steps. Real sandboxes try what it forbids.
"""

import errno
import platform
import struct
import subprocess
import sys
from random import Random

import pytest

from referee.linux import seccomp

on_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are of x86-64")
LIST = 1
"""For libseccomp: what it makes unasked."""
X86_64, I386, AARCH64 = 0xC000_003E, 0x4000_0003, 0xC000_00B7
X32 = 0x4000_0000
NUMBERS = [*range(600), *(X32 | number for number in range(600)), 0xFFFF_FFFF]
ALLOW, ERROR = 0x7FFF_0000, 0x0005_0000
VALUES = sorted({value for _, _, values in seccomp.BY_ARGUMENT for value in values} | {0, 1, 0xFFFF_FFFF})

Program = list[tuple[int, int, int, int]]


def decide(program: Program, number: int, machine: int, arguments: tuple[int, ...]) -> tuple[int, int]:
    """Return the kernel's decision about a call, and the number of instructions to it."""
    data = struct.pack("=IIQ6Q", number, machine, 0, *arguments)
    at = value = steps = 0
    while True:
        code, yes, no, constant = program[at]
        at += 1
        steps += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, constant)
            case 0x54:
                value &= constant
            case 0x06:
                return constant, steps
            case 0x15:
                at += yes if value == constant else no
            case 0x25:
                at += yes if value > constant else no
            case 0x35:
                at += yes if value >= constant else no
            case _:
                raise AssertionError(f"{code:#x} is not known to this test")


def made(monkeypatch: pytest.MonkeyPatch, form: int) -> Program:
    monkeypatch.setattr(seccomp, "OPTIMIZE_AS_TREE", form)
    try:
        return list(struct.iter_unpack("=HBBI", seccomp.program.__wrapped__()))
    except seccomp.NoFilterError as missing:
        pytest.skip(str(missing))


@on_x86_64
def test_the_tree_decides_as_the_list_does(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, plain = made(monkeypatch, seccomp.OPTIMIZE_AS_TREE), made(monkeypatch, LIST)
    rng = Random(1)
    decided = set[int]()
    for number in NUMBERS:
        for machine in (X86_64, I386, AARCH64):
            for _ in range(4):
                arguments = tuple(
                    (rng.choice(VALUES) + rng.choice((-1, 0, 0, 1))) % 2**32 + rng.choice((0, 0, 1 << 32))
                    for _ in range(6)
                )
                answer, _ = decide(tree, number, machine, arguments)
                assert answer == decide(plain, number, machine, arguments)[0], (number, machine, arguments)
                decided.add(answer)
    assert {ALLOW, ERROR | errno.ENOSYS, ERROR} <= decided


@on_x86_64
def test_each_value_of_an_argument_is_decided_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, plain = made(monkeypatch, seccomp.OPTIMIZE_AS_TREE), made(monkeypatch, LIST)
    for number in range(600):
        for value in VALUES:
            arguments = (value,) * 6
            assert decide(tree, number, X86_64, arguments)[0] == decide(plain, number, X86_64, arguments)[0]


@on_x86_64
def test_and_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel runs it for each number when a process gets it: that is most of what a filter costs."""

    def steps(program: Program) -> int:
        return sum(decide(program, number, X86_64, (0,) * 6)[1] for number in range(450))

    assert steps(made(monkeypatch, seccomp.OPTIMIZE_AS_TREE)) * 4 < steps(made(monkeypatch, LIST))


WATCHED = """
import sys
started = []
names = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork")
sys.addaudithook(lambda event, _: started.append(event) if event in names else None)
from referee.linux import seccomp
print(len(seccomp.program()) % 8, started)
"""


def test_the_filter_is_made_without_starting_a_program() -> None:
    """Each process of an arena makes it: `ctypes.util.find_library` would run `ldconfig`."""
    done = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert "0 []\n" == done.stdout


def test_a_machine_without_the_library_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "LIBRARY", "libseccomp-that-is-not-there.so")
    with pytest.raises(seccomp.NoFilterError, match="apt install libseccomp2"):
        seccomp.program.__wrapped__()


def test_a_rule_that_the_library_refuses_names_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter without one of the rules on arguments would leave a door open."""
    monkeypatch.setattr(seccomp, "WITHOUT_EFFECT", ("no_such_call",))
    with pytest.raises(OSError, match="no_such_call"):
        seccomp.program.__wrapped__()
