"""Worlds of every game: each shows the seat exactly what it was shown, and can be played on."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial
from itertools import combinations_with_replacement, islice, permutations, product
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from protocol.codec import decode_json, encode
from protocol.games.fight_for_a_name import Ask, Banner, PillarAnswer, Title
from protocol.games.fight_for_a_name.board import COLOURS, TITLES
from protocol.games.hive_mind import GiveToken, Hint, HiveMindSetup, HiveMindView, Round, RoundResult, Scores
from protocol.games.hive_mind.board import SHAPES
from protocol.games.hive_mind.layouts import fitting
from protocol.games.mist import MistHostView, MistOptions, Turn
from protocol.games.mist.board import BOARD
from protocol.games.pointing import PointingOptions, PointingView
from protocol.games.pointing.map import anonymous, connect
from protocol.games.runes_to_ruins import (
    ChooseSymbol,
    ConditionWon,
    Discovered,
    GuessAnswer,
    Learned,
    LearnedAnswer,
    Mirrored,
    Revealed,
    VisionAnswer,
)
from protocol.games.runes_to_ruins.runes import NAMES
from protocol.words import Action, Event, View
from referee.games import GAMES
from referee.games.fight_for_a_name.moving import play_moves
from referee.games.fight_for_a_name.rounds import end_round, next_round
from referee.games.fight_for_a_name.state import FightState
from referee.games.fight_for_a_name.worlds import Layouts
from referee.games.hive_mind.state import HiveMindState
from referee.games.mist.worlds import HistoryWalk, TurnHistory, read
from referee.games.pointing.state import PointingState, play_round
from referee.games.runes_to_ruins import worlds as runes_worlds
from referee.games.runes_to_ruins.checking import _checked_insight
from referee.games.runes_to_ruins.clues import Clue
from referee.games.runes_to_ruins.pools import (
    EVERY_RUNE,
    NUMBER,
    POSITIONS,
    Pool,
    SymbolFacts,
    SymbolGenerator,
    any_of,
    mark,
    numbers,
)
from referee.games.runes_to_ruins.rounds import close_round
from referee.games.runes_to_ruins.search import SymbolSearch
from referee.games.runes_to_ruins.state import RunesState
from referee.games.runes_to_ruins.symbols import shared_runes
from referee.games.runes_to_ruins.worlds import SymbolWalk as RunesWalk
from referee.rules import Addressed, Deal, MatchRandom, ResolvedAction, Table, WindowClosed, audience
from tests.games import WITH_WORLDS, with_variants
from tests.long import mostly_slow
from tests.referee.games.pointing.play import after
from tests.referee.games.runes_to_ruins.naive_actions import is_legal
from tests.referee.games.runes_to_ruins.play import SYMBOLS
from tests.referee.games.test_legal import plausible

DRAWN = with_variants(WITH_WORLDS)
"""Games and variants whose worlds can be drawn."""
SEEDS = 2
WORLDS = 5
MOST_WINDOWS = {"runes-to-ruins": 3}
"""Where it takes long to find the first world late in a match."""
SEATS = {"runes-to-ruins": 1}
"""So many seats of each window are looked at: three, if a game is not named here."""


MOST_DECISIONS = 10
"""To find a world of Runes to Ruins."""


@pytest.mark.parametrize(("name", "variant"), DRAWN)
@pytest.mark.parametrize("seed", mostly_slow(1, range(SEEDS)))
def test_a_world_shows_the_seat_what_it_was_shown(name: str, variant: str, seed: int) -> None:
    rng = Random(f"{name}/{variant}/{seed}")
    table = Table(GAMES[name], Deal(variant, seed))
    told: list[list[Event]] = [[] for _ in range(table.seats)]
    for _ in range(MOST_WINDOWS.get(name, 40)):
        if table.window is None:
            break
        for seat in rng.sample(range(table.seats), min(SEATS.get(name, 3), table.seats)):
            shows(table, told[seat], seat, rng)
        play_window(table, told, rng)


@pytest.mark.parametrize(("name", "variant"), DRAWN)
def test_worlds_need_the_seats_own_view(name: str, variant: str) -> None:
    game = GAMES[name]
    table = Table(game, Deal(variant, 3))
    told: list[list[Event]] = [[] for _ in range(table.seats)]
    play_window(table, told, Random(1))
    seat = table.owed[0].seat
    view, spectators = game.view(table.state, seat), game.view(table.state, None)
    for wrong, shown in ((seat + 1, view), (-1, view), (None, view), (0, spectators), (None, spectators)):
        with pytest.raises(ValueError, match="seat: "):
            game.worlds(shown, told[seat], wrong, Random(1))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="seat: "):
            game.legal_actions(shown, wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seat: "):
        game.legal_actions(table.state, -1)
    plain = decode_json(encode(view))
    with pytest.raises(TypeError, match="view: plain values"):
        game.worlds(plain, told[seat], seat, Random(1))
    with pytest.raises(TypeError, match="view: plain values"):
        game.legal_actions(plain, seat)


HIVE_MINDS = [variant.name for variant in GAMES["hive-mind"].variants]


@pytest.mark.parametrize(("own", "given"), [*permutations(HIVE_MINDS, 2)])
def test_no_world_of_hive_mind_is_drawn_by_the_rules_of_another_variant(own: str, given: str) -> None:
    game = GAMES["hive-mind"]
    table = Table(game, Deal(own, 3))
    told: list[list[Event]] = [[] for _ in range(table.seats)]
    while table.window is not None:
        seat = table.owed[0].seat
        with pytest.raises(ValueError, match=f"variant: this view is of another one than {given}"):
            next(game.worlds(game.view(table.state, seat), told[seat], seat, Random(1), variant=given))
        play_window(table, told, Random(1))


@pytest.mark.parametrize(("name", "variant"), DRAWN)
def test_no_world_is_drawn_of_a_match_that_is_over(name: str, variant: str) -> None:
    table = Table(GAMES[name], Deal(variant, 3))
    told = list(table.start)
    while table.window is not None:
        owing = {owed.seat for owed in table.owed}
        taken = [
            ResolvedAction(table.default(seat), by_default=True) if seat in owing else None
            for seat in range(table.seats)
        ]
        told += table.close(tuple(taken))
    heard = [each.event for each in told if each.seat in (None, 0)]
    with pytest.raises(ValueError, match=r"over|goes on"):
        next(table.game.worlds(table.game.view(table.state, 0), heard, 0, Random(1), variant=variant))


def shows(table: Table, told: list[Event], seat: int, rng: Random) -> None:
    game = table.game
    view = game.view(table.state, seat)
    worlds = game.worlds(view, told, seat, rng, variant=table.deal.variant, options=table.options)
    owes = any(owed.seat == seat for owed in table.owed)
    for world in islice(worlds, WORLDS):
        assert encode(game.view(world, seat)) == encode(view)
        window = game.window(world)
        assert window is not None
        if owes:
            assert next(owed for owed in window.owed if owed.seat == seat) == next(
                owed for owed in table.owed if owed.seat == seat
            )
        # It can be played on: everyone sees something, and may do something.
        for owed in window.owed:
            action = game.legal_actions(world, owed.seat).sample(rng)
            assert game.check(world, owed.seat, action) == action


def play_window(
    table: Table, told: list[list[Event]], rng: Random, *, is_wild: bool = False, given: Action | None = None
) -> None:
    """One window, played at random or by what is given; what is told is kept by seat.

    `is_wild`: by any legal action.
    """
    assert table.window is not None
    taken: list[ResolvedAction | None] = [None] * table.seats
    events: list[Addressed] = []
    for owed in table.window.owed:
        guess = given or (None if is_wild else plausible(table, owed.seat, rng))
        action = guess or table.game.legal_actions(table.state, owed.seat).sample(rng)
        taken[owed.seat] = ResolvedAction(action, elapsed_ms=rng.randrange(1000))
        if table.window.asap:
            events += table.answer(owed.seat, action)
    for addressed in (*events, *table.close(tuple(taken))):
        for seat in audience(addressed, table.seats):
            told[seat].append(addressed.event)


@pytest.mark.parametrize("seed", mostly_slow(1, range(4)))
def test_a_world_of_mist_is_found_for_a_seat_whose_pieces_are_often_spotted(seed: int) -> None:
    rng = Random(seed)
    table = Table(GAMES["mist"], Deal("contractual-obligation", seed))
    told: list[list[Event]] = [[], []]
    for at in range(60):
        if table.window is None:
            break
        if at >= 40 and table.owed[0].seat == 0:
            shows(table, told[0], 0, rng)
        single = None
        if table.owed[0].seat == 1 and table.window.name == "turn":
            board = cast("MistHostView", table.game.host_view(table.state)).board
            single = Turn(cells=(rng.choice([cell for cell, holds in board.items() if holds == "empty"]),))
        play_window(table, told, rng, is_wild=True, given=single)


def test_every_way_in_which_the_others_may_have_pointed_is_as_likely() -> None:
    table = after("A>B>C D>B", seats=5)
    view = table.game.view(table.state, 0)
    possible = ways_to_point(table.game.view(table.state, 0), 0)
    draws = 100 * len(possible)
    drawn = Counter(world.rounds[0].pointed for world in islice(table.game.worlds(view, (), 0, Random(1)), draws))
    assert set(drawn) == possible
    assert len(possible) > 5
    surprise = sum((count - 100) ** 2 / 100 for count in drawn.values())
    # The mean of this statistic is one less than the number of ways, its variance twice that.
    assert surprise < len(possible) + 5 * (2 * len(possible)) ** 0.5


def ways_to_point(view: View, at: int) -> set[tuple[int | None, ...]]:
    """All that may have been submitted in a round that looked like this to the view's seat."""
    assert isinstance(view, PointingView)
    assert view.seat is not None
    options = [[None, *(other for other in range(view.seats) if other != seat)] for seat in range(view.seats)]
    options[view.seat] = [view.targets[at]]
    return {targets for targets in product(*options) if anonymous(connect(targets)) == view.maps[at]}


