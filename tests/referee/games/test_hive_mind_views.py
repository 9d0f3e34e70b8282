"""What Hive Mind shows: a seat what it was told and submitted, a spectator what is public, the host all."""

import json
from typing import Any

import pytest

from protocol.codec import encode
from referee.rules.table import Table
from tests.referee.games.hive_mind_play import (
    FIRST,
    GAUNTLET,
    HIVE_MIND,
    NAMES,
    RECHARGED,
    TEMPO_UP,
    VALUES,
    VARIANTS,
    close,
    finish,
    place,
    plain,
    shown,
    start,
)


@VARIANTS
def test_the_window_round_shows_hives_round_and_the_kinds_left(variant: str) -> None:
    hive, table = FIRST[variant], start(variant)
    place(table, "ADE")
    place(table, None, "HKL")
    view = shown(table, 0)
    assert ("round", 3) == (view["window"], view["round"])
    assert (["1"] if variant == GAUNTLET else list(NAMES[variant])) == view["hives"]
    assert view["hives"] == list(view["unused"])
    assert ["arc", "line"] == view["unused"][hive]
    assert ["tri", "line"] == shown(table, 1)["unused"][hive]
    assert ["tri", "arc", "line"] == shown(table, 2)["unused"][hive]


@VARIANTS
def test_a_seat_is_shown_all_it_was_told_and_submitted_in_order(variant: str) -> None:
    hive, table = FIRST[variant], start(variant)
    one = place(table, "ADE", "HKL")
    two = place(table, "BFI", None, s0={"place": {hive: "BFI"}, "double": [hive]})
    view = shown(table, 0)
    assert [*one.seats[0], *one.public, *two.seats[0], *two.public] == view["told"]
    assert ["hint", "round_result", "hint", "round_result", "doubles"] == [event["type"] for event in view["told"]]
    assert [{"place": {hive: "ADE"}}, {"place": {hive: "BFI"}, "double": [hive]}] == view["submitted"]


@VARIANTS
def test_a_spectator_is_shown_what_is_public_only(variant: str) -> None:
    hive, table = FIRST[variant], start(variant)
    one = place(table, "ADE", "HKL", s2={"place": {hive: "CFI"}})
    view = shown(table, None)
    assert {
        "seat": None,
        "window": "round",
        "hives": ["1"] if variant == GAUNTLET else list(NAMES[variant]),
        "round": 2,
        "unused": {},
        "wallet": None,
        "tied": [],
        "submitted": [],
        "scores": None,
        "told": one.public,
    } == view


@VARIANTS
@pytest.mark.parametrize("other", ["112332112231", "213132312112"])
def test_a_seat_that_was_told_the_same_is_shown_the_same_whatever_else_differs(variant: str, other: str) -> None:
    """Seat 4 places nothing; values, who placed what, and what is guessed and blocked in secret differ."""
    hive = FIRST[variant]
    views = []
    for values, shapes, guess in ((VALUES, ["ADE", "HKL"], VALUES), (other, ["HKL", "ADE"], other)):
        table, seen = start(variant, values), []
        place(table, *shapes)
        seen.append(encode(HIVE_MIND.view(table.state, 4)))
        place(table, s1={"block": [hive]} if values == VALUES else {})
        seen.append(encode(HIVE_MIND.view(table.state, 4)))
        if variant == RECHARGED:
            place(table, s0={"place": {hive: "CFI"}, "guess": {hive: guess}})
            seen.append(encode(HIVE_MIND.view(table.state, 4)))
        views.append(seen)
    assert views[0] == views[1]


@VARIANTS
def test_views_of_the_same_match_played_twice_are_byte_identical(variant: str) -> None:
    for seat in (0, 1, 4, None):
        views = []
        for _ in range(2):
            table = start(variant)
            place(table, "ADE", "HKL", "CFI")
            views.append(encode(HIVE_MIND.view(table.state, seat)))
        assert views[0] == views[1]


def after_scores() -> Table:
    table = start(GAUNTLET)
    place(table)
    place(table, "ADE")
    for _ in range(4):
        place(table)
    return table


