"""Pages of a tournament whose field has changed: all names, all results, and each bot's own content."""

import re
from pathlib import Path

from arena.pages.matches import match_file
from arena.schedule.fields import Entered
from arena.tournament.results_folder import LEDGER
from tests.arena.ledgers import OpenLedger
from tests.arena.pages.test_pages import all_pages, one, words
from tests.arena.stand_in import AtOnce
from tests.arena.tournament.test_entries import Command, Host, change, field, playing

CHANGES: dict[int, tuple[Command, ...]] = {
    3: (("add", "f", "--no-check"), ("update", "a", "f2", "--no-check")),
    6: (("withdraw", "b"), ("extend", "--blocks", "2")),
}
NAMES = ("a (withdrawn)", "b (withdrawn)", "c", "d", "e", "f", "a v2")


def test_bots_that_came_went_and_got_better_are_on_every_page(tmp_path: Path, open_ledger: OpenLedger) -> None:
    file = field(tmp_path, "round_robin")
    played = playing(file, Host(file, CHANGES)).played
    folder = file.parent / "runs/cup"
    ledger = open_ledger(folder / LEDGER)
    contents = [str(ledger.terms()[f"content of {name}"]) for name in "abcde"]
    contents += [event.what.content for event in ledger.events() if isinstance(event.what, Entered)]
    ledger.close()
    website = one(folder)
    front = words(website, "cup/index.html")
    for number, name in enumerate(NAMES):
        page = words(website, f"cup/bot/{number}.html")
        matches = sum(number in match.entrants for match in played)
        assert 0 < matches
        assert f"played {matches} matches" in page
        assert contents[number][:23] in page
        assert all(name in text for text in (page, front, words(website, "cup/bots.html")))
    assert "bots 7 bots, 2 of them withdrawn" in front
    assert "deals 2" in front
    assert f"matches {len(played)} of {len(played)}" in front
    assert f"finished: {len(played)} matches" in front
    for number in (0, NAMES.index("a v2")):
        assert re.search(r"Versions: a → a v2", words(website, f"cup/bot/{number}.html"))
    assert "Versions" not in words(website, "cup/bot/2.html")
    for match in played:
        text = words(website, f"cup/match/{match_file(match.block, match.seating)}")
        assert all(NAMES[each] in text for each in match.entrants)
    for said in ("f enters", "a v2 takes the place of a", "b withdraws", "2 deals in all"):
        assert said in front
    assert len(list(all_pages(website))) > len(played)


def test_a_matchs_page_in_a_site_is_made_anew_once_a_bot_of_it_has_withdrawn(tmp_path: Path) -> None:
    file = field(tmp_path, "round_robin")
    played = playing(file, AtOnce()).played
    before = {path: source for path, source, _ in one(file.parent / "runs/cup").match_pages("cup")}
    assert 0 == change(file, "withdraw", "b").exit_code
    playing(file, AtOnce())
    after = {path: source for path, source, _ in one(file.parent / "runs/cup").match_pages("cup")}
    of_b = {f"cup/match/{match_file(each.block, each.seating)}" for each in played if 1 in each.entrants}
    assert of_b == {path for path in before if before[path] != after[path]}
