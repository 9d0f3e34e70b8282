"""Drawings in Chromium: Mist's groups and losses, Hive Mind's shapes and points, Kuhn poker's cards and moves."""

from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from arena.replay import Recording, recording_of
from arena.simulation import play
from arena.viewer import page_of
from bots.hive_mind_random.bot import decide
from bots.kit import FunctionBot, Window
from protocol.games.hive_mind import BUYING_ROUND, HiveMindHostView, HiveMindView, Points, Round
from protocol.games.mist import MistHostView
from protocol.words import Action
from tests.arena.in_browser import Opened
from tests.arena.viewer.drawn import Drawings
from tests.arena.viewer.matches import written
from tests.outside import KUHN

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
LONG = "the longest name that a bot may have, 1 & <b>"
VARIANTS = ("contractual-obligation", "heaven-and-hell")


@pytest.fixture(autouse=True)
def still(opened: Opened) -> Iterator[None]:
    """Let nothing move, so that what a step removes is not there while it fades."""
    opened.page.emulate_media(reduced_motion="reduce")
    yield
    opened.page.emulate_media(reduced_motion="no-preference")


def opened_recording(opened: Opened, recording: Recording, path: Path) -> Page:
    path.write_text(page_of(recording))
    return opened.open(path)


def show(page: Page, step: int) -> None:
    page.locator("#slider").fill(str(step + 1))


@pytest.fixture(scope="module")
def mist(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Recording]:
    folder = tmp_path_factory.mktemp("mist")

    def of(variant: str) -> Recording:
        path = folder / f"{variant}.jsonl"
        return recording_of(path if path.exists() else written("mist", path, variant=variant, turns=30))

    return of


@pytest.mark.parametrize(
    ("names", "most", "shown"),
    [
        (["anna", "bob"], 4, ["anna", "bob"]),
        (["runes_seeker", "runes_veiler"], 8, ["…seeker", "…veiler"]),
        (["hive_random (house)", "hive_random (house)", "mine"], 10, ["hive_…use)", "hive_…e) 2", "mine"]),
        (["a_long_name_of_one", "a_long_name_of_two", "b"], 7, ["a_l…one", "a_l…two", "b"]),
        (["same", "same"], 9, ["same", "same 2"]),
    ],
)
def test_no_two_names_in_a_picture_look_the_same(
    names: list[str], most: int, shown: list[str], opened: Opened, tmp_path: Path
) -> None:
    page = Drawings(opened, tmp_path).page
    assert shown == page.evaluate("([names, most]) => distinct(names, most)", [names, most])


# At each step: the pieces and the mist of the host's layer for a seat, and those of the seat's own eyes.
COMPARE_LAYER = """(seat) => {
  const slider = document.getElementById("slider"), eyes = document.getElementById("eyes"), steps = [];
  const look = (chosen) => { eyes.value = chosen; eyes.dispatchEvent(new Event("change")); };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const shown = () => [all(".piece[data-id]:not(.unknown)").map((each) => each.dataset.id).sort(),
    all(".cell.unseen title").map((each) => each.textContent.slice(0, 2))];
  for (let at = 1; at < Number(slider.max); at += 1) {
    slider.value = at;
    slider.dispatchEvent(new Event("input"));
    look("host");
    const layer = document.querySelector(`[data-layer="${seat}"]`);
    if (layer.getAttribute("aria-pressed") === "false") layer.click();
    const known = shown();
    look(seat);
    steps.push([known, shown()]);
  }
  return steps;
}"""


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_layer_of_a_seat_shows_what_its_own_eyes_know(
    variant: str, opened: Opened, mist: Callable[[str], Recording], tmp_path: Path
) -> None:
    page = opened_recording(opened, mist(variant), tmp_path / "m.html")
    for seat in ("0", "1"):
        steps = page.evaluate(COMPARE_LAYER, seat)
        assert any(pieces for (pieces, _), _ in steps)
        assert all(layer == own for layer, own in steps)
    page.select_option("#eyes", "host")
    button = page.get_by_role("button", name="What bot-1 knows")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#legend")).to_contain_text("bot-1 knows")
    button.click()
    expect(page.locator(".cell.unseen")).to_have_count(0)


def test_the_largest_groups_and_lost_pieces_of_mist_are_drawn(
    opened: Opened, mist: Callable[[str], Recording], tmp_path: Path
) -> None:
    recording = mist(VARIANTS[0])
    page = opened_recording(opened, recording, tmp_path / "m.html")
    lost: dict[int, Any] = {}
    for at, step in enumerate(recording.steps):
        view = cast("MistHostView", step.view("host"))
        lost[at] = set() if view.mover is None else set(view.lost[1 - view.mover])
        show(page, at)
        crosses = page.locator("[data-id^=cross]").evaluate_all("all => all.map(each => each.dataset.id)")
        assert lost[at] == {cross.split()[1] for cross in crosses} or view.mover is None
        sizes = [max(view.groups[seat], default=0) for seat in ("0", "1")]
        assert list(map(str, sizes)) == page.locator(".side .total").all_text_contents()
        assert [str(size) for size in sizes if size > 1] == page.locator(".size text").all_text_contents()
    assert any(lost.values())


