"""The parts of a game beside its rules: sound ones pass, and each fault in one is named with its place."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from protocol.games.pointing import Point, PointingView
from protocol.text import COMMENTARIES, GAME_TEXTS, Commentary, GameText, Remark
from protocol.words import Action
from referee.encoding import VectorEncoder
from referee.games import ENCODERS, GAMES, Pointing
from referee.proofs.conformance import ConformanceError
from referee.proofs.conformance.parts import PartsExamination
from tests.referee.toy import Cups

GAME = "pointing"


def examine() -> PartsExamination:
    """Play one match of the registered game."""
    parts = PartsExamination(GAMES[GAME], GAMES[GAME].variants[0].name)
    parts.play(0, None)
    return parts


def fails(part: Any) -> Any:
    """Return a part that fails wherever it is called."""

    def failing(*_: Any, **__: Any) -> Any:
        raise TypeError("planted")

    return failing


PLANTED: dict[str, tuple[Callable[[GameText], GameText], str]] = {
    "an error in a board": (
        lambda text: replace(text, drawing=replace(text.drawing, board=fails(text))),
        "the drawing draws every view and every event (tempo-up, seed 0, window 0",
    ),
    "an event that is drawn as no text": (
        lambda text: replace(text, drawing=replace(text.drawing, words=lambda _event: None)),
        "words returns None for",
    ),
    "an action that cannot be typed as it is shown": (lambda text: replace(text, say=lambda _: "?"), "'?': "),
    "an action that is shown as another": (
        lambda text: replace(text, say=lambda _action: "nobody"),
        "what `say` returns is read as the same action",
    ),
    "an example that is not legal": (
        lambda text: replace(text, examples=lambda _window, _view: (("99", ""),)),
        "every example is a legal action (tempo-up, seed 0, window 0, seat 0): '99': ",
    ),
    "an error where no default is known": (
        lambda text: replace(text, if_nothing=lambda _window, action: str(action["target"])),
        "TypeError(\"'NoneType' object is not subscriptable\")",
    ),
    "an effect that is no text": (
        lambda text: replace(text, effect=lambda _window, _view, action: action["target"]),
        "effect is ",
    ),
    "a window that does not exist": (
        lambda text: replace(text, forms=lambda _terms: {"pount": ()}),
        "forms has windows that the game does not have: ['pount']",
    ),
    "a field that does not exist": (
        lambda text: replace(text, fields=lambda _terms: {"saet": "your own"}),
        "fields has names that the view does not have: ['saet']",
    ),
    "no rules": (lambda text: replace(text, rules=lambda _variant: None), "rules is None"),
}


def test_a_sound_game_passes_and_every_part_is_counted() -> None:
    parts = examine()
    assert 0 not in (parts.drawn, parts.typed, parts.commented, parts.built, parts.encoded)


def test_a_game_without_these_parts_passes() -> None:
    parts = PartsExamination(Cups(), "plain")
    parts.play(0, None)
    assert (0, 0, 0, 0, 0) == (parts.drawn, parts.typed, parts.commented, parts.built, parts.encoded)


@pytest.mark.parametrize(("planted", "said"), PLANTED.values(), ids=PLANTED)
def test_a_fault_in_a_text_is_named(
    planted: Callable[[GameText], GameText], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GAME_TEXTS, GAME, planted(GAME_TEXTS[GAME]))
    with pytest.raises(ConformanceError, match=re.escape(said)):
        examine()


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        (lambda found: replace(found, remarks=fails(found)), "TypeError('planted')"),
        (lambda found: replace(found, remarks=lambda _scene: [Remark("?", (99,))]), "seats=(99,)"),
        (lambda found: replace(found, scores=lambda _view: [1]), "scores has not one number for each seat"),
    ],
)
def test_a_fault_in_a_commentary_is_named(
    planted: Callable[[Commentary], Commentary], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COMMENTARIES, GAME, planted(COMMENTARIES[GAME]))
    with pytest.raises(ConformanceError, match="the commentary remarks on every step") as caught:
        examine()
    assert said in str(caught.value)


class SpellsAnother(Pointing):
    """Spells each action as that of the next seat."""

    def spell(self, view: PointingView, action: Action) -> tuple[int, ...]:
        """Return the choices of another action."""
        return (super().spell(view, action)[0] - 1,)


class ListsTwice(Pointing):
    """Lists each action twice."""

    def listed(self, view: PointingView, seat: int) -> Any:
        """Return the list twice."""
        return (*super().listed(view, seat), *super().listed(view, seat))


class ListsIllegal(Pointing):
    """Lists an action that is not legal."""

    def listed(self, view: PointingView, seat: int) -> Any:
        """Return the list with the seat itself as a target."""
        return (*super().listed(view, seat), Point(target=seat))


class LeavesOut(Pointing):
    """Leaves the default out of its list."""

    def listed(self, view: PointingView, seat: int) -> Any:
        """Return the first action alone."""
        return tuple(super().listed(view, seat))[1:2]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (SpellsAnother, "every legal action is built by `build` with the choices of `spell`"),
        (ListsTwice, "an action is listed twice"),
        (ListsIllegal, "every legal action is built"),
        (LeavesOut, "is not listed"),
    ],
)
def test_a_fault_in_legal_actions_is_named(
    kind: type[Pointing], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GAMES, GAME, kind())
    with pytest.raises(ConformanceError, match=re.escape(said)):
        examine()


class TooLarge(VectorEncoder):
    """Encodes a number beyond its bounds."""

    choices = 27
    one_choice = True
    parts = (("own seat", 1),)

    def fill(self, row: Any, view: PointingView) -> None:
        """Set a number without clipping it."""
        row.values[0] = 2


class TooShort(TooLarge):
    """Has a part that is too short."""

    def fill(self, row: Any, view: PointingView) -> None:
        """Mark a number that the part does not have."""
        row.put("own seat", 1)


@pytest.mark.parametrize(
    ("kind", "said"),
    [(TooLarge, "shape (1,), from 2.0 to 2.0"), (TooShort, "IndexError('own seat has no number 1')")],
)
def test_a_fault_in_an_encoder_is_named(
    kind: type[VectorEncoder], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ENCODERS, GAME, kind())
    with pytest.raises(ConformanceError, match=re.escape(said)):
        examine()
