"""Random states of Hive Mind (worlds) that are consistent with a seat's view.

Values are drawn uniformly from the layouts that fit the seat's hints: all 20,790 of a Hive before the first hint.
The others' placements are drawn uniformly from those that fit the rounds' results and the rules: first the kinds
of shapes by seat and round, then the shapes. Doubles are public; unrevealed Blocks are drawn from those that a
seat can pay. The others' guesses are unknown: each is left out with probability 1/2 and random otherwise.

When only the winner's decisions remain, the points must also lead to the known winner and tied seats. Those worlds
are drawn by a random walk, so successive ones are similar. They favour the seat's own guesses, and half of the
others' guesses are right.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain, combinations, permutations, product
from math import exp, factorial, prod
from random import Random
from typing import assert_never, cast

from msgspec import Struct
from msgspec.structs import replace

from protocol.games.hive_mind import (
    BUYING_ROUND,
    Blocks,
    Doubles,
    GiveToken,
    Hint,
    HiveMindEvent,
    HiveMindView,
    HiveRound,
    Kind,
    Reveal,
    Round,
    RoundResult,
    ScoreGuesses,
    Scores,
    SeatKey,
    TokenGiven,
)
from protocol.games.hive_mind.board import CELLS, SHAPES
from protocol.games.hive_mind.layouts import fitting
from referee.games.hive_mind import play
from referee.games.hive_mind.scoring import (
    SeatCount,
    count_hive,
    order,
    right_guesses,
    score,
    settle,
    standing,
    summed,
    with_right_guesses,
)
from referee.games.hive_mind.state import (
    ROUNDS,
    RULE_SETS,
    SEATS,
    HiveMindState,
    HiveMoves,
    HiveRuleSet,
    OpenHives,
    PointResults,
    draw_values,
    price,
    turn,
)
from referee.rules import MatchRandom

Column = tuple[Kind | None, ...]
"""Kinds placed on a Hive in a round, indexed like `SeatConstraints.others`; None: no shape."""
APART = 6
"""Steps of the walk from one world to the next."""
MOST_STEPS, MOST_WALKS = 5_000, 20
"""Maximum steps to the first world before a new walk starts, and maximum number of walks."""
WARMTH, SEEKING = 0.3, (0.3, 0.7, 1.2)
"""Temperature of the walk after its first world, and those that successive walks use until then."""


class Covers(Struct, frozen=True):
    """The sets of shapes that the others may have placed on a Hive in a round."""

    ways: tuple[tuple[str, ...], ...]
    """Possible sets of shapes, each in alphabetical order."""
    weights: tuple[int, ...]
    """Cumulative weights of `ways`: the number of assignments of the shapes to seats."""


def covers(shapes: dict[Kind, int], counts: dict[str, int]) -> Covers:
    """Return all sets of shapes with these numbers by kind and by covered hex."""
    return _covers(tuple(sorted(shapes.items())), tuple(counts[cell] for cell in CELLS))


@lru_cache(maxsize=256)
def _covers(shapes: tuple[tuple[Kind, int], ...], counts: tuple[int, ...]) -> Covers:
    left = list(counts)
    kinds = dict(shapes)
    found: set[tuple[str, ...]] = set()

    def place(placed: tuple[str, ...]) -> None:
        at = next((at for at, number in enumerate(left) if number), None)
        if at is None:
            found.add(tuple(sorted(placed)))
            return
        for name in _OVER[CELLS[at]]:
            kind = SHAPES[name].kind
            over = [CELLS.index(cell) for cell in name]
            if kinds[kind] and all(map(left.__getitem__, over)):
                kinds[kind] -= 1
                for each in over:
                    left[each] -= 1
                place((*placed, name))
                kinds[kind] += 1
                for each in over:
                    left[each] += 1

    place(())
    ways = tuple(sorted(found))
    of_kind = prod(map(factorial, kinds.values()))
    weights = [of_kind // prod(map(factorial, Counter(way).values())) for way in ways]
    return Covers(ways, tuple(accumulate(weights)))


def _over(cell: str) -> tuple[str, ...]:
    return tuple([name for name in SHAPES if cell in name])


_OVER = {cell: _over(cell) for cell in CELLS}
"""Shapes that cover a hex, indexed by hex."""


class Hive(Struct, frozen=True):
    """A seat's knowledge of one Hive."""

    values: Sequence[str] | None
    """Possible values; None: no restriction."""
    guessed: str | None
    """The seat's guess, if it is possible."""
    covers: tuple[Covers, ...]
    """Possible shapes, indexed by round played."""
    first: tuple[Column, ...]
    """Possible kinds in the first round."""
    later: tuple[tuple[tuple[Column, ...], ...], ...]
    """Possible kinds in the other rounds, indexed like `first`."""


