"""The only module that uses Dask: connect to a cluster's scheduler, and run functions on its workers.

Dask's client runs in its own threads; this module makes its calls awaitable in trio.
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
from arena.workers.cluster.transfer import INSTALL

if TYPE_CHECKING:
    from distributed import Client

SLOTS = "matches"
"""Name of the Dask resource; each match uses one unit of it."""
SCHEMES = {"dask": "tcp", "dask+tls": "tls"}
CONNECT_SECONDS = 10
CUT_SECONDS, CUT_LOOK_SECONDS = 2, 0.05
"""Seconds after a connection error in which Dask may notice a lost scheduler, and seconds between checks."""
FAMILIES = ["dask", "msgpack"]
"""Allowed serializers of Dask, for bytes and plain data. Pickled results are refused."""
_PORT = re.compile("[0-9]{1,5}")
Heard = Callable[[dict[str, Any]], None]


class SchedulerGoneError(Exception):
    """The connection to the scheduler is lost, and all tasks submitted through it with it."""


def address_of(on: str) -> str:
    """Return Dask's own address for `dask://HOST:PORT` or `dask+tls://HOST:PORT`.

    Raises:
        WrongUse: the text has neither form.
    """
    scheme, _, place = on.partition("://")
    host, _, port = place.rpartition(":")
    if scheme not in SCHEMES or not host or not _PORT.fullmatch(port):
        raise WrongUse(f"--on {on}: neither local nor dask://HOST:PORT (with TLS dask+tls://HOST:PORT)")
    return f"{SCHEMES[scheme]}://{place}"


def dask_for(on: str) -> Any:
    """Import `distributed`, Dask's package, and return it.

    Raises:
        WrongUse: Dask is not installed on this machine.
    """
    try:
        import distributed  # noqa: PLC0415 - only clusters need it
    except ImportError:
        raise WrongUse(f"--on {on} needs Dask, here and on each worker's machine: {INSTALL}") from None
    # Errors of Dask's client are reported by the arena instead, on one line each.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    return distributed


async def connected(on: str) -> "DaskClient":
    """Connect to a scheduler and return the client, which the caller must close.

    Raises:
        WrongUse: the address is invalid, or Dask is not installed on this machine.
        MachineCannot: no scheduler answers at the address.
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
    """A connection to a scheduler, which cannot be used again once it is lost."""

    def __init__(self, client: "Client") -> None:
        self._client: Any = client
        self._line = self._client.scheduler_comm

    @property
    def is_cut(self) -> bool:
        """True if the connection was lost.

        True also if Dask has reconnected, because the scheduler has then forgotten this arena.
        """
        return self._client.scheduler_comm is not self._line or bool(self._line.closed())

    def hear(self, heard: Heard) -> None:
        """Call `heard` in trio's thread for each event of the scheduler."""
        token = trio.lowlevel.current_trio_token()

        def pass_on(event: tuple[float, dict[str, Any]]) -> None:
            with suppress(trio.RunFinishedError):
                token.run_sync_soon(heard, event[1])

        self._client.subscribe_topic("all", pass_on)

    async def workers(self) -> dict[str, dict[str, Any]]:
        """Return the scheduler's data about each worker, by the worker's address.

        Raises:
            SchedulerGoneError: the connection to the scheduler is lost.
        """
        info = await self._told(self._client.scheduler_info)
        found: dict[str, dict[str, Any]] = info["workers"]
        return found

    async def look_for(self, module: str, address: str | None = None) -> str | None:
        """Import a module on a worker, or on the scheduler if `address` is None; return the problem, or None.

        Call this before a function of the module is submitted, because Dask fails on a task that it cannot load.

        Raises:
            SchedulerGoneError: the connection to the scheduler is lost.
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
        """Submit a function to one worker only, which uses `slots` of its slots for it.

        Raises:
            SchedulerGoneError: the connection to the scheduler is lost.
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
        """Call `farewell` on every worker, concurrently with its tasks, and block until all have returned.

        Errors are suppressed so that they do not hide the reason for the call: without a scheduler, Dask's client
        raises errors of many kinds.
        """
        with suppress(Exception):
            self._client.run(farewell, argument, on_error="ignore")

    def close(self) -> None:
        """Close the connection, and block until it is closed."""
        with suppress(Exception):
            self._client.close(timeout=CONNECT_SECONDS)

    def drop(self) -> None:
        """Close a connection in the background, because the scheduler may not answer."""
        threading.Thread(target=self.close, daemon=True).start()

    async def _told(self, ask: Callable[[], Any]) -> Any:
        """Run a blocking call of Dask's client in a thread, and return its result.

        Raises:
            SchedulerGoneError: the connection to the scheduler is lost.
            Exception: any other error from Dask.
        """
        try:
            return await trio.to_thread.run_sync(ask, abandon_on_cancel=True)
        except Exception as error:  # noqa: BLE001 - of any kind, see `_reason`
            raise await self._cause(error) from None

    async def _cause(self, error: Exception) -> Exception:
        """Return `_reason` of a call's error, after waiting for `is_cut` if it is a connection error.

        Dask may raise the error before it notices that the scheduler's connection is the lost one.
        """
        if _is_of_a_line(error):
            with trio.move_on_after(CUT_SECONDS):
                while not self.is_cut:  # noqa: ASYNC110 - a thread of Dask's sets it
                    await trio.sleep(CUT_LOOK_SECONDS)
        return self._reason(error)

    def _reason(self, error: Exception) -> Exception:
        """Return `SchedulerGoneError` if the connection is lost, or else the error itself.

        Without a scheduler, Dask's client raises errors of many kinds.
        """
        return SchedulerGoneError("the scheduler is gone") if self.is_cut else error


def _is_of_a_line(error: Exception) -> bool:
    """Return whether an error means a lost or unanswered connection; Dask's own such errors have no errno."""
    return isinstance(error, ConnectionError | TimeoutError) or (
        isinstance(error, OSError) and error.errno is None
    )


class Task:
    """A function call that was submitted to a worker."""

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
        """End `outcome` with `WorkerGoneError`, because the worker is lost."""
        self._waiting.cancel()

    async def outcome(self) -> bytes:
        """Wait for the function's result and return it; Dask then releases the result.

        Raises:
            WorkerGoneError: the worker is lost.
            SchedulerGoneError: the connection to the scheduler is lost.
            Exception: any other error from Dask; the submitted functions raise none.
        """
        try:
            with self._waiting:
                await self._over.wait()
                if self._future.status == "cancelled":
                    raise SchedulerGoneError("the scheduler is gone")
                try:
                    # If the worker is lost now, its result is lost too, and Dask would wait for ever.
                    given: bytes = await trio.to_thread.run_sync(self._future.result, abandon_on_cancel=True)
                except Exception as error:  # noqa: BLE001 - of any kind, see `_reason`
                    cause = await self._cause(error)
                    if _is_of_a_line(cause):  # The worker's machine may have failed while it sent the result.
                        raise WorkerGoneError(f"the line to it is cut: {cause}") from None
                    raise cause from None
                return given
        finally:
            self._future.cancel()
        raise WorkerGoneError("Dask has lost it")
