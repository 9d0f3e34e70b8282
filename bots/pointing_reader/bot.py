"""Plays Pointing by comparing maps: which places the bot may have, and what each answer scores if others repeat.

In round 1 all other seats are alike, and the bot points at a random one. A map shows everything except which seat
is at which place. So the bot draws one world that fits the first map and lists the places that it may have there,
all equally likely. In round 2 it chooses the answer that does best with the information of the next map, assuming
that the others keep their targets. In round 3 it lists all ways in which the second map can follow from the first
if no other seat changed its target, or one did. How much likelier the map is so than by chance decides how far
these ways are trusted. The alternative is that all others point at random again. The objective is the final place.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import combinations, islice
from math import comb, prod
from operator import attrgetter
from random import Random
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from bots.kit import Window, run
from bots.pointing import Shape, arrangements, final_place, shape, successions, with_target
from protocol.games.pointing import Point, PointingView, Vote
from protocol.games.pointing.map import Targets
from referee.games import GAMES

RULES = GAMES["pointing"]
SECOND_ROUND, ROUNDS = 2, 3
REPEAT = (0.35, 0.15)
"""Prior probabilities that no other seat changes its target, and that one does; otherwise all do."""
WEIGHED = 150
"""Worlds in which all others point at random again."""
MOST = 80
"""Ways from the first map to the second in which answers are tried: the likeliest ones."""
TRIED = 4
"""Places that are tried for a seat of which nothing is known."""


class Guess(Struct, frozen=True):
    """A possible course of the match. Places are those of one arrangement of the first map."""

    weight: float
    rounds: tuple[Targets, ...]
    """The targets of each round, indexed by place."""
    me: int
    named: dict[int, int]
    """The places of the seats that the bot has pointed at."""
    changed: tuple[int, ...] = ()
    """The other places that change their targets."""


def decide(window: Window[PointingView]) -> Point | Vote:
    """Return the answer that does best over the guesses."""
    view, rng = window.view, window.rng
    assert view.seat is not None  # noqa: S101 - a window is open for it
    others = [seat for seat in range(view.seats) if seat != view.seat]
    if window.name == "vote":
        return Vote(seat=rng.choice([seat for seat in view.tied if seat != view.seat]))
    if view.round == 1:
        return Point(target=rng.choice(others))
    unused = [seat for seat in others if seat not in view.targets]
    # Seats that the bot has never pointed at are all alike to it.
    answers = [*dict.fromkeys([*view.targets, None, *rng.sample(unused, min(1, len(unused)))])]
    rng.shuffle(answers)
    worths = second(view, rng, answers) if view.round == SECOND_ROUND else third(view, rng, answers)
    return Point(target=max(answers, key=lambda answer: worths[answer]))


def second(view: PointingView, rng: Random, answers: Sequence[int | None]) -> dict[int | None, float]:
    """Return the mean final place for each answer of round 2."""
    guesses, changed, trust = guesses_of(view, rng), anew(view, rng), sum(REPEAT)
    worths: dict[int | None, float] = {}
    for answer in answers:
        by_map: dict[Shape, list[Guess]] = {}
        for guess in guesses:
            for then in repeated(guess, answer):
                by_map.setdefault(shape(then.rounds[-1]), []).append(then)
        last = dict.fromkeys([*answers, answer])
        known = 0.0
        for like in by_map.values():
            known += max(worth(like, each, rng) for each in last)
        worths[answer] = trust * known + (1 - trust) * changed[answer is not None]
    return worths


def third(view: PointingView, rng: Random, answers: Sequence[int | None]) -> dict[int | None, float]:
    """Return the mean final place for each answer of round 3."""
    like, changed = explained(view, rng), anew(view, rng)
    trust = sum(guess.weight for guess in like)
    return {answer: worth(like, answer, rng) + (1 - trust) * changed[answer is not None] for answer in answers}


def guesses_of(view: PointingView, rng: Random) -> list[Guess]:
    """Return all places that the bot may have had in round 1, in one arrangement of the map."""
    first, asked = worlds(view, rng, 1, 1)[0][0], view.targets[0]
    mine = [place for place, target in enumerate(first) if (target is None) == (asked is None)]
    return merged(Guess(1 / len(mine), (first,), place, _named(asked, first[place])) for place in mine)


def merged(guesses: Iterable[Guess]) -> list[Guess]:
    """Return the guesses, with indistinguishable ones merged and their weights added."""
    alike: dict[Shape, list[Guess]] = {}
    for guess in guesses:
        key = shape(guess.rounds[0], (guess.me, *guess.named.values(), *guess.changed))
        alike.setdefault(key, []).append(guess)
    return [_with_total_weight(those) for those in alike.values()]


def _with_total_weight(guesses: Sequence[Guess]) -> Guess:
    return replace(guesses[0], weight=sum(guess.weight for guess in guesses))


def explained(view: PointingView, rng: Random) -> list[Guess]:
    """Return the ways in which the second map may follow from the first.

    The total weight falls short of 1 by the probability that all point at random again.
    """
    shown, answer = worlds(view, rng, 2, 1)[0][1], view.targets[1]
    found: list[Guess] = []
    for guess in changes(guesses_of(view, rng)):
        options = [places(guess, answer), *(elsewhere(guess, place) for place in guess.changed)]
        ways = prod(map(len, options))
        every = successions(guess.rounds[0], shown, (guess.me, *guess.changed), options)
        found += [pointed(guess, answer, then, ways) for then in every]
    rng.shuffle(found)
    likeliest = nlargest(MOST, found, key=lambda guess: guess.weight)
    known = sum(guess.weight for guess in found)
    trust = known / (known + (1 - sum(REPEAT)) * chance(shown, view))
    scale = trust / sum(guess.weight for guess in likeliest) if likeliest else 0.0
    return [replace(guess, weight=guess.weight * scale) for guess in likeliest]


def changes(guesses: Sequence[Guess]) -> Iterator[Guess]:
    """Yield the guesses for each choice of other places that change their targets."""
    for number, thought in enumerate(REPEAT):
        for guess in guesses:
            rest = [place for place in range(len(guess.rounds[0])) if place != guess.me]
            weight = guess.weight * thought / comb(len(rest), number)
            every = combinations(rest, number)
            yield from merged(replace(guess, weight=weight, changed=changed) for changed in every)


def elsewhere(guess: Guess, place: int) -> list[int | None]:
    """Return the targets that this place may have after a change."""
    first = guess.rounds[0]
    return [target for target in (*range(len(first)), None) if target not in {place, first[place]}]


def repeated(guess: Guess, answer: int | None) -> list[Guess]:
    """Return the guesses with one more round, in which all others keep their targets."""
    own = places(guess, answer)
    return [pointed(guess, answer, with_target(guess.rounds[0], guess.me, place), len(own)) for place in own]


def pointed(guess: Guess, answer: int | None, then: Targets, ways: int) -> Guess:
    """Return the guess with one more round, which is one of `ways` equally likely ones."""
    named = {**guess.named, **_named(answer, then[guess.me])}
    return Guess(guess.weight / ways, (*guess.rounds, then), guess.me, named, guess.changed)


def _named(answer: int | None, place: int | None) -> dict[int, int]:
    return {} if answer is None or place is None else {answer: place}


def places(guess: Guess, answer: int | None) -> list[int | None]:
    """Return the places that the seat of this answer may have."""
    if answer is None:
        return [None]
    if answer in guess.named:
        return [guess.named[answer]]
    taken = {guess.me, *guess.named.values()}
    return [place for place in range(len(guess.rounds[0])) if place not in taken]


def worth(guesses: Iterable[Guess], answer: int | None, rng: Random) -> float:
    """Return the mean final place with this answer in the last round, weighted by these guesses."""
    total = 0.0
    for guess in guesses:
        where = places(guess, answer)
        tried = rng.sample(where, min(TRIED, len(where)))
        for own in tried:
            last = with_target(guess.rounds[0], guess.me, own)
            for place in guess.changed:
                last = with_target(last, place, other_seat(place, len(last), rng))
            total += guess.weight * final_place([*guess.rounds, last], guess.me) / len(tried)
    return total


def anew(view: PointingView, rng: Random) -> dict[bool, float]:
    """Return the mean final place if all others point at random from now on, by whether the bot points now."""
    seat, rate = view.seat or 0, pointing_rate(view)
    found: dict[bool, list[float]] = {True: [], False: []}
    for world in worlds(view, rng, view.round - 1, WEIGHED):
        rest = [any_round(view, rate, rng) for _ in range(len(world), ROUNDS)]
        found[True].append(final_place([*world, *rest], seat))
        found[False].append(final_place([*world, with_target(rest[0], seat, None), *rest[1:]], seat))
    return {points: fmean(each) for points, each in found.items()}


def any_round(view: PointingView, rate: float, rng: Random) -> Targets:
    """Draw a round in which the bot points, and the others do so at this rate."""
    return tuple(
        other_seat(seat, view.seats, rng) if seat == view.seat or rng.random() < rate else None
        for seat in range(view.seats)
    )


def chance(shown: Targets, view: PointingView) -> float:
    """Return the probability of this second map if all others point at random, as often as the maps show."""
    rate, mine, seats = pointing_rate(view), view.targets[1], view.seats
    pointing = sum(target is not None for target in shown)
    theirs = pointing - (mine is not None)
    # A map has `arrangements` seatings. This keeps those that agree with the bot's own answer and its target.
    ways = arrangements(shape(shown)) * (seats - pointing if mine is None else pointing / (seats - 1)) / seats
    return ways * (rate / (seats - 1)) ** theirs * (1 - rate) ** (seats - 1 - theirs)


def pointing_rate(view: PointingView) -> float:
    """Return the share of the others that have pointed."""
    idle = 0
    for sections, mine in zip(view.maps, view.targets, strict=False):
        idle += sum(section.kind != "loop" and not section.cut for section in sections) - (mine is None)
    return 1 - idle / (len(view.maps) * (view.seats - 1))


def worlds(view: PointingView, rng: Random, rounds: int, number: int) -> list[list[Targets]]:
    """Draw who may have pointed at whom in the first rounds, from the maps of these rounds alone."""
    known = replace(view, round=rounds + 1, maps=view.maps[:rounds], targets=view.targets[:rounds])
    found = islice(RULES.worlds(known, (), view.seat or 0, rng), number)
    return [list(map(attrgetter("pointed"), state.rounds)) for state in found]


def other_seat(seat: int, seats: int, rng: Random) -> int:
    """Return a random other seat."""
    return (seat + rng.randrange(1, seats)) % seats


if __name__ == "__main__":
    run(decide)
