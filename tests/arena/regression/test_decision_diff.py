"""Where head differs from base, compared with how their matches ended; and how that is reported."""

from typing import Any

import pytest

from arena.quantities import Table
from arena.regression.decision_diff import ComparedMatch, DecisionDiff, base_matches, diff_decisions, total
from arena.regression.model import BASE, FIELD, HEAD
from arena.reports.decisions import (
    DECISIONS,
    ROWS,
    decision_rows,
    explained_json,
    explained_lines,
    explained_markdown,
    outcomes,
    rows_left_out,
)
from arena.statistics.standings import CountedMatch
from protocol.messages import Closed, Opened
from protocol.refusals import Conduct
from protocol.words import Action
from referee.host.interview import AnsweredQuestion, BotAnswer, Interviewed
from tests.arena.stand_in import outcome


class Names(Action, frozen=True):
    """An action of a game that is made up."""

    name: str
    loudly: bool = False


def cells(matches: list[DecisionDiff], seats: int) -> list[tuple[str, ...]]:
    return Table(DECISIONS, decision_rows(matches, seats)).cells()


def played(seating: int, entrants: tuple[int, ...], *ranking: tuple[int, ...], block: int = 0) -> CountedMatch:
    return CountedMatch(
        block=block,
        seating=seating,
        entrants=entrants,
        outcome=outcome(*ranking),
        conduct=(Conduct.OK,) * len(entrants),
        charged_us=(0,) * len(entrants),
        windows=(1,) * len(entrants),
        defaults=(0,) * len(entrants),
        refused=(0,) * len(entrants),
        head=f"{block}{seating}",
    )


def asked(
    base: Any, answer: BotAnswer | None, *, by_default: bool = False, default: Any = None
) -> AnsweredQuestion:
    return AnsweredQuestion(
        opened=Opened(id=3, window="say", view={"turn": 7}, default=default, main_ms=1, reserve_ms=0),
        closed=Closed(window=3, taken=base, by_default=by_default, charged_ms=0, reserve_ms=0),
        answer=answer,
    )


def said(name: str, **more: bool) -> BotAnswer:
    return BotAnswer(action=Names(name=name, **more))


PLACE = ComparedMatch(block=0, seating=1, seat=1, head="h", base_points=0.0, head_points=1.0)
NOTHING = BotAnswer(action=None)


def of(*questions: AnsweredQuestion, gone: str = "", place: ComparedMatch = PLACE) -> DecisionDiff:
    return diff_decisions(place, Interviewed(questions, gone))


class TestPlaces:
    def test_with_two_seats_head_had_bases_seat_in_the_other_match_of_the_block(self) -> None:
        block = [played(0, (BASE, HEAD), (0,), (1,)), played(1, (HEAD, BASE), (0,), (1,))]
        assert [(0, 0, 1.0, 1.0), (1, 1, 0.0, 0.0)] == [
            (each.seating, each.seat, each.base_points, each.head_points) for each in base_matches(block)
        ]
        assert ["00", "01"] == [each.head for each in base_matches(block)]

    def test_with_more_seats_head_had_bases_seat_among_the_same_others(self) -> None:
        others = (FIELD, FIELD + 1)
        block = [
            played(0, (HEAD, *others), (0,), (1,), (2,)),
            played(1, (*others, HEAD), (0,), (1,), (2,)),
            played(2, (BASE, *others), (1,), (0,), (2,)),
            played(3, (*others, BASE), (2,), (1,), (0,)),
        ]
        assert [(2, 0, 0.5, 1.0), (3, 2, 1.0, 0.0)] == [
            (each.seating, each.seat, each.base_points, each.head_points) for each in base_matches(block)
        ]

    def test_matches_of_other_blocks_are_not_mixed_in(self) -> None:
        matches = [
            played(seating, entrants, (seating,), (1 - seating,), block=block)
            for block in range(3)
            for seating, entrants in enumerate(((BASE, HEAD), (HEAD, BASE)))
        ]
        assert [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] == [
            (each.block, each.seating) for each in base_matches(matches)
        ]


class TestDecisions:
    def test_the_same_action_is_no_parting_however_it_was_spelled(self) -> None:
        assert () == of(asked({"name": "a"}, said("a", loudly=False))).decisions

    def test_another_action_is_one_and_says_when_and_what(self) -> None:
        (decision,) = of(asked({"name": "a"}, said("b"))).decisions
        assert (3, "say", 7, {"name": "a"}, {"name": "b"}, "") == (
            decision.window,
            decision.name,
            decision.turn,
            decision.base,
            decision.head,
            decision.trouble,
        )

    def test_an_illegal_answer_stands_for_the_default_and_is_listed_even_where_base_did_the_same(self) -> None:
        answer = BotAnswer(action=None, illegal="that is taken")
        other, same = of(
            asked({"name": "a"}, answer, default={"name": "d"}),
            asked({"name": "d"}, answer, default={"name": "d"}),
        ).decisions
        assert [(True, "illegal: that is taken"), (False, "illegal: that is taken")] == [
            (other.parts, other.trouble),
            (same.parts, same.trouble),
        ]

    def test_no_answer_is_listed_as_such_unless_the_default_was_chosen(self) -> None:
        late, chosen = NOTHING, BotAnswer(action=None, chosen=True)
        found = of(
            asked({"name": "d"}, late, default={"name": "d"}), asked({"name": "d"}, chosen, default={"name": "d"})
        )
        assert ["no answer in its time"] == [each.trouble for each in found.decisions]

    def test_a_default_that_is_drawn_is_the_one_that_base_got(self) -> None:
        chosen = BotAnswer(action=None, chosen=True)
        assert () == of(asked({"name": "drawn"}, chosen, by_default=True)).decisions

    def test_questions_that_head_was_gone_for_are_counted_and_are_no_partings(self) -> None:
        found = of(asked({"name": "a"}, said("a")), asked({"name": "a"}, None), gone="ended by signal 9")
        assert (1, 1, "ended by signal 9", ()) == (found.asked, found.left, found.gone, found.decisions)

    def test_to_be_gone_after_the_last_question_is_nothing_to_tell(self) -> None:
        assert "" == of(asked({"name": "a"}, said("a")), gone="ended with exit code 1").gone


