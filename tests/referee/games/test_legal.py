"""Legal actions of every game: all that is listed or drawn is legal, and all that is legal can be built."""

from collections.abc import Iterator
from itertools import combinations, islice, permutations, product
from random import Random
from typing import Any

import numpy as np
import pytest
from msgspec import Raw
from msgspec.structs import replace

from protocol.codec import Refused, decode_action, encode
from protocol.games.fight_for_a_name import Move, Pick, Visit
from protocol.games.fight_for_a_name.board import DIRECTIONS
from protocol.games.mist import Turn
from protocol.games.mist.board import BOARD
from protocol.games.runes_to_ruins import ChooseSymbol
from protocol.games.runes_to_ruins.runes import NAMES
from protocol.words import Action
from referee.games import GAMES
from referee.games.runes_to_ruins.symbols import draw_symbol
from referee.proofs.conformance.sitting import Guesser
from referee.rules import AnyGame, Deal, Illegal, IllegalChoiceError, LegalActions, ResolvedAction, Table, drawn
from tests.games import WITH_CHOICES, with_variants
from tests.referee.games.runes_to_ruins.naive_actions import is_legal

BUILT = with_variants(WITH_CHOICES)
"""Games and variants whose actions can be built."""
SEEDS = 4
MOST_WINDOWS = 60


def positions(name: str, variant: str, seed: int) -> Iterator[tuple[Table, int, LegalActions]]:
    """Each seat that owes an action in each window of a match, in which all play at random."""
    rng = Random(f"{name}/{variant}/{seed}")
    table = Table(GAMES[name], Deal(variant, seed))
    for _ in range(MOST_WINDOWS):
        if table.window is None:
            return
        taken: list[ResolvedAction | None] = [None] * table.seats
        for owed in table.window.owed:
            legal = table.game.legal_actions(table.state, owed.seat)
            yield table, owed.seat, legal
            action = legal.sample(rng)
            if (guess := plausible(table, owed.seat, rng)) is not None and rng.random() < 1 / 2:
                action = guess
            taken[owed.seat] = ResolvedAction(action, elapsed_ms=rng.randrange(1000))
            if table.window.asap:
                table.answer(owed.seat, action)
        table.close(tuple(taken))


def plausible(table: Table, seat: int, rng: Random) -> Action | None:
    """Draw a legal action that the game's own players might take, in its canonical spelling."""
    said = table.game.plausible(table.state, seat, rng)
    if said is None:
        return None
    assert table.window is not None
    try:
        form = table.game.actions[table.window.name]
        return table.game.check(table.state, seat, decode_action(encode(said), form))
    except (Refused, Illegal):
        return None


@pytest.mark.parametrize(("name", "variant"), BUILT)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_drawn_actions_are_legal_and_legal_actions_can_be_built(name: str, variant: str, seed: int) -> None:
    rng = Random(seed)
    for table, seat, legal in positions(name, variant, seed):
        for _ in range(3):
            action = legal.sample(rng)
            assert action == table.game.check(table.state, seat, action)
            builds(legal, action)
        for _ in range(3):
            if (guess := plausible(table, seat, rng)) is not None:
                builds(legal, guess)


@pytest.mark.parametrize(("name", "variant"), BUILT)
def test_legal_actions_drawn_from_their_form_can_be_built(name: str, variant: str) -> None:
    rng = Random(4)
    guesser = Guesser(rng)
    for table, seat, legal in islice(positions(name, variant, 3), 0, None, 5):
        assert table.window is not None
        guesser.learn(encode(table.game.view(table.state, seat)))
        for _ in range(8):
            drawn_ = guesser.guess(table.game.actions[table.window.name])
            for form in (drawn_, {key: drawn_[key] for key in drawn_ if rng.random() < 1 / 4}):
                try:
                    action = table.read(seat, encode(form))
                except Illegal:
                    continue
                builds(legal, action)


def builds(legal: LegalActions, action: Action) -> None:
    assert legal.draft(legal.choices(action)).action == action


@pytest.mark.parametrize(("name", "variant"), BUILT)
def test_a_view_says_what_the_state_says(name: str, variant: str) -> None:
    for table, seat, legal in positions(name, variant, 0):
        seen = table.game.legal_actions(table.game.view(table.state, seat), seat)
        assert seen.count == legal.count
        assert seen.sample(Random(1)) == legal.sample(Random(1))
        assert all_masks(seen) == all_masks(legal)


def all_masks(legal: LegalActions) -> list[int]:
    """Return the masks on the way to one action."""
    rng, draft, masks = Random(2), legal.draft(), []
    while draft.action is None:
        masks.append(draft.mask)
        draft.choose(drawn(draft.mask, rng))
    return masks


@pytest.mark.parametrize(("name", "variant"), BUILT)
def test_all_choices_have_names_and_no_others_are_taken(name: str, variant: str) -> None:
    game: AnyGame = GAMES[name]
    assert len(set(game.choices)) == len(game.choices)
    for _, _, legal in positions(name, variant, 1):
        draft = legal.draft()
        assert 0 < draft.mask < 1 << len(game.choices)
        refused = next(n for n in (*range(len(game.choices)), len(game.choices)) if not draft.mask >> n & 1)
        for choice in (refused, -1):
            with pytest.raises(IllegalChoiceError):
                draft.choose(choice)
        for wrong in (1.0, "0", None):
            with pytest.raises(TypeError):
                draft.choose(wrong)  # type: ignore[arg-type]


