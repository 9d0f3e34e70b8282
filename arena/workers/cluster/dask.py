"""The only file that speaks to Dask: connects to a cluster's scheduler, and has functions run by its workers.

Dask's client lives in threads of its own; here it is waited for from trio.
"""

import logging
import re
import secrets
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import trio

from arena.errors import MachineCannot, WrongUse
from arena.workers.api import WorkerGoneError
from arena.workers.cluster.store import INSTALL

if TYPE_CHECKING:
    from distributed import Client

SLOTS = "matches"
"""The resource of a Dask worker that a match takes one of."""
SCHEMES = {"dask": "tcp", "dask+tls": "tls"}
CONNECT_SECONDS = 10
CUT_SECONDS, CUT_LOOK_SECONDS = 2, 0.05
"""How long after an error of some line it may show that the scheduler's is cut, and how often to look."""
FAMILIES = ["dask", "msgpack"]
"""The serializers of Dask that are used: bytes and plain data. Pickled results are refused."""
_PORT = re.compile("[0-9]{1,5}")
Heard = Callable[[dict[str, Any]], None]


class SchedulerGoneError(Exception):
    """The line to the scheduler is cut: what workers were asked through it is lost."""


def address_of(on: str) -> str:
    """Dask's own address of `dask://HOST:PORT`, or of `dask+tls://HOST:PORT`.

    Raises:
        WrongUse: it has no such form.
    """
    scheme, _, place = on.partition("://")
    host, _, port = place.rpartition(":")
    if scheme not in SCHEMES or not host or not _PORT.fullmatch(port):
        raise WrongUse(f"--on {on}: neither local nor dask://HOST:PORT (with TLS dask+tls://HOST:PORT)")
    return f"{SCHEMES[scheme]}://{place}"


def dask_for(on: str) -> Any:
    """Dask, if it is installed here.

    Raises:
        WrongUse: it is not.
    """
    try:
        import distributed  # noqa: PLC0415 - only who asks for a cluster needs it
    except ImportError:
        raise WrongUse(f"--on {on} needs Dask, here and on each worker's machine: {INSTALL}") from None
    # What its client complains of ends here as an error of ours, on one line.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    return distributed


async def connected(on: str) -> "DaskClient":
    """A client of the scheduler there. Close it.

    Raises:
        WrongUse: the address is none, or Dask is not installed here.
        MachineCannot: nobody answers there.
    """
    connect = partial(
        dask_for(on).Client,
        address_of(on),
        timeout=CONNECT_SECONDS,
        set_as_default=False,
        serializers=FAMILIES,
        deserializers=FAMILIES,
    )
    try:
        return DaskClient(await trio.to_thread.run_sync(connect, abandon_on_cancel=True))
    except (OSError, TimeoutError) as error:
        raise MachineCannot(f"--on {on}: no Dask scheduler answers there: {error}") from None


