"""Observations of Runes to Ruins. Runes and groups have the order of `protocol.games.runes_to_ruins.runes`."""

from typing import assert_never

from msgspec import UNSET

from protocol.games.runes_to_ruins import (
    ConditionWon,
    Discovered,
    GuessAnswer,
    Insight,
    Learned,
    LearnedAnswer,
    Mirrored,
    Played,
    PlayRound,
    Purse,
    Resubmit,
    Reveal,
    Revealed,
    RunesView,
    Six,
    SymbolSet,
    VisionAnswer,
    Visions,
)
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES
from referee.encoding import Filling, VectorEncoder

SEATS, SIX, CONDITIONS = 5, 6, 15
ROUNDS = 30
RUNE: dict[str, int] = {name: number for number, name in enumerate(NAMES)}
GROUPS = (*DIVINE, *MUNDANE)
GROUP: dict[str, int] = {name: number for number, name in enumerate(GROUPS)}
GUESSES = 3
"""Number of the latest guesses that are encoded."""
ARTEFACTS = ("light", "dark")
YES_NO = "(1 yes, -1 no; of several answers the last)"
ASSIGNED = f"answers to `assign` by seat and rune {YES_NO}"
GROUPED = f"answers to `divine` and `mundane` by seat and group {YES_NO}"
HAS = f"answers to `has` by seat and rune {YES_NO}"
COUNTED = "answers to `count` by seat and group, (n + 1) / 7"
USERS = "answers to `rune`, (n + 1) / 5"
SHOWN = "runes that seats showed, by seat"
FOUND = "runes known by seat and position: shown for or seen through `window`"
OTHER_RUNE = "answers to `except`: runes by seat"
AT_PLACE = "answers to `place`: groups by position, the last answer"


class RunesEncoder(VectorEncoder):
    """Own state and answers so far; without mirrored ones and those to `pattern`, `line`, `shared`, `most`."""

    choices = 113
    parts = (
        ("own seat", SEATS),
        ("round, and rounds left, each / 30", 2),
        ("attempt / 8", 1),
        ("own symbol by position and rune", SIX * len(NAMES)),
        ("own insight / 32, own mantra / 64", 2),
        ("artefacts: light, dark", len(ARTEFACTS)),
        ("may abstain, use light, use window", 3),
        ("costs of the next veil and guess, each / 16", 2),
        ("discovered seats", SEATS),
        ("rounds in which they were, each / 30", SEATS),
        ("insight last earned by seat / 16", SEATS),
        ("seats that abstained, place / 5", SEATS),
        ("the condition last told", CONDITIONS),
        (SHOWN, SEATS * len(NAMES)),
        (FOUND, SEATS * SIX * len(NAMES)),
        (ASSIGNED, SEATS * len(NAMES)),
        (GROUPED, SEATS * len(GROUPS)),
        (HAS, SEATS * len(NAMES)),
        (COUNTED, SEATS * len(GROUPS)),
        (USERS, len(NAMES)),
        (OTHER_RUNE, SEATS * len(NAMES)),
        (AT_PLACE, SIX * len(GROUPS)),
        *(
            part
            for back in range(1, GUESSES + 1)
            for part in (
                (f"guess {back} back by position and rune", SIX * len(NAMES)),
                (f"answer to guess {back} back: exact, moved, group, each / 6, and that it was told", 4),
            )
        ),
    )

    def fill(self, row: Filling, view: RunesView) -> None:
        """See `VectorEncoder.fill`."""
        row.scaled("round, and rounds left, each / 30", view.round, ROUNDS, 0)
        row.scaled("round, and rounds left, each / 30", view.rounds - view.round, ROUNDS, 1)
        row.scaled("attempt / 8", view.attempt, 8)
        for seat, number in view.discovered.items():
            row.put("discovered seats", int(seat))
            row.scaled("rounds in which they were, each / 30", number, ROUNDS, int(seat))
        _fill_own(row, view)
        guesses: list[tuple[Six, GuessAnswer]] = []
        for played in view.history:
            _fill_round(row, played, guesses)
        for back, (guess, answer) in enumerate(reversed(guesses[-GUESSES:]), start=1):
            _fill_guess(row, back, guess, answer)


