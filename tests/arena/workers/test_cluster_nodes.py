"""A Dask worker's nodes: which of its referee processes plays a match, and what a node's end means."""

import socket
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import trio
import trio.testing

from arena.workers.api import Worker, WorkerGoneError
from arena.workers.cluster import node, tasks
from arena.workers.cluster.tasks import node_of, send_home
from arena.workers.protocol import Answer, Done, MatchOrder, decoded, encoded, failed, framed, order, take_frames
from referee.host.plan import AttemptResult, Plan
from tests.arena.stand_in import result

PLAN = Plan(match="m", game="g", variant="v", seed=0)
SECONDS = 30


class StandInNode:
    """In place of a node's process: a thread that holds its end of the line."""

    started: list["StandInNode"]
    answers = True
    """Whether it answers each order at once."""

    def __init__(self, command: Sequence[str], *, pass_fds: Sequence[int], **_: Any) -> None:
        self.slots = int(command[-1])
        self.line = socket.fromfd(pass_fds[0], socket.AF_UNIX, socket.SOCK_STREAM)
        self.returncode = 0
        self.heard: list[MatchOrder] = []
        self.has_heard, self.over = Event(), Event()
        self.started.append(self)
        Thread(target=self._run, daemon=True).start()

    def die(self) -> None:
        """End as a process that is killed."""
        self.returncode = -9
        self.line.shutdown(socket.SHUT_RDWR)

    def wait(self) -> None:
        """Wait for its end, which comes when its line is hung up."""
        assert self.over.wait(SECONDS)

    def _run(self) -> None:
        held = bytearray()
        while came := self.line.recv(65_536):
            held += came
            for frame in take_frames(held):
                asked: MatchOrder = decoded(frame, MatchOrder)
                self.heard.append(asked)
                self.has_heard.set()
                if self.answers:
                    played = result(asked.whole_plan(), ("a", "b"), asked.transcript)
                    self.line.sendall(framed(encoded(Done(number=asked.number, result=played))))
        self.line.close()
        self.over.set()


class Process:
    """The module of processes, as far as a node is started with it."""

    DEVNULL = None

    def __init__(self) -> None:
        self.nodes: list[StandInNode] = []
        self.answer = True

    def Popen(self, command: Sequence[str], *, pass_fds: Sequence[int], **_: Any) -> StandInNode:  # noqa: N802
        StandInNode.started = self.nodes
        StandInNode.answers = self.answer
        return StandInNode(command, pass_fds=pass_fds)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    stand_in = Process()
    monkeypatch.setattr(tasks, "subprocess", stand_in)
    monkeypatch.setattr(tasks, "_NODES", {})
    monkeypatch.setattr(tasks, "_LEFT", set())
    yield stand_in
    for each in list(tasks._NODES):
        send_home(each)
    for started in stand_in.nodes:
        started.wait()


def ordered(match: str = "m") -> MatchOrder:
    """Return an order as it comes from the arena: a node numbers it itself."""
    return order(0, Plan(match=match, game="g", variant="v", seed=0), ["a", "b"], Path("m.jsonl"))


class InThread:
    """A match that is played in a thread, as Dask's worker does it."""

    def __init__(self, play: Callable[[], Answer]) -> None:
        self.answer: Answer | None = None
        self.error: BaseException | None = None
        self._play = play
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for its end."""
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self.answer = self._play()
        except WorkerGoneError as error:
            self.error = error


def until(found: Callable[[], bool]) -> None:
    """Wait for something that another thread does."""
    waiting = Event()
    for _ in range(SECONDS * 1_000):
        if found():
            return
        waiting.wait(0.001)
    raise AssertionError


def test_an_arena_has_one_node_that_plays_match_after_match(processes: Process) -> None:
    for match in ("one", "two"):
        answer = node_of("an arena", 3).play(ordered(match))
        assert isinstance(answer, Done)
        assert match == answer.result.match
    (started,) = processes.nodes
    assert 3 == started.slots
    assert 2 == len({asked.number for asked in started.heard})


def test_a_node_that_has_died_is_not_played_on_and_another_takes_its_place(processes: Process) -> None:
    processes.answer = False
    first = node_of("an arena", 1)
    match = InThread(lambda: first.play(ordered()))
    assert processes.nodes[0].has_heard.wait(SECONDS)
    processes.nodes[0].die()
    match.join()
    assert "its node is gone: exit code -9" == str(match.error)
    with pytest.raises(WorkerGoneError, match="its node is gone"):
        first.play(ordered())
    processes.answer = True
    assert isinstance(node_of("an arena", 1).play(ordered()), Done)
    assert 2 == len(processes.nodes)


def test_matches_for_an_arena_that_leaves_end_at_once(processes: Process) -> None:
    processes.answer = False
    match = InThread(lambda: node_of("an arena", 1).play(ordered()))
    until(lambda: bool(processes.nodes))
    assert processes.nodes[0].has_heard.wait(SECONDS)
    send_home("an arena")
    processes.nodes[0].wait()
    match.join()
    assert isinstance(match.error, WorkerGoneError)


def test_a_node_without_a_match_is_sent_home_and_one_with_a_match_is_not(
    processes: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "IDLE_SECONDS", 0.01)
    processes.answer = False
    match = InThread(lambda: node_of("an arena", 1).play(ordered()))
    until(lambda: bool(processes.nodes))
    (started,) = processes.nodes
    assert started.has_heard.wait(SECONDS)
    assert not started.over.wait(0.1)
    asked = started.heard[0]
    started.line.sendall(framed(encoded(failed(asked.number, WorkerGoneError("x")))))
    match.join()
    started.wait()
    assert match.answer is not None
    assert "an arena" not in tasks._NODES


class Referee:
    """One referee process of a node, and how many matches it has."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.has = self.most = 0
        self.go_on = trio.Event()

    async def play(self, plan: Plan, players: Sequence[Any], *, transcript: Path) -> AttemptResult:
        self.has += 1
        self.most = max(self.most, self.has)
        await self.go_on.wait()
        self.has -= 1
        return result(plan, players, transcript)


async def test_no_process_of_a_node_has_more_matches_than_slots_while_others_have_free_ones() -> None:
    pool = [Referee(slots) for slots in (1, 4, 2)]
    workers = [Worker(play=each.play, slots=each.slots) for each in pool]
    busy: Counter[int] = Counter()
    for _ in range(2):
        async with trio.open_nursery() as nursery:
            for _ in range(sum(each.slots for each in pool)):
                await trio.testing.wait_all_tasks_blocked()

                async def play() -> None:
                    await node._play(workers, busy, PLAN, ("a", "b"), transcript=Path("m.jsonl"))

                nursery.start_soon(play)
            await trio.testing.wait_all_tasks_blocked()
            assert [each.slots for each in pool] == [each.has for each in pool]
            for each in pool:
                each.go_on.set()
        for each in pool:
            each.go_on = trio.Event()
    assert [each.slots for each in pool] == [each.most for each in pool]