class DaskClient:
    """A line to a scheduler. Once it is cut it is of no use any more."""

    def __init__(self, client: "Client") -> None:
        self._client: Any = client
        self._line = self._client.scheduler_comm

    @property
    def is_cut(self) -> bool:
        """Whether the scheduler is gone. Dask may have found it again: it has forgotten this arena then."""
        return self._client.scheduler_comm is not self._line or bool(self._line.closed())

    def hear(self, heard: Heard) -> None:
        """Has `heard` called, in trio's thread, with each event that the scheduler tells of."""
        token = trio.lowlevel.current_trio_token()

        def pass_on(event: tuple[float, dict[str, Any]]) -> None:
            with suppress(trio.RunFinishedError):
                token.run_sync_soon(heard, event[1])

        self._client.subscribe_topic("all", pass_on)

    async def workers(self) -> dict[str, dict[str, Any]]:
        """The workers by address, with what the scheduler knows of each.

        Raises:
            SchedulerGoneError: it is gone.
        """
        info = await self._told(self._client.scheduler_info)
        found: dict[str, dict[str, Any]] = info["workers"]
        return found

    async def look_for(self, module: str, address: str | None = None) -> str | None:
        """Has a worker, or the scheduler, import a module: what is wrong if it cannot.

        To be done before anything of the module is submitted: Dask does not survive a task that it cannot read.

        Raises:
            SchedulerGoneError: the scheduler is gone.
        """
        text = f"import {module}"
        if address is None:
            ask = partial(self._client.run_on_scheduler, exec, text)
        else:
            ask = partial(self._client.run, exec, text, workers=[address])
        try:
            await self._told(ask)
        except ImportError as error:
            return f"has no arena ({error}); there: {INSTALL}"
        except (OSError, TimeoutError) as error:
            return f"does not answer ({error})"
        return None

    def submit(self, address: str, function: Callable[..., bytes], *arguments: Any, slots: int) -> "Task":
        """Has one worker run a function, and no other if it is lost; with so many of its slots.

        Raises:
            SchedulerGoneError: the scheduler is gone.
        """
        try:
            future = self._client.submit(
                function,
                *arguments,
                key=f"arena-{secrets.token_hex(8)}",
                workers=[address],
                allow_other_workers=False,
                resources={SLOTS: slots} if slots else None,
                pure=False,
            )
        except Exception as error:  # noqa: BLE001 - of any kind, see `_reason`
            raise self._reason(error) from None
        return Task(future, self._cause)

    def dismiss(self, farewell: Callable[[str], None], argument: str) -> None:
        """Has every worker call `farewell`, beside its tasks. Waits.

        It never hides why that came: without a scheduler Dask's client fails in any way it likes.
        """
        with suppress(Exception):
            self._client.run(farewell, argument, on_error="ignore")

    def close(self) -> None:
        """Hangs up. Waits."""
        with suppress(Exception):
            self._client.close(timeout=CONNECT_SECONDS)

    def drop(self) -> None:
        """Hangs up where nobody may be at the other end. Does not wait."""
        threading.Thread(target=self.close, daemon=True).start()

    async def _told(self, ask: Callable[[], Any]) -> Any:
        """What the scheduler says, or a worker through it.

        Raises:
            SchedulerGoneError: the scheduler is gone.
            Exception: what Dask says is wrong.
        """
        try:
            return await trio.to_thread.run_sync(ask, abandon_on_cancel=True)
        except Exception as error:  # noqa: BLE001 - of any kind, see `_reason`
            raise await self._cause(error) from None

    async def _cause(self, error: Exception) -> Exception:
        """As `_reason`, of what was asked: an error of a line may come before it shows whose line is cut."""
        if _is_of_a_line(error):
            with trio.move_on_after(CUT_SECONDS):
                while not self.is_cut:  # noqa: ASYNC110 - it is told in a thread of Dask's
                    await trio.sleep(CUT_LOOK_SECONDS)
        return self._reason(error)

    def _reason(self, error: Exception) -> Exception:
        """Why something failed: without a scheduler Dask's client raises errors of many kinds."""
        return SchedulerGoneError("the scheduler is gone") if self.is_cut else error


def _is_of_a_line(error: Exception) -> bool:
    """Whether a line was cut, or nobody answered; Dask's own errors of that kind have no number."""
    return isinstance(error, ConnectionError | TimeoutError) or (
        isinstance(error, OSError) and error.errno is None
    )


class Task:
    """Something that a worker was asked to do."""

    def __init__(self, future: Any, cause: Callable[[Exception], Awaitable[Exception]]) -> None:
        self._future = future
        self._cause = cause
        self._over = trio.Event()
        self._waiting = trio.CancelScope()
        token = trio.lowlevel.current_trio_token()

        def over(_: Any) -> None:
            with suppress(trio.RunFinishedError):
                token.run_sync_soon(self._over.set)

        self._future.add_done_callback(over)

    def lose(self) -> None:
        """The worker is gone."""
        self._waiting.cancel()

    async def outcome(self) -> bytes:
        """What it gave; nothing of it is kept by Dask afterwards.

        Raises:
            WorkerGoneError: the worker is gone.
            SchedulerGoneError: the scheduler is.
            Exception: what Dask says was wrong; no function of ours raises.
        """
        try:
            with self._waiting:
                await self._over.wait()
                if self._future.status == "cancelled":
                    raise SchedulerGoneError("the scheduler is gone")
                try:
                    # A worker that is lost now takes the result with it, and Dask would wait for ever.
                    given: bytes = await trio.to_thread.run_sync(self._future.result, abandon_on_cancel=True)
                except Exception as error:  # noqa: BLE001 - of any kind, see `_reason`
                    cause = await self._cause(error)
                    if _is_of_a_line(cause):  # Its machine may have been lost while it gave what it had.
                        raise WorkerGoneError(f"the line to it is cut: {cause}") from None
                    raise cause from None
                return given
        finally:
            self._future.cancel()
        raise WorkerGoneError("Dask has lost it")
