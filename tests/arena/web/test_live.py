"""Live matches: what browsers are told of a feed, and that no feed can do more than be shown."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from arena.web.live import (
    AFTER_SECONDS,
    LINES,
    MOST_MATCHES,
    ON_STAGE,
    SILENT_SECONDS,
    WAITING_SECONDS,
    LiveFeed,
)
from protocol.codec import encode
from protocol.feed import (
    FeedBegun,
    FeedClosed,
    FeedEnded,
    FeedEvent,
    FeedMessage,
    FeedPaused,
    FeedResumed,
    FeedSnapshot,
    FeedWindow,
)
from protocol.games.mist import MistView
from protocol.messages import ClockTerms
from tests.arena.stand_in import outcome

TOPIC = b"match/m1"
BEGUN = FeedBegun(
    n=0,
    match="m1",
    game="mist",
    variant="contractual-obligation",
    options={},
    players=("a", "b"),
    clock=ClockTerms(main_ms={"turn": 2_000}, reserve_ms=1_000),
    started="2026-01-02T03:04:05.678+00:00",
)
VIEW: dict[str, Any] = {
    "seat": None,
    "turn": 1,
    "mover": 0,
    "pieces": [1, 0],
    "forbidden": [],
    "may_swap": False,
    "first_move": ["C5"],
    "swapped": False,
    "visible": {},
    "spotted": [],
    "destroyed": [],
    "placed": [],
    "lost": [],
}
FIRST = {"type": "first_move", "seat": 0, "cells": ["C5"]}
SECRET = {"type": "first_move", "seat": 1, "cells": ["I5"]}


def window(n: int, turn: int = 1, **other: Any) -> FeedWindow:
    made = FeedWindow(
        n=n, at_ms=n, window="turn", seats=(0,), main_ms=2_000, reserve_ms={"0": 1_000}, view=VIEW | {"turn": turn}
    )
    return replace(made, **other)


LATE = FeedSnapshot(
    n=3,
    at_ms=1_500,
    begun=BEGUN,
    events=(FeedEvent(n=1, at_ms=1, event=FIRST),),
    left_out=4,
    window=window(2, at_ms=500),
    stopped_ms=200,
    paused=None,
)


def ended(n: int, head: str = "h1") -> FeedEnded:
    return FeedEnded(n=n, at_ms=n, outcome=outcome((1,), (0,)), head=head, view=VIEW | {"turn": 77})


class Followed:
    """A feed that is followed, what browsers were told, and time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0
        self.told: list[dict[str, Any]] = []
        self.of_one: list[dict[str, Any]] = []
        self.feed = LiveFeed(self.told.append, lambda _, message: self.of_one.append(message), lambda: self.now)

    def hears(self, *messages: FeedMessage, topic: bytes = TOPIC) -> "Followed":
        for message in messages:
            self.feed.hear(topic, encode(message))
        return self

    def words(self) -> str:
        """All that anybody was told, late ones too."""
        return json.dumps([self.told, self.of_one, self.feed.snapshot(), self.feed.snapshot_of("m1")])

    def match(self) -> dict[str, Any]:
        """Return the match in the snapshot for a late browser."""
        (found,) = self.snapshot()["matches"]
        return dict(found)

    def snapshot(self) -> dict[str, Any]:
        """Return the snapshot for a late browser."""
        return dict(json.loads(encode(self.feed.snapshot())))

    def merged(self) -> dict[str, Any]:
        """Return the match as an early browser has merged it."""
        known: dict[str, Any] = {}
        for message in self.told:
            if message.get("id") == "m1":
                known = message if message["type"] == "whole" else known | message
        return dict(json.loads(encode(known)))


@pytest.fixture
def followed() -> Followed:
    return Followed()


