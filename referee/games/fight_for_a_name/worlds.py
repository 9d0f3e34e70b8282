"""Worlds of The Fight For a Name: states that fit a seat's view, with everything hidden from the seat drawn.

A world is drawn in this order:

- Actions of other seats: some steps of a chain of histories (`histories`), all of which reproduce the reported
  positions, holders, white hexes, claims and gifts. Successive worlds have similar histories; a new chain starts
  after `ANEW` draws. Longer paths are less likely, and one path represents all of its length.
- Banners: all layouts that fit are equally likely, regardless of how likely the pillars' answers were. A layout
  fits the seat's answers and all claims, and gives the seat no title that it did not claim.
- Titles at pillars: drawn as the host draws them, around what the seat saw and the crests that claimers needed.
- Questions of other seats: the six titles in random uses. No crest gives another seat a title that it did not
  claim, so a seat that lost a title to another is assumed to have lacked its crest.
- Ranks in the timed game: all orders are equally likely, unless a claim depends on the rank of this seat.

While pillars answer, moves of the round are drawn that fit the seat's own visit. In a vote, worlds are drawn until
the candidates are those in the view.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, product
from random import Random
from typing import cast

from msgspec.structs import replace

from protocol.games.fight_for_a_name import (
    Ask,
    Banner,
    Colour,
    Direction,
    FightOptions,
    FightSetup,
    FightView,
    Move,
    Pillar,
    Puzzle,
    Title,
    Visit,
)
from protocol.games.fight_for_a_name.board import COLOURS, HEXES, PILLARS, START, STEPS, TITLES, visits, walks
from referee.games.fight_for_a_name import ending
from referee.games.fight_for_a_name.histories import Banner as Colours
from referee.games.fight_for_a_name.histories import History, drawn_gifts, holder, path
from referee.games.fight_for_a_name.moving import CROWD, INCOME, MOST_GIVEN, answer_to, play_moves
from referee.games.fight_for_a_name.seen import voters
from referee.games.fight_for_a_name.state import (
    NUMBER,
    SEATS,
    SHOWN,
    SHOWN_AT,
    Amounts,
    FightSeat,
    FightState,
    Phase,
    drawn_pillars,
    winners,
)

APART = 12
"""Number of values of the history that are redrawn between two worlds."""
ANEW = 400
"""Number of draws from one chain of histories."""
TRIES = 2_000
"""Number of failed draws in a row after which ValueError is raised."""
LAYOUTS = 20_000
"""Number of layouts of banners that are tried for one world."""
NEAR = 4
"""Longest move, in steps, that is assumed of other seats while pillars answer, unless a visit needs more."""


def worlds(view: FightView, seat: int, rng: Random, options: FightOptions) -> Iterator[FightState]:
    """See `Game.worlds`.

    Raises:
        ValueError: the match is over, so that nothing is hidden, or no world was found that fits the view.
    """
    if view.revealed is not None:
        raise ValueError("the match is over: nothing is hidden")
    facts = BannerFacts(view)
    fails = 0
    while True:
        try:
            history = History(view, facts.may_be, rng)
        except ValueError:
            fails += 1
            if fails > TRIES // ANEW:
                raise
            continue
        drawing = WorldSampler(view, seat, rng, replace(options, rounds=view.rounds), facts, history)
        for _ in range(ANEW):
            world = drawing.world()
            if world is None:
                fails += 1
                if fails > TRIES:
                    raise ValueError("no world was found that fits what this seat was told")
            else:
                fails = 0
                yield world


class BannerFacts:
    """Facts about banners and pillars from the seat's own visits and the reveal."""

    def __init__(self, view: FightView) -> None:
        everything = set(COLOURS)
        self.bodies: dict[Title, set[Colour]] = {title: set(everything) for title in TITLES}
        self.partings: dict[Title, set[Colour]] = {title: set(everything) for title in TITLES}
        self.pillars: dict[Pillar, tuple[Title, ...]] = {}
        for visit in view.visits:
            if visit.titles:
                self.pillars[visit.pillar] = visit.titles
            if visit.asked is not None and visit.answer is not None:
                asked, answer = visit.asked, visit.answer
                _keep(self.bodies, *asked.body, is_it=answer.body)
                _keep(self.partings, *asked.parting, is_it=answer.parting)
                absent = [(asked.other[0], answer.other), *product(asked.neither, answer.neither)]
                for title, colour in absent:
                    self.bodies[title].discard(colour)
                    self.partings[title].discard(colour)
        if view.revealed is not None:
            self.pillars = dict(view.revealed.pillars)
            for title, banner in view.revealed.titles.items():
                self.bodies[title], self.partings[title] = {banner.body}, {banner.parting}

    def may_be(self, title: Title, banner: Colours) -> bool:
        """Return whether the facts allow the title to have that banner."""
        return banner[0] in self.bodies[title] and banner[1] in self.partings[title]


