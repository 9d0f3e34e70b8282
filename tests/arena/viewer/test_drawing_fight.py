"""The Fight For a Name as drawn: race and banners for those who may know them, and who moved."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from protocol.games.fight_for_a_name import Claim, FightHostView, Move, RoundResult
from protocol.text import COMMENTARIES
from referee.games import GAMES
from referee.rules.contract import SPECTATOR
from tests.arena.in_browser import Opened
from tests.arena.viewer.drawn import Drawings
from tests.golden.commentary import NAMES
from tests.golden.matches import random_match

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
GAME = GAMES["fight-for-a-name"]


@pytest.fixture
def drawings(opened: Opened, tmp_path: Path) -> Drawings:
    return Drawings(opened, tmp_path)


@pytest.fixture(scope="module")
def match() -> list[tuple[FightHostView, Any, Any]]:
    """Return the views of the host, of seat 0 and of a spectator before each window of a match, and at the end."""
    views: list[tuple[FightHostView, Any, Any]] = []

    def look(sitting: Any) -> None:
        state = sitting.table.state
        views.append(
            (cast("FightHostView", GAME.host_view(state)), GAME.view(state, 0), GAME.view(state, SPECTATOR))
        )

    random_match(GAME, "guardians", 4, look)
    return views


Views = list[tuple[FightHostView, Any, Any]]


def test_scores_are_parts_of_a_banner_and_not_movement_points(drawings: Drawings, match: Views) -> None:
    found = set()
    for host, own, _ in match:
        scores = drawings.scores("fight-for-a-name", host, NAMES)
        assert scores == list(COMMENTARIES["fight-for-a-name"].scores(host))
        assert drawings.scores("fight-for-a-name", own, NAMES) is None
        found |= set(scores or [])
    assert len(found) > 2


def test_the_race_says_what_each_seat_has(drawings: Drawings, match: Views) -> None:
    host = match[-1][0]
    race = drawings.board("fight-for-a-name", host, NAMES)["pictures"][1]
    assert race.startswith("The race for a title: ")
    scores = COMMENTARIES["fight-for-a-name"].scores(host)
    for seat, player in enumerate(host.players):
        claimed = [title for title, claim in host.claims.items() if claim.seat == seat]
        words = f"has {scores[seat]} of 4 parts of " if scores[seat] else "has no part of a banner"
        assert f"{NAMES[seat]} {f'is {claimed[0]}' if claimed else words}" in race
        if not claimed:
            points = "1 movement point" if player.mp == 1 else f"{player.mp} movement points"
            assert points in race.partition(f"{NAMES[seat]} ")[2]


def test_no_other_eyes_see_banners_crests_or_movement_points(drawings: Drawings, match: Views) -> None:
    for _, own, spectator in match[3:-1:5]:
        for view, eyes in ((own, "0"), (spectator, "spectator")):
            drawn = drawings.board("fight-for-a-name", view, NAMES, eyes=eyes)
            race = drawn["pictures"][1]
            assert "parts of" not in race
            assert race.count("movement point") == (0 if view.mp is None else 1)
            assert race.count("crests:") == (1 if view.crests and view.mp is not None else 0)
            assert len(drawn["pictures"]) == 2 + len(view.claims)


def test_who_moved_has_an_arrow_and_keeps_its_id(drawings: Drawings, match: Views) -> None:
    moved = 0
    for (_, _, before), (_, _, after) in pairwise(match):
        if len(after.history) == len(before.history):
            continue
        page = drawings.board("fight-for-a-name", after, NAMES, eyes="spectator")
        arrows = drawings.page.locator(".trail:not(.halo)").count()
        different = [
            seat for seat, place in after.positions.items() if place != (before.positions or {}).get(seat, "Start")
        ]
        assert arrows == len(different)
        moved += arrows
        shown = {each for each in page["ids"] if each.startswith("seat ")}
        assert shown <= {f"seat {seat}" for seat in after.positions}
    assert moved > 10


@pytest.fixture
def claimed(match: Views) -> Callable[[dict[str, int]], Any]:
    """Return a maker of spectators' views of a round in which titles were claimed, three hexes for each."""
    view = match[5][2]

    def made(titles: dict[str, int]) -> Any:
        hexes: dict[str, list[int]] = {}
        for number, colour in view.colours.items():
            hexes.setdefault(colour, []).append(int(number))
        white = [*hexes["red"][:1], *hexes["blue"][:2]]
        if len(titles) > 1:
            white += [*hexes["green"][:1], *hexes["purple"][:2]]
        result = RoundResult(
            round=9,
            positions=view.positions,
            holders={},
            white=tuple(sorted(white)),
            claimed=titles,
            gifts={},
        )
        claims = {title: Claim(seat=seat, round=9) for title, seat in titles.items()}
        history = (*view.history, result)
        return msgspec.structs.replace(view, history=history, claims=claims, white=result.white)

    return made


def test_a_banner_has_its_colours_where_all_can_conclude_them(
    drawings: Drawings, claimed: Callable[[dict[str, int]], Any]
) -> None:
    drawn = drawings.board("fight-for-a-name", claimed({"Hope": 3}), NAMES, eyes="spectator")
    assert drawn["pictures"][2:] == ["Hope: body red, partings blue, claimed by dora in round 9"]
    assert sum("white since this round, for a banner" in each for each in drawn["titles"]) == 3
    assert "dora is Hope since round 9, and wins" in drawn["pictures"][1]


def test_banners_of_one_round_keep_their_colours_to_themselves(
    drawings: Drawings, claimed: Callable[[dict[str, int]], Any]
) -> None:
    view = claimed({"Faith": 2, "Hope": 3})
    drawn = drawings.board("fight-for-a-name", view, NAMES, eyes="spectator")
    assert drawn["pictures"][2:] == [
        "Faith: colours unknown, claimed by carl in round 9",
        "Hope: colours unknown, claimed by dora in round 9",
    ]


def test_the_way_of_the_own_seat_is_drawn_step_by_step(drawings: Drawings, match: Views) -> None:
    own = msgspec.structs.replace(match[1][1], position="9", moves=(Move(path=("N", "N", "NE")),))
    drawings.board("fight-for-a-name", own, NAMES, eyes="0")
    way = drawings.page.locator(".trail:not(.halo)")
    assert way.count() == 1
    corners = [each.split(",") for each in (way.locator("polyline").get_attribute("points") or "").split()]
    assert len(corners) == 3, "the last step is the arrow"
    assert corners[0][0] == corners[1][0] == corners[2][0], "two steps north"
    there = drawings.page.locator(".token.own circle").bounding_box()
    tip = way.locator("g polygon, polygon").bounding_box()
    assert there
    assert tip
    assert abs(there["x"] - tip["x"]) < 60
