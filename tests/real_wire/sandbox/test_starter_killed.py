"""The process that bots are forked from, or one beside it, is killed: no process of its sandbox stays.

Bubblewrap ends with the arena, and its first process with bubblewrap. If bubblewrap is killed as it starts, its
first process has not asked the kernel for that yet: it lives on, and waits for all processes of its sandbox.
"""

import os
import signal
from collections.abc import Iterator

import pytest

from referee.sandbox import prefork
from referee.sandbox.bwrap_args import starter_arguments
from tests.real_wire.processes import alive, children, family, until

pytestmark = pytest.mark.usefixtures("all_walls")

BINDS = "--die-with-parent"


class Sandbox:
    """One in which bots can be forked: bubblewrap's processes, the server, the maker of inits, and one init."""

    def __init__(self) -> None:
        self.starter = prefork._Starter()
        self.bubblewrap = self.starter._popen.pid
        (self.first,) = children(self.bubblewrap)
        (self.server,) = children(self.first)
        (self.maker,) = children(self.server)
        (self.init,) = until(lambda: children(self.maker))
        self.family = family(self.bubblewrap)

    def kill_bubblewrap(self) -> None:
        """Kill its outer process alone."""
        self.starter._popen.kill()
        self.starter._popen.wait()

    def close(self) -> None:
        """End all of it, whatever is left."""
        self.kill_bubblewrap()
        for each in alive(self.family):
            os.kill(int(each.split()[0]), signal.SIGKILL)
        self.starter.control.close()


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """One that ends with bubblewrap."""
    sandbox = Sandbox()
    yield sandbox
    sandbox.close()


@pytest.fixture
def unbound(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """One whose bubblewrap has been killed before it had bound its first process."""

    def without_binding(control: int, modules: tuple[str, ...]) -> list[str]:
        words = starter_arguments(control, modules)
        words.remove(BINDS)
        return words

    monkeypatch.setattr(prefork, "starter_arguments", without_binding)
    sandbox = Sandbox()
    sandbox.kill_bubblewrap()
    assert len(alive(sandbox.family)) == len((sandbox.first, sandbox.server, sandbox.maker, sandbox.init))
    yield sandbox
    sandbox.close()


def test_all_end_with_the_arena(unbound: Sandbox) -> None:
    unbound.starter.control.close()
    until(lambda: not alive(unbound.family))


def test_all_end_with_the_server(unbound: Sandbox) -> None:
    os.kill(unbound.server, signal.SIGKILL)
    until(lambda: not alive(unbound.family))


@pytest.mark.parametrize("which", ["bubblewrap", "first", "server", "maker"])
def test_all_end_with_any_of_them_but_an_init(sandbox: Sandbox, which: str) -> None:
    os.kill(getattr(sandbox, which), signal.SIGKILL)
    sandbox.starter._popen.wait()
    until(lambda: not alive(sandbox.family))
