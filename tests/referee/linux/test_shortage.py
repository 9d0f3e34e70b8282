"""What the machine has run out of: told from all other errors, and said in one line."""

import errno
import os

import pytest

from referee.linux.shortage import (
    NO_THREAD,
    SHORTAGES,
    ButForShortages,
    shortage_in,
    shortage_text,
    shortages_as_os_errors,
)


@pytest.mark.parametrize("number", sorted(SHORTAGES))
def test_each_shortage_is_told_in_one_line_that_names_it(number: int) -> None:
    error = OSError(number, os.strerror(number))
    assert error is shortage_in(error)
    assert f"the machine has run out of something: {os.strerror(number)}" in shortage_text(error)
    assert "\n" not in shortage_text(error)


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ECONNRESET, errno.EPIPE, errno.EACCES, errno.ESRCH])
def test_errors_caused_by_a_bot_or_a_wrong_path_are_no_shortage(number: int) -> None:
    assert shortage_in(OSError(number, os.strerror(number))) is None
    with ButForShortages():
        raise OSError(number, os.strerror(number))


def test_a_shortage_is_never_suppressed() -> None:
    with pytest.raises(OSError, match="Too many open files"), ButForShortages():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    with pytest.raises(ValueError, match="else"), ButForShortages():
        raise ValueError("else")


def test_a_missing_thread_and_missing_memory_are_shortages_although_python_gives_them_no_number() -> None:
    for error, number in ((RuntimeError(NO_THREAD), errno.EAGAIN), (MemoryError(), errno.ENOMEM)):
        with pytest.raises(OSError, match=r"\[Errno") as raised, shortages_as_os_errors():
            raise error
        assert number == raised.value.errno
    with pytest.raises(RuntimeError, match="another"), shortages_as_os_errors():
        raise RuntimeError("another")


def test_the_text_of_a_shortage_names_its_place_and_purpose() -> None:
    error = OSError(errno.ENOSPC, "No space left on device", "/media/x")
    assert "the machine has run out of something: /media/x: No space left on device" == shortage_text(error)
    assert "space is needed in TMPDIR" in shortage_text(OSError(errno.ENOSPC, "No space left on device"))
    assert "ulimit -Hn NUMBER" in shortage_text(OSError(errno.EMFILE, "Too many open files"))
    assert "pids.max" in shortage_text(OSError(errno.EAGAIN, "Resource temporarily unavailable"))
