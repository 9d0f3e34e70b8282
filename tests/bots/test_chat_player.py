"""A language model's seat: whole matches by a scripted model, repair turns, costs, notes, and no key anywhere."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from msgspec import Raw

from bots.kit import OnError, Session, Window
from bots.language_model.endpoint import Answer, Failure
from bots.language_model.player import ChatSeat
from bots.language_model.prompts import Context, read_answer
from bots.language_model.settings import Settings
from protocol.codec import decode_json, encode
from protocol.messages import ClientMessage, EventMessage, Note, Opened, Rejected, Submit
from protocol.refusals import Refusal
from protocol.text import ParseError, say
from referee.games import GAMES
from tests.bots.chat_server import ChatServer, Request, completion
from tests.bots.in_process import BOTS, Maker, play
from tests.builders.messages import closed, opened, welcome
from tests.games import WITH_TEXT, with_variants

KEY = "sk-Secret0123456789abcdef"
TOLD = {
    "CHAT_URL": "http://127.0.0.1:9/v1",
    "CHAT_MODEL": "scripted",
    "CHAT_KEY_VARIABLE": "THE_KEY",
    "THE_KEY": KEY,
    "CHAT_PRICE_IN": "2",
    "CHAT_PRICE_OUT": "8",
}


VIEW = {
    "seat": 0, "turn": 1, "mover": 0, "pieces": [1, 2], "forbidden": ["D4"], "may_swap": False, "first_move": None,
    "swapped": False, "visible": {}, "spotted": [], "destroyed": [], "placed": [], "lost": [],
}  # fmt: skip


class Model:
    """What a model answers, one after the other; and what it was asked."""

    def __init__(self, *answers: str | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[list[dict[str, str]]] = []

    def __call__(
        self, settings: Settings, messages: list[dict[str, str]], until: float, rng: Random
    ) -> tuple[Answer, int]:
        self.asked.append(list(messages))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Answer(answer, False, 1_000, 100, False), 1


class Seat:
    """A session of one window with a model."""

    def __init__(self, model: Model, **more: str) -> None:
        self.said: list[ClientMessage] = []
        told = TOLD | {f"CHAT_{name.upper()}": value for name, value in more.items()}
        self._session = Session(ChatSeat(Settings.read(told), model), self.said.append)
        self._session.hear(welcome())
        self._windows = 0

    def open(self) -> Any:
        """Open one more window; return the action that is submitted to it, as JSON values."""
        window = opened(self._windows, view=VIEW, default={"cells": ["E5"]})
        self._windows += 1
        self._session.hear(window)
        return self._last()

    def reject(self, text: str) -> Any:
        """Refuse the action; return the one that is submitted then."""
        self._session.hear(Rejected(self._windows - 1, Refusal.ILLEGAL, text))
        return self._last()

    def close(self) -> None:
        self._session.hear(closed(self._windows - 1, taken={"cells": ["C3"]}))

    def _last(self) -> Any:
        (*_, last) = (each for each in self.said if isinstance(each, Submit))
        return decode_json(last.action)

    @property
    def notes(self) -> list[dict[str, Any]]:
        return [json.loads(each.text)["chat"] for each in self.said if isinstance(each, Note)]


def test_an_unreadable_answer_is_reported_to_the_model_which_answers_again() -> None:
    model = Model("I place a piece\non C3.", "ACTION: J9", "Now then.\n**Action: `c3 f7`**\n")
    seat = Seat(model)
    assert {"cells": ["C3", "F7"]} == seat.open()
    first, second, third = model.asked
    assert ["system", "user"] == [each["role"] for each in first]
    assert "You place 1 to 3 pieces" in first[0]["content"]
    assert "  ACTION: C7 D1                           2 pieces" in first[1]["content"]
    asked = "1 to 2 cells that do not touch, not D4. If you submit nothing, you place one piece on E5, which is "
    assert asked in first[1]["content"]
    assert "no line begins with ACTION:" in second[-1]["content"]
    assert "J9 is no cell: rows are A to I, from A1 to A5 and E1 to E9" in third[-1]["content"]
    (note,) = seat.notes
    assert (3, 3_000, 300, 0.0084) == tuple(note[key] for key in ("asked", "tokens_in", "tokens_out", "cost"))
    assert ("scripted", "127.0.0.1") == (note["model"], note["host"])


def test_a_refused_action_is_answered_again_and_what_happened_is_remembered() -> None:
    model = Model("ACTION: D4", "ACTION: C3", "ACTION: /done")
    seat = Seat(model)
    assert {"cells": ["D4"]} == seat.open()
    assert {"cells": ["C3"]} == seat.reject("cells: D4 is forbidden")
    assert "That was not accepted: cells: D4 is forbidden" in model.asked[1][-1]["content"]
    seat.close()
    assert {"cells": ["E5"]} == seat.open()
    assert "window turn, you: C3\n" in model.asked[2][1]["content"]
    assert [0, 0, 1] == [note["window"] for note in seat.notes]
    assert 3 == seat.notes[-1]["match"]["asked"]


def test_the_fallback_is_the_default_and_its_reason_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    failed = Failure("answers 500")
    failed.tries = 4
    seat = Seat(
        Model(failed, "what?\nno", "no\nno", RuntimeError(KEY), f'ACTION: {{"cells": ["{KEY}"]}}'), repairs="1"
    )
    assert [{"cells": ["E5"]}] * 4 == [seat.open() for _ in range(4)]
    assert [
        "answers 500",
        "gives no action that can be read: no line begins with ACTION:",
        "cannot be asked (RuntimeError)",
        "answers with the key",
    ] == [note["failed"] for note in seat.notes]
    assert [4, 2, 1, 1] == [note["asked"] for note in seat.notes]
    assert 4 == seat.notes[-1]["match"]["failed"]
    hidden = encode(seat.said).decode() + capsys.readouterr().err
    assert KEY[:10] not in hidden


def test_a_model_that_has_spent_its_money_is_asked_no_more() -> None:
    model = Model(*["ACTION: C3"] * 3)
    seat = Seat(model, most_cost="0.0056")
    assert [{"cells": ["C3"]}, {"cells": ["C3"]}, {"cells": ["E5"]}] == [seat.open() for _ in range(3)]
    assert "is asked no more: CHAT_MOST_COST is spent" == seat.notes[-1]["failed"]


def test_the_history_is_bounded_and_the_newest_stays_whole() -> None:
    context = Context(welcome(), 2_000)
    for number in range(3_000):
        context.event({"type": "placed", "cells": ["C3"] * 20, "destroyed": [], "visible": {}})
        context.closed("turn", {"cells": [f"A{number % 5 + 1}"] * 30}, by_default=number % 2 == 0)
    history = context.history()
    assert len(history) <= 2_000
    assert history.endswith(f"window turn, you: {' '.join(['A5'] * 30)}")
    assert history.startswith("(29")
    assert " ...\n" in history


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("", "no line begins"),
        ("a\nb", "no line begins"),
        ("ACTION:", "no action"),
        ("ACTION: " + "9" * 5_000, "no action"),
        ("ACTION: " + '{"a":' * 700, "this is not JSON"),
        ('ACTION: {"cells": 1}', "this is not an action of the window turn"),
    ],
)
def test_an_answer_without_an_action_is_refused(answer: str, says: str) -> None:
    with pytest.raises(ParseError, match=says):
        read_answer("mist", "turn", answer)


class Dictated(ChatSeat):
    """A model that a sample bot dictates to: the server says what that would do, in words."""

    on_error: OnError = "crash"

    def __init__(self, settings: Settings, server: ChatServer, maker: Maker) -> None:
        super().__init__(settings)
        self._server = server
        self._thought: list[ClientMessage] = []
        self._inner = Session(maker(), self._thought.append)
        self.dictated = 0

    def welcome(self) -> None:
        super().welcome()
        self._inner.hear(self.match)

    def event(self, event: Any) -> None:
        super().event(event)
        self._inner.hear(EventMessage(0, event))

    def decide(self, window: Window[Any]) -> Any:
        self._inner.hear(Opened(window.id, window.name, window.view, window.default, window.main_ms, 0))
        submit = self._thought[-1]
        assert isinstance(submit, Submit)
        action = decode_json(submit.action)
        typed = "/done" if action is None else say(self.match.game, action)
        self.dictated += 1

        def script(request: Request) -> Iterator[bytes]:
            assert f"window {window.name} is open" in request.asked
            yield completion(f"I think.\nACTION: {typed}")

        self._server.script = script
        answered = super().decide(window)
        assert action is None or typed == say(self.match.game, answered)
        return answered


WHOLE = with_variants(WITH_TEXT)


@pytest.mark.parametrize(("game", "variant"), WHOLE)
def test_a_scripted_model_plays_a_whole_match(game: str, variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Views and events go out as text, actions come back as text, over HTTP."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    table = GAMES[game]
    seats = table.seats(table.read_options(variant, Raw(b"{}")))
    maker = BOTS[game]["random"]
    with ChatServer(lambda _: []) as server:
        seat = Dictated(Settings.read(TOLD | {"CHAT_URL": server.url}), server, maker)
        played = play((lambda: seat, *[maker] * (seats - 1)), game=game, variant=variant, seed=3)
        assert seat.dictated == played.windows[0] == len(server.requests)
    longest = max(len(encode(request.body)) for request in server.requests)
    assert longest < 60_000
