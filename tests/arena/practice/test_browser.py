"""People who play in Chromium: two by a link, one against bots with the mouse, and one with the keyboard alone."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.arena.in_browser import Opened
from tests.arena.web.test_browser import STARTED, no_longer_nice, program
from tests.docs_pages import HOUSE
from tests.outside import KUHN, install_package

expect.set_options(timeout=60_000)
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser"), pytest.mark.usefixtures("sandboxed")]
CARD = "li.card:has(h2:text-is('{}'))"
ACTS_OR_OVER = "#play.acts, [data-result]:not([hidden])"
MOST_TABS = 60
"""Most presses of Tab until the focus is where it should be."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server on which people play, also a game of another package."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "runs").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{install_package(KUHN, folder)}:{HOUSE}")
        with program("serve", "--port", "0", "runs", folder=folder) as server:
            yield f"{address_in(folder / 'serve.log', server.pid)}play/"


def address_in(log: Path, pid: int) -> str:
    """Return the address of a server, once its log has it."""
    for _ in range(10 * STARTED):
        if found := re.search(r"http://127\.0\.0\.1:\d+/", log.read_text()):
            no_longer_nice(pid)
            return found[0]
        time.sleep(0.1)
    pytest.fail(log.read_text())


def begin(page: Page, site: str, game: str, button: str, fold: str) -> None:
    """Begin a match without hurry from the card of a game."""
    page.context.clear_cookies()
    page.goto(site)
    card = page.locator(CARD.format(game))
    card.get_by_text(fold).click()
    form = card.locator("form", has=page.get_by_role("button", name=button))
    form.get_by_label("Time").select_option("slow")
    form.get_by_role("button", name=button).click()
    expect(page.locator("#play")).to_be_visible()


def is_over(page: Page) -> bool:
    """Return whether the match is over; wait until it is, or the person is to act."""
    page.locator(ACTS_OR_OVER).first.wait_for(timeout=120_000)
    return page.locator("[data-result]").is_visible()


def turn_is_over(page: Page, before: int) -> None:
    """Wait until an action was played: the log then has a line more that says so."""
    page.locator("[data-log] li", has_text="Played:").nth(before).wait_for(state="attached")


def played(page: Page) -> int:
    return page.locator("[data-log] li", has_text="Played:").count()


@pytest.mark.parametrize(
    "game", ["Mist", "Hive Mind", "Pointing", "The Fight For a Name", "Runes to Ruins", "Kuhn poker"]
)
def test_each_games_page_fits_a_telephone_and_is_accessible(opened: Opened, site: str, game: str) -> None:
    """Its choice, its first two windows with all that folds open, and its end, when the person leaves."""
    page, name = opened.page, game.lower().replace(" ", "-")
    page.goto(site)
    assert [] == opened.faults_of_accessibility()
    begin(page, site, game, f"Play {game}", "Opponents, variant and time")
    for number in range(2):
        if is_over(page):
            break
        before = played(page)
        for fold in page.locator("#play details > summary:visible").all():
            if not number:
                fold.click()
        assert [] == opened.faults_of_accessibility()
        opened.pictures(f"play-{name}-{number}")
        page.locator("[data-done]").click()
        turn_is_over(page, before)
    if page.locator("[data-leave]").is_visible():
        page.locator("[data-leave]").click()
        page.locator("[data-leave]").click()
    expect(page.locator("[data-result]")).to_be_visible()
    assert [] == opened.faults_of_accessibility()
    opened.pictures(f"play-{name}-over")


