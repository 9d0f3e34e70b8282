"""What each seat, a spectator and the host see of The Fight For a Name; also compared with naive views."""

from typing import Any

from tests.referee.games.fight_play import (
    FIGHT,
    ON_PILLAR,
    SETUP,
    ask,
    begun,
    close,
    move,
    plain,
    player,
    position,
    rest,
    shown,
    start,
)

OWN = (
    "title",
    "position",
    "mp",
    "crests",
    "strengths",
    "spent",
    "reached",
    "visits",
    "moves",
    "barred",
    "candidates",
)
NOTHING: list[Any] = [None, None, None, {}, {}, {}, [], [], [], None, None]
PHI = SETUP["pillars"]["phi"]


def own(table: Any, seat: int | None) -> list[Any]:
    view = shown(table, seat)
    return [view[key] for key in OWN]


def test_before_the_first_move_a_seat_knows_the_colours_the_puzzle_and_where_all_are() -> None:
    view = shown(begun(), 3)
    assert (3, 0, 12) == (view["seat"], view["round"], view["rounds"])
    assert (SETUP["colours"], SETUP["challenge"]["numbers"], 26) == (
        view["colours"],
        view["numbers"],
        view["target"],
    )
    assert {str(seat): "Start" for seat in range(13)} == view["positions"]
    assert [None, "Start", 0, {}, {}, {}, [], [], [], None, None] == own(begun(), 3)


def test_a_spectator_has_the_public_part_only() -> None:
    table = position({0: player("7", mp=9, crests="Hope", h1=3)}, claims="Faith:1:2")
    rest(table)
    assert NOTHING == own(table, None)
    public = {key: value for key, value in shown(table, 0).items() if key not in (*OWN, "seat")}
    assert public == {key: value for key, value in shown(table, None).items() if key not in (*OWN, "seat")}


def test_the_history_has_what_all_were_told_at_the_end_of_every_round() -> None:
    table = start()
    told = [move(table, s0="N").event(None, "round_result"), move(table, s0="N").event(None, "round_result")]
    assert told == shown(table, 5)["history"]
    assert told[-1]["holders"] == shown(table, 5)["holders"]
    assert told[-1]["positions"] == shown(table, None)["positions"]


def test_a_seat_sees_its_own_position_strengths_what_it_spent_and_where_it_has_been() -> None:
    table = start()
    rest(table)
    move(table, s0="N")
    move(table, s0="N S")
    view = shown(table, 0)
    assert ("12", {"12": 5}, {"12": 3}, [12]) == tuple(
        view[key] for key in ("position", "strengths", "spent", "reached")
    )
    assert [{}, {"path": ["N"]}, {"path": ["N", "S"]}] == view["moves"]
    assert NOTHING[1] is shown(table, None)["position"]


def test_a_visitor_sees_its_visits_with_what_it_asked_and_was_answered() -> None:
    table = position({0: player(mp=4)})
    close(table, {0: {"path": ON_PILLAR["phi"]}})
    waiting = {"round": 6, "pillar": "phi", "titles": PHI, "asked": None, "answer": None}
    assert [waiting] == shown(table, 0)["visits"]
    answer = close(table, {0: ask(PHI)}).event(0, "pillar_answer")
    assert [waiting | {"asked": ask(PHI), "answer": answer}] == shown(table, 0)["visits"]
    assert {"Hope": 6} == shown(table, 0)["crests"]


def test_o5_while_pillars_answer_others_cannot_tell_that_they_do() -> None:
    one, other = (position({0: player(mp=4)}) for _ in range(2))
    close(one, {0: {"path": ON_PILLAR["phi"]}, 1: {"path": []}})
    close(other, {0: {"path": ON_PILLAR["psi"]}})
    assert "pillar" == one.state.phase
    for seat in (*range(1, 13), None):
        assert shown(one, seat) == shown(other, seat)
        assert {str(n): "Start" for n in range(13)} == shown(one, seat)["positions"]
        assert [] == shown(one, seat)["history"]


def test_o5_while_pillars_answer_nobody_sees_yet_what_start_and_gifts_bring() -> None:
    table = position({0: player(mp=4), 1: player(mp=5)}, claims="Faith:12:2")
    close(table, {0: {"path": ON_PILLAR["phi"]}, 12: {"give": {"0": 1, "1": 1}}})
    assert (0, 5) == (shown(table, 0)["mp"], shown(table, 1)["mp"])
    close(table, {})
    assert (0 + 1 + 2, 5 + 3 + 1 + 2) == (shown(table, 0)["mp"], shown(table, 1)["mp"])


def test_a_seat_with_a_title_sees_it_and_whom_it_may_not_give_to() -> None:
    table = position({}, claims="Faith:12:2")
    assert ("Faith", None, None, None) == tuple(
        shown(table, 12)[key] for key in ("title", "position", "mp", "barred")
    )
    close(table, {12: {"give": {"3": 2}}})
    assert 3 == shown(table, 12)["barred"]
    rest(table)
    assert None is shown(table, 12)["barred"]


def test_o5_a_seat_that_takes_part_in_no_vote_cannot_tell_which_is_open() -> None:
    players = {seat: player(crests="Hope") for seat in range(3, 10)}
    table = position(players, claims="Charity:12:3 Justice:11:4 Mercy:10:4", round_=12)
    rest(table)
    seen = []
    for phase in ("token_vote", "elimination_vote", "justice"):
        assert phase == table.state.phase
        seen.append([shown(table, seat) for seat in (0, 5, 10, None)])
        close(table, {})
    assert seen[0] == seen[1] == seen[2]


def test_the_host_sees_everything() -> None:
    table = position({0: player(mp=4, crests="Faith:2", h7=3)}, claims="Charity:12:3")
    close(table, {0: {"path": ON_PILLAR["phi"]}, 12: {"give": {"0": 2}}})
    view = plain(FIGHT.host_view(table.state))
    assert (SETUP, "pillar", 6) == (view["setup"], view["phase"], view["round"])
    assert list(range(13)) == view["challenge"]
    seat = view["players"][0]
    assert ("phi", 0, 2) == (seat["position"], seat["mp"], seat["income"])
    assert ({"Faith": 2}, {"7": 4}, {"7": 3}) == (seat["crests"], seat["strengths"], seat["spent"])
    assert 0 == view["players"][12]["barred"]