class TestTelling:
    def test_a_match_is_told_as_it_goes(self, followed: Followed) -> None:
        followed.hears(BEGUN, FeedEvent(n=1, at_ms=1, event=FIRST), window(2))
        match = followed.match()
        assert ["a", "b"] == match["players"]
        assert ["a opens the match with C5"] == match["log"]
        assert {
            "name": "turn",
            "seats": [0],
            "main_ms": 2_000,
            "reserve_ms": {"0": 1_000},
            "passed_ms": 0,
        } == match["window"]
        assert VIEW == match["view"]

    def test_early_and_late_browsers_know_the_same(self, followed: Followed) -> None:
        followed.hears(
            BEGUN, FeedEvent(n=1, at_ms=1, event=FIRST), window(2), FeedClosed(n=3, at_ms=3), window(4, 2)
        )
        early, late = followed.merged(), followed.match()
        for key in late.keys() - {"type", "log", "log_from"}:
            assert late[key] == early[key], key

    def test_clocks_run_from_the_windows_opening_and_stand_still_in_pauses(self, followed: Followed) -> None:
        followed.hears(BEGUN, window(1))
        followed.now = 0.5
        assert 500 == followed.match()["window"]["passed_ms"]
        followed.hears(FeedPaused(n=2, at_ms=500, reason="operator"))
        followed.now = 10
        assert (500, "operator") == (followed.match()["window"]["passed_ms"], followed.match()["paused"])
        followed.hears(FeedResumed(n=3, at_ms=500))
        followed.now = 10.25
        assert (750, None) == (followed.match()["window"]["passed_ms"], followed.match()["paused"])

    def test_one_who_missed_the_beginning_learns_of_it_by_the_next_snapshot(self, followed: Followed) -> None:
        followed.hears(LATE)
        match = followed.match()
        assert (4, ["a opens the match with C5"]) == (match["log_from"], match["log"])
        assert 800 == match["window"]["passed_ms"]

    def test_a_snapshot_that_says_nothing_new_changes_nothing(self, followed: Followed) -> None:
        followed.hears(BEGUN, window(1))
        before = len(followed.told)
        followed.hears(
            FeedSnapshot(
                n=2, at_ms=9, begun=BEGUN, events=(), left_out=0, window=window(1), stopped_ms=0, paused=None
            )
        )
        assert before == len(followed.told)

    def test_a_match_that_is_played_again_begins_anew(self, followed: Followed) -> None:
        followed.hears(BEGUN, window(1), replace(BEGUN, started="later"))
        assert ("playing", None) == (followed.match()["state"], followed.match()["view"])
        followed.hears(window(1, 5))
        assert 5 == followed.match()["view"]["turn"]

    def test_what_is_kept_of_what_happened_is_bounded_and_numbered(self, followed: Followed) -> None:
        followed.hears(BEGUN, window(1))
        followed.hears(*(FeedEvent(n=2 + number, at_ms=1, event=FIRST) for number in range(3 * LINES)))
        match = followed.match()
        assert (2 * LINES, LINES) == (match["log_from"], len(match["log"]))

    def test_each_match_has_a_stream_of_its_own(self, followed: Followed) -> None:
        followed.hears(BEGUN, window(1))
        assert "m1" in {each["id"] for each in followed.of_one}
        assert [1, 0] == list(followed.feed.snapshot_of("m1")["matches"][0]["view"]["pieces"])
        assert [] == followed.feed.snapshot_of("m2")["matches"]


class TestTheEnd:
    def begun(self, followed: Followed, **other: Any) -> Followed:
        return followed.hears(replace(BEGUN, **other), window(1), FeedClosed(n=2, at_ms=2))

    def test_what_follows_a_window_waits_for_the_next_one(self, followed: Followed) -> None:
        self.begun(followed).hears(FeedEvent(n=3, at_ms=3, event=SECRET))
        assert "I5" not in followed.words()
        followed.hears(window(4, 2))
        assert "I5" in followed.words()

    def test_the_end_is_not_told_before_the_block_counts(self, followed: Followed) -> None:
        self.begun(followed).hears(FeedEvent(n=3, at_ms=3, event=SECRET), ended(4))
        words = followed.words()
        assert "over" == followed.match()["state"]
        assert not [secret for secret in ("I5", "places", "h1", "played", "77") if secret in words]
        followed.feed.count({"another": (0, 0)})
        assert words == followed.words()
        followed.feed.count({"h1": (4, 1)})
        match = followed.match()
        assert ("ended", "match/5b.html") == (match["state"], match["link"])
        assert ({"1": 1, "0": 2}, 77) == (match["places"], match["view"]["turn"])
        assert "I5" in followed.words()

    def test_a_snapshot_between_the_last_window_and_the_end_tells_nothing_more(self, followed: Followed) -> None:
        self.begun(followed).hears(
            FeedSnapshot(
                n=4,
                at_ms=9,
                begun=BEGUN,
                events=(FeedEvent(n=3, at_ms=3, event=SECRET),),
                left_out=0,
                window=None,
                stopped_ms=0,
                paused=None,
            )
        )
        assert "I5" not in followed.words()

    def test_after_a_message_that_is_missing_nothing_is_taken_for_granted(self, followed: Followed) -> None:
        """The one that closed the window may be missing: what follows may be the end."""
        followed.hears(BEGUN, window(1), FeedEvent(n=3, at_ms=3, event=SECRET))
        assert "I5" not in followed.words()

    def test_of_a_void_attempt_the_end_is_told_to_nobody(self, followed: Followed) -> None:
        self.begun(followed).hears(FeedEvent(n=3, at_ms=3, event=SECRET), replace(ended(4), outcome=None))
        followed.feed.count({"h1": (0, 0)})
        assert "void" == followed.match()["state"]
        assert not [secret for secret in ("I5", "77") if secret in followed.words()]

    def test_a_match_that_shares_its_deal_with_no_other_is_told_whole(self, followed: Followed) -> None:
        self.begun(followed, alone=True).hears(FeedEvent(n=3, at_ms=3, event=SECRET), ended(4))
        assert ("ended", 77) == (followed.match()["state"], followed.match()["view"]["turn"])
        assert "I5" in followed.words()

    def test_nothing_of_an_attempt_comes_after_its_end(self, followed: Followed) -> None:
        self.begun(followed).hears(ended(3), window(4, 9))
        assert "over" == followed.match()["state"]
        assert 1 == followed.match()["view"]["turn"]


