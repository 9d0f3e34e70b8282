"""Checks of the parts that a game may have besides its rules: text, commentary, legal actions and encoder.

A few matches are played at random. In each position the parts are used as console, language models and learning
environments use them.
"""

from collections.abc import Callable
from random import Random
from typing import Any, TypeVar

from msgspec import Raw
from msgspec.structs import fields as fields_of

from protocol.codec import decode_json, encode
from protocol.text import COMMENTARIES, GAME_TEXTS, GameText, InputTerms, ParseError, Picture, Scene, remarks_on
from protocol.text import read as read_typed
from protocol.words import Action, Event
from referee.games import ENCODERS, GAMES
from referee.proofs.conformance.sitting import Chooser, Chosen, ConformanceError, MatchPlace, answered, open_window
from referee.rules import Addressed, AnyGame, Deal, Illegal, LegalActions, Table

ValueT = TypeVar("ValueT")
MOST_WINDOWS = 40
"""Number of windows of a match in which the parts are checked."""
MOST_LISTED = 30
"""Number of listed actions that are checked one by one; of a longer list, this many at equal distances."""
DRAWN = "the drawing draws every view and every event"
TYPED = "what `say` returns is read as the same action"
EXAMPLES = "every example is a legal action"
COMMENTED = "the commentary remarks on every step"
ASKED = "the texts for people and models are texts"
BUILT = "every legal action is built by `build` with the choices of `spell`"
LISTED = "`listed` has every legal action once"
ENCODED = "observations have the declared shape and bounds"


