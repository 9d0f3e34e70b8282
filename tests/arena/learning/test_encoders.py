"""Observations: what they tell, and that they tell nothing else."""

from itertools import islice
from random import Random
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from arena.learning import ENCODERS, Episode
from protocol.games.mist.board import BOARD
from protocol.words import Event
from referee.encoding import RECENT, VectorEncoder
from referee.games import GAMES
from referee.games.mist.encoder import PLANES
from referee.rules import Answered, drawn
from referee.rules.table import replay
from tests.arena.learning.playing import choose_randomly, dealt
from tests.games import WITH_ENCODER

MIST = GAMES["mist"].choices


def plane(observation: Any, name: str) -> set[str]:
    """Return the hexes of a plane of Mist."""
    grid = observation[PLANES.index(name)]
    rows: dict[str, list[str]] = {}
    for cell in BOARD.names:
        rows.setdefault(cell[0], []).append(cell)
    found = set()
    for y, row in enumerate(rows.values()):
        left = max(0, y - 4)
        found |= {cell for x, cell in enumerate(row) if grid[y, left + x]}
        assert not grid[y, :left].any()
        assert not grid[y, left + len(row) :].any()
    return found


def test_planes_of_mist_tell_what_the_seat_was_told() -> None:
    episode = dealt(Episode("mist", options={"first": 0}, variant="heaven-and-hell"))
    assert plane(episode.observation(0), PLANES[-1]) == set()
    for choice in ("C3", "stop"):
        episode.choose(0, MIST.index(choice))
    episode.close()
    assert plane(episode.observation(1), "`first_move`: the hexes of the first turn") == {"C3"}
    assert plane(episode.observation(1), "the opponent's pieces, known from any turn") == {"C3"}
    assert plane(episode.observation(1), "own pieces, visible") == set()
    assert plane(episode.observation(1), "all 1 if this turn may be a swap") == set(BOARD.names)
    assert plane(episode.observation(0), "own pieces, visible") == {"C3"}
    episode.choose(1, MIST.index("G5"))
    assert plane(episode.observation(1), PLANES[-1]) == {"G5"}
    assert plane(episode.observation(0), PLANES[-1]) == set()
    episode.choose(1, MIST.index("C5"))
    episode.choose(1, MIST.index("stop"))
    episode.close()
    # Seat 0 sees three steps around C3, and C5 is spotted: it is destroyed.
    now = episode.observation(0)
    assert plane(now, "`spotted`: the opponent's pieces of its last turn that were spotted") == {"C5"}
    assert plane(now, "the opponent's pieces, known from any turn") == set()
    assert "C4" in plane(now, "empty hexes, visible")
    assert plane(now, "all 1 from turn 2 on") == set(BOARD.names)
    assert plane(now, "all 1 from turn 4 on") == set()
    for choice in ("I5", "stop"):
        episode.choose(0, MIST.index(choice))
    episode.close()
    episode.choose(1, MIST.index("stop"))
    episode.close()
    # C3 is out of vision now, and remembered.
    now = episode.observation(0)
    assert plane(now, "own pieces, visible") == {"I5"}
    assert plane(now, "own pieces, known from any turn") == {"C3", "I5"}
    assert "C4" in plane(now, "hexes seen empty in any turn, and not known to be taken since")


def told_by(view: Any) -> dict[str, set[str]]:
    """Return the hexes of each plane that a view shows without earlier views."""
    every = set(BOARD.names)
    turns = {f"all 1 from turn {turn} on": every if view.turn >= turn else set() for turn in (2, 4, 8, 16, 32, 64)}
    seen = {
        held: {name for name, there in view.visible.items() if there == held}
        for held in ("own", "opponent", "empty")
    }
    return turns | {
        "the board's 61 hexes": every,
        "own pieces, visible": seen["own"],
        "the opponent's pieces, visible": seen["opponent"],
        "empty hexes, visible": seen["empty"],
        "`spotted`: the opponent's pieces of its last turn that were spotted": set(view.spotted),
        "`destroyed`: the opponent's pieces of its last turn that were seen destroyed": set(view.destroyed),
        "`placed`: the hexes of the seat's own last turn": set(view.placed),
        "`lost`: the seat's own pieces of its last turn that were destroyed": set(view.lost),
        "`first_move`: the hexes of the first turn": set(view.first_move or ()),
        "`forbidden`: hexes that this turn may not name": set(view.forbidden),
        "all 1 if this turn may be a swap": every if view.may_swap else set(),
        "all 1 if it is this seat's turn": every if view.mover == view.seat else set(),
        "all 1 if there was a swap": every if view.swapped else set(),
    }


