"""Pointing as drawn: sections with and without seats, points, and nothing that a seat may not know."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from protocol.games.pointing import PointingHostView, PointingView, Round
from protocol.games.pointing.map import anonymous, connect, points
from protocol.text import COMMENTARIES
from referee.games import GAMES
from tests.arena.in_browser import Opened
from tests.arena.viewer.drawn import Drawings
from tests.golden.commentary import NAMES
from tests.golden.matches import random_match

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
WORKED = (1, 2, 3, None, 1, 6, 7, 8, 9, 10, 6, 12, 11)
"""The worked example of the game's page: A to M."""
CROWD = 9


@pytest.fixture
def drawings(opened: Opened, tmp_path: Path) -> Drawings:
    return Drawings(opened, tmp_path)


def host_view(targets: tuple[int | None, ...]) -> PointingHostView:
    """Return the host's view after one round."""
    round_ = connect(targets)
    gained = {str(seat): number for seat, number in enumerate(points(round_, frozenset()))}
    played = Round(targets={str(seat): target for seat, target in enumerate(targets)}, points=gained)
    return PointingHostView(
        round=2,
        maps=(anonymous(round_),),
        rounds=(played,),
        scores=gained,
        connected={},
        tied=(),
        votes={},
        eliminated=None,
    )


def seat_view(host: PointingHostView) -> PointingView:
    """Return what a seat knows after the same round."""
    return PointingView(
        seat=0,
        seats=13,
        round=2,
        maps=host.maps,
        targets=(1,),
        tied=(),
        may_vote=False,
        voted=None,
        rounds=(),
        scores=None,
    )


def test_the_worked_example_has_a_picture_for_each_section(drawings: Drawings) -> None:
    bars, *sections = drawings.board("pointing", host_view(WORKED), NAMES)["pictures"]
    assert bars.startswith("Points after 1 round: anna 3, emil 3, bob 2, carl 1, fee 1, dora 0")
    assert sections == [
        "chain of 5: dora 0, carl +1, bob +2, anna +3, emil +3",
        "loop of 5: gina 0, hugo 0, ida 0, jan 0, kim 0",
        "loop of 2: lea 0, max 0",
        "alone: 1: fee +1",
    ]


def test_the_eyes_of_a_seat_see_sections_and_no_names(drawings: Drawings) -> None:
    drawn = drawings.board("pointing", seat_view(host_view(WORKED)), NAMES, eyes="0")
    assert drawn["pictures"] == ["chain of 5", "loop of 5", "loop of 2", "alone: 1"]
    assert "anna pointed at: round 1: bob" in drawn["text"]
    assert not [name for name in NAMES[2:] if name in drawn["text"]]
    assert drawn["ids"] == []


def test_sections_are_those_of_the_rules(drawings: Drawings) -> None:
    rng = Random(1)
    for _ in range(60):
        seats = rng.randint(3, 26)
        others = [[None, *(other for other in range(seats) if other != seat)] for seat in range(seats)]
        targets = tuple(rng.choice(each) if rng.random() < 0.7 else None for each in others)
        names = [f"bot{seat}" for seat in range(seats)]
        host = host_view(targets)
        known, unknown = (drawings.board("pointing", view, names)["pictures"] for view in (host, seat_view(host)))
        assert sorted(each.partition(": bot")[0] for each in known[1:]) == sorted(unknown)
        expected = [section for section in host.maps[0] if section.size > 1]
        words = [_title(section.kind, section.size, section.cut) for section in expected]
        assert sorted(each for each in unknown if not each.startswith("alone")) == sorted(words)
        for part in connect(targets).parts:
            if len(part.members) > 1:
                assert any(all(f"bot{seat} " in each for seat in part.members) for each in known[1:])


def _title(kind: str, size: int, cut: bool) -> str:
    return f"{'crowd' if size >= CROWD else kind} of {size}{', cut' if cut else ''}"


def test_the_end_has_a_podium_and_who_is_eliminated(drawings: Drawings) -> None:
    views: list[Any] = []

    def look(sitting: Any) -> None:
        views.append(GAMES["pointing"].host_view(sitting.table.state))

    random_match(GAMES["pointing"], "tempo-up", 3, look)
    for view in views:
        assert drawings.scores("pointing", view, NAMES) == list(COMMENTARIES["pointing"].scores(view))
    end = views[-1]
    reveal = {"rounds": end.rounds, "scores": end.scores}
    podium, bars, *_ = drawings.board("pointing", end, NAMES, reveal=reveal)["pictures"]
    best = [NAMES[int(seat)] for seat, score in end.scores.items() if score == max(end.scores.values())]
    first = podium.removeprefix("The podium: ").split("; ")[0]
    assert first == f"place 1 with {max(end.scores.values())} points: {', '.join(best)}"
    assert f"{NAMES[end.eliminated]} {end.scores[str(end.eliminated)]}, eliminated" in bars