class Buying(Struct, frozen=True):
    """A seat's Doubles in a round, and its possible Blocks."""

    double: tuple[str, ...] = ()
    blocks: tuple[tuple[str, ...], ...] = ((),)


class ObservedRound(Struct, frozen=True):
    """A finished round."""

    turn: OpenHives
    own: Round
    told: tuple[HiveMindEvent, ...]
    """Public events."""
    buying: dict[int, Buying]
    """Purchases of the other seats, indexed by seat."""


class KnownResult(Struct, frozen=True):
    """A seat's knowledge of the result of all points."""

    winner: int | None
    """The winner; None: an unknown seat, but not the view's."""
    tie: bool
    """True if the winner must break a tie for elimination."""
    tied: tuple[int, ...]
    """The tied seats; empty: unknown."""
    asked: bool
    """True if the window `give_token` is known to have closed."""
    given: TokenGiven | None
    guessed: ScoreGuesses | None


class SeatConstraints(Struct, frozen=True):
    """All constraints on the worlds of one seat."""

    view: HiveMindView
    start: HiveMindState
    rules: HiveRuleSet
    seat: int
    others: tuple[int, ...]
    hives: dict[str, Hive]
    firsts: tuple[tuple[int, ...], ...]
    """Possible combinations of indices into each Hive's `first`."""
    weights: tuple[int, ...]
    """Cumulative weights of `firsts`: the number of ways to continue in the later rounds."""
    rounds: tuple[ObservedRound, ...]
    told: tuple[HiveMindEvent, ...]
    """Events of the seat in the rounds."""
    over: bool
    """True if all rounds are played."""
    end: KnownResult | None
    """None until all points are decided."""


Shapes = tuple[str | None, ...]
"""Shapes placed on a Hive in a round, indexed like `SeatConstraints.others`; None: no shape."""


RIGHT = ""


class HiddenPart(Struct):
    """The hidden part of a world. Its fields are replaced but never mutated."""

    values: dict[str, str]
    placed: dict[str, tuple[Shapes, ...]]
    """Shapes, indexed by Hive, then by round."""
    blocks: tuple[dict[int, tuple[str, ...]], ...]
    """Blocked Hives, indexed by round, then by other seat."""
    guesses: dict[str, dict[int, str]]
    """Guessed values, indexed by Hive, then by other seat; `RIGHT`: the Hive's values."""
    right: frozenset[int]
    """The other seats that guess this seat's total right."""
    scores: dict[tuple[int, int], float]
    """Guessed scores as shares of the highest total, indexed by guesser and guessed seat."""


def worlds(view: HiveMindView, rng: Random, start: HiveMindState) -> Iterator[HiveMindState]:
    """See `Game.worlds`.

    Args:
        view: the seat's view.
        rng: source of randomness.
        start: the initial state of the variant, with each seat's garnets.

    Raises:
        ValueError: the view is a spectator's or of another variant, the match is over, or no world with the known
            result was found.
    """
    if view.seat is None or view.wallet is None or (view.told and isinstance(view.told[-1], Reveal)):
        raise ValueError("worlds are drawn for a seat, while its match goes on")
    rules = RULE_SETS[start.variant]
    if (view.wallet.double_price, view.wallet.block_price) != (rules.double_price, rules.block_price):
        raise ValueError(f"variant: this view is of another one than {start.variant}")
    known = _known(view, view.seat, start)
    if known.end is not None:
        yield from _walk(known, known.end, rng)
    while True:
        yield _state(known, _drawn(known, rng))


