"""Processes that share work end with whoever gave it to them."""

import time
from contextlib import suppress

import pytest

from arena.processes import process_pool


def test_an_exception_ends_what_the_processes_are_at() -> None:
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), process_pool(1) as pool:
        assert 2 == pool.submit(abs, -2).result()
        asleep = pool.submit(time.sleep, 600)
        raise KeyboardInterrupt
    with suppress(Exception):
        asleep.result(timeout=60)
    assert asleep.done()
    assert time.monotonic() - began < 300


def test_calls_that_have_not_begun_are_cancelled() -> None:
    with process_pool(1) as pool:
        assert 2 == pool.submit(abs, -2).result()
        pool.submit(time.sleep, 0.2)
        futures = [pool.submit(time.sleep, 0) for _ in range(50)]
    assert any(future.cancelled() for future in futures)