def test_a_vote_leaves_the_worlds_in_which_it_comes_to_it() -> None:
    table = after("A>B C>B", "A>C B>D>C", "A>C B>D>C", seats=4)
    assert table.window is not None
    assert table.window.name == "vote"
    (winner,) = (owed.seat for owed in table.owed)
    for seat in (winner, (winner + 1) % 4):
        view = table.game.view(table.state, seat)
        rounds = product(*(ways_to_point(view, at) for at in range(3)))
        possible = {each for each in rounds if table.game.view(played(each), seat) == view}
        drawn = islice(table.game.worlds(view, (), seat, Random(2)), 1000)
        assert {tuple(each.pointed for each in world.rounds) for world in drawn} == possible
        assert len(possible) > 1


def played(rounds: tuple[tuple[int | None, ...], ...]) -> PointingState:
    state = PointingState(PointingOptions(seats=len(rounds[0])))
    for targets in rounds:
        state = play_round(state, targets)
    return state


@pytest.mark.slow
def test_all_layouts_that_fit_the_hints_of_hive_mind_are_as_likely() -> None:
    game = GAMES["hive-mind"]
    table = Table(game, Deal("gauntlet", 1))
    for cells in ("EFI", "CEF"):
        view = game.view(table.state, 0)
        layouts = Counter(
            world.values["1"] for world in islice(game.worlds(view, (), 0, Random(1), variant="gauntlet"), 40_000)
        )
        number = len(fitting([event for event in told(view) if isinstance(event, Hint)]))
        assert (number == 20_790) == (cells == "EFI")
        expected = 40_000 / number
        surprise = sum((count - expected) ** 2 for count in layouts.values()) / expected
        surprise += (number - len(layouts)) * expected
        assert abs(surprise - number) < 5 * (2 * number) ** 0.5
        table.close(tuple(ResolvedAction(Round(place={"1": cells} if seat == 0 else {})) for seat in range(5)))


