"""What each seat, a spectator and the host see of The Fight For a Name; also compared with naive views."""

from tests.referee.games.fight_play import ON_PILLAR, SETUP, player, position, rest
from tests.referee.games.playing import close, host_view, shown


def test_o5_while_pillars_answer_others_cannot_tell_that_they_do() -> None:
    one, other = (position({0: player(mp=4)}) for _ in range(2))
    close(one, {0: {"path": ON_PILLAR["phi"]}, 1: {"path": []}})
    close(other, {0: {"path": ON_PILLAR["psi"]}})
    assert "pillar" == one.state.phase
    for seat in (*range(1, 13), None):
        assert shown(one, seat) == shown(other, seat)
        assert {str(n): "Start" for n in range(13)} == shown(one, seat)["positions"]
        assert [] == shown(one, seat)["history"]


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
    view = host_view(table)
    assert (SETUP, "pillar", 6) == (view["setup"], view["phase"], view["round"])
    assert list(range(13)) == view["challenge"]
    seat = view["players"][0]
    assert ("phi", 0, 2) == (seat["position"], seat["mp"], seat["income"])
    assert ({"Faith": 2}, {"7": 4}, {"7": 3}) == (seat["crests"], seat["strengths"], seat["spent"])
    assert 0 == view["players"][12]["barred"]
