"""What Hive Mind shows: a seat what it was told and submitted, a spectator what is public, the host all."""

from protocol.codec import encode
from referee.rules.table import Table
from tests.referee.games.hive_mind_play import (
    FIRST,
    GAUNTLET,
    HIVE_MIND,
    NAMES,
    TEMPO_UP,
    VALUES,
    VARIANTS,
    place,
    start,
)
from tests.referee.games.playing import close, host_view, shown


def after_scores() -> Table:
    table = start(GAUNTLET)
    place(table)
    place(table, "ADE")
    for _ in range(4):
        place(table)
    return table


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
def test_the_host_is_shown_everything(variant: str) -> None:
    hive, table = FIRST[variant], start(variant, garnets=9)
    place(table, "ADE")
    place(table, "BFI", s1={"place": {hive: "HKL"}, "block": [hive]})
    view = host_view(table)
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
    view = host_view(table)
    assert [{}, {}, {}, {"1": 0}, {}] == view["scores"]
    assert [0, -2, 0, 1, 0] == [each["score_guesses"] for each in view["points"]]
    assert [] == view["tied"]
    table = after_scores()
    close(table)
    assert [1, 2, 3, 4] == host_view(table)["tied"]