def test_placements_of_seats_in_hive_mind_are_drawn_uniformly() -> None:
    game = GAMES["hive-mind"]
    table = Table(game, Deal("gauntlet", 1))
    placed = ("ADE", "HKL", "CFI", "HKL", None)
    table.close(tuple(ResolvedAction(Round(place={"1": cells} if cells else {})) for cells in placed))
    view = game.view(table.state, 0)
    drawn = Counter(
        tuple(action.place.get("1") for action in world.rounds[0])
        for world in islice(game.worlds(view, (), 0, Random(1), variant="gauntlet"), 6000)
    )
    result = next(event for event in told(view) if isinstance(event, RoundResult)).hives["1"]
    possible = {
        ("ADE", *others)
        for three in combinations_with_replacement(SHAPES, 3)
        if Counter("".join((*three, "ADE"))) == +Counter(result.counts)
        and Counter(SHAPES[name].kind for name in ("ADE", *three)) == +Counter(result.shapes)
        for others in permutations((*three, None))
    }
    assert set(drawn) == possible
    expected = 6000 / len(possible)
    surprise = sum((count - expected) ** 2 / expected for count in drawn.values())
    assert surprise < len(possible) + 5 * (2 * len(possible)) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "seed"), [("recharged", 54), ("tempo-up", 11), ("gauntlet", 30), ("gauntlet", 120)]
)
def test_worlds_of_hive_mind_are_found_where_a_tie_waits_for_the_winner(variant: str, seed: int) -> None:
    game = GAMES["hive-mind"]
    rng, playing = Random(seed), Random(seed)
    table = Table(game, Deal(variant, seed))
    known: list[list[Event]] = [[] for _ in range(5)]
    windows: list[str] = []
    while not windows or windows[-1] != "break_tie":
        assert table.window is not None
        windows.append(table.window.name)
        for seat in range(5):
            shows(table, known[seat], seat, rng)
            view = game.view(table.state, seat)
            for world in islice(game.worlds(view, (), seat, rng, variant=variant), WORLDS):
                assert anew(world) == world
        play_window(table, known, playing)