def _fill_own(row: Filling, view: RunesView) -> None:
    if view.seat is not None:
        row.put("own seat", view.seat)
    for position, rune in enumerate(view.symbol or ()):
        row.put("own symbol by position and rune", position * len(NAMES) + RUNE[rune])
    row.scaled("own insight / 32, own mantra / 64", view.insight or 0, 32, 0)
    row.scaled("own insight / 32, own mantra / 64", view.mantra or 0, 64, 1)
    row.mark("artefacts: light, dark", map(ARTEFACTS.index, view.artefacts))
    for index, may in enumerate((view.may_abstain, view.may_light, view.may_window)):
        row.put("may abstain, use light, use window", index, may)
    for index, cost in enumerate((view.veil_cost, view.guess_cost)):
        row.scaled("costs of the next veil and guess, each / 16", cost or 0, 16, index)


def _fill_round(  # noqa: C901 - one case an event
    row: Filling, played: Played, guesses: list[tuple[Six, GuessAnswer]]
) -> None:
    action = played.action or PlayRound()
    for event in played.told:
        match event:
            case Insight():
                _fill_insight(row, event)
            case ConditionWon():
                for condition in range(CONDITIONS):
                    row.put("the condition last told", condition, condition == event.condition - 1)
            case Revealed():
                row.put(SHOWN, event.seat * len(NAMES) + RUNE[event.rune])
                if event.position is not None:
                    _fill_found(row, event.seat, event.position, event.rune)
            case VisionAnswer() if action.visions is not UNSET:
                _fill_vision(row, action.visions, event)
            case LearnedAnswer():
                _fill_learned(row, action.learned[event.index], event.answer)
            case GuessAnswer():
                guesses.append((action.guesses[event.index], event))
            case Resubmit() | SymbolSet() | VisionAnswer() | Mirrored() | Discovered() | Purse() | Reveal():
                pass
            case _ as unreachable:
                assert_never(unreachable)


def _fill_insight(row: Filling, event: Insight) -> None:
    for seat in range(SEATS):
        row.scaled("insight last earned by seat / 16", event.earned.get(str(seat), 0), 16, seat)
        row.scaled("seats that abstained, place / 5", event.positions.get(str(seat), 0), SEATS, seat)


def _fill_found(row: Filling, seat: int, position: int, rune: str) -> None:
    row.put(FOUND, (seat * SIX + position) * len(NAMES) + RUNE[rune])


def _fill_vision(row: Filling, visions: Visions, event: VisionAnswer) -> None:
    answer = event.answer
    match event.kind:
        case "assign" if isinstance(answer, dict) and visions.assign is not UNSET:
            for seat, yes in answer.items():
                row.put(ASSIGNED, int(seat) * len(NAMES) + RUNE[visions.assign[seat]], 1 if yes else -1)
        case "divine" | "mundane" if isinstance(answer, dict):
            group = visions.divine if event.kind == "divine" else visions.mundane
            for seat, yes in answer.items():
                row.put(GROUPED, int(seat) * len(GROUPS) + GROUP[str(group)], 1 if yes else -1)
        case "place" if isinstance(answer, tuple) and visions.place is not UNSET:
            order = DIVINE if visions.place.order == "divine" else MUNDANE
            for group in order:
                row.put(AT_PLACE, visions.place.position * len(GROUPS) + GROUP[group], group in answer)
        case "except" if visions.except_ is not UNSET:
            row.put(OTHER_RUNE, visions.except_.seat * len(NAMES) + RUNE[str(answer)])
        case "window" if visions.window is not UNSET:
            _fill_found(row, visions.window.seat, visions.window.position, str(answer))
        case "assign" | "divine" | "mundane" | "veil" | "pattern" | "place" | "except" | "mirror" | "window":
            pass
        case _ as unreachable:
            assert_never(unreachable)


def _fill_learned(row: Filling, learned: Learned, answer: float) -> None:
    if learned.rune is not UNSET:
        row.scaled(USERS, answer + 1, SEATS, RUNE[learned.rune])
    if learned.has is not UNSET:
        row.put(HAS, learned.has.seat * len(NAMES) + RUNE[learned.has.rune], 1 if answer else -1)
    if learned.count is not UNSET:
        row.scaled(COUNTED, answer + 1, SIX + 1, learned.count.seat * len(GROUPS) + GROUP[learned.count.group])


def _fill_guess(row: Filling, back: int, guess: Six, answer: GuessAnswer) -> None:
    for position, rune in enumerate(guess):
        row.put(f"guess {back} back by position and rune", position * len(NAMES) + RUNE[rune])
    part = f"answer to guess {back} back: exact, moved, group, each / 6, and that it was told"
    for index, number in enumerate((answer.exact, answer.moved, answer.group, SIX)):
        row.scaled(part, number, SIX, index)