def _keep(colours: dict[Title, set[Colour]], title: Title, colour: Colour, *, is_it: bool) -> None:
    if is_it:
        colours[title] &= {colour}
    else:
        colours[title].discard(colour)


Node = tuple[list[int], list[tuple[Colour, "Node"]]]
"""Cumulative numbers of layouts by colour of a title, and the colours, each with the next title's node."""


class Layouts:
    """Sampler of a colour for each title, with every colour used twice; allowed layouts are equally likely."""

    def __init__(self, allowed: dict[Title, set[Colour]]) -> None:
        self._allowed = [sorted(map(COLOURS.index, allowed[title])) for title in TITLES]
        self._nodes: dict[tuple[int, ...], tuple[int, Node]] = {}
        self.count, self._first = self._node((2,) * len(COLOURS))

    def _node(self, left: tuple[int, ...]) -> tuple[int, Node]:
        if left in self._nodes:
            return self._nodes[left]
        title = len(TITLES) - sum(left)
        if title == len(TITLES):
            return 1, ([], [])
        counts: list[int] = []
        colours: list[tuple[Colour, Node]] = []
        total = 0
        for colour in self._allowed[title]:
            if left[colour]:
                after = (*left[:colour], left[colour] - 1, *left[colour + 1 :])
                count, rest = self._node(after)
                if count:
                    total += count
                    counts.append(total)
                    colours.append((COLOURS[colour], rest))
        self._nodes[left] = total, (counts, colours)
        return self._nodes[left]

    def draw(self, rng: Random, unlike: Sequence[Colour] = ()) -> list[Colour] | None:
        """Draw the colours, indexed by title; return None if a title has the same colour in `unlike`."""
        counts, options = self._first
        colours: list[Colour] = []
        while counts:
            colour, (counts, options) = options[bisect(counts, rng.random() * counts[-1])]
            if unlike and colour == unlike[len(colours)]:
                return None
            colours.append(colour)
        return colours


