"""Games of other packages: Kuhn poker does all that a game of ours does, and bad packages do no harm."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from referee.sandbox import find_isolation
from tests.outside import KUHN, arena, entry_points_of, install, install_package, python

GAME = "kuhn-poker"
BETTER = """
import sys
from bots.kit import Window, run
from kuhn_poker import KuhnView, Turn
from protocol.text import GAME_TEXTS
from referee.games import ENCODERS, GAMES

assert {"kuhn-poker"} < set(GAMES) & set(ENCODERS) & set(GAME_TEXTS)

def decide(window: Window[KuhnView]) -> Turn:
    assert 2 == GAMES["kuhn-poker"].legal_actions(window.view, window.view.seat).count
    return Turn(move="bet")

if __name__ == "__main__":
    run(decide)
"""
TEXT = """
from bots.language_model.prompts import Context
from protocol.messages import ClockTerms, Opened, Welcome
from protocol.text import InputTerms, drawing_of, explain, read, say, text_of
from kuhn_poker import KuhnHostView, KuhnView, Shown

view = KuhnView(seat=1, card=3, moves=("bet",), shown=())
assert {"move": "bet"} == read("kuhn-poker", "turn", "call") == read("kuhn-poker", "turn", "BET")
assert {"move": "pass"} == read("kuhn-poker", "turn", '{"move": "pass"}')
assert "bet" == say("kuhn-poker", {"move": "bet"})
assert (("pass", "fold"), ("bet", "call")) == text_of("kuhn-poker").examples("turn", view)
assert "in the window turn:" in explain("kuhn-poker", InputTerms("plain", {}, 1))
drawing = drawing_of("kuhn-poker")
assert "your card: king\\nseat 0: bet\\n" == drawing.board(view, [], plain=True).plain
assert "seat 0 jack, seat 1 king" in drawing.board(KuhnHostView(cards=(1, 3), moves=()), [], plain=True).plain
assert "the cards are seat 0 queen, seat 1 jack" == drawing.words(Shown(cards=(2, 1)))

clock = ClockTerms(main_ms={"turn": 5_000})
welcome = Welcome(
    protocol=1, match="m", game="kuhn-poker", variant="plain", seat=1, seats=2, options={}, clock=clock, seed=7
)
chat = Context(welcome, 16_000)
chat.event({"type": "dealt", "card": 3})
chat.event({"type": "moved", "seat": 0, "move": "bet"})
opened = Opened(0, "turn", {"seat": 1, "card": 3, "moves": ["bet"], "shown": []}, {"move": "pass"}, 5_000, 0)
system, user = (each["content"] for each in chat.messages(opened, 5.0))
assert "KUHN POKER, variant plain." in system and "card: your card: 1 jack" in system
for said in ("your card is the king", "seat 0: bet", "pass to fold, or bet to call", "ACTION: bet", "you pass"):
    assert said in user, user
"""
EQUILIBRIUM = """
from fractions import Fraction
from itertools import product
from arena.simulation import play
from bots.kit import FunctionBot, Window
from kuhn_poker import KuhnView, Turn
from kuhn_poker.rules import DEALS

def first(calls_with_queen):
    def decide(window: Window[KuhnView]) -> Turn:
        view = window.view
        calls = view.card == 3 or (view.card == 2 and calls_with_queen)
        return Turn(move="bet" if view.moves and calls else "pass")
    return FunctionBot(decide)

def second(calls_with_queen, bluffs_with_jack):
    def decide(window: Window[KuhnView]) -> Turn:
        view = window.view
        if view.moves == ("bet",):
            bets = view.card == 3 or (view.card == 2 and calls_with_queen)
        else:
            bets = view.card == 3 or (view.card == 1 and bluffs_with_jack)
        return Turn(move="bet" if bets else "pass")
    return FunctionBot(decide)

third = {True: Fraction(1, 3), False: Fraction(2, 3)}
value = Fraction(0)
for deal in DEALS:
    for one, two, three in product((True, False), repeat=3):
        result = play("kuhn-poker", [first(one), second(two, three)], setup=deal, seed=1)
        odds = third[one] * third[two] * third[three] / len(DEALS)
        value += odds * result.outcome.scores["0"]
print(value)
"""
LEARNT = """
import numpy as np
import gymnasium
from arena.learning import aec_env
from open_spiel.python.algorithms.cfr import CFRPlusSolver
from open_spiel.python.algorithms.expected_game_score import policy_value
from arena.learning import openspiel_game