def test_a_seat_of_mist_is_shown_no_more_of_the_other_group_than_it_knows(
    opened: Opened, mist: Callable[[str], Recording], tmp_path: Path
) -> None:
    recording = mist(VARIANTS[0])
    page = opened_recording(opened, recording, tmp_path / "m.html")
    page.select_option("#eyes", "1")
    for at, step in enumerate(recording.steps[:-1]):
        view = cast("MistHostView", step.view("host"))
        show(page, at)
        other, own = page.locator(".side .total").all_text_contents()
        assert str(max(view.groups["1"], default=0)) == own
        assert other == "?" or (other.endswith("+") and int(other[:-1]) <= max(view.groups["0"]))


def buying(window: Window[HiveMindView]) -> Action | None:
    """Play at random, and buy a Double and a Block as soon as there is money for both."""
    action, view = decide(window), window.view
    if isinstance(action, Round) and view.round == BUYING_ROUND and view.wallet and view.wallet.garnets >= 8:
        return replace(action, double=view.hives[:1], block=view.hives[:1])
    return action


@pytest.fixture(scope="module")
def hive_mind(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Recording]:
    folder = tmp_path_factory.mktemp("hive-mind")

    def of(variant: str) -> Recording:
        path = folder / f"{variant}.jsonl"
        if not path.exists():
            play("hive-mind", [FunctionBot(buying) for _ in range(5)], variant=variant, seed=3, transcript=path)
        recording = recording_of(path)
        recording.names = [f"{LONG} {seat}" for seat in range(5)]
        return recording

    return of


def total(points: Points) -> int:
    return points.hexes + points.guesses + points.blocks + points.score_guesses


@pytest.mark.parametrize("variant", ["recharged", "tempo-up", "gauntlet"])
def test_points_of_hive_mind_are_drawn_where_they_came_from(
    variant: str, opened: Opened, hive_mind: Callable[[str], Recording], tmp_path: Path
) -> None:
    recording = hive_mind(variant)
    page = opened_recording(opened, recording, tmp_path / "m.html")
    before, hexes, blocks = [0] * 5, 0, 0
    for at, step in enumerate(recording.steps):
        view = cast("HiveMindHostView", step.view("host"))
        show(page, at)
        for seat, points in enumerate(view.points):
            row = page.locator(f'[data-id="tally {seat}"]')
            assert str(total(points)) == row.locator(".figure").text_content()
            new = int((row.locator(".gained").text_content() or "0").split(":")[0])
            assert new == total(points) - before[seat]
        before = [total(points) for points in view.points]
        brought = page.locator(".pill.gain, .pill.doubled").all_text_contents()
        spoiled = [text for text in brought if "B" in text]
        now = sum(points.hexes for points in view.points)
        # In `gauntlet` the latest round of the first Hive stays while the second is played.
        if variant != "gauntlet" and now > hexes:
            assert now - hexes == sum(many(text) * int(text.split("+")[1]) for text in brought if "B" not in text)
        hexes, blocks = now, blocks + len(spoiled)
    assert bool(blocks) == any(points.blocks for points in view.points)
    rights = page.locator(".guesses .strong").all_text_contents()
    sets = sum(3 if "all" in right else len(right.split()) - 2 for right in rights)
    assert sets == sum(points.guesses for points in view.points)


def many(pill: str) -> int:
    """Return how many shapes lie over a hex by the text on it, such as `+3`, or `3: +2` after a sign."""
    return int(pill.split(":", maxsplit=1)[0][1:]) if ":" in pill else 1


def test_a_seat_of_hive_mind_sees_its_own_shapes_and_no_values(
    opened: Opened, hive_mind: Callable[[str], Recording], tmp_path: Path
) -> None:
    recording = hive_mind("recharged")
    page = opened_recording(opened, recording, tmp_path / "m.html")
    for at, step in enumerate(recording.steps[:-1]):
        show(page, at)
        page.select_option("#eyes", "host")
        rounds = cast("HiveMindHostView", step.view("host")).rounds
        shapes = sum(len(action.place) for action in rounds[-1]) if rounds else 0
        assert shapes == page.locator('path.shape[data-id^="shape"]').count()
        assert 36 == page.locator(".cell[class*=value], .cell.spent").count()
        for eyes in ("1", "spectator"):
            page.select_option("#eyes", eyes)
            own = len(rounds[-1][1].place) if rounds and eyes == "1" else 0
            ids = page.locator('path.shape[data-id^="shape"]').evaluate_all(
                "all => all.map(each => each.dataset.id)"
            )
            assert own == len(ids)
            assert all(each.endswith(" 1") for each in ids)
            assert 0 == page.locator(".cell[class*=value]").count()
            assert 0 == page.locator(".gained").count()


