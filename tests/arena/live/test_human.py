"""A person's side of a match, without a terminal: messages in, words out; words typed in, messages out."""

from typing import Any

import pytest
from msgspec import Raw, to_builtins
from msgspec.structs import replace

from arena.live.human import COMMANDS, HELP, Person
from protocol.codec import decode_json
from protocol.messages import (
    PROTOCOL,
    Accepted,
    Closed,
    EventMessage,
    Faulted,
    Invited,
    Opened,
    Over,
    Pause,
    Rejected,
    Submit,
    Undo,
    Welcome,
)
from protocol.refusals import Fault, Refusal
from protocol.words import Outcome
from referee.games import GAMES
from referee.match.terms import ClockTable, Policy, clock_terms
from referee.rules import reveal
from referee.rules.table import Deal, Table

MIST = GAMES["mist"]
VARIANT = "contractual-obligation"
NONE: dict[str, Any] = {"cells": []}
C3, D7 = {"cells": ["C3"]}, {"cells": ["D7"]}
TABLE = Table(MIST, Deal(VARIANT, 1, Raw(b'{"first":0}')))


def welcome(told: tuple[Any, ...] = (), clock: ClockTable | None = None) -> Welcome:
    terms = clock_terms(MIST, VARIANT, Policy(), clock)
    return Welcome(PROTOCOL, "m", "mist", VARIANT, seat=0, seats=2, options={}, clock=terms, seed=1, told=told)


def window(number: int = 0, default: Any = NONE) -> Opened:
    view = to_builtins(reveal.shown(MIST, TABLE.state, 0))
    return Opened(number, "turn", view, default, main_ms=60_000, reserve_ms=300_000)


def person(*, final: bool = False, opened: bool = True, default: Any = NONE) -> Person:
    """One who sits in seat 0 of Mist, in the first turn if it is `opened`."""
    one = Person(final=final, plain=True)
    one.hear(welcome())
    if opened:
        one.hear(window(default=default))
    return one


def shown(one: Person, message: Any) -> str:
    return "\n".join(map(str, one.hear(message)))


def submitted(said: list[Any]) -> tuple[Any, bool]:
    """Return the action of the only message, and whether it is final."""
    (submit,) = said
    assert isinstance(submit, Submit)
    return decode_json(bytes(submit.action)), submit.final is True


class TestHearing:
    def test_an_invitation_is_nothing_to_a_person_who_is_here(self) -> None:
        assert [] == Person(final=False, plain=True).hear(Invited("token"))

    def test_a_welcome_says_who_one_is_and_the_times(self) -> None:
        one = Person(final=False, plain=True)
        said = shown(one, welcome())
        assert f"mist, {VARIANT}: you are seat 0 of 2." in said
        assert "turn 60 s" in said
        assert not one.ready

    def test_a_delay_is_said_too(self) -> None:
        clock = ClockTable(budget_ms=9_000, delay="bronstein", delay_ms=500)
        assert "up to 0.5 s given back after each window" in shown(
            Person(final=False, plain=True), welcome(clock=clock)
        )

    def test_a_window_shows_the_board_what_may_be_typed_and_the_default(self) -> None:
        one = person(opened=False)
        said = shown(one, window())
        assert "turn 1, seat 0 to move" in said
        assert "If you submit nothing, you place no piece." in said
        assert one.ready

    def test_an_event_is_said_and_marked_on_the_next_board(self) -> None:
        one = person(opened=False)
        event = {"type": "first_move", "seat": 0, "cells": ["C3"]}
        assert "seat 0 opens the match with C3" in shown(one, EventMessage(0, event))

    def test_events_before_a_reconnect_are_read_but_not_printed_again(self) -> None:
        one = Person(final=False, plain=True)
        said = shown(one, welcome(told=({"type": "first_move", "seat": 1, "cells": ["C3"]},)))
        assert "C3" not in said

    @pytest.mark.parametrize("other", [7, None])
    def test_a_refusal_of_something_else_leaves_what_was_sent(self, other: int | None) -> None:
        one = person()
        one.act("C3")
        one.hear(Rejected(other, Refusal.LATE, "over"))
        assert not one.ready
        assert (C3, True) == submitted(one.command("/done")[0])

    @pytest.mark.parametrize(("by_default", "how"), [(True, "time is up, taken by default"), (False, "taken")])
    def test_the_resolved_action_is_printed_with_its_time(self, by_default: bool, how: str) -> None:
        one = person()
        assert f"{how}: C3 (1.2 s)" == shown(one, Closed(0, C3, by_default, 1_230, 300_000))
        assert not one.ready

    def test_a_drawn_default_is_not_known_before_time_is_up(self) -> None:
        one = person(default=None)
        assert (None, True) == submitted(one.command("/done")[0])

    def test_the_end_shows_the_board_and_the_ranking_with_its_ties(self) -> None:
        one = person()
        outcome = Outcome(ranking=((1, 2), (0,)), winners=(1, 2), eliminated=0, scores=None, reason="played")
        said = shown(one, Over(outcome))
        assert "turn 1, seat 0 to move" in said
        assert said.endswith("over (played): seat 1 and 2, then 0")
        assert one.over

    def test_a_fault_is_said_and_is_the_end(self) -> None:
        one = person()
        assert f"the referee hangs up ({Fault.MISBEHAVED}): too much" == shown(
            one, Faulted(Fault.MISBEHAVED, "too much")
        )
        assert one.over


class TestTyping:
    def test_unreadable_input_is_not_sent(self) -> None:
        one = person(opened=False)
        one.hear(replace(window(), window="first", default={"first": 0}))
        asked = "who goes first: first 0 or first 1. If you submit nothing, you go first."
        assert ([], ["not sent: type first 0 or first 1", asked], True) == (*one.act("first 7"), one.ready)

    def test_done_takes_the_default_or_what_is_on_its_way(self) -> None:
        one = person()
        assert (NONE, True) == submitted(one.command("/done")[0])
        one = person()
        one.act("D7")
        assert (D7, True) == submitted(one.command("/done")[0])

    def test_done_where_the_default_is_drawn_takes_it_for_good(self) -> None:
        one = person(default=None)
        one.command("/done")
        assert "the default stands: you place no piece" == shown(one, Accepted(0, None))
        assert not one.asked

    def test_after_a_refused_final_action_undo_leaves_the_window_open(self) -> None:
        one = person()
        one.act("C3 C4!")
        one.hear(Rejected(0, Refusal.ILLEGAL, "C4 is next to another cell of this turn"))
        one.command("/undo")
        assert "withdrawn: back to the default: none (you place no piece)" == shown(one, Accepted(0, None))
        assert one.asked

    @pytest.mark.parametrize("command", ["/undo", "/done"])
    def test_without_a_window_there_is_nothing_to_take_back_or_settle(self, command: str) -> None:
        assert ([], ["no window is open for you"]) == person(opened=False).command(command)

    def test_other_commands(self) -> None:
        one = person()
        assert ([Undo(window=0)], []) == one.command("/undo")
        assert ([Pause()], []) == one.command("/pause")
        assert "turn 1, seat 0 to move" in str(one.command("/board")[1][0])
        assert HELP == one.command("/Help")[1][0]
        assert ([], [f"there is no '/dome'; the commands are {' '.join(COMMANDS)}"]) == one.command("/dome now")

    def test_before_the_first_window_there_is_no_board(self) -> None:
        assert [] == person(opened=False).board()
