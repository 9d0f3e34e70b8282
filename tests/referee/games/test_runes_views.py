"""What Runes to Ruins shows: a seat what it did and was told, a spectator what is public, the host all."""

from typing import Any

from protocol.codec import encode
from protocol.words import Audience
from referee.rules.table import Table
from tests.referee.games.runes_play import GAME, SYMBOLS, UNUSED, Json, opening, plain, play, put, shown, start

ASK = {
    "votes": {"3": 1},
    "visions": {"divine": "Box", "except": {"seat": 4, "runes": sorted(SYMBOLS[4][:5])}},
    "learned": [{"has": {"seat": 1, "rune": "Torn Box"}}],
    "guesses": [list(SYMBOLS[3])],
}


def test_a_seat_is_shown_its_own_affairs() -> None:
    table = start(artefacts={"0": ["dark", "light"], "1": ["dark"]}, rounds=7)
    view = shown(table, 0)
    assert {
        "seat": 0,
        "round": 2,
        "rounds": 7,
        "attempt": 1,
        "submitted": [list(SYMBOLS[0])],
        "symbol": list(SYMBOLS[0]),
        "insight": 6,
        "mantra": 0,
        "artefacts": ["dark", "light"],
        "may_abstain": True,
        "may_light": True,
        "may_window": True,
        "veil_cost": 1,
        "guess_cost": 1,
        "discovered": {},
        "history": [],
    } == view


def test_a_seat_is_shown_the_rounds_over_with_what_it_did_and_was_told_in_order() -> None:
    table = start()
    heard = play(table, {0: ASK})
    view = shown(table, 0)
    (played,) = view["history"]
    assert (2, ASK) == (played["round"], played["action"])
    types = [event["type"] for event in played["told"]]
    assert ["vision", "vision", "learned", "guess", "discovered", "purse", "insight"] == types
    assert heard.seats[0] == [event for event in played["told"] if event["type"] not in ("discovered", "insight")]
    assert heard.public == [event for event in played["told"] if event["type"] in ("discovered", "insight")]
    assert ({"3": 2}, 3) == (view["discovered"], view["round"])


def test_what_may_still_be_done_and_what_it_costs_is_shown() -> None:
    table = start(artefacts={"0": ["light"]})
    play(
        table,
        {
            0: {
                "abstain": True,
                "light": True,
                "visions": {"veil": True, "window": {"position": 0, "seat": 1}},
                "guesses": [list(UNUSED)] * 3,
            }
        },
    )
    view = shown(table, 0)
    assert [False, False, False] == [view[key] for key in ("may_abstain", "may_light", "may_window")]
    assert (2, 3) == (view["veil_cost"], view["guess_cost"])


def test_the_insight_shown_is_what_the_next_action_may_cost_also_after_abstaining() -> None:
    """Our own ruling 1: a seat knows its own insight; no event tells it what it earned when it abstained."""
    table = start()
    play(table, {0: {"abstain": True}, 1: {"votes": {"15": 1}}})
    assert 10 == shown(table, 0)["insight"]


def test_a_discovered_seat_may_not_look_through_the_window() -> None:
    table = start()
    play(table, {0: ASK})
    assert not shown(table, 3)["may_window"]


def test_after_the_end_the_reveal_is_shown() -> None:
    table = start(rounds=2)
    play(table)
    for observer in (0, 4, None):
        assert "reveal" == shown(table, observer)["history"][-1]["told"][-1]["type"]


def test_a_spectator_is_shown_what_is_public_only() -> None:
    table = start()
    heard = play(table, {0: ASK, 1: {"visions": {"mirror": {"rune": "Torn Box", "seat": 0}}}})
    assert {
        "seat": None,
        "round": 3,
        "rounds": 30,
        "attempt": 1,
        "submitted": [],
        "symbol": None,
        "insight": None,
        "mantra": None,
        "artefacts": [],
        "may_abstain": False,
        "may_light": False,
        "may_window": False,
        "veil_cost": None,
        "guess_cost": None,
        "discovered": {"3": 2},
        "history": [{"round": 2, "action": None, "told": heard.public}],
    } == shown(table, None)


def test_a_seat_that_was_told_the_same_is_shown_the_same_bytes_whatever_others_have_and_do() -> None:
    """Seats 1 and 4 change symbols, seat 2 votes, darkens and asks otherwise; seat 0 asks about seat 3 alone."""
    swapped = (SYMBOLS[0], SYMBOLS[4], SYMBOLS[2], SYMBOLS[3], SYMBOLS[1])
    mine = {"learned": [{"has": {"seat": 3, "rune": "Cross Box"}}], "guesses": [list(SYMBOLS[0])]}
    views = []
    for symbols, other in ((SYMBOLS, {}), (swapped, {"dark": 3, "learned": [{"rune": "Cross Box"}]})):
        table = start(symbols, artefacts={"2": ["dark"]})
        play(table, {0: mine, 1: {"votes": {"15": 1}}, 2: other})
        views.append(encode(GAME.view(table.state, 0)))
    assert views[0] == views[1]


def test_views_of_the_same_match_played_twice_are_byte_identical() -> None:
    for observer in (*range(5), None):
        one, other = (encode(GAME.view(played().state, observer)) for _ in range(2))
        assert one == other


def played() -> Table:
    table = start(artefacts={"2": ["light"]})
    for seat in range(5):
        put(table, seat, insight=9)
    play(table, {0: ASK, 1: {"abstain": True}, 2: {"light": True}})
    play(table, {1: {"guesses": [list(UNUSED)]}})
    return table


def test_the_host_is_shown_everything() -> None:
    table = played()
    view: Json = plain(GAME.host_view(table.state))
    assert [list(symbol) for symbol in SYMBOLS] == [each["symbol"] for each in view["holdings"]]
    assert [None, None, None, 2, None] == [each["discovered"] for each in view["holdings"]]
    assert [3, 1] == view["conditions"]
    assert [1, 3] == view["used"]


def test_before_symbols_are_set_none_is_shown() -> None:
    table = opening()
    for observer in (*range(5), None):
        assert shown(table, observer)["symbol"] is None
        assert [] == shown(table, observer)["submitted"]


def test_only_these_events_may_ever_be_public() -> None:
    public = {"resubmit", "insight", "revealed", "discovered", "reveal"}
    declared: dict[Any, Audience] = {event.__struct_config__.tag: event.audience for event in GAME.events}
    assert public == {tag for tag, audience in declared.items() if audience is Audience.PUBLIC}