@pytest.mark.parametrize("eyes", ["host", "1", "spectator"])
def test_long_names_stay_inside_drawings(
    eyes: str,
    opened: Opened,
    mist: Callable[[str], Recording],
    hive_mind: Callable[[str], Recording],
    tmp_path: Path,
) -> None:
    two = mist(VARIANTS[0])
    two.names = ["W" * 40, "\u202e" + "界" * 40]
    for recording in (two, hive_mind("gauntlet")):
        page = opened_recording(opened, recording, tmp_path / "m.html")
        page.select_option("#eyes", eyes)
        for at in (1, len(recording.steps) - 1):
            show(page, at)
            opened.pictures(f"long-{recording.game}-{eyes}-{at}")


# Each seat's cards, moves as said, numbers of chips and results, as Kuhn poker's drawing has them for a view.
DRAW_KUHN = """(view) => {
  const drawn = drawings["kuhn-poker"].board(view, { names: ["anna", "bob"], seats: 2 });
  const texts = (selector) => [...drawn.node.querySelectorAll(selector)].map((each) => each.textContent);
  document.body.replaceChildren(drawn.node);
  return { words: drawn.node.getAttribute("aria-label"), cards: texts("[data-id^=card] text.strong"),
    said: [...drawn.node.querySelectorAll("[data-id^=said]")].map((each) =>
      `${each.dataset.id} ${each.textContent}`).sort(),
    chips: [0, 1].map((seat) => texts(`[data-id^="chip ${seat}"]`).length),
    results: texts("text").filter((each) => /wins|loses|to move/.test(each)),
    scores: drawings["kuhn-poker"].scores(view)?.of ?? null };
}"""


KUHN_MATCHES: list[tuple[str, list[str], list[int], list[str], list[int] | None]] = [
    ("", [], [1, 1], ["to move"], None),
    ("pass", ["check"], [1, 1], ["to move"], None),
    ("pass pass", ["check", "check"], [1, 1], ["loses 1", "wins 1"], [-1, 1]),
    ("bet", ["bet"], [2, 1], ["to move"], None),
    ("bet pass", ["bet", "fold"], [2, 1], ["wins 1", "loses 1"], [1, -1]),
    ("bet bet", ["bet", "call"], [2, 2], ["loses 2", "wins 2"], [-2, 2]),
    ("pass bet", ["check", "bet"], [1, 2], ["to move"], None),
    ("pass bet pass", ["check", "bet", "fold"], [1, 2], ["loses 1", "wins 1"], [-1, 1]),
    ("pass bet bet", ["check", "bet", "call"], [2, 2], ["loses 2", "wins 2"], [-2, 2]),
]
"""Moves, and how they are said, with chips, results and scores; seat 0 has the queen, seat 1 the king."""


def test_kuhn_poker_is_drawn_as_far_as_each_viewer_knows_it(opened: Opened, tmp_path: Path) -> None:
    parts = [files("arena.viewer").joinpath("assets/svg.js"), KUHN / "kuhn_poker/drawing.js"]
    script = "\n".join(part.read_text() for part in parts)
    (tmp_path / "kuhn.html").write_text(f"<!doctype html><body data-ready><p>.</p><script>{script}</script>")
    page = opened.open(tmp_path / "kuhn.html")
    for moves, said, chips, results, scores in KUHN_MATCHES:
        shown = scores is not None and "fold" not in said
        common = {"moves": moves.split(), "shown": [2, 3] if shown else []}
        # The last move of each seat is what it says now.
        now = [f"said {at} {word}" for at, word in enumerate(said)][-2:]
        for view, cards in (
            ({"cards": [2, 3], "moves": moves.split()}, ["Q", "K"]),
            ({"seat": 0, "card": 2, **common}, ["Q", "K"] if shown else ["Q"]),
            ({"seat": 1, "card": 3, **common}, ["Q", "K"] if shown else ["K"]),
            ({"seat": None, "card": None, **common}, ["Q", "K"] if shown else []),
        ):
            drawn = page.evaluate(DRAW_KUHN, view)
            words = drawn.pop("words")
            assert {"cards": cards, "said": now, "chips": chips, "results": results, "scores": scores} == drawn
            assert ("bob has the king" in words) == ("K" in cards)
            assert all(f"{('anna', 'bob')[at % 2]}: {word}" in words for at, word in enumerate(said))
