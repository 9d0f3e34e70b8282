"""Without pondering a bot runs while it owes something, and at no other time. In virtual time."""

from collections.abc import Sequence

import trio

from protocol.codec import decode_server_message
from protocol.messages import Opened, Over
from referee.wire.line import Outgoing
from tests.referee.virtual import Bot, Play, Played, answering, play, set_up, silent

OPTIONS = {"first": 0, "max_turns": 4}


def thinks(seconds: float, *, final: bool = True) -> Play:
    """Return a bot that submits the default after these seconds."""

    async def script(bot: Bot, window: Opened) -> None:
        await trio.sleep(seconds)
        bot.submit(window.id, window.default, final=final)

    return answering(script)


class Observed:
    """Which bots may run, and when they might not although something was sent that they owe an answer to."""

    def __init__(self) -> None:
        self.running = [True, True]
        self.changes: list[tuple[float, int, bool]] = []
        self.sent_while_stopped: list[str] = []

    def let_run(self, seat: int, runs: bool) -> None:
        assert self.running[seat] is not runs, "asked for what was so already"
        self.running[seat] = runs
        change = (trio.current_time(), seat, runs)
        # Who says hello first rests until the other has, and for no time at all where that is the same moment.
        taken_back = (*change[:2], not runs)
        if taken_back in self.changes:
            self.changes.remove(taken_back)
        else:
            self.changes.append(change)

    def look_at(self, played: Played) -> None:
        """Note the frames handed to lines of frozen bots."""
        for seat, bot in enumerate(played.bots):
            send = bot.line.send_burst

            def sends(frames: Sequence[Outgoing], seat: int = seat, send: object = send) -> None:
                if not self.running[seat]:
                    self.sent_while_stopped += [type(decode_server_message(frame)).__name__ for frame, _ in frames]
                send(frames)  # type: ignore[operator]

            bot.line.send_burst = sends  # type: ignore[method-assign]


def observed() -> tuple[Observed, Played]:
    """A match of two bots at Mist, looked at."""
    seen = Observed()
    match = set_up(2, options=OPTIONS, let_run=seen.let_run)
    seen.look_at(match)
    return seen, match


async def test_each_runs_in_its_own_windows_alone(autojump_clock: object) -> None:
    seen, match = observed()
    began = trio.current_time()
    await play(match, [thinks(2), thinks(3)])
    told = [(round(at - began, 3), seat, runs) for at, seat, runs in seen.changes]
    first = [(0.0, 1, False)]
    turns = [(2.0, 1, True), (2.0, 0, False), (5.0, 0, True), (5.0, 1, False)]
    again = [(7.0, 1, True), (7.0, 0, False)]
    the_end = [(10.0, 0, True)]
    assert first + turns + again + the_end == told
    assert [True, True] == seen.running


async def test_no_bot_receives_a_window_or_the_end_while_frozen(autojump_clock: object) -> None:
    seen, match = observed()
    await play(match, [thinks(2), thinks(3)])
    assert not {Opened.__name__, Over.__name__} & set(seen.sent_while_stopped)
    assert 7 == len(seen.changes) - 1


async def test_a_bot_that_may_still_replace_its_submission_keeps_running(autojump_clock: object) -> None:
    seen, match = observed()
    began = trio.current_time()

    await play(match, [thinks(1, final=False), thinks(1)])
    rests = [round(at - began) for at, seat, runs in seen.changes if seat == 0 and not runs and at > began]
    # Its window closes when main time is up: a minute.
    assert 60 == rests[0]


async def test_in_a_pause_all_rest(autojump_clock: object) -> None:
    seen, match = observed()
    resting: list[bool] = []

    async def operator() -> None:
        await trio.sleep(10)
        match.host.order(pause=True)
        await trio.sleep(100)
        resting.extend(not runs for runs in seen.running)
        match.host.order(pause=False)

    await play(match, [thinks(500), silent], operator)
    assert [True, True] == resting