def test_two_people_play_a_whole_match_by_a_link(opened: Opened, site: str) -> None:
    """They click cells and examples, submit, and let it stand; one of them reloads the page in the middle."""
    host = opened.page
    begin(host, site, "Mist", "Invite", "Play with friends")
    host.get_by_role("button", name="Make a link").click()
    link = host.get_by_label("Send this link to your friend").input_value()
    browser = host.context.browser
    assert browser is not None
    friends = browser.new_context()
    friend = friends.new_page()
    other = Opened(friend)
    friend.goto(link)
    expect(friend.locator("#play")).to_be_visible()
    assert "#" not in friend.url
    opened.pictures("play-mist-waiting")
    people = (host, friend)
    turns = 0
    while not all(page.locator("[data-result]").is_visible() for page in people):
        for page in people:
            if page.locator("#play.acts").count():
                act(page)
                turns += 1
                if turns == 5:
                    page.reload()
                    page.locator("[data-ready]").wait_for()
        host.wait_for_timeout(20)
        assert turns < 200
    assert turns > 10
    for page in people:
        expect(page.get_by_role("link", name=re.compile("Watch the replay"))).to_be_visible()
    ends = [page.locator("[data-result] h2").inner_text() for page in people]
    assert {"You won", "You lost"} == set(ends) or {"You share the first place"} == set(ends)
    assert [] == opened.faults_of_accessibility()
    opened.pictures("play-mist-over")
    friend.get_by_role("link", name=re.compile("Watch the replay")).click()
    friend.wait_for_selector("body[data-ready]")
    assert [] == other.complaints
    friends.close()


def act(page: Page) -> None:
    """Choose an example, look at what it does, submit it, and let it stand."""
    before = played(page)
    chips = page.locator("[data-examples] button")
    chips.nth(1 if chips.count() > 1 else 0).click()
    expect(page.locator("#said")).to_have_text(re.compile("^You |^guest 1 goes first"))
    page.get_by_role("button", name="Submit", exact=True).click()
    page.get_by_role("button", name="Done").click()
    turn_is_over(page, before)


def test_a_person_plays_a_whole_match_against_bots_with_the_mouse(opened: Opened, site: str) -> None:
    page = opened.page
    begin(page, site, "Hive Mind", "Play Hive Mind", "Opponents, variant and time")
    rounds = 0
    while not is_over(page):
        before = played(page)
        if page.locator("#task").inner_text().startswith("Choose three"):
            shape = "ABC" if rounds else "EFI"
            for cell in shape:
                page.locator(f"[data-says$=' {cell}']").first.click()
            expect(page.locator("#said")).to_have_text(re.compile(f"^You place {shape} on "))
            if not rounds:
                assert [] == opened.faults_of_accessibility()
                opened.pictures("play-hive-mind-draft")
            page.get_by_role("button", name="Submit", exact=True).click()
            expect(page.get_by_role("button", name="Take back")).to_be_visible()
            page.get_by_role("button", name="Take back").click()
            expect(page.get_by_role("button", name="Take back")).to_be_hidden()
            rounds += 1
        page.locator("[data-examples] button").first.click()
        page.get_by_role("button", name="Submit", exact=True).click()
        page.get_by_role("button", name="Done").click()
        turn_is_over(page, before)
    assert rounds == 3
    opened.pictures("play-hive-mind-over")


def test_a_person_plays_a_whole_match_with_the_keyboard_alone(opened: Opened, site: str) -> None:
    """Arrows choose the first shape on the board, the others are typed. After the start nothing is clicked."""
    page = opened.page
    begin(page, site, "Hive Mind", "Play Hive Mind", "Opponents, variant and time")
    rounds = 0
    while not is_over(page):
        before = played(page)
        if not rounds:
            tab_to(page, "svg [data-says]")
            page.keyboard.press("Home")
            for key in ("Enter", "ArrowRight", "Enter", "ArrowRight", "Enter"):
                page.keyboard.press(key)
            expect(page.locator("#text")).to_have_value(re.compile("ABC$"))
            tab_to(page, "[data-send]")
            page.keyboard.press("Enter")
        else:
            tab_to(page, "#text")
            words = page.locator("[data-examples] button").first.get_attribute("data-whole")
            page.keyboard.type(words or "none")
            page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Take back")).to_be_visible()
        tab_to(page, "[data-done]")
        page.keyboard.press("Enter")
        turn_is_over(page, before)
        rounds += 1
    assert rounds >= 3
    # The result has the focus, so that a screen reader says it.
    expect(page.locator("[data-result] h2")).to_be_focused()


def tab_to(page: Page, place: str) -> None:
    """Press Tab until the focus is at a place."""
    for _ in range(MOST_TABS):
        if page.evaluate(
            "(place) => [document.activeElement, document.activeElement.shadowRoot?.activeElement]"
            ".some((each) => each?.matches(place))",
            place,
        ):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not lead to {place}")