def test_every_plane_of_mist_says_what_its_name_says() -> None:
    found: dict[str, set[int]] = {}
    for seed, variant in enumerate(("contractual-obligation", "heaven-and-hell") * 2):
        episode = Episode("mist", variant=variant)
        episode.reset(seed)
        while not episode.over:
            for seat in range(2):
                observation = episode.observation(seat)
                for name, hexes in told_by(episode.view(seat)).items():
                    assert plane(observation, name) == hexes, name
                    found.setdefault(name, set()).add(len(hexes))
            choose_randomly(episode, seed, windows=1 if episode.table.number < 4 else 9)
    same = {name for name, sizes in found.items() if len(sizes) == 1}
    assert same <= {PLANES[0], "all 1 if there was a swap", "all 1 from turn 64 on"}


def test_a_swap_turns_what_is_remembered() -> None:
    episode = dealt(Episode("mist", options={"first": 0}, variant="heaven-and-hell"))
    for seat, choice in ((0, "C3"), (0, "stop"), (1, "swap")):
        episode.choose(seat, MIST.index(choice))
        episode.close()
    assert plane(episode.observation(0), "the opponent's pieces, known from any turn") == {"C3"}
    assert plane(episode.observation(1), "own pieces, known from any turn") == {"C3"}


def told_to(seat: int, episode: Episode) -> list[Event]:
    """All events of a seat in the match so far."""
    table = replay(episode.game, episode.table.deal, ())
    told = list(table.start)
    for move in episode.table.journal:
        told += table.answer(move.seat, move.action) if isinstance(move, Answered) else table.close(move.taken)
    return [each.event for each in told if each.seat in (None, seat)]


@pytest.mark.parametrize("game", ["mist", "pointing", "hive-mind"])
def test_nothing_that_a_seat_cannot_know_changes_its_observation(game: str) -> None:
    episode = Episode(game)
    differ = 0
    for windows in range(1, 8):
        episode.reset(windows)
        choose_randomly(episode, windows, windows)
        if episode.over:
            continue
        seat = episode.choosing[0]
        seen = episode.observe(seat)
        view = episode.view(seat)
        worlds = episode.game.worlds(view, told_to(seat, episode), seat, Random(windows))
        for state in islice(worlds, 5):
            other = episode.copy()
            other.table.state = state
            differ += state != episode.table.state
            other._views.clear()
            other._frames.clear()
            np.testing.assert_equal(other.observe(seat), seen)
    assert differ > 3