def anew(world: HiveMindState) -> HiveMindState:
    """Return the state that the rules reach from a world's values with the actions of its seats."""
    game = GAMES["hive-mind"]
    options = game.read_options(world.variant, None)
    state = game.deal(world.variant, options, HiveMindSetup(hives=world.values), MatchRandom(0)).state
    submitted: list[tuple[Any, ...]] = [*world.rounds]
    if world.scores is not None:
        submitted.append(tuple(Scores(scores=cast("Any", scores)) for scores in world.scores))
    if world.token_asked:
        submitted.append((None if world.token_to is None else GiveToken(seat=world.token_to),))
    for actions in submitted:
        for seat, action in enumerate(actions):
            assert not isinstance(action, Round) or game.check(state, seat, action) == action
        state = game.close(state, tuple(ResolvedAction(action) for action in actions), MatchRandom(0)).state
    return cast("HiveMindState", state)


def told(view: View) -> tuple[Event, ...]:
    assert isinstance(view, HiveMindView)
    return view.told


@pytest.mark.parametrize("variant", ["heaven-and-hell", "contractual-obligation"])
@pytest.mark.parametrize("seed", range(6))
def test_the_opponents_turn_in_mist_is_among_its_possible_turns(variant: str, seed: int) -> None:
    rng = Random(f"{variant}/{seed}")
    table = Table(GAMES["mist"], Deal(variant, seed))
    told: list[list[Event]] = [[], []]
    named: list[list[int]] = [[], []]
    while table.window is not None and len(table.journal) < 40:
        for seat in (0, 1):
            history = read(told[seat], seat, variant, MistOptions())
            hidden = named[1 - seat][len(named[1 - seat]) - len(history.hidden) :]
            assert fits(history, hidden)
        mover = table.owed[0].seat
        play_window(table, told, rng)
        last = table.journal[-1]
        assert isinstance(last, WindowClosed)
        action = cast("ResolvedAction", last.taken[mover]).action
        if isinstance(action, Turn) and not action.swap:
            named[mover].append(BOARD.mask(cast("tuple[str, ...]", action.cells)))


def fits(history: TurnHistory, named: list[int]) -> bool:
    """Whether worlds could come of these turns."""
    for turn, cells in zip(history.hidden, named, strict=True):
        beyond = cells & ~turn.seen
        if turn.known:
            assert not beyond
        elif turn.seen & ~cells or beyond & ~turn.free or cells.bit_count() not in turn.counts:
            return False
    walk = HistoryWalk(history, Random(0))
    for at, cells in enumerate(named):
        walk.name(at, cells)
    required = all(any(named[at] & each.cell for at in each.turns) for each in history.required)
    return required and all(walk.fits(at) for at in range(len(named)))


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "is_wild"), [(0, False), (1, False), (0, True)])
def test_the_rules_lead_to_a_world_of_the_fight(seed: int, *, is_wild: bool) -> None:
    """The moves and questions of a world are played anew under its secrets, and come to the same."""
    rng = Random(seed)
    table = Table(GAMES["fight-for-a-name"], Deal("guardians", seed))
    told: list[list[Event]] = [[] for _ in range(table.seats)]
    while table.window is not None:
        for seat in rng.sample(range(13), 2) if table.window.name in ("move", "justice") else ():
            view = table.game.view(table.state, seat)
            for world in islice(table.game.worlds(view, told[seat], seat, rng), WORLDS):
                if world.phase == "move":
                    assert encode(table.game.host_view(played_anew(world))) == encode(table.game.host_view(world))
        play_window(table, told, rng, is_wild=is_wild)


