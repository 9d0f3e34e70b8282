"""Every wrong tournament file is told in one line: file, line, field, what was there, what would be right."""

import shutil
from pathlib import Path

import pytest

from arena.config.tournament_file import affinity_place, read_tournament
from arena.errors import WrongUse
from referee.bot_folder import BUILT_IN
from referee.bot_folder.content import content_hash
from referee.games import GAMES
from referee.match.terms import Policy

RIGHT = """\
game = "mist"
bots = ["mist_random", "mist_cautious"]
blocks = 3
[options]
max_turns = 9
[policy]
main_ms = 50
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cup.toml"


def complaint(file: Path, text: str) -> str:
    """Return the error for a file with this text, without the path in front."""
    file.write_text(text)
    with pytest.raises(WrongUse) as caught:
        read_tournament(file)
    said = caught.value.format_message()
    assert "\n" not in said
    assert said.startswith(f"{file}:")
    return said.removeprefix(f"{file}:")


def test_a_right_file_gives_bots_options_in_force_and_a_folder_beside_it(file: Path) -> None:
    file.write_text(RIGHT)
    tournament = read_tournament(file)
    assert ("mist_random", "mist_cautious") == tournament.labels
    assert ["mist_random", "mist_cautious"] == [bot.name for bot in tournament.bots]
    assert b'{"advantage":0,"first":"choose","max_turns":9}' == bytes(tournament.plan().options or b"")
    assert ("contractual-obligation", Policy(main_ms=50)) == (tournament.variant, tournament.plan().policy)
    assert file.parent / "runs/cup" == tournament.results


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        (
            "[options]",
            "[workers]\nafinity = true\n[options]",
            "5: workers.afinity: is not a known field; did you mean affinity?",
        ),
        (
            "[options]",
            '[workers]\naffinity = "yes"\n[options]',
            "5: workers.affinity: 'yes': Expected `bool`, got `str`",
        ),
        (
            "blocks = 3",
            "blocs = 3",
            "3: blocs: is not a known field; did you mean blocks?",
        ),
        ("blocks = 3", 'blocks = "3"', "3: blocks: '3': Expected `int`, got `str`"),
        ("blocks = 3", "blocks = 0", "3: blocks: 0: Expected `int` >= 1"),
        ("blocks = 3", "blocks = ", "3: Invalid value"),
        (
            "blocks = 3",
            'format = "dutch"',
            "3: format: 'dutch': Invalid enum value 'dutch'; there are round_robin, ",
        ),
        ("blocks = 3", "rounds = 2", '3: rounds: is for format = "swiss" or "ladder", not \'round_robin\''),
        ("blocks = 3", "heads = 1", "3: heads: is for format = \"gauntlet\", not 'round_robin'"),
        ("blocks = 3", 'format = "ladder"', "1: rounds: is missing: a ladder has no end of its own"),
        (
            "blocks = 3",
            'format = "swiss"\nrounds = 2',
            "4: rounds: 2 are too many; 2 bots have all met after 1",
        ),
        ("blocks = 3", 'format = "swiss"\nrounds = 0', "4: rounds: 0: Expected `int` >= 1"),
        (
            "blocks = 3",
            'format = "gauntlet"\nheads = 2',
            "4: heads: 2 are too many; of 2 bots at least one is the field",
        ),
        (
            "blocks = 3",
            'format = "knockout"\nfill = "mist_random"',
            "4: fill: is for games of more than two seats; mist has two (and for format =",
        ),
        (
            "blocks = 3",
            'variant = "hell"',
            "3: variant: mist has no 'hell'; the variants are contractual-obligation, heaven-and-",
        ),
        ('game = "mist"', "", "1: game: is missing"),
        ('game = "mist"', 'game = "chess"', "1: game: there is no 'chess'; the games are mist"),
        (
            '"mist_cautious"',
            '"mist_radnom"',
            "2: bots[1]: mist_radnom: no folder and no sample bot is called that; did you mean mist_random?",
        ),
        ('"mist_cautious"', '"./mine"', "2: bots[1]: "),
        ('"mist_cautious"', '"mist_random"', "2: bots[1]: 'mist_random' is given twice"),
        ('"mist_cautious"', '"console"', "2: bots[1]: a person plays single matches only: arena match"),
        (', "mist_cautious"', "", "2: bots: a tournament needs at least two bots; it would have one"),
        ("max_turns = 9", "max_turns = 0", "5: options.max_turns: Expected `int` >= 1"),
        ("max_turns = 9", 'max_turns = "x"', "5: options.max_turns: Expected `int`, got `str`"),
        ("max_turns = 9", "depth = 2", "5: options.depth: 'depth' is not an option; the options are advantage,"),
        ("main_ms = 50", "main = 50", "7: policy.main: is not a known field; did you mean main_ms?"),
        ("main_ms = 50", "main_ms = 0.5", "7: policy.main_ms: 0.5: Expected `int | null`, got `float`"),
        (
            "main_ms = 50",
            'pacing = "slow"',
            "7: policy.pacing: 'slow': Invalid enum value 'slow'; there are prompt, fixed",
        ),
    ],
)
def test_errors_name_line_and_field(file: Path, was: str, becomes: str, said: str) -> None:
    assert said == complaint(file, RIGHT.replace(was, becomes))[: len(said)]


def test_a_bot_folder_that_is_wrong_is_named_with_its_own_file_and_line(file: Path) -> None:
    folder = file.parent / "mine"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "mine"\nversion = 1\n')
    said = complaint(file, RIGHT.replace('"mist_cautious"', '"mine"'))
    expected = f"2: bots[1]: {folder}/bot.toml:2: version: 1: Expected `str`, got `int`"
    assert expected == said


def test_a_bot_that_does_not_play_the_game_is_refused(file: Path) -> None:
    folder = file.parent / "mine"
    folder.mkdir()
    (folder / "bot.py").touch()
    (folder / "bot.toml").write_text(
        'name = "mine"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["chess"]\n'
    )
    said = complaint(file, RIGHT.replace('"mist_cautious"', '"mine"'))
    why = f"its bot.toml has games = ['chess'], and there is no game chess; the games are {', '.join(GAMES)}"
    assert f"2: bots[1]: 'mine' does not play mist: {why}" == said


def test_an_error_names_a_few_of_a_bots_games(file: Path) -> None:
    folder = file.parent / "mine"
    folder.mkdir()
    (folder / "bot.py").touch()
    games = [f"{'chess' * 18}{number}" for number in range(600)]
    (folder / "bot.toml").write_text(
        f'name = "mine"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = {games}\n'
    )
    said = complaint(file, RIGHT.replace('"mist_cautious"', '"mine"'))
    assert f"games = {games[:5]} and 595 more, and there is no game {', '.join(games[:5])}; the games are" in said


def test_a_folder_beside_the_file_is_found_from_anywhere(file: Path) -> None:
    folder = file.parent / "mine"
    folder.mkdir()
    (folder / "bot.py").touch()
    (folder / "bot.toml").write_text('name = "m"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = "*"\n')
    for name in ("mine", "./mine", str(folder)):
        file.write_text(RIGHT.replace("mist_cautious", name))
        tournament = read_tournament(file)
        assert ("mine", content_hash(folder)) == (tournament.labels[1], tournament.bots[1].content)


def test_bots_of_the_same_folder_name_are_called_by_their_whole_names(file: Path) -> None:
    for parent in ("old", "new"):
        folder = file.parent / parent / "mine"
        folder.mkdir(parents=True)
        (folder / "bot.py").touch()
        (folder / "bot.toml").write_text(
            'name = "m"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = "*"\n'
        )
    file.write_text(RIGHT.replace('"mist_random", "mist_cautious"', '"old/mine", "new/mine"'))
    assert ("old/mine", "new/mine") == read_tournament(file).labels


def test_a_file_that_is_not_there_is_named(file: Path) -> None:
    with pytest.raises(WrongUse, match=r"cup\.toml: cannot be read: No such file or directory$"):
        read_tournament(file)


@pytest.mark.parametrize(
    ("name", "link"),
    [
        *((name, name) for name in ("anna", "entries/anna", "entries/real/inner", "in@2026/anna", "anna@2026")),
        ("entries/anna@main", "entries/anna"),
        ("in@2026/anna@main", "in@2026/anna"),
        ("in@2026/all/mist_random", "in@2026/all"),
        ("in@2026/all/mist_random@main", "in@2026/all"),
    ],
)
def test_an_entry_that_is_a_link_is_refused_wherever_it_leads(file: Path, name: str, link: str) -> None:
    """Who owns the link chooses, and root can read everything."""
    (file.parent / "entries/real").mkdir(parents=True)
    (file.parent / "in@2026").mkdir()
    for each in ("anna", "entries/anna", "entries/real/inner", "in@2026/anna", "anna@2026"):
        (file.parent / each).symlink_to(BUILT_IN / "mist_random")
    (file.parent / "in@2026/all").symlink_to(BUILT_IN)
    place = file.parent / link
    expected = f"2: bots[0]: '{name}': {place} is a symbolic link; name the folder that it leads to"
    assert expected == complaint(file, RIGHT.replace('"mist_random"', f'"{name}"'))
    with_house = f'game = "hive-mind"\nbots = ["hive_mind_random", "any_random"]\nblocks = 1\nfill = "{name}"\n'
    assert expected.replace("2: bots[0]", "4: fill") == complaint(file, with_house)


@pytest.mark.parametrize(
    "name", ["remote:keys@home/alice.key", "remote:alice@home.key", "remote:keys@home/in/a.key"]
)
def test_a_key_that_is_a_link_is_refused_too(file: Path, name: str) -> None:
    (file.parent / "keys@home").mkdir()
    (file.parent / "keys@home/alice.key").symlink_to("/etc/passwd")
    (file.parent / "keys@home/in").symlink_to("/etc")
    (file.parent / "alice@home.key").symlink_to("/etc/passwd")
    said = complaint(file, RIGHT.replace('"mist_random"', f'"{name}"'))
    assert said.startswith(f"2: bots[0]: '{name}': {file.parent}/")
    assert said.endswith(" is a symbolic link; name the file that it leads to")


def test_a_file_names_what_lies_beside_it_and_nothing_in_the_current_folder(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = file.parent / "elsewhere"
    shutil.copytree(BUILT_IN / "mist_hunter", elsewhere / "mist_random")
    shutil.copytree(BUILT_IN / "mist_hunter", elsewhere / "mine")
    shutil.copytree(BUILT_IN / "mist_cautious", file.parent / "a@b")
    monkeypatch.chdir(elsewhere)
    file.write_text(RIGHT.replace('"mist_cautious"', '"a@b"'))
    assert ["mist_random", "mist_cautious"] == [bot.name for bot in read_tournament(file).bots]
    assert "mine: no folder and no sample bot " in complaint(file, RIGHT.replace("mist_random", "mine"))


def test_workers_with_affinity_get_separate_cores(file: Path) -> None:
    file.write_text(RIGHT)
    assert affinity_place(read_tournament(file)) is None
    file.write_text(f"{RIGHT}[workers]\naffinity = true\n")
    assert f"{file}:9: workers.affinity" == affinity_place(read_tournament(file))