env = aec_env("kuhn-poker")
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, over, truncated, info = env.last()
    mask = None if over else observation["action_mask"]
    if mask is not None:
        assert (11,) == observation["observation"].shape and 1 == observation["observation"][2:5].sum()
    env.step(None if over else int(np.flatnonzero(mask)[0]))
assert "arena/KuhnPoker-v0" in gymnasium.registry
spiel = openspiel_game("kuhn-poker", reward="score")
assert 6 == spiel.max_chance_outcomes()
solver = CFRPlusSolver(spiel)
for _ in range(60):
    solver.evaluate_and_update_policy()
print(policy_value(spiel.new_initial_state(), [solver.average_policy()] * 2)[0])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of packages, with Kuhn poker."""
    folder = tmp_path_factory.mktemp("outside")
    folder.chmod(0o755)
    return install_package(KUHN, folder)


@pytest.fixture
def better(tmp_path: Path) -> Path:
    """Write a bot that uses the game's words and rules, and always bets."""
    bot = tmp_path / "better"
    bot.mkdir()
    (bot / "bot.py").write_text(BETTER)
    (bot / "bot.toml").write_text(
        f'name = "better"\nversion = "1.0"\ncommand = ["python", "bot.py"]\ngames = ["{GAME}"]\n'
    )
    return bot


