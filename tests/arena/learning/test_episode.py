"""Matches that are played choice by choice."""

import pickle
from random import Random

import numpy as np
import pytest

from arena.learning import Episode
from referee.rules import drawn
from referee.rules.table import replay
from tests.arena.learning.playing import choose_randomly, dealt
from tests.games import WITH_ENCODER


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_an_episode_is_a_match_under_the_rules(game: str) -> None:
    episode = dealt(Episode(game), 7)
    choose_randomly(episode, 7)
    again = replay(episode.game, episode.table.deal, episode.table.journal)
    assert again.outcome == episode.table.outcome is not None
    assert episode.rewards() == [pytest.approx(reward) for reward in episode.rewards()]
    assert max(episode.rewards()) <= 1
    assert min(episode.rewards()) >= -1


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_whole_actions_and_choices_come_to_the_same(game: str) -> None:
    by_choices, by_actions = Episode(game), Episode(game)
    by_choices.reset(3)
    by_actions.reset(3)
    rng = Random(3)
    while not by_choices.over and by_choices.table.number < 20:
        for seat in by_choices.choosing:
            while by_choices.owed(seat):
                by_choices.choose(seat, drawn(by_choices.mask_bits(seat), rng))
            by_actions.submit(seat, by_choices.drafts[seat].action)
        assert by_choices.close()
        assert by_actions.close()
        assert by_actions.table.state == by_choices.table.state
    assert not by_choices.choosing or not by_choices.close()


@pytest.mark.parametrize("game", WITH_ENCODER)
def test_a_copy_stands_where_its_original_does_and_goes_its_own_way(game: str) -> None:
    episode = dealt(Episode(game), 2)
    choose_randomly(episode, 2, 1)
    first = episode.choosing[0]
    episode.choose(first, drawn(episode.mask_bits(first), Random(1)))
    for other in (episode.copy(), pickle.loads(pickle.dumps(episode))):  # noqa: S301 - our own
        for seat in range(episode.seats):
            np.testing.assert_equal(other.observe(seat), episode.observe(seat))
        before, state = [episode.observe(seat) for seat in range(episode.seats)], episode.table.state
        choose_randomly(other, 5)
        assert other.over
        assert episode.table.state == state
        np.testing.assert_equal([episode.observe(seat) for seat in range(episode.seats)], before)


def test_a_default_is_what_the_rules_take() -> None:
    episode = dealt(Episode("mist", options={"first": 0}))
    episode.submit(0, None)
    assert episode.close()
    assert episode.taken[0] is not None
    assert episode.taken[0].by_default
    assert episode.view(1).first_move == ("E5",)  # type: ignore[attr-defined] # Mist's