PARTED = of(asked({"name": "a"}, said("b")), asked({"name": "a"}, said("a")), asked({"name": "a"}, NOTHING))
SAME = of(
    asked({"name": "a"}, said("a")),
    place=ComparedMatch(block=1, seating=0, seat=0, head="", base_points=1, head_points=0.5),
)
CUT = of(asked({"name": "a"}, said("a")), asked({"name": "a"}, None), gone="ended by signal 9")


class TestReport:
    def test_matches_that_part_others_and_those_cut_short_are_counted_apart_with_how_they_went(self) -> None:
        assert [
            ("differ", "1", "0.000", "1.000", "+1.000"),
            ("never differ", "1", "1.000", "0.500", "-0.500"),
            ("did not differ before head dropped out", "1", "0.000", "1.000", "+1.000"),
        ] == outcomes([PARTED, SAME, CUT]).cells()

    def test_the_counts_are_of_what_was_asked(self) -> None:
        assert [
            "head differs from base in 2 of 4 decisions (50.0%), in 1 of 2 matches",
            "0 of head's answers were illegal and 1 did not come in time: the default counts for them",
        ] == explained_lines([PARTED, SAME])
        assert (
            "head dropped out before the end of 1 match (1 decision not asked), first in 00001b: ended by signal 9"
        ) == explained_lines([CUT, SAME])[-1]

    def test_no_share_is_printed_if_no_question_was_asked(self) -> None:
        assert ["head differs from base in 0 of 0 decisions, in 0 of 0 matches"] == explained_lines([])

    def test_each_row_is_a_decision_the_first_of_a_match_with_its_name_and_both_outcomes(self) -> None:
        assert [
            ("00001b", "1", "3 say", "7", '{"name":"a"}', '{"name":"b"}', "lost", "won"),
            ("", "", "3 say", "7", '{"name":"a"}', "null (no answer in its time)", "", ""),
            ("00001b", "1", "", "", "", "ended by signal 9", "lost", "won"),
        ] == cells([PARTED, SAME, CUT], seats=2)

    def test_with_more_seats_outcomes_are_points(self) -> None:
        assert ("0.00", "1.00") == cells([PARTED], seats=5)[0][-2:]

    def test_a_table_with_too_many_rows_has_the_first_of_each_match(self) -> None:
        many = [of(*(asked({"name": "a"}, said("b")) for _ in range(ROWS))), SAME, PARTED]
        assert (2, ROWS) == (len(decision_rows(many, 2)), rows_left_out(many, 2))

    def test_only_what_two_actions_do_not_agree_in_is_shown(self) -> None:
        found = of(asked({"name": "a", "loudly": True}, said("b", loudly=True)))
        assert ('{"name":"a"}', '{"name":"b"}') == cells([found], 2)[0][4:6]

    def test_the_markdown_has_both_tables_and_what_would_end_a_cell_is_escaped(self) -> None:
        told = explained_markdown([of(asked({"name": "a|b"}, said("b")))], seats=2)
        assert "### Where head differs from base\n" in told
        assert '| 00001b | 1 | 3 say | 7 | {"name":"a\\|b"} | {"name":"b"} | lost | won |\n' in told
        assert "| differ | 1 | 0.000 | 1.000 | +1.000 |\n" in told

    def test_the_json_has_every_match_with_every_parting(self) -> None:
        told = explained_json([PARTED, SAME, CUT])
        assert (5, 2, 1, 1) == (told["asked"], told["partings"], told["unanswered"], told["left"])
        assert [2, 0, 0] == [match["partings"] for match in told["matches"]]
        assert {"matches": 1, "base": 1.0, "head": 0.5} == told["same"]
        assert {"turn": 7, "parts": True}.items() <= told["matches"][0]["decisions"][0].items()

    @pytest.mark.parametrize("matches", [[], [SAME]])
    def test_no_partings_are_no_table(self, matches: list[DecisionDiff]) -> None:
        assert [] == decision_rows(matches, 2)
        assert "| match |" not in explained_markdown(matches, 2)
        assert 0 == total(matches).partings