class TestBounds:
    def test_old_matches_are_forgotten(self, followed: Followed) -> None:
        followed.hears(BEGUN, window(1))
        followed.now = SILENT_SECONDS + 1
        followed.feed.tidy()
        assert [] == followed.snapshot()["matches"]
        assert {"type": "gone", "id": "m1"} in followed.told

    @pytest.mark.parametrize(("counts", "seconds"), [(True, AFTER_SECONDS), (False, WAITING_SECONDS)])
    def test_matches_that_are_over_are_shown_for_a_while(
        self, followed: Followed, counts: bool, seconds: float
    ) -> None:
        followed.hears(BEGUN, window(1), ended(2))
        if counts:
            followed.feed.count({"h1": (0, 0)})
        followed.now = seconds - 1
        followed.feed.tidy()
        assert 1 == len(followed.snapshot()["matches"])
        followed.now = seconds + 1
        followed.feed.tidy()
        assert 0 == len(followed.snapshot()["matches"])

    def test_no_more_matches_are_kept_than_there_is_room_for(self, followed: Followed) -> None:
        for number in range(MOST_MATCHES + 10):
            followed.hears(replace(BEGUN, match=str(number)), topic=b"match/%d" % number)
        shown = followed.snapshot()
        assert (MOST_MATCHES, ON_STAGE) == (len(shown["matches"]), len(shown["stage"]))

    def test_those_that_are_over_make_room_on_stage_for_others(self, followed: Followed) -> None:
        for number in range(ON_STAGE + 1):
            followed.hears(replace(BEGUN, match=str(number)), topic=b"match/%d" % number)
        last = str(ON_STAGE)
        assert last not in followed.snapshot()["stage"]
        followed.hears(window(1), ended(2), topic=b"match/3")
        followed.now = 10
        for number in range(ON_STAGE + 1):
            followed.hears(window(1), topic=b"match/%d" % number)
        followed.feed.tidy()
        stage = followed.snapshot()["stage"]
        assert last in stage
        assert "3" not in stage
        assert {"type": "stage", "stage": stage} == followed.told[-1]


HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\n\ndata: x"
ANY = [
    b"",
    b"{",
    b"null",
    b"[" * 100_000,
    b"\xff\xfe",
    b'{"type":"begun"}',
    b'{"type":"unknown","n":1}',
    encode(BEGUN).replace(b'"n":0', b'"n":1e400'),
    encode(replace(BEGUN, players=())),
    encode(replace(BEGUN, players=("x",) * 10_000)),
    encode(replace(BEGUN, game="no such game")),
    encode(FeedEvent(n=1, at_ms=1, event={"type": "first_move", "seat": -7, "cells": [HOSTILE] * 1_000})),
    encode(FeedEvent(n=1, at_ms=1, event=[[[]]])),
    encode(window(1, view={"seat": 0} | VIEW, seats=(99, -1), reserve_ms={"99": -5}, main_ms=-(2**62))),
    encode(window(1, view=HOSTILE)),
    encode(window(1, view=VIEW | {"seat": 1, "turn": 55})),
    encode(window(2**62)),
    encode(FeedPaused(n=1, at_ms=-1, reason=HOSTILE * 1_000)),
    encode(replace(ended(1), outcome=outcome((5, 5), (-1,)))),
    encode(replace(ended(1), outcome=replace(outcome((0,), (1,)), reason=HOSTILE * 1_000, scores={HOSTILE: 1}))),
    encode(
        FeedSnapshot(
            n=9,
            at_ms=-(2**60),
            begun=BEGUN,
            events=(1, None, {"event": 7}, *[{"event": FIRST}] * 5_000),
            left_out=-5,
            window=window(1),
            stopped_ms=2**60,
            paused=HOSTILE,
        )
    ),
    encode(LATE).replace(b'"at_ms":1500', b'"at_ms":' + b"9" * 309),
    encode(LATE).replace(b'"at_ms":1500', b'"at_ms":1' + b"0" * 4_000),
    encode(LATE).replace(b'"stopped_ms":200', b'"stopped_ms":-' + b"9" * 309),
    encode(LATE).replace(b'"left_out":4', b'"left_out":' + b"9" * 309),
    encode(window(1, view=VIEW | {"turn": 10**309})),
    encode(window(1, view=VIEW | {"first_move": [[[]]] * 9})),
    encode(FeedEvent(n=1, at_ms=1, event={"type": "first_move", "seat": 10**4_000, "cells": []})),
    encode(window(1)).replace(b'"view":', b'"deep":' + b"[" * 900 + b"]" * 900 + b',"view":'),
]