def test_more_pieces_than_a_turn_of_mist_has_are_not_listed() -> None:
    game = GAMES["mist"]
    view: Any = game.view(Table(game, Deal("heaven-and-hell", 1, Raw(b'{"first": 0}'))).state, 0)
    with pytest.raises(ValueError, match="pieces: 2147483648; a turn names 3 cells at most"):
        game.legal_actions(replace(view, pieces=(0, 1 << 31)), 0)


@pytest.mark.parametrize(("name", "variant"), BUILT)
def test_numpys_numbers_are_choices_too(name: str, variant: str) -> None:
    for _, _, legal in positions(name, variant, 1):
        draft = legal.draft()
        while draft.action is None:
            draft.choose(np.int16(draft.mask.bit_length() - 1))  # type: ignore[arg-type]
        assert {int} == set(map(type, draft.choices))


@pytest.mark.parametrize(("name", "variant"), BUILT)
def test_lists_hold_every_legal_action_once_and_no_other(name: str, variant: str) -> None:
    listed = 0
    for table, seat, legal in positions(name, variant, 2):
        if legal.count is None or listed > 100_000:
            continue
        actions = list(legal)
        listed += len(actions)
        assert len({encode(action) for action in actions}) == len(actions) == legal.count
        for action in actions[:: 1 + len(actions) // 300]:
            assert action == table.game.check(table.state, seat, action)
        if len(actions) < 500:
            assert {encode(action) for action in actions} == {encode(action) for action in all_built(legal)}


def all_built(legal: LegalActions, choices: tuple[int, ...] = ()) -> Iterator[Action]:
    draft = legal.draft(choices)
    if draft.action is not None:
        yield draft.action
    for choice in range(draft.mask.bit_length()):
        if draft.mask >> choice & 1:
            yield from all_built(legal, (*choices, choice))


def test_moves_of_the_fight_are_those_that_its_rules_pass() -> None:
    """Every path of up to three steps, with every way to put what is left on two hexes and a white one."""
    game = GAMES["fight-for-a-name"]
    table = Table(game, Deal("guardians", 0))
    table.close((ResolvedAction(Pick(pick=())),) * 13)
    few = [
        replace(each, position=None if seat > 4 else each.position)
        for seat, each in enumerate(table.state.players)
    ]
    visit = Visit(round=1, pillar="sigma", titles=())
    for at in ("Start", "3", "33", "35", "36", "mu", "sigma"):
        few[0] = replace(few[0], position=at, mp=3, reached=(1, 2, 36), visits=(visit,))
        state = replace(table.state, players=tuple(few), white=(2,), round=9)
        paths = [path for steps in range(4) for path in product(DIRECTIONS, repeat=steps)]
        amounts = [dict(zip(("1", "2", "36"), put, strict=True)) for put in product(range(3), repeat=3)]
        reinforced = [{name: put for name, put in each.items() if put} for each in amounts]
        moves = (
            Move(path=path, reinforce=put) for path, put in product(paths, (*reinforced, {"1": 3}, {"36": 3}))
        )
        expected = {encode(move) for move in moves if passes(game, state, 0, move)}
        assert {encode(move) for move in all_built(game.legal_actions(state, 0))} == expected


def passes(game: AnyGame, state: Any, seat: int, action: Action) -> bool:
    """Whether it is legal and canonical."""
    try:
        return game.check(state, seat, action) == action
    except Illegal:
        return False


def test_symbols_can_be_built_exactly_as_they_are_legal() -> None:
    """Of random beginnings, the last two runes are gone through; and every beginning goes on."""
    rng = Random(5)
    game = GAMES["runes-to-ruins"]
    legal = game.legal_actions(Table(game, Deal("guardians", 0)).state, 0)
    for _ in range(5):
        draft = legal.draft()
        while len(draft.choices) < 4:
            draft.choose(drawn(draft.mask, rng))
        first = draft.choices
        names = [game.choices[choice] for choice in first]
        expected = {
            encode({"symbol": [*names, *last]}) for last in permutations(NAMES, 2) if is_legal([*names, *last])
        }
        assert {encode(action) for action in all_built(legal, first)} == expected
    for _ in range(100):
        builds(legal, ChooseSymbol(symbol=draw_symbol(rng)))


@pytest.mark.parametrize("variant", ["heaven-and-hell", "contractual-obligation"])
@pytest.mark.parametrize(("turns", "most"), [(0, 2), (1, 3), (2, 3)])
def test_turns_of_mist_are_those_that_its_rules_pass(variant: str, turns: int, most: int) -> None:
    game = GAMES["mist"]
    table = Table(game, Deal(variant, 0))
    rng = Random(3)
    for _ in range(turns + 1):
        mover = table.owed[0].seat
        taken = ResolvedAction(game.legal_actions(table.state, mover).sample(rng))
        table.close((taken, None) if mover == 0 else (None, taken))
    mover = table.owed[0].seat

    named = (Turn(cells=cells) for count in range(most + 1) for cells in combinations(BOARD.names, count))
    expected = {encode(action) for action in (*named, Turn(swap=True)) if passes(game, table.state, mover, action)}
    assert {encode(action) for action in game.legal_actions(table.state, mover)} == expected
