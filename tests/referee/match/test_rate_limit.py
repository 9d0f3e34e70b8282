"""What a bot may say in a window: far more than any game's longest legal action, and no more than a disk bears."""

from itertools import permutations
from typing import get_args

import pytest
from msgspec import Raw

from protocol.codec import decode_action, encode
from protocol.games import fight_for_a_name as fight
from protocol.games import hive_mind, mist, pointing
from protocol.games import runes_to_ruins as runes
from protocol.games.mist.board import BOARD
from protocol.games.runes_to_ruins.runes import RUNES, RuneName
from protocol.messages import MAX_FRAME_BYTES, MAX_NOTE_CHARACTERS, Note, Submit
from protocol.refusals import Refusal
from protocol.words import Action
from referee.games.runes_to_ruins.checking import MOST_EXCEPTED, MOST_NAMED, MOST_OF_A_KIND
from referee.match.seat import Allowance
from referee.match.terms import Policy

WIDE = max(get_args(RuneName), key=len)
LONG_NAMES = sorted((rune.name for rune in RUNES), key=len, reverse=True)
SIX = tuple(LONG_NAMES[:6])
INSIGHT = 1_000
"""Of Runes to Ruins: taken to be more than a seat ever holds; who plays holds some tens."""
MP = 12 * (2 + 4 + 12 * 2)
"""Of The Fight For a Name, over twelve rounds: income, Start, and gifts of all the others."""


def guesses_for(insight: int) -> int:
    """Return the number of guesses: the first is free, and each further one costs one more than the last."""
    bought = 0
    while (bought + 1) * (bought + 2) // 2 <= insight:
        bought += 1
    return 1 + bought


VISIONS = {
    "assign": {str(seat): WIDE for seat in range(4)},
    "divine": "Enclosure",
    "mundane": "Straight",
    "veil": True,
    "pattern": {"groups": ["Enclosure"] * 6, "seats": [0, 1, 2, 3]},
    "place": {"order": "mundane", "position": 5},
    "except": {"seat": 0, "runes": SIX[:MOST_EXCEPTED]},
    "mirror": {"rune": WIDE, "seat": 0},
    "window": {"position": 5, "seat": 0},
}
LEARNED = [
    {"rune": WIDE},
    {"count": {"seat": 0, "group": "Enclosure", "number": 6}},
    {"has": {"seat": 0, "rune": WIDE}},
    {"line": {"rune": WIDE, "column": 2}},
    {"shared": [0, 1]},
    {"most": LONG_NAMES[:MOST_NAMED]},
]
LONGEST: dict[str, tuple[type[Action], object]] = {
    "mist": (mist.Turn, {"cells": list(BOARD.cells(BOARD.mask(BOARD.names)))}),
    "hive-mind": (
        hive_mind.Round,
        {
            "place": dict.fromkeys(("Charge", "Marcer", "Zero"), "ADE"),
            "double": ["Charge", "Marcer", "Zero"],
            "block": ["Charge", "Marcer", "Zero"],
            "guess": dict.fromkeys(("Charge", "Marcer", "Zero"), "112332112213"),
        },
    ),
    "pointing": (pointing.Point, {"target": 12}),
    "fight-for-a-name": (
        fight.Move,
        {
            "path": ["SW"] * MP,
            "reinforce": dict.fromkeys(get_args(fight.HexKey), MP),
            "give": dict.fromkeys(get_args(fight.SeatKey), 2),
        },
    ),
    "runes-to-ruins": (
        runes.PlayRound,
        {
            "votes": {"12": 1, "13": 1, "14": 1, "15": 1},
            "more_votes": True,
            "told": True,
            "visions": VISIONS,
            "learned": LEARNED * MOST_OF_A_KIND,
            "guesses": [six for six, _ in zip(permutations(SIX), range(guesses_for(INSIGHT)), strict=False)],
            "light": True,
            "dark": 4,
        },
    ),
}
"""By game: an action that is at least as long as any legal one."""
AS_LONG = 10_000
"""Bytes that no legal action has, as docs/protocol.md says."""


@pytest.mark.parametrize("game", LONGEST)
def test_no_legal_action_of_any_game_takes_a_twentieth_of_a_windows_bytes(game: str) -> None:
    form, action = LONGEST[game]
    spelled = encode(action)
    assert isinstance(decode_action(spelled, form), form)
    frame = encode(Submit(window=1_000, action=Raw(spelled)))
    assert len(frame) < AS_LONG < Policy().bytes_per_window / 20


def test_a_hundred_of_the_longest_notes_are_no_flood() -> None:
    allowance = Allowance(Policy())
    note = encode(Note(text="x" * MAX_NOTE_CHARACTERS))
    assert [None] * 100 == [allowance.count_message(len(note)) for _ in range(100)]


def test_four_of_the_longest_frames_are_none_and_the_fifth_is_until_the_next_window() -> None:
    allowance = Allowance(Policy())
    for _ in range(2):
        assert [None] * 4 == [allowance.count_message(MAX_FRAME_BYTES) for _ in range(4)]
        refused = allowance.count_message(1)
        assert refused is not None
        assert (Refusal.FLOOD, "more than 262144 bytes in a window") == (refused.refusal, refused.text)
        allowance.renew()


def test_one_message_that_is_more_than_a_window_allows_is_a_flood() -> None:
    assert Allowance(Policy(bytes_per_window=10)).count_message(10) is None
    assert Allowance(Policy(bytes_per_window=10)).count_message(11) is not None


def test_only_the_first_message_of_a_flood_is_answered_other_refusals_always_are() -> None:
    allowance = Allowance(Policy(bytes_per_window=10, messages_per_window=3))
    told = []
    for _ in range(4):
        allowance.count_message(6)
        told.append((allowance.is_told(Refusal.FLOOD), allowance.is_told(Refusal.ILLEGAL)))
    assert [(False, True), (True, True), (False, True), (False, True)] == told
