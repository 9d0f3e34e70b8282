"""Questions by name in place of numbers, and a field of fixed opponents for two seats."""

from pathlib import Path
from typing import Any

import pytest

from arena.regression.model import BASE, FIELD, HEAD, QUESTIONS, QuestionName, answers, leaning
from arena.statistics import Anytime, Sprt, SprtVerdict
from arena.statistics.sprt import state_of
from tests.arena.regression.test_run import asked, playing


def of_two(**given: Any) -> Any:
    return asked(Path(), elo1=None, **given).test


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_stands_for_two_numbers_of_either_kind(name: QuestionName) -> None:
    question = QUESTIONS[name]
    assert Sprt(elo0=question.elo0, elo1=question.elo1) == of_two(question=name)
    against = of_two(question=name, field=("mist_cautious",))
    assert Anytime(low=question.low, high=question.high) == against
    assert (question.yes, question.no) == answers(against)


def test_better_is_what_is_asked_by_default() -> None:
    assert of_two(question="better") == of_two()


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (Sprt(elo0=0, elo1=5), ("head is better", "head is not 5 Elo better")),
        (Sprt(elo0=-5, elo1=0), ("head is not 5 Elo worse", "head is worse")),
        (Sprt(elo0=5, elo1=30), ("head is better by more than 5 Elo", "head is not 30 Elo better")),
        (Sprt(elo0=-9, elo1=-5), ("head is not 9 Elo worse", "head is worse by more than 5 Elo")),
        (Anytime(low=0, high=0.2), ("head is better", "head is not 0.2 points a match better")),
    ],
)
def test_the_answer_to_numbers_says_what_it_means(test: Sprt | Anytime, said: tuple[str, str]) -> None:
    assert said == answers(test)


def test_the_progress_of_a_test_leans_towards_an_answer() -> None:
    test = Sprt(elo0=0, elo1=20)
    answer, share = leaning(test, state_of(test, (0, 0, 0, 0, 15)))
    assert "head is better" == answer
    assert 0.3 < share < 0.5
    assert "head is not better" == leaning(test, state_of(test, (15, 0, 0, 0, 0)))[0]


class TestGauntlet:
    def test_base_and_head_meet_the_same_opponents_from_the_same_deals_in_both_seats(self) -> None:
        regression = asked(Path(), elo1=None, field=("any_random", "mist_cautious"), blocks=40)
        drawn = set()
        for block in regression.blocks(4):
            matches = block.matches
            assert 1 == len({match.seed for match in matches})
            assert 4 == len({match.name for match in matches}) == regression.seatings
            (opponent,) = {bot for match in matches for bot in match.entrants} - {BASE, HEAD}
            drawn.add(opponent)
            assert sorted([(HEAD, opponent), (opponent, HEAD), (BASE, opponent), (opponent, BASE)]) == sorted(
                match.entrants for match in matches
            )
        assert {FIELD, FIELD + 1} == drawn

    def test_which_opponent_a_deal_draws_depends_on_the_seed_alone(self) -> None:
        regression = asked(Path(), elo1=None, field=("any_random", "mist_cautious"), blocks=30)
        one, same, other = ([block.entrants for block in regression.blocks(seed)] for seed in (4, 4, 5))
        assert one == same
        assert one != other

    def test_it_is_played_and_decided_by_points_against_the_field(self, tmp_path: Path) -> None:
        found = playing(asked(tmp_path, elo1=None, field=("mist_cautious",), blocks=6))
        assert 6 == found.blocks == found.state.blocks
        assert 12 == found.standings[HEAD].played == found.standings[BASE].played
        assert 24 == found.standings[FIELD].played
        assert SprtVerdict.UNDECIDED is found.verdict
