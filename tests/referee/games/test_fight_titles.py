"""Claiming titles: who may, who goes first, what turns white, what is given back (step 6, R8)."""

from typing import Any

from msgspec.structs import replace

from tests.referee.games.fight_play import in_state, move, player, position, rest
from tests.referee.games.playing import Heard, close

# Charity is red (1, 7, 13, 19, …) with orange partings (2, 8, 14, 20, …).
BANNER: dict[str, Any] = {"h1": 2, "h2": 2, "h8": 2}


def claimed(players: dict[int, Any], **more: Any) -> dict[str, int]:
    """The titles claimed in a round in which nobody moves."""
    titles: dict[str, int] = result(rest(position(players, **more)))["claimed"]
    return titles


def result(heard: Heard) -> dict[str, Any]:
    return heard.event(None, "round_result")


def test_step_6_the_crest_a_hex_of_the_body_colour_and_two_of_the_parting_claim_a_title() -> None:
    assert {"Charity": 0} == claimed({0: player(crests="Charity", **BANNER)})


def test_r8_a_seat_that_could_claim_two_titles_takes_the_first_in_alphabetical_order() -> None:
    both = player(crests="Charity Courage", h1=1, h2=1, h8=1, h14=1, h3=1, h9=1)
    assert {"Charity": 0} == claimed({0: both})


# Several that could claim it: both have its crest, a red hex and two orange ones.


def test_step_6_of_several_the_one_that_spent_most_on_its_banners_hexes_claims_the_title() -> None:
    """What was spent on a hex that its banner would not use does not count."""
    one = player(crests="Charity:1", h1=2, h2=2, h8=2, h3=9)
    assert {"Charity": 1} == claimed({0: one, 1: player(crests="Charity:5", h7=3, h14=2, h20=2)})
    assert {"Charity": 0} == claimed({0: one, 1: player(crests="Charity:1", h7=1, h14=2, h20=2)})


def test_step_6_if_they_spent_the_same_the_one_that_got_the_crest_earlier_does() -> None:
    for earlier in (0, 1):
        rounds = {earlier: 2, 1 - earlier: 4}
        players = {
            0: player(crests=f"Charity:{rounds[0]}", h1=2, h2=2, h8=2),
            1: player(crests=f"Charity:{rounds[1]}", h7=2, h14=2, h20=2),
        }
        challenge = (1 - earlier, earlier, *range(2, 13))
        assert {"Charity": earlier} == claimed(players, challenge=challenge)


def test_step_6_then_the_one_that_did_better_in_the_timed_game_does() -> None:
    players = {
        0: player(crests="Charity", h1=2, h2=2, h8=2),
        1: player(crests="Charity", h7=2, h14=2, h20=2),
    }
    for better in (0, 1):
        challenge = (12, better, *range(2, 12), 1 - better)
        assert {"Charity": better} == claimed(players, challenge=challenge)


# What a claim does.


def test_r6_a_reinforcement_of_a_hex_that_turns_white_this_round_is_given_back() -> None:
    few = "Courage:12:1 Diligence:11:1 Faith:10:1 Honour:9:1 Hope:8:1 Humility:7:1 Justice:6:1 Mercy:5:1"
    players = {0: player(crests="Charity", h1=5, h2=5, h8=5), 1: player("7", mp=3, reached="8")}
    heard = close(position(players, claims=few), {1: {"reinforce": {"8": 2}}})
    assert 3 == heard.event(1, "standing")["mp"]


def test_the_docs_claim_of_charity() -> None:
    # 14 lies north-west of 18: two landings there, for 1 and for 2 MP.
    one = player(h7=9, h13=9, h2=9, h14=9, h20=9)
    table = position({0: one, 1: player("18", mp=3)})
    move(table, s1="NW")
    heard = move(table, s1="SE NW")
    assert {"14": 5} == heard.event(1, "standing")["strengths"]
    players = [replace(seat, crests={"Charity": 1}) if "7" in seat.spent else seat for seat in table.state.players]
    in_state(table, replace(table.state, players=tuple(players)))
    before = heard.event(1, "standing")["mp"]
    heard = move(table, s1="SE")
    assert ({"Charity": 0}, [2, 7, 14]) == (result(heard)["claimed"], result(heard)["white"])
    assert before + 2 - 1 + 3 == heard.event(1, "standing")["mp"]