@pytest.mark.parametrize("game", ["hive-mind", "pointing", "fight-for-a-name", "runes-to-ruins"])
def test_choices_of_others_are_observed_once_the_window_closes(game: str) -> None:
    episode = dealt(Episode(game), 4)
    windows = changed = 0
    rng = Random(4)
    while not episode.over and windows < 30:
        watcher = episode.choosing[-1]
        before = episode.observe(watcher)
        for seat in episode.choosing[:-1]:
            while episode.owed(seat):
                episode.choose(seat, drawn(episode.mask_bits(seat), rng))
            episode._frames.clear()
            np.testing.assert_equal(episode.observe(watcher), before)
        while episode.owed(watcher):
            episode.choose(watcher, drawn(episode.mask_bits(watcher), rng))
        episode.close()
        changed += (episode.observation(watcher) != before["observation"]).any()
        windows += 1
    assert changed >= 2


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_a_disguise_of_the_secrets_is_not_seen_through(game: str) -> None:
    episode = dealt(Episode(game), 2)
    choose_randomly(episode, 2, 2)
    for seat in range(episode.seats):
        other = episode.copy()
        other.table.state = episode.game.disguise(episode.table.state, seat, Random(seat))
        other._views.clear()
        other._frames.clear()
        np.testing.assert_equal(other.observation(seat), episode.observation(seat))


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_a_seats_own_choices_are_observed(game: str) -> None:
    episode = Episode(game)
    for seed in range(3):
        episode.reset(seed)
        choose_randomly(episode, seed, 2)
        for seat in episode.choosing[:1]:
            rng = Random(seed)
            while episode.owed(seat):
                before, chosen = episode.observation(seat), episode.drafts[seat].choices
                choice = drawn(episode.mask_bits(seat), rng)
                episode.choose(seat, choice)
                if not episode.owed(seat):
                    break
                after = episode.observation(seat)
                encoder = episode.encoder
                if isinstance(encoder, VectorEncoder):
                    recent = [*chosen, choice][::-1][:RECENT]
                    for back, each in enumerate(recent, start=1):
                        start, length = encoder.places[f"choice {back} back"]
                        assert after[start : start + length].nonzero()[0].tolist() == [each]
                assert (before != after).any()


@pytest.mark.slow
@pytest.mark.parametrize("game", WITH_ENCODER)
def test_all_of_a_match_fits_its_space(game: str) -> None:
    encoder = ENCODERS[game]
    low, high = encoder.bounds
    used = np.zeros(encoder.shape, bool)
    options = {"artefacts": {"0": ["light"], "1": ["dark"]}} if game == "runes-to-ruins" else None
    for seed in range(12 if game == "hive-mind" else 4):
        variant = GAMES[game].variants[seed % len(GAMES[game].variants)].name
        episode = Episode(game, variant=variant, options=options)
        episode.reset(seed)
        over = False
        while not over:
            over = episode.over
            for seat in range(episode.seats):
                observation = episode.observation(seat)
                assert observation.shape == encoder.shape
                assert observation.dtype == encoder.dtype
                assert observation.min() >= low
                assert observation.max() <= high
                used |= observation != 0
            choose_randomly(episode, seed, 1)
    if isinstance(encoder, VectorEncoder):
        assert encoder.choices == len(GAMES[game].choices)
        places = {name: encoder.places[name] for name, _ in encoder.parts}
        idle = {name for name, (start, length) in places.items() if not used[start : start + length].any()}
        # What a match of chance hardly ever comes to; all other parts must be seen to be used.
        assert idle <= RARE, sorted(idle)


RARE = {
    "the final phase",
    "the seat that may be given nothing",
    "discovered seats",
    "rounds in which they were, each / 30",
    "seats that may be named to break a tie",
}


@pytest.mark.parametrize(
    ("game", "given", "told"),
    [
        ("fight-for-a-name", {"final_phase": True}, {"the final phase": [0]}),
        ("fight-for-a-name", {"barred": 3}, {"the seat that may be given nothing": [3]}),
        ("hive-mind", {"tied": (1, 4)}, {"seats that may be named to break a tie": [1, 4]}),
        (
            "runes-to-ruins",
            {"discovered": {"2": 15}},
            {"discovered seats": [2], "rounds in which they were, each / 30": [2]},
        ),
    ],
)
def test_rare_facts_are_observed_too(game: str, given: dict[str, Any], told: dict[str, list[int]]) -> None:
    episode = dealt(Episode(game))
    encoder = ENCODERS[game]
    assert isinstance(encoder, VectorEncoder)
    row = encoder.encode(encoder.frame(None, replace(episode.view(0), **given)))
    for name, indices in told.items():
        start, length = encoder.places[name]
        assert row[start : start + length].nonzero()[0].tolist() == indices


def test_an_option_without_bounds_is_cut_off() -> None:
    episode = dealt(Episode("hive-mind", options={"garnets": 10**100}))
    encoder = ENCODERS["hive-mind"]
    assert isinstance(encoder, VectorEncoder)
    assert episode.observation(0)[encoder.places["garnets left / 16"][0]] == 1