def _known(view: HiveMindView, seat: int, start: HiveMindState) -> SeatConstraints:
    rules = RULE_SETS[start.variant]
    others = tuple(other for other in range(SEATS) if other != seat)
    hives = {hive: _hive(view, hive) for hive in rules.hives}
    firsts: list[tuple[int, ...]] = []
    weights: list[int] = []
    """Number of ways to continue each of `firsts` in the later rounds."""
    for which in product(*(range(len(hive.first)) for hive in hives.values())):
        chosen = list(zip(hives.values(), which, strict=True))
        if not rules.at_once or _differ([hive.first[at] for hive, at in chosen]):
            firsts.append(which)
            weights.append(prod(len(hive.later[at]) for hive, at in chosen))
    return SeatConstraints(
        view=view,
        start=start,
        rules=rules,
        seat=seat,
        others=others,
        hives=hives,
        firsts=tuple(firsts),
        weights=tuple(accumulate(weights)),
        rounds=_rounds(view, start, rules, others),
        told=tuple(event for event in view.told if not isinstance(event, ScoreGuesses | TokenGiven)),
        over=not view.hives,
        end=None if view.hives or view.window == "scores" else _end_known(view, seat, rules),
    )


def _rounds(
    view: HiveMindView, start: HiveMindState, rules: HiveRuleSet, others: tuple[int, ...]
) -> tuple[ObservedRound, ...]:
    told: list[list[HiveMindEvent]] = []
    for event in view.told:
        if isinstance(event, RoundResult):
            told.append([])
        if isinstance(event, RoundResult | Doubles | Blocks):
            told[-1].append(event)
    doubles: dict[str, tuple[int, ...]] = {}
    for event in view.told:
        if isinstance(event, Doubles):
            doubles |= event.hives
    blocks = _blocks(view, rules)
    garnets = list(start.garnets)
    rounds: list[ObservedRound] = []
    for number, own in enumerate(view.submitted):
        now = cast("OpenHives", turn(replace(start, rounds=((),) * number)))
        buying = dict.fromkeys(others, Buying())
        for seat in others if now.number == BUYING_ROUND else ():
            double = tuple(sorted(hive for hive in now.hives if seat in doubles.get(hive, ())))
            block = [tuple(sorted(hive for hive in now.hives if seat in blocks.get(hive, ())))]
            if not any(hive in blocks for hive in now.hives):
                block = _payable(rules, garnets[seat], double, now.hives)
            buying[seat] = Buying(double, tuple(block))
            # `block[0]` is exact if another buying round follows, because these Blocks are revealed before it.
            garnets[seat] -= price(rules, Round(double=double, block=block[0]))
        rounds.append(ObservedRound(now, own, tuple(told[number]), buying))
    return tuple(rounds)


