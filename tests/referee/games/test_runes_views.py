"""What Runes to Ruins shows: a seat what it did and was told, a spectator what is public, the host all."""

from typing import Any

from protocol.words import Audience
from referee.rules.table import Table
from tests.referee.games.playing import close, host_view
from tests.referee.games.runes_play import GAME, SYMBOLS, UNUSED, put, start

ASK = {
    "votes": {"3": 1},
    "visions": {"divine": "Box", "except": {"seat": 4, "runes": sorted(SYMBOLS[4][:5])}},
    "learned": [{"has": {"seat": 1, "rune": "Torn Box"}}],
    "guesses": [list(SYMBOLS[3])],
}


def played() -> Table:
    table = start(artefacts={"2": ["light"]})
    for seat in range(5):
        put(table, seat, insight=9)
    close(table, {0: ASK, 1: {"abstain": True}, 2: {"light": True}})
    close(table, {1: {"guesses": [list(UNUSED)]}})
    return table


def test_the_host_is_shown_everything() -> None:
    table = played()
    view = host_view(table)
    assert [list(symbol) for symbol in SYMBOLS] == [each["symbol"] for each in view["holdings"]]
    assert [None, None, None, 2, None] == [each["discovered"] for each in view["holdings"]]
    assert [3, 1] == view["conditions"]
    assert [1, 3] == view["used"]


def test_only_these_events_may_ever_be_public() -> None:
    public = {"resubmit", "insight", "revealed", "discovered", "reveal"}
    declared: dict[Any, Audience] = {event.__struct_config__.tag: event.audience for event in GAME.events}
    assert public == {tag for tag, audience in declared.items() if audience is Audience.PUBLIC}