class WorldSampler:
    """Sampler of worlds along one chain of histories."""

    def __init__(  # noqa: PLR0917 - all that it draws from
        self,
        view: FightView,
        seat: int,
        rng: Random,
        options: FightOptions,
        facts: BannerFacts,
        history: History,
    ) -> None:
        self.view, self.seat, self.rng, self.options = view, seat, rng, options
        self.facts, self.history = facts, history
        claimed = history.banners()
        bodies = {t: {claimed[t][0]} & facts.bodies[t] if t in claimed else facts.bodies[t] for t in TITLES}
        partings = {t: {claimed[t][1]} & facts.partings[t] if t in claimed else facts.partings[t] for t in TITLES}
        self.bodies, self.partings = Layouts(bodies), Layouts(partings)
        self.gifts = drawn_gifts(history, rng)
        self.tempting: dict[tuple[int, int, int], frozenset[Colours]] = {}
        """Banners that a seat could make, by round, number of claims before in it, and seat; rounds without
        claims."""
        self.moving: dict[tuple[int, int, int], frozenset[Colours]] = {}
        """The same for rounds with claims, which depends on the history."""
        self.moved: dict[int, tuple[tuple[Move, ...], tuple[int, ...], Amounts, Amounts]] = {}
        """Results of `_moved` by seat, valid until the seat's part of the history changes."""
        self.puzzle = Puzzle(numbers=view.numbers, target=view.target)
        self.own = _own_player(view)

    def world(self) -> FightState | None:
        """Return the next world, or None if the draw does not fit the view."""
        for seat in self.history.step(APART):
            self.moved.pop(seat, None)
        self.moving.clear()
        if not (self.bodies.count and self.partings.count):
            return None
        came = self._arrivals()
        banners = self._banners()
        if banners is None:
            return None
        won = self._won_with(came, banners)
        if won is None:
            return None
        rank = self._rank(won, banners)
        needed: dict[Pillar, set[Title]] = {}
        for title, (_, pillar) in won.items():
            needed.setdefault(pillar, set()).add(title)
        pillars = self._pillars(needed)
        setup = FightSetup(
            colours=self.view.colours,
            titles={title: Banner(body=body, parting=parting) for title, (body, parting) in banners.items()},
            pillars=pillars,
            challenge=self.puzzle,
        )
        players = tuple(
            self.own if seat == self.seat else self._player(seat, came[seat], setup, banners, won)
            for seat in range(SEATS)
        )
        state = FightState(
            options=self.options,
            setup=setup,
            phase="move" if self.view.round else "challenge",
            round=self.view.round,
            challenge=rank if rank is not None else (),
            players=players,
            history=self.view.history,
            white=self.view.white,
            claims=self.view.claims,
        )
        if rank is None:
            return None
        return self._in_phase(state)

    def _arrivals(self) -> list[list[tuple[int, Pillar, bool]]]:
        """Return each seat's visits, indexed by seat: round, pillar, and whether the visitor was turned away."""
        found: list[list[tuple[int, Pillar, bool]]] = [[] for _ in range(SEATS)]
        for r in range(1, self.history.rounds + 1):
            arrived = self.history.arrived(r)
            counts = Counter(arrived.values())
            for seat, pillar in arrived.items():
                found[seat].append((r, pillar, counts[pillar] > CROWD))
        return found

    def _banners(self) -> dict[Title, Colours] | None:
        """Draw a layout in which the seat could not have claimed more than it did, or return None."""
        avoided = [(title, self._tempted(self.seat, r, title)) for title, r in self.view.crests.items()]
        for _ in range(LAYOUTS):
            bodies = self.bodies.draw(self.rng)
            partings = self.partings.draw(self.rng, cast("list[Colour]", bodies))
            if partings is not None:
                banners = dict(zip(TITLES, zip(cast("list[Colour]", bodies), partings, strict=True), strict=True))
                if not any(banners[title] in tempting for title, tempting in avoided):
                    return banners
        return None

    def _tempted(self, seat: int, since: int, title: Title, *, lost: bool = False) -> frozenset[Colours]:
        """Return the banners with which the seat, holding the crest since then, would have claimed the title.

        `since` is the first round with the crest. `lost` includes the round in which another seat claimed the
        title.
        """
        history, found = self.history, frozenset[Colours]()
        claim = self.view.claims.get(title)
        last = min(claim.round if claim else history.rounds, history.claim_round.get(seat, history.rounds))
        for r in range(since, min(last, history.rounds) + 1):
            claims = history.claims[r - 1]
            stage = sum(each < title for each, _ in claims)
            if claim is not None and claim.round == r and (claim.seat == seat or not lost):
                continue
            if any(claimer == seat for _, claimer in claims[:stage]):
                continue
            found |= self._could_make(r, stage, seat)
        return found

    def _could_make(self, r: int, stage: int, seat: int) -> frozenset[Colours]:
        claims = self.history.claims[r - 1]
        known = self.moving if claims else self.tempting
        if (r, stage, seat) not in known:
            if claims:
                self._fill(r, stage)
            else:
                self._note(r, 0, self.history.held[r - 1])
        return known.get((r, stage, seat), frozenset())

    def _fill(self, r: int, stage: int) -> None:
        """Record the banners that seats could make in a round with claims, after the first `stage` claims."""
        self._note(r, stage, self._held(r, stage))

    def _held(self, r: int, stage: int) -> dict[int, int]:
        """Return the holders of hexes in a round with claims, after the first `stage` claims."""
        made = self.history.claimed[r - 1][:stage]
        gone = {claim.seat for claim in made}
        white = set(chain.from_iterable(claim.hexes for claim in made))
        held = {}
        for number, strengths in self.history.strengths(r).items():
            if number not in white:
                who = holder({each: strength for each, strength in strengths.items() if each not in gone})
                if who is not None:
                    held[number] = who
        return held

    def _note(self, r: int, stage: int, held: dict[int, int]) -> None:
        known = self.moving if self.history.claims[r - 1] else self.tempting
        colours: dict[int, Counter[Colour]] = {seat: Counter() for seat in range(SEATS)}
        for number, seat in held.items():
            colours[seat][self.history.colour[number]] += 1
        for seat, counts in colours.items():
            pairs = product(counts, [parting for parting, count in counts.items() if count > 1])
            known[r, stage, seat] = frozenset((body, parting) for body, parting in pairs if body != parting)

    def _won_with(
        self, came: list[list[tuple[int, Pillar, bool]]], banners: dict[Title, Colours]
    ) -> dict[Title, tuple[int, Pillar]] | None:
        """Draw the visit, as round and pillar, at which each other claimer received its title's crest.

        Return None if a claimer has no visit that fits.
        """
        won: dict[Title, tuple[int, Pillar]] = {}
        for title, claim in self.view.claims.items():
            if claim.seat == self.seat:
                continue
            fitting = [
                (r, pillar)
                for r, pillar, is_crowd in came[claim.seat]
                if not is_crowd
                and (pillar not in self.facts.pillars or title in self.facts.pillars[pillar])
                and banners[title] not in self._tempted(claim.seat, r, title)
            ]
            if not fitting:
                return None
            won[title] = self.rng.choice(fitting)
        return won

    def _rank(self, won: dict[Title, tuple[int, Pillar]], banners: dict[Title, Colours]) -> tuple[int, ...] | None:
        """Draw the ranks in the timed game; return None if this seat should have had a title of another."""
        if self.view.revealed is not None:
            return self.view.revealed.challenge
        rank = self.rng.sample(range(SEATS), SEATS)
        for title, (got, _) in won.items():
            claim = self.view.claims[title]
            since = self.view.crests.get(title)
            if (
                since is None
                or since > claim.round
                or self.history.claim_round.get(self.seat, SEATS**4) < claim.round
            ):
                continue
            stage = sum(each < title for each, _ in self.history.claims[claim.round - 1])
            made = self.history.claimed[claim.round - 1]
            if any(each.seat == self.seat for each in made[:stage]):
                continue
            if banners[title] not in self._could_make(claim.round, stage, self.seat):
                continue
            theirs = self._spent_on(claim.seat, made[stage].hexes, claim.round)
            mine = self._spent_on(self.seat, self._own_hexes(claim.round, stage, banners[title]), claim.round)
            if (-theirs, got) > (-mine, since):
                return None
            one, other = rank.index(claim.seat), rank.index(self.seat)
            if (-theirs, got) == (-mine, since) and one > other:
                rank[one], rank[other] = rank[other], rank[one]
        return tuple(rank)

    def _own_hexes(self, r: int, stage: int, banner: Colours) -> tuple[int, ...]:
        held = [number for number, seat in self._held(r, stage).items() if seat == self.seat]
        body = [number for number in held if self.history.colour[number] == banner[0]]
        parting = [number for number in held if self.history.colour[number] == banner[1]]
        return (min(body), *sorted(parting)[:2])

    def _spent_on(self, seat: int, hexes: Sequence[int], r: int) -> int:
        return sum(self.history.spent_on(seat, number, r) for number in hexes)

    def _pillars(self, needed: dict[Pillar, set[Title]]) -> dict[Pillar, tuple[Title, ...]]:
        known = self.facts.pillars
        if not known and not needed:
            return dict(zip(PILLARS, drawn_pillars(self.rng), strict=True))
        for _ in range(TRIES):
            shown = self._shown(known, needed)
            if shown is not None:
                return shown
        raise ValueError("what pillars showed, and the crests of the titles that were claimed, fit no setup")

    def _shown(
        self, known: dict[Pillar, tuple[Title, ...]], needed: dict[Pillar, set[Title]]
    ) -> dict[Pillar, tuple[Title, ...]] | None:
        """Draw the titles at pillars as `setup.drawn_pillars` does, around the known and needed ones.

        Return None if the draw breaks a rule of the setup.
        """
        rng = self.rng
        left = dict.fromkeys(TITLES, SHOWN_AT)
        for titles in known.values():
            for title in titles:
                left[title] -= 1
        needed = {pillar: titles for pillar, titles in needed.items() if pillar not in known}
        later = Counter(chain.from_iterable(needed.values()))
        shown = dict(known)
        order = [pillar for pillar in PILLARS if pillar not in known]
        rng.shuffle(order)
        for at, pillar in enumerate(order):
            must = {title for title, count in left.items() if count == len(order) - at}
            if pillar in needed:
                must |= needed[pillar]
                later.subtract(needed[pillar])
            rest = [title for title, count in left.items() if count > later[title] and title not in must]
            if len(must) > SHOWN or len(rest) < SHOWN - len(must):
                return None
            here = [*sorted(must), *rng.sample(rest, SHOWN - len(must))]
            rng.shuffle(here)
            for title in here:
                left[title] -= 1
            shown[pillar] = tuple(here)
        if any(left.values()) or len(set(map(frozenset, shown.values()))) < len(PILLARS):
            return None
        return {pillar: shown[pillar] for pillar in PILLARS}

    def _player(
        self,
        seat: int,
        came: list[tuple[int, Pillar, bool]],
        setup: FightSetup,
        banners: dict[Title, Colours],
        won: dict[Title, tuple[int, Pillar]],
    ) -> FightSeat:
        """Draw the visits and crests of another seat, and return its player."""
        history = self.history
        title = next((title for title, claim in self.view.claims.items() if claim.seat == seat), None)
        asked: list[Visit] = []
        crests: dict[Title, int] = {}
        for r, pillar, is_crowd in came:
            if is_crowd:
                asked.append(Visit(round=r, pillar=pillar, titles=()))
                continue
            shown = setup.pillars[pillar]
            if title is not None and won[title] == (r, pillar):
                crest: Title | None = title
            else:
                crest = self._crest(seat, r, shown, banners)
            ask = None if crest is None else _drawn_ask(shown, crest, self.rng)
            answer = None if ask is None else answer_to(ask, setup.titles, self.rng)
            asked.append(Visit(round=r, pillar=pillar, titles=shown, asked=ask, answer=answer))
            if crest is not None:
                crests.setdefault(crest, r)
        if seat not in self.moved:
            self.moved[seat] = self._moved(seat)
        moves, reached, strengths, spent = self.moved[seat]
        position = history.positions[-1].get(seat)
        last = moves[-1] if moves and position is None else Move()
        mp = cast("int", history.mp(seat))
        return FightSeat(
            position=position,
            mp=0 if position is None else mp + INCOME * (history.rounds < self.view.round),
            crests=dict(sorted(crests.items())),
            strengths=strengths,
            spent=spent,
            reached=reached,
            visits=tuple(asked),
            moves=moves,
            barred=next((int(key) for key, amount in last.give.items() if amount == MOST_GIVEN), None),
        )

    def _crest(self, seat: int, r: int, shown: tuple[Title, ...], banners: dict[Title, Colours]) -> Title | None:
        """Draw a crest that gave the seat no title that it did not claim; None means that it asked nothing."""
        rng = self.rng
        for title in rng.sample(shown, len(shown)):
            if banners[title] not in self._tempted(seat, r, title, lost=True):
                return title
        return None

    def _moved(self, seat: int) -> tuple[tuple[Move, ...], tuple[int, ...], Amounts, Amounts]:
        """Return the seat's moves, the hexes where they ended, its strengths, and the MP spent per hex."""
        history = self.history
        moves: list[Move] = []
        reached: set[int] = set()
        strengths, spent_on = Counter[str](), Counter[str]()
        titled = history.claim_round.get(seat)
        for r in range(1, history.rounds + 1):
            if titled is not None and titled < r:
                moves.append(self.gifts[r - 1][seat])
                continue
            put: dict[str, int] = {}
            way: tuple[Direction, ...] = ()
            for spent in history.by_seat[seat][r]:
                number = NUMBER.get(spent.place)
                if spent.is_put:
                    if spent.amount:
                        put[spent.place] = spent.amount
                else:
                    way = path(spent.start, spent.place, spent.amount)
                    if number is not None:
                        reached.add(number)
                if number is not None and titled is None and number not in history.white_at:
                    strengths[spent.place] += spent.strength if spent.amount or not spent.is_put else 0
                    spent_on[spent.place] += spent.amount
            moves.append(_walked(way) if not put else Move(path=way, reinforce=put))
        if titled is not None:
            return tuple(moves), tuple(sorted(reached)), {}, {}
        return tuple(moves), tuple(sorted(reached)), _amounts(strengths), _amounts(spent_on)

    def _in_phase(self, state: FightState) -> FightState | None:
        """Return the state in the phase of the open window, or None if it does not fit the view."""
        view = self.view
        if view.round == 0:
            return replace(state, challenge=())
        if view.revealed is not None or len(view.history) == view.round:
            return self._after_the_last(replace(state, gifts=view.history[-1].gifts))
        if len(view.moves) == len(view.history):
            return state
        return self._while_pillars_answer(state)

    def _after_the_last(self, state: FightState) -> FightState | None:
        view, rng = self.view, self.rng
        last = ending.last(state)
        if view.revealed is not None:
            return replace(state, phase="over", eliminated=rng.choice(last), revealed=view.revealed)
        first = winners(state)
        others = tuple(sorted({claim.seat for claim in state.claims.values()} - set(first)))
        phases: list[tuple[Phase, tuple[int, ...]]] = []
        if others and len(first) < ending.FEW_FOR_A_VOTE:
            phases.append(("token_vote", others))
        if len(last) > 1 and state.claims:
            phases.append(("elimination_vote", last))
            if "Justice" in state.claims:
                shown = view.candidates or tuple(sorted(rng.sample(last, rng.randint(2, len(last)))))
                if set(shown) <= set(last):
                    phases.append(("justice", shown))
        rng.shuffle(phases)
        for phase, candidates in phases:
            after = replace(state, phase=phase, candidates=candidates)
            if (candidates if self.seat in voters(after) else None) == view.candidates:
                return after
        return None

    def _while_pillars_answer(self, state: FightState) -> FightState | None:
        """Return the state in which all seats have moved and visitors may ask, or None if it does not fit."""
        view, rng, seat = self.view, self.rng, self.seat
        own = view.visits[-1] if view.visits and view.visits[-1].round == view.round else None
        before = replace(state, players=_put(state.players, seat, _before_the_move(view)))
        moves: list[Move] = []
        for number, player in enumerate(state.players):
            if number == seat:
                moves.append(view.moves[-1])
            elif player.position is None:
                moves.append(Move())
            else:
                visited = frozenset(visit.pillar for visit in player.visits)
                moves.append(_walked(rng.choice(_ways(player.position, min(player.mp, NEAR), visited))))
        if own is None or not own.titles:
            self._send(state, moves, None if own is None else own.pillar)
        after, _ = play_moves(before, tuple(moves))
        now = after.players[seat]
        if own is not None:
            if now.visits[-1].titles != own.titles:
                return None
            now = replace(now, visits=view.visits, crests=view.crests)
        if not after.visitors:
            return None
        return replace(after, phase="pillar", players=_put(after.players, seat, now))

    def _send(self, state: FightState, moves: list[Move], pillar: Pillar | None) -> None:
        """Send enough seats to the pillar to make the visit a crowd, or one seat to any if `pillar` is None."""
        able = []
        for number, player in enumerate(state.players):
            if number != self.seat and player.position is not None:
                visited = {visit.pillar for visit in player.visits}
                ways = [way for name, way in visits(player.position, player.mp, visited) if pillar in (None, name)]
                if ways:
                    able.append((number, self.rng.choice(ways)))
        self.rng.shuffle(able)
        for number, way in able[: 1 if pillar is None else CROWD]:
            moves[number] = Move(path=way)


