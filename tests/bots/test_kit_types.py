"""What views and events are decoded into is said once: by a class's parameters or by annotations."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Generic, TypeVar

import pytest

from bots.kit import Bot, FunctionBot, Session, Window, run
from bots.kit.bot import types_of_bot
from protocol.games.fight_for_a_name import FightView
from protocol.games.mist import ChooseFirst, MistEvent, MistView, OpponentPlaced, Turn
from protocol.messages import EventMessage, Over, Rejected
from protocol.refusals import Refusal
from tests.bots.test_kit import OUTCOME, PLACED, VIEW, actions, conversation, opened
from tests.builders.messages import welcome

EventT = TypeVar("EventT")


class Subscripted(Bot[MistView, MistEvent]):
    """Its first player is built from what the match says of it."""

    def decide(self, window: Window[MistView]) -> ChooseFirst | Turn:
        return ChooseFirst(first=self.match.seat) if window.name == "first" else Turn(cells=window.view.forbidden)


class Inheriting(Subscripted):
    pass


class Half(Bot[MistView, EventT]):
    pass


class Filled(Half[MistEvent], Generic[EventT]):
    pass


class Annotated(Bot):  # type: ignore[type-arg]  # as an author without a checker would write it
    def decide(self, window: Window[MistView]) -> None:
        pass

    def event(self, event: MistEvent) -> None:
        pass


def textual(window: "Window[MistView]") -> None:
    """Its annotation is text, as with `from __future__ import annotations`."""


def misspelt(window: "Window[MistVew]") -> None:  # type: ignore[name-defined]  # noqa: F821 - that is the point
    """Names what is not there."""


def bare(window: MistView) -> None:
    """Forgets that it is given a window."""


def types_of(bot: Bot[Any, Any]) -> tuple[Any, Any]:
    return types_of_bot(bot)


@pytest.mark.parametrize("bot", [Subscripted, Inheriting, Filled, Annotated])
def test_a_class_says_its_types_by_its_parameters_or_annotations(bot: Callable[[], Bot[Any, Any]]) -> None:
    assert (MistView, MistEvent) == types_of(bot())


def test_a_function_says_its_view_by_its_annotation_also_as_text_or_when_wrapped() -> None:
    @wraps(textual)
    def wrapped(*given: Any) -> None:
        textual(*given)

    assert [MistView] * 2 == [FunctionBot(each).view_type for each in (textual, wrapped)]


@pytest.mark.parametrize("plain", [lambda window: window, print, Window.left_ms])
def test_without_annotations_values_stay_plain(plain: Callable[..., Any]) -> None:
    assert (Any, Any) == types_of(FunctionBot(plain))


def test_an_explicit_view_type_goes_before_annotations() -> None:
    class Plain(Subscripted):
        view_type = Any

    assert (Any, MistEvent) == types_of(Plain())
    assert Any is FunctionBot(textual, Any).view_type


def test_views_and_events_are_of_those_types() -> None:
    heard: list[Any] = []

    class Listening(Subscripted):
        def event(self, event: MistEvent) -> None:
            heard.append(event)

        def decide(self, window: Window[MistView]) -> ChooseFirst | Turn:
            heard.append(window.view)
            return super().decide(window)

    said = conversation(Listening(), EventMessage(0, PLACED), opened(view=VIEW))
    assert [OpponentPlaced, MistView] == [type(each) for each in heard]
    assert [(0, {"cells": []}, True)] == actions(said)


@pytest.mark.parametrize(
    ("decide", "complaint"),
    [
        (misspelt, r"test_kit_types\.py:\d+: misspelt: its annotation 'Window\[MistVew\]' is not understood: "),
        (bare, r"test_kit_types\.py:\d+: bare: its window is annotated MistView; write Window\[MistView\]"),
    ],
)
def test_a_wrong_annotation_is_refused_before_the_bot_says_hello(
    decide: Callable[[Window[Any]], Any], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_ENDPOINT", "inproc://nobody")
    monkeypatch.setenv("ARENA_TOKEN", "t")
    with pytest.raises(SystemExit, match=complaint):
        run(decide, name="b", version="1")


def test_a_class_that_contradicts_itself_is_refused() -> None:
    class Torn(Bot[FightView, Any]):
        def decide(self, window: Window[MistView]) -> None:  # type: ignore[override]
            pass

    with pytest.raises(SystemExit, match="decide: its window has views of MistView, the class says FightView"):
        types_of(Torn())


def test_a_bot_of_another_game_is_refused_at_welcome() -> None:
    def other(window: Window[FightView]) -> None:
        del window

    refused = "the bot decodes views into FightView, of fight-for-a-name; this match is mist"
    with pytest.raises(SystemExit, match=refused):
        conversation(FunctionBot(other), opened())


class TestErrors:
    def failing(self, window: Window[Any]) -> Any:
        if window.id % 2:
            return {"cells": ["A1"]}
        window.submit({"cells": ["C3"]}) if window.id == 2 else None
        raise KeyError("lost")

    def test_an_error_ends_the_bot_by_default(self) -> None:
        with pytest.raises(KeyError):
            conversation(FunctionBot(self.failing), opened())

    def test_with_default_the_error_is_told_with_its_window_and_the_match_goes_on(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bot = FunctionBot(self.failing)
        bot.on_error = "default"
        said = actions(conversation(bot, opened(0), opened(1), opened(2)))
        assert [
            (0, None, True),
            (1, {"cells": ["A1"]}, True),
            (2, {"cells": ["C3"]}, False),
            (2, {"cells": ["C3"]}, True),
        ] == said
        told = capsys.readouterr().err
        assert "decide of window 0 'turn' raised; the match goes on\nTraceback" in told
        assert "KeyError: 'lost'\n" in told
        assert '"default":{"cells":["E5"]}' in told

    def test_errors_of_other_methods_are_reported_too(self, capsys: pytest.CaptureFixture[str]) -> None:
        class Deaf(Bot[Any, Any]):
            on_error = "default"

            def welcome(self) -> None:
                raise ValueError("no")

            def decide(self, window: Window[Any]) -> Any:
                return window.default

            def rejected(self, rejected: Rejected) -> Any:
                raise ValueError(rejected.text)

        illegal = Rejected(0, Refusal.ILLEGAL, "not so")
        said = actions(conversation(Deaf(), opened(0), illegal))
        assert [(0, {"cells": ["E5"]}, True), (0, None, True)] == said
        told = capsys.readouterr().err
        assert "welcome raised; the match goes on\nTraceback" in told
        assert "ValueError: not so" in told

    def test_at_the_end_the_last_line_says_how_often_it_raised_and_what(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        class Forgetful(FunctionBot):
            on_error = "default"

            def over(self, outcome: object) -> None:
                raise ValueError("too\nlate")

        end = Over(OUTCOME)
        conversation(Forgetful(self.failing), opened(0), end)
        last = capsys.readouterr().err.splitlines()[-1]
        assert r"kit: the bot raised 2 times, most recently ValueError: too\nlate" == last
        once = FunctionBot(self.failing)
        once.on_error = "default"
        conversation(once, opened(0), end)
        assert "kit: the bot raised once KeyError: 'lost'" == capsys.readouterr().err.splitlines()[-1]

    def test_reports_of_errors_are_bounded(self, capsys: pytest.CaptureFixture[str]) -> None:
        def failing(window: Window[Any]) -> None:
            raise ValueError("x" * 100_000)

        bot = FunctionBot(failing)
        bot.on_error = "default"
        said: list[Any] = []
        session = Session(bot, said.append)
        session.hear(welcome())
        for number in range(100):
            session.hear(opened(number, view={"much": "y" * 100_000}))
        assert 20 * 13_000 + 80 * 300 > len(capsys.readouterr().err) > 20 * 12_000

    def test_run_may_say_it_for_a_function(self, monkeypatch: pytest.MonkeyPatch) -> None:
        played: list[Any] = []
        monkeypatch.setenv("ARENA_ENDPOINT", "inproc://nobody")
        monkeypatch.setenv("ARENA_TOKEN", "t")
        monkeypatch.setattr("bots.kit.program.play", lambda bot, *_: played.append(bot.on_error))
        run(self.failing, on_error="default", name="b", version="1")
        run(self.failing, name="b", version="1")
        assert ["default", "crash"] == played
