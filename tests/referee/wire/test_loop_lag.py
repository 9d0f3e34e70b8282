"""When the loop was behind: only a stretch that reaches into the time in question holds anything up in it."""

from trio.testing import MockClock

from referee.wire.socket_line import WORTH_KEEPING, LoopProbe


def look(probe: LoopProbe) -> float:
    """Let the loop look for I/O, which finds nothing to wait for. Return when that was."""
    probe.before_io_wait(0)
    probe.after_io_wait(0)
    return probe.looked


async def test_a_stretch_that_was_over_before_a_window_holds_nothing_up_in_it(mock_clock: MockClock) -> None:
    probe = LoopProbe()
    mock_clock.jump(0.5)
    opened = look(probe) + 0.001
    mock_clock.jump(0.01)
    look(probe)
    mock_clock.jump(0.001)
    assert 0.01 == round(probe.behind(opened), 6)
    mock_clock.jump(0.001)
    assert 0.0 == probe.behind(look(probe) + 0.0005)
    probe.close()


async def test_the_longest_of_those_that_reach_into_it_counts_whole(mock_clock: MockClock) -> None:
    probe = LoopProbe()
    opened = probe.looked + 0.2
    for seconds in (0.3, 0.1, 0.2):
        mock_clock.jump(seconds)
        look(probe)
    assert 0.3 == round(probe.behind(opened), 6)
    assert 0.2 == round(probe.behind(opened + 0.15), 6)
    probe.close()


async def test_the_stretch_that_still_lasts_counts_too(mock_clock: MockClock) -> None:
    probe = LoopProbe()
    mock_clock.jump(0.4)
    assert 0.4 == round(probe.behind(probe.now()), 6)
    look(probe)
    mock_clock.jump(WORTH_KEEPING / 2)
    assert 0.0 == probe.behind(probe.now())
    probe.close()