def _put(players: tuple[FightSeat, ...], seat: int, player: FightSeat) -> tuple[FightSeat, ...]:
    return (*players[:seat], player, *players[seat + 1 :])


@lru_cache(maxsize=4096)
def _ways(position: str, mp: int, visited: frozenset[str]) -> list[tuple[Direction, ...]]:
    return [*walks(position, mp).values(), *(way for _, way in visits(position, mp, visited))]


@lru_cache(maxsize=4096)
def _walked(way: tuple[Direction, ...]) -> Move:
    return Move(path=way)


def _drawn_ask(shown: tuple[Title, ...], crest: Title, rng: Random) -> Ask:
    body, parting, other, one, two = rng.sample([title for title in shown if title != crest], len(shown) - 1)
    colours = rng.choices(COLOURS, k=3)
    one, two = sorted((one, two))
    return Ask(
        body=(body, colours[0]),
        parting=(parting, colours[1]),
        other=(other, colours[2]),
        neither=(one, two),
        crest=crest,
    )


def _own_player(view: FightView) -> FightSeat:
    return FightSeat(
        position=view.position,
        mp=view.mp or 0,
        crests=view.crests,
        strengths=_amounts(view.strengths),
        spent=_amounts(view.spent),
        reached=view.reached,
        visits=view.visits,
        moves=view.moves,
        barred=view.barred,
    )


