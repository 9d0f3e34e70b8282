"""Plays The Fight For a Name at random: short walks, near pillars, any questions, gifts and votes."""

from bots.kit import Window, run
from protocol.games.fight_for_a_name import Ask, FightView, Move, Pick, Vote
from protocol.games.fight_for_a_name.board import START, visits, walks
from protocol.words import Action

LONGEST = 3
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple")


def decide(window: Window[FightView]) -> Action:
    """Return a random legal action."""
    view, rng = window.view, window.rng
    match window.name:
        case "challenge":
            return Pick(pick=tuple(sorted(rng.sample(range(len(view.numbers)), rng.randint(1, 4)))))
        case "move":
            return moved(window)
        case "pillar":
            titles = rng.sample(view.visits[-1].titles, 6)
            body, parting, other = ((title, rng.choice(COLOURS)) for title in titles[:3])
            return Ask(body=body, parting=parting, other=other, neither=tuple(titles[3:5]), crest=titles[5])  # type: ignore[arg-type]
        case _:
            return Vote(seat=rng.choice([None, *(view.candidates or ())]))


def moved(window: Window[FightView]) -> Move:
    """Return a gift to a random seat on the board, or a random short walk."""
    view, rng = window.view, window.rng
    if view.title is not None:
        seats = [seat for seat in view.positions if int(seat) != view.barred]
        return Move(give={rng.choice(seats): 1}) if seats else Move()
    position, mp = view.position or START, view.mp or 0
    visited = {visit.pillar for visit in view.visits}
    ways = [path for _, path in visits(position, mp, visited)]
    ways += walks(position, min(mp, LONGEST)).values()
    return Move(path=rng.choice(ways))


if __name__ == "__main__":
    run(decide)
