"""What all tests share: slow ones first, short names for long values, and signals as a terminal would have them.

Tests that are started with `&` or `nohup` ignore some signals. All that they start inherits that, and the arena
heeds it.
"""

import signal
from collections.abc import Generator, Iterator, Sequence
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

from arena.workers import machine
from referee.sandbox import SandboxError, find_isolation, missing
from tests.long import cases, in_part

LONGEST_ID = 60
REAL_TIME = {"cluster", "live", "pages", "real_wire", "viewer", "web", "test_docs_examples.py", "test_wheel.py"}
"""Where processes, sockets and browsers are waited for, all of which the machine may keep from its cores."""
TIMED_OUT = "from pytest-timeout"

# Nothing of the arena's own files changes while tests run: a tournament's terms need not hash them again.
for name in ("content_hash", "file_hashes"):
    setattr(machine, name, cache(getattr(machine, name)))

# How long a case takes says what else the machine does.
settings.register_profile(
    "cases", max_examples=cases(25, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("cases")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a long value by its length: what is drawn at each start has the same name in all workers."""
    if isinstance(val, str | bytes) and len(val) > LONGEST_ID:
        return f"{argname} of {len(val)}"
    return None


@pytest.fixture(scope="session")
def sandboxed() -> None:
    """Skip where this machine has no sandbox, with its reason."""
    try:
        find_isolation()
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def all_walls(sandboxed: None) -> None:
    """Skip where this machine lacks a wall of `strict`, with its reason."""
    if missing():
        pytest.skip("; ".join(missing()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Skip a test to which the arena refused `strict`, where this machine cannot give it; the summary says why."""
    report = yield
    if report.failed and call.excinfo is not None and missing():
        for error in _all_errors(call.excinfo.value):
            if isinstance(error, SandboxError) and str(error).startswith("no strict sandbox: "):
                report.outcome = "skipped"
                report.longrepr = (str(item.path), (item.location[1] or 0) + 1, f"Skipped: {error}")
    return report


def _all_errors(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, those that it groups, and those that led to it: each once, for they may be the same."""
    left: list[BaseException | None] = [error]
    seen: set[int] = set()
    while left:
        each = left.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        left += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            left += each.exceptions


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests of other parts, and begin with the others that are slow.

    Else some worker is still at one of them when the others have nothing left.

    Those in real time stay where they are: all of the slow ones at once are more than the machine has room for.
    One of them that fails gets two more tries, which the summary names.

    All quick ones of another module are run by one worker: what they share is made once, and pytest-xdist has less
    to hand out.
    """
    left_out = [item for item in items if _is_slow(item) and not in_part(item.nodeid)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not _is_slow(item) or in_part(item.nodeid)]
    items.sort(key=lambda item: item.get_closest_marker("slow") is None or "real_wire" in item.path.parts)
    for item in items:
        module = item.nodeid.partition("::")[0]
        in_real_time = not REAL_TIME.isdisjoint(module.split("/"))
        if in_real_time:
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=5, rerun_except=TIMED_OUT))
        alone = in_real_time or _is_slow(item)
        if item.get_closest_marker("xdist_group") is None and (not alone or _shares_a_fixture(item, module)):
            item.add_marker(pytest.mark.xdist_group("/".join(item.path.with_suffix("").parts[-2:])))


def _shares_a_fixture(item: pytest.Item, module: str) -> bool:
    """Return whether a test uses a fixture that its module makes once: each worker would make it again."""
    made: dict[str, Sequence[pytest.FixtureDef[object]]] = {}
    if isinstance(item, pytest.Function):
        made = dict(item._fixtureinfo.name2fixturedefs)
    return any(each.baseid == module and each.scope != "function" for defs in made.values() for each in defs)


def _is_slow(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("slow", "alone"))


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