def played_anew(world: FightState) -> FightState:
    """Return the state that the rules reach from a world's setup with the actions and answers of its seats."""
    state = next_round(
        replace(
            world,
            players=FightState(options=world.options, setup=world.setup).players,
            history=(),
            white=(),
            claims={},
            round=0,
        )
    )
    while state.round < world.round:
        played, _ = play_moves(state, tuple(player.moves[state.round - 1] for player in world.players))
        players = list(played.players)
        for seat, (player, there) in enumerate(zip(players, world.players, strict=True)):
            visits = there.visits[: len(player.visits)]
            for visit, told in zip(player.visits, visits, strict=True):
                assert (visit.round, visit.pillar, visit.titles) == (told.round, told.pillar, told.titles)
                if told.asked is not None and told.answer is not None:
                    assert could_be_told(told.asked, told.answer, world.setup.titles)
            crests = {t: r for t, r in there.crests.items() if r <= state.round}
            players[seat] = replace(player, visits=visits, crests=crests)
        after = end_round(replace(played, players=tuple(players)), MatchRandom(0)).state
        assert after.history[-1] == world.history[state.round - 1]
        state = after
    return state


def test_every_layout_of_banners_that_fits_is_as_likely() -> None:
    allowed: dict[Any, set[Any]] = {title: {COLOURS[n // 2]} for n, title in enumerate(TITLES)}
    allowed |= {title: {"red", "orange", "yellow"} for title in TITLES[:6]}
    layouts = Layouts(allowed)
    every = [
        layout
        for layout in product(*(sorted(allowed[title]) for title in TITLES))
        if set(Counter(layout).values()) == {2} and len(set(layout)) == len(COLOURS)
    ]
    rng = Random(3)
    drawn = Counter(tuple(layouts.draw(rng) or ()) for _ in range(100 * len(every)))
    assert layouts.count == len(every) > 20
    assert set(drawn) == set(every)
    assert sum((count - 100) ** 2 / 100 for count in drawn.values()) < len(every) + 5 * (2 * len(every)) ** 0.5


@pytest.mark.slow
def test_every_symbol_that_fits_the_clues_is_as_likely() -> None:
    """Four runes of a symbol are known, and the group of a fifth; the walk goes to all that are legal."""
    table = Table(GAMES["runes-to-ruins"], Deal("guardians", 0))
    table.close(tuple(ResolvedAction(ChooseSymbol(symbol=cast("Any", symbol))) for symbol in SYMBOLS))
    view: Any = table.game.view(table.state, 0)
    symbols: Any = SYMBOLS
    known = [Clue((1,), partial(stands, at), all, marks=(mark((at,), (SYMBOLS[1][at],)),)) for at in range(4)]
    search = SymbolSearch(known, Random(2))
    walk = RunesWalk(view, 0, Random(2), [], search)
    walk.movable = (1,)
    walk.symbols = list(symbols)
    walk.values = [{1: True} for _ in known]
    every = {symbol for last in permutations(NAMES, 2) if is_legal([*(symbol := (*SYMBOLS[1][:4], *last))])}
    assert search.run({seat: symbols[seat] for seat in (0, 2, 3, 4)})
    pool = search.known[1].pool
    assert {pool.symbol(number) for number in numbers(search.fitting(1, ()))} == every
    draws = 60 * len(every)
    drawn: Counter[Any] = Counter()
    for _ in range(draws):
        walk.step(60)
        drawn[walk.symbols[1]] += 1
    assert set(drawn) == every
    # Steps of a walk hang together, so the statistic is greater than of draws that do not: here by about 2.
    assert sum((count - 60) ** 2 / 60 for count in drawn.values()) < 3 * len(every)


@pytest.mark.slow
def test_all_legal_symbols_that_fit_some_facts_are_found() -> None:
    """Two runes are placed, a third is required, one group comes twice: the same symbols as by trying all."""
    placed: Any = SYMBOLS[1][:2]
    facts = SymbolFacts([1 << NUMBER[rune] for rune in placed] + [EVERY_RUNE] * 4, counts={"Slash": (2, 2)})
    facts.required = 1 << NUMBER["Slash Divider"]
    every = {
        symbol
        for other in NAMES
        if other.startswith("Slash") and other != "Slash Divider"
        for last in NAMES
        if not last.startswith("Slash")
        for third in NAMES
        if third > last and not third.startswith("Slash")
        for rest in permutations(("Slash Divider", other, last, third))
        if is_legal([*(symbol := (*placed, *rest))])
    }
    pool = Pool(list(SymbolGenerator(facts).every()))
    found = [pool.symbol(number) for number in numbers(pool.all)]
    assert len(every) == len(found)
    assert set(found) == every
    estimated = sum(SymbolGenerator(facts).estimate(Random(seed)) for seed in range(60)) / 60
    assert 0.8 < estimated / len(every) < 1.2
    number = any_of(pool.marked(mark(POSITIONS, ("Torn Box",))), Random(1))
    assert len(every) > 20
    assert "Torn Box" in pool.symbol(number)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "rounds"), [(0, 16), (1, 16), (0, 8), (1, 11)])
def test_worlds_are_found_in_a_match_of_runes(seed: int, rounds: int) -> None:
    rng = Random(16)
    table = Table(GAMES["runes-to-ruins"], Deal("guardians", seed))
    told: list[list[Event]] = [[] for _ in range(5)]
    for _ in range(rounds):
        taken = [
            ResolvedAction(table.game.legal_actions(table.state, owed.seat).sample(rng)) for owed in table.owed
        ]
        table.close(tuple(taken))
    assert table.window is not None
    shows(table, told[0], rng.randrange(5), rng)


@pytest.mark.parametrize(
    ("seed", "round_", "seat"),
    [
        (100, 15, 2),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in [(108, 13, 4), (100, 9, 4), (106, 9, 0)]),
    ],
)
def test_a_world_is_found_where_a_search_symbol_by_symbol_stuck(
    seed: int, round_: int, seat: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symbols that several guesses came near to are hard to draw."""
    rng = Random(seed)
    table = Table(GAMES["runes-to-ruins"], Deal("guardians", seed))
    while cast("RunesState", table.state).round < round_:
        actions = [
            plausible(table, owed.seat, rng) or table.game.legal_actions(table.state, owed.seat).sample(rng)
            for owed in table.owed
        ]
        table.close(tuple(map(ResolvedAction, actions)))
    decisions = 0
    settle = SymbolSearch._settle  # Steps are counted, not seconds.

    def counted(search: SymbolSearch, seats: Collection[int]) -> bool:
        nonlocal decisions
        decisions += 1
        return settle(search, seats)

    monkeypatch.setattr(SymbolSearch, "_settle", counted)
    view = table.game.view(table.state, seat)
    for number in range(3):
        world = next(iter(table.game.worlds(view, (), seat, Random(number))))
        assert encode(table.game.view(world, seat)) == encode(view)
    assert decisions < 3 * MOST_DECISIONS


def test_the_search_of_runes_starts_again_if_no_frame_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Symbols were found, and then conditions were drawn so that nothing can have won a later round."""
    rng = Random(0)
    table = Table(GAMES["runes-to-ruins"], Deal("guardians", 0))
    told: list[list[Event]] = [[] for _ in range(5)]
    for _ in range(3):
        play_window(table, told, rng)
    searches: list[SymbolSearch] = []
    run = SymbolSearch.run

    def counted(search: SymbolSearch, symbols: dict[int, Any]) -> bool:
        searches.append(search)
        return run(search, symbols)

    monkeypatch.setattr(SymbolSearch, "run", counted)
    monkeypatch.setattr(RunesWalk, "reframe", lambda _: False)
    monkeypatch.setattr(runes_worlds, "TRIES", 2)
    with pytest.raises(ValueError, match="no world was found"):
        next(iter(table.game.worlds(table.game.view(table.state, 0), told[0], 0, rng)))
    assert len(searches) == 3


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_rules_tell_a_seat_the_same_in_a_world_of_runes(seed: int) -> None:
    """Each round is resolved anew with a world's symbols and actions: answers and winning conditions are as told.

    Payments are left out: the symbols of a world need not explain them.
    """
    rng = Random(seed)
    table = Table(GAMES["runes-to-ruins"], Deal("guardians", seed))
    told: list[list[Event]] = [[] for _ in range(5)]
    for _ in range(7):
        play_window(table, told, rng)
    seat = rng.randrange(5)
    view: Any = table.game.view(table.state, seat)
    for world in islice(table.game.worlds(view, told[seat], seat, rng), 0, 60, 20):
        used: tuple[int, ...] = ()
        for n, played in enumerate(view.history):
            standings = tuple(
                replace(
                    each,
                    discovered=None if (each.discovered or 99) >= played.round else each.discovered,
                    insight=10_000,
                )
                for each in world.standings
            )
            before = replace(world, round=played.round, standings=standings, used=used)
            actions = [each.history[n].action for each in world.standings]
            again = close_round(before, actions, MatchRandom(0))
            won = world.conditions[n]
            assert again.state.conditions[-1] == won
            used = again.state.used
            events = [each.event for each in again.told if each.seat in (None, seat)]
            kept = (VisionAnswer, LearnedAnswer, GuessAnswer, Mirrored, Revealed, Discovered, ConditionWon)
            for mine, theirs in zip(
                [each for each in events if isinstance(each, kept)],
                [each for each in played.told if isinstance(each, kept)],
                strict=True,
            ):
                assert mine == theirs or "except" in (getattr(mine, "kind", ""), getattr(theirs, "kind", ""))


WINDOWS = {"mist": 5, "hive-mind": 2, "pointing": 2, "fight-for-a-name": 5, "runes-to-ruins": 5}
"""So many are played of each game, and none is over then."""


def worlds_of_all_games() -> list[str]:
    """Return the first worlds of a seat in a match of each game, as text."""
    found = []
    for name, windows in WINDOWS.items():
        game, rng = GAMES[name], Random(3)
        table = Table(game, Deal(game.variants[0].name, 3))
        told: list[list[Event]] = [[] for _ in range(table.seats)]
        for _ in range(windows):
            play_window(table, told, rng)
        view = game.view(table.state, 0)
        worlds = game.worlds(view, told[0], 0, rng, variant=table.deal.variant, options=table.options)
        found += [f"{name}: {world!r}" for world in islice(worlds, 2)]
    return found


@pytest.mark.slow
def test_worlds_do_not_depend_on_the_order_of_sets() -> None:
    """Else a bot that searches would not play the same match twice, with the same seed and the same luck."""
    program = f"from {__name__} import worlds_of_all_games as worlds; print(*worlds(), sep='\\n')"
    one, other = (
        subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[3],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.splitlines()
        for seed in ("1", "2")
    )
    assert [line.partition(":")[0] for line in one] == [name for name in WINDOWS for _ in range(2)]
    assert one == other


def stands(at: int, symbol: Any) -> bool:
    """Whether the symbol has the rune of seat 1's there."""
    return bool(symbol[at] == SYMBOLS[1][at])


def could_be_told(asked: Ask, answer: PillarAnswer, banners: Mapping[Title, Banner]) -> bool:
    """Whether a pillar may answer so."""
    on = [{banners[title].body, banners[title].parting} for title in (asked.other[0], *asked.neither)]
    return (
        answer.body == (banners[asked.body[0]].body == asked.body[1])
        and answer.parting == (banners[asked.parting[0]].parting == asked.parting[1])
        and answer.other not in on[0] | {asked.other[1]}
        and not on[1] & set(answer.neither)
        and not on[2] & set(answer.neither)
        and answer.crest == asked.crest
    )


@pytest.mark.parametrize(("seat", "of"), list(permutations(range(5), 2)))
def test_a_mirrored_question_about_shared_runes_names_the_seat_and_a_third(seat: int, of: int) -> None:
    """The question is one that the rules take from the other seat, as they spell it."""
    symbols: Any = SYMBOLS
    walk = cast("RunesWalk", SimpleNamespace(seat=seat, symbols=symbols))
    thirds = set()
    for seed in range(20):
        mirrored = Mirrored(of=of, kind="shared", answer=shared_runes(symbols[of], symbols[seat]))
        pair = runes_worlds._question(mirrored, walk, Random(seed))
        assert seat in pair
        assert Learned(shared=pair) == _checked_insight(of, Learned(shared=pair))
        thirds |= set(pair) - {seat}
    assert set(range(5)) - {seat, of} == thirds