def _payable(
    rules: HiveRuleSet, garnets: int, double: tuple[str, ...], hives: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the sets of Blocks that a seat can pay in addition to these Doubles."""
    most = len(hives) if rules.block_price is not None else min(len(hives), rules.free_uses)
    ways: list[tuple[str, ...]] = []
    for block in chain.from_iterable(combinations(hives, number) for number in range(most + 1)):
        way = tuple(sorted(block))
        if price(rules, Round(double=double, block=way)) <= garnets:
            ways.append(way)
    return ways


def _blocks(view: HiveMindView, rules: HiveRuleSet) -> dict[str, tuple[int, ...]]:
    """Return the blocking seats, indexed by Hive; only Hives with revealed Blocks are in it."""
    told = [event for event in view.told if isinstance(event, Blocks)]
    revealed = product(rules.hives, told) if rules.at_once else zip(rules.hives, told, strict=False)
    return {hive: event.hives.get(hive, ()) for hive, event in revealed}


def _end_known(view: HiveMindView, seat: int, rules: HiveRuleSet) -> KnownResult:
    given = next((event for event in view.told if isinstance(event, TokenGiven)), None)
    winner = given.giver if given else None
    tie = view.window == "break_tie"
    return KnownResult(
        winner=seat if view.window is not None else winner,
        tie=tie or given is not None or not rules.gives_token,
        tied=view.tied,
        asked=rules.gives_token and (tie or given is not None),
        given=given,
        guessed=next((event for event in view.told if isinstance(event, ScoreGuesses)), None),
    )


def _hive(view: HiveMindView, name: str) -> Hive:
    hints = [event for event in view.told if isinstance(event, Hint) and event.hive == name]
    results = [event.hives[name] for event in view.told if isinstance(event, RoundResult) and name in event.hives]
    own = {hint.round: hint.cells for hint in hints}
    rounds = [_less_own(result, own.get(result.round)) for result in results]
    columns = [_columns(tuple(sorted(shapes.items()))) for shapes, _ in rounds]
    first, *others = columns or [((None,) * (SEATS - 1),)]
    values = _fitting(tuple(hints))
    guesses = [action.guess[name] for action in view.submitted if name in action.guess]
    return Hive(
        values=values if hints else None,
        guessed=guesses[0] if guesses and guesses[0] in values else None,
        covers=tuple(covers(shapes, counts) for shapes, counts in rounds),
        first=first,
        later=tuple(_later(one, others) for one in first),
    )


def _later(first: Column, others: Sequence[Sequence[Column]]) -> tuple[tuple[Column, ...], ...]:
    """Return the columns of later rounds that fit the first one."""
    return tuple(rest for rest in product(*others) if _differ([first, *rest]))


def _less_own(result: HiveRound, own: str | None) -> tuple[dict[Kind, int], dict[str, int]]:
    """Return the numbers of the others' shapes by kind and by hex."""
    shapes, counts = dict(result.shapes), dict(result.counts)
    if own:
        shapes[SHAPES[own].kind] -= 1
        for cell in own:
            counts[cell] -= 1
    return shapes, counts


@cache
def _columns(shapes: tuple[tuple[Kind, int], ...]) -> tuple[Column, ...]:
    """Return all assignments of these kinds to the other seats, at most one per seat."""
    wanted = Counter(dict(shapes))
    wanted[cast("Kind", None)] = SEATS - 1 - wanted.total()
    kinds = [kind for kind, number in wanted.items() if number]
    return tuple(column for column in product(kinds, repeat=SEATS - 1) if Counter(column) == +wanted)


def _differ(columns: Sequence[Column]) -> bool:
    """Return whether every seat places each kind at most once."""
    for by_seat in zip(*columns, strict=True):
        kinds = list(filter(None, by_seat))
        if len(set(kinds)) < len(kinds):
            return False
    return True


@lru_cache(maxsize=64)
def _fitting(hints: tuple[Hint, ...]) -> list[str]:
    """Return the values that agree with these hints about one Hive."""
    found = []
    for twos, threes in fitting(hints):
        values = [1 + (twos >> at & 1) + 2 * (threes >> at & 1) for at in range(len(CELLS))]
        found.append("".join(map(str, values)))
    return found


def _drawn(known: SeatConstraints, rng: Random) -> HiddenPart:
    """Draw the hidden part of a world, without regard to a known result of the points."""
    end = known.end
    right = rng.sample(known.others, end.guessed.guessed_by) if end and end.guessed else ()
    last = [hive for each in known.rounds if each.turn.number == ROUNDS for hive in each.turn.hives]
    return HiddenPart(
        values={name: _values(hive, known.over, rng) for name, hive in known.hives.items()},
        placed=_placed(known, rng),
        blocks=tuple(_drawn_blocks(each.buying, rng) for each in known.rounds),
        guesses={hive: _guesses(known, rng) for hive in last},
        right=frozenset(right),
        scores={pair: rng.random() for pair in permutations(known.others, 2)}
        if known.view.scores is not None
        else {},
    )


def _drawn_blocks(buying: Mapping[int, Buying], rng: Random) -> dict[int, tuple[str, ...]]:
    return {seat: rng.choice(each.blocks) for seat, each in buying.items()}


def _guesses(known: SeatConstraints, rng: Random) -> dict[int, str]:
    """Draw the others' guesses of a Hive; a seat makes one with probability 1/2."""
    return {seat: _guess(known, rng) for seat in known.others if rng.random() < 1 / 2}


def _guess(known: SeatConstraints, rng: Random) -> str:
    """Draw another seat's guess of a Hive; it is right with probability 1/2 if the result is known."""
    return RIGHT if known.end is not None and rng.random() < 1 / 2 else draw_values(rng)


def _state(known: SeatConstraints, drawn: HiddenPart) -> HiveMindState:
    """Build the state after the rounds, still without a result."""
    rounds = []
    told: list[list[HiveMindEvent]] = [[] for _ in range(SEATS + 1)]
    for number, played in enumerate(known.rounds):
        now = played.turn
        placed = [(hive, drawn.values[hive], drawn.placed[hive][now.number - 1]) for hive in now.hives]
        actions = []
        for at, seat in enumerate(known.others):
            place = {}
            for hive, values, shapes in placed:
                if (cells := shapes[at]) is not None:
                    place[hive] = cells
                    told[seat].append(play.hint(values, hive, now.number, cells))
            told[seat] += played.told
            guess = {}
            if now.number == ROUNDS:
                guess = {
                    hive: drawn.guesses[hive][seat] or drawn.values[hive]
                    for hive in now.hives
                    if seat in drawn.guesses[hive]
                }
            double, block = played.buying[seat].double, drawn.blocks[number][seat]
            actions.append(Round(place=place, double=double, block=block, guess=guess))
        actions.insert(known.seat, played.own)
        rounds.append(tuple(actions))
        told[SEATS] += played.told
    return HiveMindState(
        variant=known.start.variant,
        garnets=known.start.garnets,
        values=drawn.values,
        rounds=tuple(rounds),
        told=tuple(known.told if seat == known.seat else tuple(each) for seat, each in enumerate(told)),
    )


def _values(hive: Hive, over: bool, rng: Random) -> str:
    """Draw the values of a Hive."""
    if over and hive.guessed and rng.random() < 1 / 2:
        return hive.guessed
    return draw_values(rng) if hive.values is None else hive.values[int(rng.random() * len(hive.values))]


def _placed(known: SeatConstraints, rng: Random) -> dict[str, tuple[Shapes, ...]]:
    """Draw the others' shapes, indexed by Hive, then by round."""
    which = known.firsts[_weighted(known.weights, rng)]
    placed = {}
    for at, (name, hive) in zip(which, known.hives.items(), strict=True):
        later = hive.later[at]
        columns = [hive.first[at], *later[int(rng.random() * len(later))]]
        placed[name] = tuple(
            _shapes(each, column, rng) for each, column in zip(hive.covers, columns, strict=False)
        )
    return placed


def _shapes(found: Covers, column: Column, rng: Random) -> Shapes:
    """Draw the others' shapes of a round with the kinds of `column`."""
    of_kind: dict[Kind | None, list[str]] = {}
    for name in found.ways[_weighted(found.weights, rng)]:
        of_kind.setdefault(SHAPES[name].kind, []).append(name)
    for names in of_kind.values():
        rng.shuffle(names)
    return tuple(None if kind is None else of_kind[kind].pop() for kind in column)


def _weighted(cumulative: Sequence[int], rng: Random) -> int:
    """Draw an index with probability proportional to its weight."""
    return bisect(cumulative, rng.random() * cumulative[-1])


def _walk(known: SeatConstraints, end: KnownResult, rng: Random) -> Iterator[HiveMindState]:
    """Yield worlds with the known result.

    This is a Metropolis walk over the hidden part. Steps that increase the difference from the known result are
    rarely accepted; only worlds without a difference are yielded.
    """
    for number in range(MOST_WALKS):
        warmth = SEEKING[number % len(SEEKING)]
        drawn = _drawn(known, rng)
        tallies = {hive: _tallies(known, drawn, hive) for hive in known.hives}
        off, result, scores = _result(known, end, drawn, tallies)
        since, found = 0, False
        while found or since < MOST_STEPS:
            if not off and (since >= APART or not found):
                yield _ended(_state(known, drawn), end, result, scores)
                since, found, warmth = 0, True, WARMTH
            since += 1
            moved, changed = _moved(known, drawn, rng)
            anew = {hive: _tallies(known, moved, hive) for hive in changed}
            if all(tallies[hive] == each for hive, each in anew.items()) and moved.scores is drawn.scores:
                drawn = moved
                continue
            counted = {**tallies, **anew}
            after, its_result, its_scores = _result(known, end, moved, counted)
            if after <= off or rng.random() < exp((off - after) / warmth):
                drawn, tallies, off, result, scores = moved, counted, after, its_result, its_scores
    raise ValueError("no world was found whose end is as told")


def _moved(known: SeatConstraints, drawn: HiddenPart, rng: Random) -> tuple[HiddenPart, Iterable[str]]:
    """Redraw one part. Return the new hidden part and the Hives whose points may change."""
    name = rng.choice(known.rules.hives)
    match rng.choices(
        ("values", "shapes", "all", "blocks", "guesses", "scores"), (30, 35, 5, 5, 15, 15 * bool(drawn.scores))
    )[0]:
        case "values":
            values = _values(known.hives[name], known.over, rng)
            return replace(drawn, values={**drawn.values, name: values}), (name,)
        case "shapes":
            rounds, at = list(drawn.placed[name]), rng.randrange(ROUNDS)
            column = tuple(cells and SHAPES[cells].kind for cells in rounds[at])
            rounds[at] = _shapes(known.hives[name].covers[at], cast("Column", column), rng)
            return replace(drawn, placed={**drawn.placed, name: tuple(rounds)}), (name,)
        case "all":
            return replace(drawn, placed=_placed(known, rng)), known.rules.hives
        case "blocks":
            seat = rng.choice(known.others)
            blocks = tuple(
                {**block, seat: rng.choice(each.buying[seat].blocks)}
                for block, each in zip(drawn.blocks, known.rounds, strict=True)
            )
            return replace(drawn, blocks=blocks), known.rules.hives if blocks != drawn.blocks else ()
        case "guesses":
            seat = rng.choice(known.others)
            guesses = {other: guess for other, guess in drawn.guesses[name].items() if other != seat}
            if rng.random() < 1 / 2:
                guesses[seat] = _guess(known, rng)
            return replace(drawn, guesses={**drawn.guesses, name: guesses}), (name,)
        case "scores":
            right = frozenset(rng.sample(known.others, len(drawn.right)))
            scores = (
                {**drawn.scores, rng.choice(list(drawn.scores)): rng.random()} if drawn.scores else drawn.scores
            )
            return replace(drawn, right=right, scores=scores), ()
        case _ as unreachable:
            assert_never(unreachable)


def _tallies(known: SeatConstraints, drawn: HiddenPart, hive: str) -> list[SeatCount]:
    """Count the points of a Hive, indexed by seat."""
    placements, doublers, blockers = [], [], []
    guesses: list[str | None] = [None] * SEATS
    for number, played in enumerate(known.rounds):
        if hive in played.turn.hives:
            shapes = list(drawn.placed[hive][played.turn.number - 1])
            shapes.insert(known.seat, played.own.place.get(hive))
            placements.append(tuple(shapes))
            doublers += [seat for seat, each in played.buying.items() if hive in each.double]
            doublers += [known.seat] * (hive in played.own.double)
            blockers += [seat for seat, block in drawn.blocks[number].items() if hive in block]
            blockers += [known.seat] * (hive in played.own.block)
            guesses[known.seat] = played.own.guess.get(hive)
    for seat, guess in drawn.guesses[hive].items():
        guesses[seat] = guess or drawn.values[hive]
    done = HiveMoves(tuple(placements), tuple(doublers), tuple(blockers), tuple(guesses))
    return count_hive(drawn.values[hive], done, known.rules.gauntlet)


def _result(
    known: SeatConstraints, end: KnownResult, drawn: HiddenPart, tallies: dict[str, list[SeatCount]]
) -> tuple[float, PointResults, list[Scores]]:
    """Return the difference from the known result (0: none), the result, and the guessed scores."""
    points, feats = summed(tallies.values())
    off: float = 0
    scores: list[Scores] = []
    if end.guessed is not None:
        scores = _scores(known, drawn, [score(each) for each in points])
        right = right_guesses(points, [each.scores for each in scores])
        off += 2 * abs(sum(guesser == known.seat for guesser, _ in right) - end.guessed.right)
        points = with_right_guesses(points, right)
    result = settle(known.rules, points, feats)
    return off + _off(known, end, result), result, scores


def _off(known: SeatConstraints, end: KnownResult, result: PointResults) -> float:
    """Return the difference between a result and the known facts about it; 0 if they agree."""
    points = result.points
    standings = [standing(known.rules, each) for each in points]
    orders = [order(each) for each in points]
    winner = max(known.others, key=lambda seat: standings[seat]) if end.winner is None else end.winner
    off: float = 0
    for seat, other in enumerate(standings):
        if seat != winner and other >= standings[winner]:
            off += 1 + other[0] - standings[winner][0]
    if not end.tie:
        return off
    safe = {winner, result.feats_winner}
    low = sorted((order, seat) for seat, order in enumerate(orders) if seat not in safe)
    tied = end.tied or (low[0][1], low[1][1])
    off += 2 * (result.feats_winner in tied)
    least = orders[tied[0]]
    for seat, mine in enumerate(orders):
        if seat in tied:
            off += 2 * abs(mine[0] - least[0]) + abs(mine[1] - least[1]) / 3 + abs(mine[2] - least[2]) / 2
        elif mine < least or (mine == least and (end.tied or seat == winner)):
            off += (seat not in safe or seat == winner) * (1 + least[0] - mine[0])
    return off or float(not result.winner_breaks_tie)


def _ended(state: HiveMindState, end: KnownResult, result: PointResults, scores: list[Scores]) -> HiveMindState:
    """Play the windows after the rounds, as far as this seat knows them."""
    state = play.close_scores(state, scores, MatchRandom(0)).state if scores else replace(state, result=result)
    if end.asked:
        action = GiveToken(seat=end.given.to) if end.given else None
        state = play.close_give_token(state, action, MatchRandom(0)).state
    return state


def _scores(known: SeatConstraints, drawn: HiddenPart, totals: list[int]) -> list[Scores]:
    """Return all seats' guessed scores; the seats of `HiddenPart.right` guess this seat's total."""
    most = max(totals)
    guesses: dict[int, dict[str, int]] = {seat: {} for seat in known.others}
    for (seat, other), share in drawn.scores.items():
        guesses[seat][str(other)] = int(share * (most + 1))
    for seat in drawn.right:
        guesses[seat][str(known.seat)] = totals[known.seat]
    every = [Scores(scores=cast("dict[SeatKey, int]", dict(sorted(each.items())))) for each in guesses.values()]
    every.insert(known.seat, Scores(scores=known.view.scores or {}))
    return every