def test_the_window_scores_is_shown_to_all_and_afterwards_a_seats_own_guesses() -> None:
    table = after_scores()
    for seat in (0, 4, None):
        view = shown(table, seat)
        assert ("scores", [], 0, {}, None) == tuple(
            view[k] for k in ("window", "hives", "round", "unused", "scores")
        )
    heard = close(table, {3: {"scores": {"1": 5, "0": 8}}})
    assert {"0": 8, "1": 5} == shown(table, 3)["scores"]
    assert {} == shown(table, 2)["scores"]
    assert None is shown(table, None)["scores"]
    assert heard.seats[3] == shown(table, 3)["told"][-1:]


def test_r10_only_the_winner_is_shown_the_window_in_which_it_decides_and_who_is_tied() -> None:
    table = after_scores()
    close(table)
    assert ("break_tie", [1, 2, 3, 4]) == (shown(table, 0)["window"], shown(table, 0)["tied"])
    for seat in (1, 2, 3, 4, None):
        assert (None, []) == (shown(table, seat)["window"], shown(table, seat)["tied"])


def test_r10_others_cannot_tell_give_token_from_break_tie() -> None:
    table = start(TEMPO_UP)
    place(table)
    place(table, "ADE")
    place(table)
    seen = []
    for window in ("give_token", "break_tie"):
        assert window == shown(table, 0)["window"]
        seen.append([encode(HIVE_MIND.view(table.state, seat)) for seat in (1, 2, 3, 4)])
        close(table)
    assert seen[0] == seen[1]


@VARIANTS
def test_at_the_end_the_reveal_is_shown_and_no_window(variant: str) -> None:
    table = start(variant)
    place(table, "ADE")
    reveal = finish(table).event(None, "reveal")
    for seat in (0, 4, None):
        view = shown(table, seat)
        assert (None, [], 0) == (view["window"], view["hives"], view["round"])
        assert reveal == view["told"][-1]


@VARIANTS
def test_the_host_is_shown_everything(variant: str) -> None:
    hive, table = FIRST[variant], start(variant, garnets=9)
    place(table, "ADE")
    place(table, "BFI", s1={"place": {hive: "HKL"}, "block": [hive]})
    view = plain(HIVE_MIND.host_view(table.state))
    assert ("round", 3) == (view["window"], view["round"])
    assert dict.fromkeys(NAMES[variant], VALUES) == view["initial"]
    # B, F and I by seat 0, H, K and L by seat 1.
    assert "102330100200" == view["current"][hive]
    assert [[{"place": {hive: "ADE"}}, {}, {}, {}, {}]] == view["rounds"][:1]
    assert {"place": {hive: "HKL"}, "block": [hive]} == view["rounds"][1][1]
    assert [5, 5, 0, 0, 0] == [each["hexes"] for each in view["points"]]
    assert (6 if variant == GAUNTLET else 9) == view["garnets"][1]
    assert ([2, 1, 0, 0, 0] if variant == GAUNTLET else None) == view["feats"]
    assert (None, []) == (view["scores"], view["tied"])


def test_the_host_is_shown_guessed_scores_and_the_tied() -> None:
    table = after_scores()
    close(table, {3: {"scores": {"1": 0}}})
    view = plain(HIVE_MIND.host_view(table.state))
    assert [{}, {}, {}, {"1": 0}, {}] == view["scores"]
    assert [0, -2, 0, 1, 0] == [each["score_guesses"] for each in view["points"]]
    assert [] == view["tied"]
    table = after_scores()
    close(table)
    assert [1, 2, 3, 4] == plain(HIVE_MIND.host_view(table.state))["tied"]


@VARIANTS
def test_a_player_without_memory_can_go_on_from_the_view_alone(variant: str) -> None:
    """What the view says is left may be placed, and what it says is in the wallet may be bought."""
    table = start(variant)
    while table.window and table.window.name == "round":
        actions: dict[int, Any] = {}
        for seat in range(5):
            view = shown(table, seat)
            by_kind = {"tri": "ADE", "arc": "HKL", "line": "CFI"}
            order = [kinds[n % len(kinds)] for n, kinds in enumerate(view["unused"].values())]
            actions[seat] = {"place": {h: by_kind[k] for h, k in zip(view["hives"], order, strict=True)}}
            wallet = view["wallet"]
            if view["round"] == 2 and (
                wallet["free_doubles"] or wallet["garnets"] >= (wallet["double_price"] or 99)
            ):
                actions[seat]["double"] = view["hives"][:1]
        heard = close(table, actions)
        assert json.dumps(actions) == json.dumps(heard.taken)