def _amounts(by_name: dict[str, int]) -> Amounts:
    return {name: by_name[name] for name in HEXES if by_name.get(name)}


def _before_the_move(view: FightView) -> FightSeat:
    """Return the seat's own player before its move of this round, which is the last one in the view."""
    move, own = view.moves[-1], _own_player(view)
    before = replace(
        own,
        moves=view.moves[:-1],
        visits=tuple(visit for visit in view.visits if visit.round < view.round),
        crests={title: r for title, r in view.crests.items() if r < view.round},
    )
    if view.position is None:
        return before
    at = view.history[-1].positions[str(view.seat)] if view.history else START
    strengths, spent = Counter(own.strengths), Counter(own.spent)
    for name, amount in move.reinforce.items():
        strengths[name] -= amount
        spent[name] -= amount
    number = NUMBER.get(view.position)
    if number is not None and number not in view.white:
        strengths[view.position] -= len(move.path) + 1
        spent[view.position] -= len(move.path)
    reached = set()
    place = START
    for past in view.moves[:-1]:
        for way in past.path:
            place = STEPS[place][way]
        reached.add(NUMBER.get(place, 0))
    return replace(
        before,
        position=at,
        mp=own.mp + len(move.path) + sum(move.reinforce.values()),
        strengths=_amounts(strengths),
        spent=_amounts(spent),
        reached=tuple(sorted(reached - {0})),
    )
