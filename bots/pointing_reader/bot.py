"""Plays Pointing by what maps tell of each other: where it may sit, and what each answer brings if others repeat.

In round 1 all others are alike, and it points at any. A map leaves open only who sits where. So it takes one world
that fits the first map, and lists the places that it may have there: each is as likely. In round 2 it takes the
answer that does best with what the next map would then tell it, if the others keep their targets. In round 3 it
lists all ways in which the second map can have come from the first: no other seat changed its target, or one did.
How much likelier that map is so than by chance says how far to trust these ways. Otherwise all point anew, at
anybody. What counts is the place at the end.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import combinations, islice
from math import comb, prod
from random import Random
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from bots.kit import Window, run
from bots.pointing_sections import final_place
from bots.pointing_shapes import Shape, arrangements, shape, successions, with_target
from protocol.games.pointing import Point, PointingView, Vote
from protocol.games.pointing_map import Targets
from referee.games import GAMES

RULES = GAMES["pointing"]
SECOND_ROUND, ROUNDS = 2, 3
REPEAT = (0.35, 0.15)
"""How likely it is thought at first that no other seat changes its target, and that one does; else all do."""
WEIGHED = 150
"""Worlds in which all point anew."""
MOST = 80
"""Ways from the first map to the second in which answers are tried out: the likeliest."""
TRIED = 4
"""Places that are tried for a seat of which nothing is known."""


class Guess(Struct, frozen=True):
    """A way in which it may have been. Places are those of one arrangement of the first map."""

    weight: float
    rounds: tuple[Targets, ...]
    """By place."""
    me: int
    named: dict[int, int]
    """The places of the seats that it pointed at."""
    changed: tuple[int, ...] = ()
    """The other places that do not keep their targets."""


def decide(window: Window[PointingView]) -> Point | Vote:
    """What does best over the guesses."""
    view, luck = window.view, window.luck
    assert view.seat is not None  # noqa: S101 - a window is open for it
    others = [seat for seat in range(view.seats) if seat != view.seat]
    if window.name == "vote":
        return Vote(seat=luck.choice([seat for seat in view.tied if seat != view.seat]))
    if view.round == 1:
        return Point(target=luck.choice(others))
    unused = [seat for seat in others if seat not in view.targets]
    # Seats that it never pointed at are all alike to it.
    answers = [*dict.fromkeys([*view.targets, None, *luck.sample(unused, min(1, len(unused)))])]
    luck.shuffle(answers)
    worths = second(view, luck, answers) if view.round == SECOND_ROUND else third(view, luck, answers)
    return Point(target=max(answers, key=lambda answer: worths[answer]))


def second(view: PointingView, luck: Random, answers: Sequence[int | None]) -> dict[int | None, float]:
    """What each answer of round 2 is worth: the mean place at the end."""
    guesses, changed, trust = guesses_of(view, luck), anew(view, luck), sum(REPEAT)
    worths: dict[int | None, float] = {}
    for answer in answers:
        by_map: dict[Shape, list[Guess]] = {}
        for guess in guesses:
            for then in repeated(guess, answer):
                by_map.setdefault(shape(then.rounds[-1]), []).append(then)
        last = dict.fromkeys([*answers, answer])
        known = sum(max(worth(like, each, luck) for each in last) for like in by_map.values())
        worths[answer] = trust * known + (1 - trust) * changed[answer is not None]
    return worths


def third(view: PointingView, luck: Random, answers: Sequence[int | None]) -> dict[int | None, float]:
    """The same for round 3."""
    like, changed = explained(view, luck), anew(view, luck)
    trust = sum(guess.weight for guess in like)
    return {answer: worth(like, answer, luck) + (1 - trust) * changed[answer is not None] for answer in answers}


def guesses_of(view: PointingView, luck: Random) -> list[Guess]:
    """All that it may have been in round 1, in one arrangement of the map."""
    first, asked = worlds(view, luck, 1, 1)[0][0], view.targets[0]
    mine = [place for place, target in enumerate(first) if (target is None) == (asked is None)]
    return merged(Guess(1 / len(mine), (first,), place, _named(asked, first[place])) for place in mine)


def merged(guesses: Iterable[Guess]) -> list[Guess]:
    """The guesses, those that cannot be told apart as one with their weight."""
    alike: dict[Shape, list[Guess]] = {}
    for guess in guesses:
        alike.setdefault(shape(guess.rounds[0], (guess.me, *guess.named.values(), *guess.changed)), []).append(
            guess
        )
    return [replace(each[0], weight=sum(guess.weight for guess in each)) for each in alike.values()]


def explained(view: PointingView, luck: Random) -> list[Guess]:
    """The ways in which the second map may have come from the first. What they lack to 1: that all point anew."""
    shown, answer = worlds(view, luck, 2, 1)[0][1], view.targets[1]
    found: list[Guess] = []
    for guess in changes(guesses_of(view, luck)):
        options = [places(guess, answer), *(elsewhere(guess, place) for place in guess.changed)]
        ways = prod(map(len, options))
        every = successions(guess.rounds[0], shown, (guess.me, *guess.changed), options)
        found += [pointed(guess, answer, then, ways) for then in every]
    luck.shuffle(found)
    likeliest = nlargest(MOST, found, key=lambda guess: guess.weight)
    known = sum(guess.weight for guess in found)
    trust = known / (known + (1 - sum(REPEAT)) * chance(shown, view))
    scale = trust / sum(guess.weight for guess in likeliest) if likeliest else 0.0
    return [replace(guess, weight=guess.weight * scale) for guess in likeliest]


def changes(guesses: Sequence[Guess]) -> Iterator[Guess]:
    """The guesses with the other places that may change their targets."""
    for number, thought in enumerate(REPEAT):
        for guess in guesses:
            rest = [place for place in range(len(guess.rounds[0])) if place != guess.me]
            weight = guess.weight * thought / comb(len(rest), number)
            every = combinations(rest, number)
            yield from merged(replace(guess, weight=weight, changed=changed) for changed in every)


def elsewhere(guess: Guess, place: int) -> list[int | None]:
    """What this place may point at, other than in round 1."""
    first = guess.rounds[0]
    return [target for target in (*range(len(first)), None) if target not in {place, first[place]}]


def repeated(guess: Guess, answer: int | None) -> list[Guess]:
    """The guess with one more round, in which all others keep their targets."""
    own = places(guess, answer)
    return [pointed(guess, answer, with_target(guess.rounds[0], guess.me, place), len(own)) for place in own]


def pointed(guess: Guess, answer: int | None, then: Targets, ways: int) -> Guess:
    """The guess with one more round, one of so many that are as likely."""
    named = {**guess.named, **_named(answer, then[guess.me])}
    return Guess(guess.weight / ways, (*guess.rounds, then), guess.me, named, guess.changed)


def _named(answer: int | None, place: int | None) -> dict[int, int]:
    return {} if answer is None or place is None else {answer: place}


def places(guess: Guess, answer: int | None) -> list[int | None]:
    """Where the seat of this answer may sit."""
    if answer is None:
        return [None]
    if answer in guess.named:
        return [guess.named[answer]]
    taken = {guess.me, *guess.named.values()}
    return [place for place in range(len(guess.rounds[0])) if place not in taken]


def worth(guesses: Iterable[Guess], answer: int | None, luck: Random) -> float:
    """The mean place at the end with this answer in the last round, times the weight of these guesses."""
    total = 0.0
    for guess in guesses:
        where = places(guess, answer)
        tried = luck.sample(where, min(TRIED, len(where)))
        for own in tried:
            last = with_target(guess.rounds[0], guess.me, own)
            for place in guess.changed:
                last = with_target(last, place, other_seat(place, len(last), luck))
            total += guess.weight * final_place([*guess.rounds, last], guess.me) / len(tried)
    return total


def anew(view: PointingView, luck: Random) -> dict[bool, float]:
    """The mean place if all point at anybody from now on: if it points in this round, and if it does not."""
    seat, rate = view.seat or 0, pointing_rate(view)
    found: dict[bool, list[float]] = {True: [], False: []}
    for world in worlds(view, luck, view.round - 1, WEIGHED):
        rest = [any_round(view, rate, luck) for _ in range(len(world), ROUNDS)]
        found[True].append(final_place([*world, *rest], seat))
        found[False].append(final_place([*world, with_target(rest[0], seat, None), *rest[1:]], seat))
    return {points: fmean(each) for points, each in found.items()}


def any_round(view: PointingView, rate: float, luck: Random) -> Targets:
    """A round in which it points, and the others at this rate."""
    return tuple(
        other_seat(seat, view.seats, luck) if seat == view.seat or luck.random() < rate else None
        for seat in range(view.seats)
    )


def chance(shown: Targets, view: PointingView) -> float:
    """How likely this second map is if all others point at anybody, each as often as the maps show."""
    rate, mine, seats = pointing_rate(view), view.targets[1], view.seats
    pointing = sum(target is not None for target in shown)
    theirs = pointing - (mine is not None)
    # Of all ways to seat the map, its own answer leaves one for each place that it may have, and its target's.
    ways = arrangements(shape(shown)) * (seats - pointing if mine is None else pointing / (seats - 1)) / seats
    return ways * (rate / (seats - 1)) ** theirs * (1 - rate) ** (seats - 1 - theirs)


def pointing_rate(view: PointingView) -> float:
    """How often others pointed."""
    idle = 0
    for sections, mine in zip(view.maps, view.targets, strict=False):
        idle += sum(section.kind != "loop" and not section.cut for section in sections) - (mine is None)
    return 1 - idle / (len(view.maps) * (view.seats - 1))


def worlds(view: PointingView, luck: Random, rounds: int, number: int) -> list[list[Targets]]:
    """Who may have pointed at whom in the first rounds, by their maps alone."""
    known = replace(view, round=rounds + 1, maps=view.maps[:rounds], targets=view.targets[:rounds])
    found = islice(RULES.worlds(known, (), view.seat or 0, luck), number)
    return [[each.pointed for each in state.rounds] for state in found]


def other_seat(seat: int, seats: int, luck: Random) -> int:
    """Any other seat."""
    return (seat + luck.randrange(1, seats)) % seats


if __name__ == "__main__":
    run(decide)