class PartsExamination:
    """A series of matches of one variant in which the parts of the game are used; counts the checks."""

    def __init__(self, game: AnyGame, variant: str) -> None:
        self.game = game
        self.variant = variant
        registered = GAMES.get(game.name) is game
        self._text = GAME_TEXTS.get(game.name) if registered else None
        self._commentary = COMMENTARIES.get(game.name) if registered else None
        self._encoder: Any = ENCODERS.get(game.name) if registered and game.choices else None
        self.drawn = 0
        """Views and events that were drawn."""
        self.typed = 0
        """Actions that were written by `say` and read again, and examples that were read."""
        self.commented = 0
        """Steps that the commentary remarked on."""
        self.built = 0
        """Actions that were built of their choices."""
        self.encoded = 0
        """Observations that were encoded."""

    def play(self, seed: int, options: Raw | None) -> None:
        """Play one match, and check the parts in each of its positions.

        Raises:
            ConformanceError: a part breaks a promise, or raises an error.
        """
        self._where = MatchPlace(self.variant, seed)
        self._rng = Random(f"{seed}/parts")
        self._table = Table(self.game, Deal(self.variant, seed, options))
        self._told: list[Addressed] = list(self._table.start)
        self._memories: dict[int, Any] = {}
        self._check_terms()
        chooser = Chooser(Random(f"{seed}/play"))
        last = self._table.start
        self._check_commentary(None, last)
        while self._table.window is not None and self._table.number < MOST_WINDOWS:
            self._check_drawings(last)
            for owed in self._table.owed:
                self._check_seat(owed.seat)
            chosen = chooser.choose_all(self._table)
            self._check_typed(chosen)
            before = self.game.host_view(self._table.state)
            last = self._close(chosen)
            self._told += last
            self._check_commentary(before, last)
        self._check_drawings(last)

    def _close(self, chosen: Chosen) -> tuple[Addressed, ...]:
        """Close the open window, and return all its events."""
        table = self._table
        told: tuple[Addressed, ...] = ()
        if open_window(table).asap:
            for seat in answered(chosen):
                if (action := chosen[seat].action) is not None:
                    told += table.answer(seat, action)
        return told + table.close(tuple(map(chosen.get, range(table.seats))))

    def _error(self, promise: str, what: str, seat: int | None = None) -> ConformanceError:
        return self._where.error(promise, what, self._table.number, seat)

    def _use(
        self, promise: str, seat: int | None, part: Callable[..., ValueT], *given: Any, **named: Any
    ) -> ValueT:
        """Return what a part of the game returns. The author needs the place of any exception."""
        try:
            return part(*given, **named)
        except Exception as error:
            name = getattr(part, "__qualname__", type(part).__qualname__)
            raise self._error(promise, f"{name}: {error!r}", seat) from error

    def _check_terms(self) -> None:
        """Check the texts that do not depend on a position."""
        text, terms = self._text, InputTerms(self.variant, decode_json(encode(self._table.options)), 0)
        if text is None:
            return
        self._check_text(self._use(ASKED, None, text.rules, self.variant), "rules", None)
        unknown = set(self._use(ASKED, None, text.forms, terms)) - set(self.game.actions)
        if unknown:
            raise self._error(ASKED, f"forms has windows that the game does not have: {sorted(unknown)}")
        known = {field.encode_name for field in fields_of(self.game.view_type)}
        unknown = {name.partition(".")[0] for name in self._use(ASKED, None, text.fields, terms)} - known
        if unknown:
            raise self._error(ASKED, f"fields has names that the view does not have: {sorted(unknown)}")

    def _check_text(self, text: object, what: str, seat: int | None) -> None:
        if not isinstance(text, str):
            raise self._error(ASKED, f"{what} is {text!r:.100}", seat)

    def _check_drawings(self, last: tuple[Addressed, ...]) -> None:
        """Draw the view of one observer, the host's view and the last events."""
        if self._text is None:
            return
        drawing, state = self._text.drawing, self._table.state
        observer = self._rng.choice((None, *range(self._table.seats)))
        events, told = _events(last, observer), _events(self._told, observer)
        for view in (self.game.view(state, observer), self.game.host_view(state)):
            for plain in (False, True):
                board: object = self._use(DRAWN, observer, drawing.board, view, events, plain=plain, told=told)
                if not isinstance(board, Picture):
                    raise self._error(DRAWN, f"board returns {board!r:.100}", observer)
        for each in last:
            words = self._use(DRAWN, each.seat, drawing.words, each.event)
            if not isinstance(words, str):
                raise self._error(DRAWN, f"words returns {words!r:.100} for {each.event}", each.seat)
        self.drawn += 4 + len(last)

    def _check_commentary(self, before: Any, last: tuple[Addressed, ...]) -> None:
        """Check the remarks on the last step; `before`: the host's view before it, None at the deal."""
        if self._commentary is None:
            return
        seats = range(self._table.seats)
        scene = Scene(
            before=before,
            after=self.game.host_view(self._table.state),
            told=[(each.event, each.seat) for each in last],
            names=[f"bot {seat}" for seat in seats],
        )
        if len(self._use(COMMENTED, None, self._commentary.scores, scene.after)) != len(seats):
            raise self._error(COMMENTED, "scores has not one number for each seat")
        for remark in self._use(COMMENTED, None, remarks_on, self._commentary, scene):
            text: object = remark.text
            if not isinstance(text, str) or not set(remark.seats) <= set(seats):
                raise self._error(COMMENTED, f"{remark!r:.200}")
        self.commented += 1

    def _check_seat(self, seat: int) -> None:
        """Check the parts that serve a seat that owes an action."""
        view = self.game.view(self._table.state, seat)
        if self._text is not None:
            self._check_prompt(self._text, seat, view)
        if self.game.choices:
            self._check_choices(seat)
        if self._encoder is not None:
            self._check_observation(seat, view)

    def _check_prompt(self, text: GameText, seat: int, view: Any) -> None:
        """Check the texts that a seat is shown before it acts."""
        window = open_window(self._table).name
        self._check_text(self._use(ASKED, seat, text.ask, window, view), "ask", seat)
        default = self._table.default(seat)
        plain = None if default is None else decode_json(encode(default))
        for action in (plain, None):  # A window does not always say its default.
            self._check_text(self._use(ASKED, seat, text.if_nothing, window, action), "if_nothing", seat)
        for word in self._use(ASKED, seat, text.words, window, view):
            self._check_text(word, "words", seat)
        for typed, _ in self._use(ASKED, seat, text.examples, window, view):
            self._read(EXAMPLES, seat, typed)

    def _check_typed(self, chosen: Chosen) -> None:
        """Check that actions can be typed as they are shown."""
        if self._text is None:
            return
        for seat, taken in chosen.items():
            if taken.action is None:
                continue
            window, view = open_window(self._table).name, self.game.view(self._table.state, seat)
            plain = decode_json(encode(taken.action))
            self._check_text(self._use(ASKED, seat, self._text.effect, window, view, plain), "effect", seat)
            said = self._use(TYPED, seat, self._text.say, plain)
            if self._read(TYPED, seat, said) != taken.action:
                raise self._error(TYPED, f"{said!r:.100} is not {taken.action}", seat)

    def _read(self, promise: str, seat: int, typed: str) -> Action:
        """Return the legal action that a text stands for."""
        self.typed += 1
        window = open_window(self._table).name
        try:
            given = read_typed(self.game.name, window, typed)
            return self._table.read(seat, encode(given))
        except (ParseError, Illegal) as refused:
            raise self._error(promise, f"{typed!r:.100}: {refused}", seat) from None
        except Exception as error:
            raise self._error(promise, f"{typed!r:.100}: {error!r}", seat) from error

    def _check_choices(self, seat: int) -> None:
        """Check that a sample, the default and all listed actions are legal, and are built of their choices."""
        table = self._table
        legal = self._use(LISTED, seat, self.game.legal_actions, table.state, seat)
        actions = [self._use(BUILT, seat, legal.sample, self._rng)]
        default = table.default(seat)
        if default is not None:
            actions.append(default)
        if legal.count is not None:
            listed = list(legal)
            if len({encode(action) for action in listed}) != len(listed):
                raise self._error(LISTED, "an action is listed twice", seat)
            for action in actions:
                if action not in listed:
                    raise self._error(LISTED, f"{action} is not listed", seat)
            actions += listed[:: 1 + len(listed) // MOST_LISTED]
        for action in actions:
            self._check_built(legal, action, seat)

    def _check_built(self, legal: LegalActions, action: Action, seat: int) -> None:
        try:
            canonical = self._table.game.check(self._table.state, seat, action)
        except Illegal as illegal:
            raise self._error(BUILT, f"{action}: {illegal.reason}", seat) from None
        choices = self._use(BUILT, seat, legal.choices, action)
        if max(choices, default=-1) >= len(self.game.choices):
            raise self._error(BUILT, f"{action}: choice {max(choices)} has no name in `choices`", seat)
        built = self._use(BUILT, seat, legal.draft, choices).action
        if not action == canonical == built:
            raise self._error(BUILT, f"{action} is built as {built}, and is {canonical} in canonical form", seat)
        self.built += 1

    def _check_observation(self, seat: int, view: Any) -> None:
        encoder = self._encoder
        memory = self._use(ENCODED, seat, encoder.remember, self._memories.get(seat), view)
        self._memories[seat] = memory
        row = self._use(ENCODED, seat, encoder.encode, self._use(ENCODED, seat, encoder.frame, memory, view))
        least, most = encoder.bounds
        if row.shape != encoder.shape or not (least <= row.min() and row.max() <= most):
            raise self._error(ENCODED, f"shape {row.shape}, from {row.min()} to {row.max()}", seat)
        self.encoded += 1


def _events(told: list[Addressed] | tuple[Addressed, ...], observer: int | None) -> list[Event]:
    """Return the events that an observer received."""
    return [each.event for each in told if each.seat is None or each.seat == observer]
