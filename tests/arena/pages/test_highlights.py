"""Matches worth watching: what results choose, what stories add, and how few stories are read."""

import re
from pathlib import Path

from msgspec.structs import replace

from arena.pages import Competition, Website
from arena.pages.contents import NoReplayError
from arena.pages.highlights import FEW_READ, reasons_of
from arena.pages.tables import plain_text
from arena.replay import Story
from arena.statistics import CountedMatch, choose_highlights, digest_of
from arena.statistics.highlights import MOST_HIGHLIGHTS, MOST_SEARCHED
from protocol.refusals import Conduct
from tests.arena.pages.folders import body_of, folder_of
from tests.arena.simulated import result

NAMES = ["anna", "<b>bob"]


def scored(block: int, one: int, other: int, seating: int = 0, **facts: object) -> CountedMatch:
    """A match of two with scores."""
    ranking = [[0, 1]] if one == other else [[0], [1]] if one > other else [[1], [0]]
    match = result(block, seating, (0, 1), ranking, **facts)
    return replace(match, outcome=replace(match.outcome, scores={"0": one, "1": other}))


def story(*scores: tuple[int, ...]) -> Story:
    """A story with these scores of each seat."""
    steps = len(scores[0])
    times = tuple(range(1, steps + 1))
    return Story(steps=steps, names=tuple(NAMES), unit="Points", times=times, scores=scores, moments=())


def reasons(played: CountedMatch, told: Story | None = None) -> list[str]:
    digest = digest_of(NAMES, [scored(0, 3, 3)])
    return [plain_text(reason.words) for reason in reasons_of(played, digest, told)]


def test_results_choose_close_matches_first_and_one_of_a_block() -> None:
    played = [scored(0, 20, 2), scored(1, 20, 19), scored(1, 20, 18, 1), scored(2, 20, 17)]
    played.append(scored(3, 20, 20, conduct=(Conduct.OK, Conduct.CRASHED)))
    assert choose_highlights(digest_of(NAMES, played), played) == ((1, 0), (2, 0), (0, 0))


def test_an_upset_is_worth_more_than_any_other_win() -> None:
    played = [result(block, 0, (0, 1), [[0], [1]]) for block in range(20)] + [result(20, 0, (0, 1), [[1], [0]])]
    digest = digest_of(["a", "b"], played)
    assert choose_highlights(digest, played)[0] == (20, 0)
    upset = plain_text(reasons_of(played[20], digest, None)[0].words)
    assert re.fullmatch(r"upset: b is rated \d{3} points lower than a", upset)


def test_the_list_and_the_search_have_bounds() -> None:
    played = [scored(0, 20, 20)] + [scored(block, 20, 2) for block in range(1, MOST_SEARCHED + 1)]
    chosen = choose_highlights(digest_of(NAMES, played), played)
    assert len(chosen) == MOST_HIGHLIGHTS
    assert (0, 0) not in chosen


def test_a_comeback_and_a_late_decision_are_told() -> None:
    assert reasons(scored(1, 20, 5), story((0, 2, 4, 8, 20), (0, 9, 9, 9, 5))) == [
        "comeback: anna was 7 behind at step 2 of 5",
        "decided in the last step",
    ]
    assert reasons(scored(1, 20, 19), story((5, 20), (0, 19))) == ["a close finish"]
    assert reasons(scored(1, 20, 5), story((5, 9, 20), (0, 1, 5))) == []


def test_changes_of_the_lead_are_counted_without_ties() -> None:
    told = story((1, 2, 2, 4, 4, 9), (0, 2, 3, 3, 5, 5))
    assert "the lead changed 4 times" in reasons(scored(1, 20, 5), told)


def test_a_story_that_says_another_winner_gives_no_reason() -> None:
    assert reasons(scored(1, 20, 5), story((0, 5), (9, 9))) == []
    assert reasons(scored(1, 20, 5), story((0,), (0,))) == []


def test_pages_read_few_stories_and_escape_names(tmp_path: Path) -> None:
    played = [scored(block, 20, 19) for block in range(40)]
    competition = Competition("cup", folder_of(tmp_path / "cup", NAMES, played, blocks=40, rotations=1))
    asked: list[int] = []

    def tell(_: Competition, match: object) -> Story:
        asked.append(match.played.block)  # type: ignore[attr-defined]
        if len(asked) == 1:
            raise NoReplayError("is not valid")
        return story((0, 0, 20), (0, 9, 19))

    site = Website([competition], live=False, story=tell)
    page = body_of(site, "cup/index.html").decode()
    assert len(asked) == FEW_READ
    assert 3 == page.count('<li class="card">')
    assert "comeback: " in page
    assert "<b>bob" not in page
    asked.clear()
    page = body_of(site, "cup/watch.html").decode()
    assert len(asked) == MOST_HIGHLIGHTS == page.count('<li class="card">')
    assert page.count("<b>bob") == 0
    assert "cup/watch.html" in set(site.paths("cup"))


def test_a_competition_without_scores_has_a_page_without_cards(tmp_path: Path) -> None:
    played = [result(block, 0, (0, 1), [[0], [1]]) for block in range(3)]
    folder = folder_of(tmp_path / "cup", ["a", "b"], played, blocks=3)
    page = body_of(Website([Competition("cup", folder)], live=False), "cup/watch.html").decode()
    assert "No match stands out yet." in page