def strings(value: Any) -> Iterator[str]:
    """All text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from strings([*value.keys(), *value.values()])
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


class TestStrangers:
    @pytest.mark.parametrize("content", ANY, ids=range(len(ANY)))
    def test_whatever_a_feed_says_the_next_match_is_shown(self, followed: Followed, content: bytes) -> None:
        followed.hears(replace(BEGUN, alone=True))
        followed.feed.hear(TOPIC, content)
        followed.feed.tidy()
        followed.hears(replace(BEGUN, match="m2"), window(1), topic=b"match/m2")
        words = followed.words()
        assert len(words) < 200_000
        assert all(text.isprintable() for text in strings(json.loads(words)))
        assert VIEW in [match.get("view") for match in followed.snapshot()["matches"]]

    @pytest.mark.parametrize("topic", [b"", b"match", b"match\xff/x", b"standings", b"match/\xff"])
    def test_what_is_under_no_matchs_topic_is_left_out(self, followed: Followed, topic: bytes) -> None:
        followed.hears(BEGUN, topic=topic)
        assert [] == followed.snapshot()["matches"]

    def test_no_feed_speaks_of_another_feeds_match(self, followed: Followed) -> None:
        followed.hears(BEGUN, window(1))
        for message in (replace(BEGUN, players=("x", "y"), started="later"), window(1, 9), ended(2)):
            followed.feed.hear(TOPIC, encode(message), 1)
        first, second = followed.snapshot()["matches"]
        assert (["a", "b"], "playing", 1) == (first["players"], first["state"], first["view"]["turn"])
        assert (["x", "y"], "over") == (second["players"], second["state"])
        assert first["id"] != second["id"]

    def test_each_feed_has_room_for_its_own_matches(self, followed: Followed) -> None:
        for number in range(MOST_MATCHES + 10):
            followed.feed.hear(b"match/%d" % number, encode(BEGUN), 1)
        followed.hears(BEGUN)
        assert "m1" in {match["id"] for match in followed.snapshot()["matches"]}

    def test_numbers_that_a_browser_does_not_hold_are_not_shown(self, followed: Followed) -> None:
        followed.hears(BEGUN, window(1, view=VIEW | {"turn": 2**53}))
        assert followed.match()["view"] is None
        followed.hears(window(2, view=VIEW | {"turn": 2**53 - 1}))
        assert 2**53 - 1 == followed.match()["view"]["turn"]

    def test_an_id_is_a_part_of_a_path_whatever_the_name(self, followed: Followed) -> None:
        for name in (HOSTILE, "../../etc", "x" * 5_000, "", "a/b", "%2e"):
            followed.hears(BEGUN, topic=b"match/" + name.encode())
        for match in followed.snapshot()["matches"]:
            assert match["id"].isalnum()
            assert len(match["id"]) <= 64

    def test_a_view_of_a_seat_is_not_shown(self, followed: Followed) -> None:
        followed.hears(BEGUN, window(1, view=VIEW | {"seat": 1}))
        assert followed.match()["view"] is None

    def test_names_are_shown_as_text_of_some_length(self, followed: Followed) -> None:
        followed.hears(replace(BEGUN, players=(HOSTILE, "y" * 10_000)))
        one, other = followed.match()["players"]
        assert "\u202e" not in one
        assert "\n" not in one
        assert len(other) <= 200


def test_the_view_is_that_of_the_game() -> None:
    assert set(VIEW) == set(MistView.__struct_fields__)