@pytest.fixture(scope="module")
def transcript(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play a match between two bots that know no game."""
    here = tmp_path_factory.mktemp("played")
    arena(site, "match", GAME, "any_random", "any_random", "--isolation", "none", "--seed", "3", here=here)
    (file,) = (here / "transcripts").glob("*.jsonl")
    return file


class TestKuhnPoker:
    def test_the_wheel_names_the_entry_and_has_the_drawing(self, site: Path) -> None:
        assert {GAME: "kuhn_poker:GAME"} == entry_points_of(KUHN)
        assert f"{GAME} = kuhn_poker:GAME" in (site / "kuhn_poker-1.0.dist-info/entry_points.txt").read_text()
        assert (site / "kuhn_poker/drawing.js").exists()

    def test_it_is_listed_and_described(self, site: Path, tmp_path: Path) -> None:
        games = json.loads(arena(site, "games", "--json", here=tmp_path))
        assert ["mist", GAME] == [games[0]["game"], games[-1]["game"]]
        assert "plain" in arena(site, "games", GAME, here=tmp_path)
        assert GAME in json.loads(arena(site, "schema", here=tmp_path))["games"]
        assert arena(site, "games", GAME, "--rules", here=tmp_path).startswith("KUHN POKER, variant plain.")

    def test_a_new_bot_says_what_it_does_and_where_the_rules_are(self, site: Path, tmp_path: Path) -> None:
        arena(site, "new-bot", "mine", "--game", GAME, here=tmp_path)
        readme = (tmp_path / "mine/README.md").read_text()
        assert f"A bot for {GAME} that takes the default of every window." in readme
        assert f"in the package kuhn-poker 1.0 (`arena games {GAME} --rules` prints the rules)" in readme

    def test_it_keeps_the_contract(self, site: Path, tmp_path: Path) -> None:
        done = python(site, "-m", "referee.proofs.conformance", GAME, *map(str, range(20)), here=tmp_path)
        report = json.loads(done.stdout)
        assert 20 == report["matches"]
        assert 0 not in [report[part] for part in ("drawn", "typed", "commented", "built", "encoded")]

    def test_a_match_names_the_package_and_replays(self, site: Path, transcript: Path) -> None:
        header = json.loads(transcript.read_text().splitlines()[0])
        assert "kuhn-poker 1.0" == header["package"]
        assert "holds" in arena(site, "replay", transcript, here=transcript.parent)

    def test_without_the_package_the_error_names_it(self, transcript: Path, tmp_path: Path) -> None:
        said = arena(tmp_path, "replay", transcript, here=tmp_path, code=1)
        assert "there is no 'kuhn-poker', which comes with the package kuhn-poker 1.0" in said

    def test_it_is_drawn(self, site: Path, transcript: Path, tmp_path: Path) -> None:
        page = tmp_path / "match.html"
        arena(site, "replay", transcript, "--html", page, here=tmp_path)
        assert 'drawings["kuhn-poker"]' in page.read_text()

    @pytest.mark.usefixtures("sandboxed")
    @pytest.mark.parametrize("start", ["--warm", "--cold"])
    def test_words_and_rules_are_in_the_sandbox(
        self, site: Path, better: Path, tmp_path: Path, start: str
    ) -> None:
        said = arena(
            site,
            "match",
            GAME,
            better,
            "any_random",
            "--isolation",
            find_isolation(),
            start,
            "--json",
            here=tmp_path,
        )
        assert ["ok", "ok"] == json.loads(said)["conduct"]

    def test_words_and_rules_are_there_without_a_sandbox(self, site: Path, better: Path, tmp_path: Path) -> None:
        said = arena(site, "match", GAME, better, better, "--isolation", "none", "--json", here=tmp_path)
        assert ["ok", "ok"] == json.loads(said)["conduct"]

    def test_a_bot_is_checked(self, site: Path, better: Path, tmp_path: Path) -> None:
        said = arena(site, "check", better, "--isolation", "none", "--matches", "4", here=tmp_path)
        assert GAME in said

    def test_it_is_judged_without_bots(self, site: Path, tmp_path: Path) -> None:
        steps = [{"0": {"move": "bet"}}, {"1": {"move": "bet"}}]
        scenario = {"game": GAME, "setup": {"cards": [1, 3]}, "steps": steps}
        result = json.loads(arena(site, "adjudicate", "-", here=tmp_path, said=json.dumps(scenario) + "\n"))
        assert {"0": -2, "1": 2} == result["outcome"]["scores"]

    def test_a_tournament_knows_the_version(self, site: Path, better: Path, tmp_path: Path) -> None:
        (tmp_path / "cup.toml").write_text(
            f'game = "{GAME}"\nblocks = 2\nisolation = "none"\nbots = ["better", "any_random"]\n'
        )
        arena(site, "tournament", "cup.toml", "--no-check", "--results", "out", here=tmp_path)
        assert "better" in arena(site, "report", "out", here=tmp_path)
        metadata = site / "kuhn_poker-1.0.dist-info/METADATA"
        before = metadata.read_text()
        try:
            metadata.write_text(re.sub("(?m)^Version: .*$", "Version: 1.1", before))
            said = arena(site, "tournament", "cup.toml", "--no-check", "--results", "out", here=tmp_path, code=2)
        finally:
            metadata.write_text(before)
        assert "package of the game was kuhn-poker 1.0, is kuhn-poker 1.1" in said

    def test_people_and_models_read_and_type_it(self, site: Path, tmp_path: Path) -> None:
        done = python(site, "-c", TEXT, here=tmp_path)
        assert 0 == done.returncode, done.stderr

    def test_the_known_equilibrium_has_the_known_value(self, site: Path, tmp_path: Path) -> None:
        done = python(site, "-c", EQUILIBRIUM, here=tmp_path)
        assert "-1/18\n" == done.stdout, done.stderr

    def test_regret_minimisation_finds_the_value(self, site: Path, tmp_path: Path) -> None:
        done = python(site, "-c", LEARNT, here=tmp_path)
        assert 0 == done.returncode, done.stderr
        assert pytest.approx(-1 / 18, abs=0.001) == float(done.stdout)


BARE = """
from protocol.games import GameEntry
from referee.games import Mist

GAME = GameEntry(rules="bare:BareMist")

class BareMist(Mist):
    name = "bare-mist"
"""
BROKEN = {
    "raises": ("raise RuntimeError('no luck')", "bad:GAME", "RuntimeError: no luck"),
    "exits": ("raise SystemExit(7)", "bad:GAME", "SystemExit: 7"),
    "is missing": ("", "absent:GAME", "ModuleNotFoundError: No module named 'absent'"),
    "is no entry": ("GAME = 3", "bad:GAME", "it is no protocol.games.GameEntry"),
    "has no rules": (
        "from protocol.games import GameEntry\nGAME = GameEntry(rules='{module}:NONE')",
        "bad:GAME",
        "has no attribute 'NONE'",
    ),
    "has rules that are none": (
        "from protocol.games import GameEntry\nGAME = GameEntry(rules='{module}:RULES')\nRULES = 3",
        "bad:GAME",
        "is no Game",
    ),
    "has another name": (
        "from protocol.games import GameEntry\nGAME = GameEntry(rules='referee.games.mist:Mist')",
        "bad:GAME",
        "has the name 'mist'",
    ),
}
"""The code of a package's module, the place of its entry, and the fault that is named."""
NO_NAMES = ["Wild", "wild_game", "../wild", "-wild", "w" * 41, "wíld"]


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of packages with each fault, and with each name that is no game's: none breaks another."""
    site = tmp_path_factory.mktemp("bad") / "site"
    for number, (code, place, _) in enumerate(BROKEN.values()):
        module = f"bad{number}"
        install(site, module, f"wild-{number} = {place.replace('bad', module)}", code.format(module=module))
    for number, name in enumerate(NO_NAMES):
        install(site, f"named{number}", f"{name} = named{number}:GAME", "raise RuntimeError")
    return site


@pytest.fixture(scope="module")
def listing(bad: Path) -> "subprocess.CompletedProcess[str]":
    """List the games: those of the arena are there."""
    done = python(bad, "-m", "arena", "games", here=bad)
    assert 0 == done.returncode
    assert "mist" in done.stdout
    assert "wild" not in done.stdout
    assert "mist" in arena(bad, "games", "mist", here=bad)
    return done


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_package_is_named_and_breaks_no_other_game(
    bad: Path, listing: "subprocess.CompletedProcess[str]", fault: str
) -> None:
    number = list(BROKEN).index(fault)
    entry = f"package bad{number} 1.0, entry point 'wild-{number}'"
    (line,) = [line for line in listing.stderr.splitlines() if entry in line]
    assert BROKEN[fault][2] in line
    said = arena(bad, "games", f"wild-{number}", here=bad, code=3)
    assert entry in said
    assert BROKEN[fault][2] in said


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_name_that_is_no_games_is_refused(listing: "subprocess.CompletedProcess[str]", name: str) -> None:
    (line,) = [line for line in listing.stderr.splitlines() if f"package named{NO_NAMES.index(name)} 1.0" in line]
    assert "entry point" in line
    assert "a game's name has small letters, digits and single hyphens" in line


def test_a_file_of_entry_points_that_cannot_be_read_breaks_no_game(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "bad", "wild")
    listing = python(site, "-m", "arena", "games", here=tmp_path)
    assert 0 == listing.returncode
    assert "mist" in listing.stdout
    assert "package bad 1.0, entry point '?'" in listing.stderr
    assert "entry_points.txt cannot be read" in listing.stderr
    assert "there is no 'wild'" in arena(site, "games", "wild", here=tmp_path, code=2)


FAILING = """
from protocol.games import GameEntry
from protocol.text import Drawing, GameText
from referee.games import Mist

GAME = GameEntry(rules="bare:BareMist", text="bare:TEXT")

def board(view, events, *, plain, told=()):
    return view.nothing

TEXT = GameText(drawing=Drawing(board, str))

class BareMist(Mist):
    name = "bare-mist"

    def close(self, state, taken, rng):
        raise KeyError("lost")
"""


def test_an_error_of_a_package_is_not_the_arenas(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "bare", "bare-mist = bare:GAME", FAILING)
    match = ("match", "bare-mist", "any_random", "any_random", "--isolation", "none")
    raised = "an error in the package bare 1.0: bare, line 17, in close: KeyError: 'lost'"
    drawn = "an error in the package bare 1.0: bare, line 9, in board: AttributeError: "
    assert f"the attempt is void: {raised}; " in arena(site, *match, here=tmp_path, code=3)
    assert f"the attempt is void: {drawn}" in arena(site, *match, "--watch", here=tmp_path, code=3)
    scenario = '{"game": "bare-mist", "steps": [{}]}'
    said = arena(site, "adjudicate", "-", here=tmp_path, said=scenario, code=3)
    assert f"arena: {raised} (set ARENA_TRACEBACK=1 to see where)\n" == said


def test_a_game_without_rules_in_text_has_none_to_print(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "bare", "bare-mist = bare:GAME", BARE)
    said = arena(site, "games", "bare-mist", "--rules", here=tmp_path, code=2)
    assert "bare-mist has no rules to print; see the package that it comes from" in said


def test_a_package_without_other_parts_plays_and_is_shown_as_values(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "bare", "bare-mist = bare:GAME", BARE)
    arena(site, "match", "bare-mist", "any_random", "any_random", "--isolation", "none", here=tmp_path)
    (file,) = (tmp_path / "transcripts").glob("*.jsonl")
    arena(site, "replay", file, "--html", "match.html", here=tmp_path)
    assert 'drawings["bare-mist"]' not in (tmp_path / "match.html").read_text()


def test_a_name_of_ours_stays_ours(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "bad", "mist = bad:GAME", "raise RuntimeError")
    listing = python(site, "-m", "arena", "games", here=tmp_path)
    assert "package bad 1.0, entry point 'mist' = 'bad:GAME': the arena has a game of this name" in listing.stderr
    assert "heaven-and-hell" in arena(site, "games", "mist", here=tmp_path)


def test_a_name_that_two_packages_give_is_refused(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for package, other in (("bad", "worse"), ("worse", "bad")):
        install(site, package, f"wild = {package}:GAME", f"# beside {other}")
    said = arena(site, "games", "wild", here=tmp_path, code=3)
    assert "the name is given twice" in said
    assert all(f"package {package} 1.0" in said for package in ("bad", "worse"))
