"""Tournaments, seasons and regression tests: what the commands say, and all reports and pages of them."""

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.arena.cups import BOT
from tests.arena.season.seasons import league
from tests.arena.tournament.test_entries import CHANGES, Command, field
from tests.arena.tournament.test_formats import FORMATS
from tests.outputs.running import arena, normalised, output, own_folder
from tests.outputs.stand_ins import Drawn, Simulated, playing

BEGUN = datetime(2026, 11, 1, 12, tzinfo=UTC)
PLAY = ("--isolation", "none", "--concurrency", "1", "--no-check")
NARROW = 60
ASSET = re.compile(r"(assets/[a-z-]+)\.[0-9a-f]{16}(?=\.(?:css|js))")
NOT_PAGES = ("assets", ".arena-site", ".nojekyll")
"""What a site has besides pages: scripts and styles (recorded once, in the part `assets`), and its own notes."""


class Cup(Struct, frozen=True, kw_only=True):
    """One tournament of bots that do nothing, whose matches are drawn."""

    format: str = "round_robin"
    more: tuple[str, ...] = ()
    """Further lines of its file."""
    game: str = "mist"
    drawn: dict[str, Any] = {}
    """What happens meanwhile: arguments of `Drawn`."""
    then: tuple[Command, ...] = ()
    """Commands to be run after it was played, each before it is played again."""


CUPS = {name.replace(" ", "-"): Cup(format=format_, more=more) for name, (format_, more) in FORMATS.items()} | {
    "endless": Cup(
        format="ladder",
        more=("endless = true", "accuracy = 20", "period = 30"),
        drawn={"stops_after": 60},
    ),
    "endless-with-entries": Cup(
        format="ladder",
        more=("endless = true", "accuracy = 20", "period = 30", "old_versions = 1"),
        drawn={"stops_after": 60, "changes": CHANGES},
    ),
    "endless-of-five-seats": Cup(
        format="ladder",
        more=("endless = true", "accuracy = 20", 'fill = "filler"', "rotations = 2"),
        game="hive-mind",
        drawn={"stops_after": 60},
    ),
    "five-seats": Cup(more=("blocks = 4", 'fill = "filler"', "rotations = 2"), game="hive-mind"),
    "thirteen-seats": Cup(more=("blocks = 2", 'fill = "filler"', "rotations = 2"), game="pointing"),
    "void-attempts": Cup(more=("blocks = 2",), drawn={"void": (1, 4, 5, 9)}),
    "set-aside": Cup(
        more=("blocks = 2",),
        drawn={"held_up": "c"},
        then=(("decide", "cup.toml", "3", "--leave-out"), ("decide", "cup.toml", "7", "--no-excuse", "c")),
    ),
    "entries": Cup(more=("blocks = 2",), drawn={"changes": CHANGES}),
    "extended": Cup(format="swiss", more=("rounds = 2",), then=(("extend", "cup.toml", "--rounds", "4"),)),
    "stopped": Cup(more=("blocks = 3",), drawn={"stops_after": 23}),
    "deadline": Cup(format="gauntlet", more=("entries_until = 2099-12-01T12:00:00Z",)),
}
CLOCK = re.compile(r'(?<="at":")[^"]+|(?<="seconds":)[0-9.e-]+|(?<= time=")[0-9.]+|[0-9][^;]*(?= of play;)')
"""Readings of the clock in what commands say while they play: when the field changed, and how long a test took."""
SAMPLES = {
    "mist": ("mist_random", "mist_cautious", "mist_hunter"),
    "hive-mind": ("hive_mind_random", "hive_mind_counter"),
    "pointing": ("pointing_random", "pointing_loyal"),
    "fight-for-a-name": ("fight_for_a_name_random", "fight_for_a_name_herald"),
    "runes-to-ruins": ("runes_to_ruins_random", "runes_to_ruins_seeker"),
}
"""By game: sample bots whose matches are played."""
SEASONS: dict[str, dict[str, Any]] = {
    "season": {},
    "season-of-five-seats": {
        "game": "hive-mind",
        "bots": "abcdefghijk",
        "more": ("seed = 4", 'fill = "x"'),
        "stages": """
[[stages]]
name = "groups"
groups = 2

[[stages]]
name = "final"
top = 6
blocks = 2
""",
    },
}
"""By name: the game, if it is another, and arguments of `league`."""
REGRESSIONS: dict[str, tuple[float, tuple[str, ...]]] = {
    "regress-better": (0.9, ("--elo1", "100", "--blocks", "40")),
    "regress-worse": (0.0, ("--elo1", "200", "--blocks", "60")),
    "regress-undecided": (0.1, ("--question", "not-worse", "--blocks", "5")),
    "regress-against-a-field": (0.5, ("--field", "c", "--field", "d", "--blocks", "20")),
    "regress-slower": (0.8, ("--elo1", "100", "--slower", "1.5", "--blocks", "30")),
}
"""How often head wins, and the options."""


def parts() -> list[str]:
    """Return the parts of this group: each is one competition."""
    return ["assets", *CUPS, *(f"played-{game}" for game in SAMPLES), *SEASONS, *REGRESSIONS]


def record(part: str, folder: Path) -> None:
    """Record one competition."""
    out = folder / part
    out.mkdir()
    with own_folder() as here:
        if part in CUPS:
            _record_cup(CUPS[part], here, out)
        elif part == "assets":
            _record_assets(here, out)
        elif part in SEASONS:
            _record_season(here, out, **SEASONS[part])
        elif part in REGRESSIONS:
            _record_regression(part, here, out)
        else:
            _record_played(part.removeprefix("played-"), here, out)


def _record_cup(cup: Cup, here: Path, out: Path) -> None:
    file = field(here, cup.format, cup.more)
    file.write_text(file.read_text().replace('"mist"', f'"{cup.game}"'))
    for manifest in here.glob("*/bot.toml"):
        manifest.write_text(BOT.replace("mist", cup.game))
    _record_tournament(out, Drawn(file, **cup.drawn), cup.then, is_whole="stops_after" not in cup.drawn)


def _record_played(game: str, here: Path, out: Path) -> None:
    lines = [f'game = "{game}"', f"bots = {list(SAMPLES[game])}", "seed = 4", f'fill = "{SAMPLES[game][0]}"']
    if game == "mist":
        lines[-1] = "options.max_turns = 40"
    else:
        lines.append("rotations = 1")
    (here / "cup.toml").write_text("\n".join(lines) + "\n")
    _record_tournament(out, Simulated())


def _record_tournament(out: Path, play: Any, then: tuple[Command, ...] = (), *, is_whole: bool = True) -> None:
    tournament = ("tournament", "cup.toml", *PLAY)
    with playing(play):
        said = [arena(*tournament)]
        for command in then:
            said += [arena(*command), arena(*tournament)]
        if is_whole:
            said.append(arena(*tournament, "--usage"))
            _write(out, "result.json", _without_clock(output(*tournament, "--json")))
    _write(out, "played.txt", *map(_without_clock, said))
    _fix_ledgers(Path("runs"))
    _write(out, "entries.txt", arena("entry", "list", "cup.toml"), arena("entry", "list", "cup.toml", "--json"))
    _record_report(out, "cup.toml")
    _record_matches(out, "cup.toml")
    _record_site(out, "runs/cup")


def _record_season(here: Path, out: Path, game: str = "mist", **given: Any) -> None:
    file = league(here, **given)
    file.write_text(file.read_text().replace('"mist"', f'"{game}"'))
    for manifest in here.glob("*/bot.toml"):
        manifest.write_text(BOT.replace("mist", game))
    season = ("season", "league.toml", *PLAY)
    with playing(Drawn(file)):
        said = [arena(*season, "--stop-after", "groups"), arena(*season, "--usage"), arena(*season)]
        _write(out, "result.json", _without_clock(output(*season, "--json")))
    _write(out, "played.txt", *map(_without_clock, said))
    _fix_ledgers(Path("runs"))
    _write(out, "report.txt", arena("report", "league.toml"), arena("report", "league.toml", "--usage"))
    output("report", "league.toml", "--html", "report.html")
    _write(out, "report.html", _text_of(Path("report.html")))
    _record_site(out, "runs/league")


def _record_regression(part: str, here: Path, out: Path) -> None:
    field(here, "round_robin")
    share, options = REGRESSIONS[part]
    versions = ("--base", "f", "--head", "f2")
    words = ("regress", "mist", *versions, *PLAY, "--seed", "4", "--results", "runs/it", *options)
    strong = "head" if share else "base"
    with playing(Drawn(here / "cup.toml", strong=strong, share=share or 0.9)):
        said = [arena(*words, "--markdown", "summary.md", "--junit", "junit.xml"), arena(*words, "--usage")]
        said.append(arena(*words, "--json"))
    _write(out, "played.txt", *map(_without_clock, said))
    for name in ("summary.md", "junit.xml"):
        _write(out, name, _without_clock(_text_of(Path(name))))
    _fix_ledgers(Path("runs"))
    _record_report(out, "runs/it")
    _record_site(out, "runs/it")


def _record_report(out: Path, cup: str) -> None:
    """Record what `arena report` says of a tournament or a regression test."""
    _write(out, "report.txt", arena("report", cup), arena("report", cup, "--usage"))
    _write(out, "report.narrow.txt", arena("report", cup, "--usage", columns=NARROW))
    _write(out, "report.json", output("report", cup, "--json"))
    output("report", cup, "--html", "report.html", "--csv", "report.csv")
    _write(out, "report.html", _text_of(Path("report.html")))
    _write(out, "report.csv", _text_of(Path("report.csv")))


def _record_matches(out: Path, cup: str) -> None:
    """Record the lists of matches that `arena results` prints."""
    _write(out, "results.txt", arena("results", cup), arena("results", cup, "--bot", "a", "--last", "5"))
    _write(out, "results.csv", output("results", cup, "--csv"))
    _write(out, "results.json", output("results", cup, "--json"))


def _record_site(out: Path, folder: str) -> None:
    """Record the pages of the site."""
    _write(out, "site.txt", arena("site", "site", folder, "--jobs", "1"))
    for file in _files("site"):
        if file.parts[1] not in NOT_PAGES:
            _write(out, str(file), _text_of(file))


def _record_assets(here: Path, out: Path) -> None:
    """Record the scripts and styles of a site, without the hashes in their names."""
    with playing(Drawn(field(here, "round_robin"))):
        output("tournament", "cup.toml", *PLAY)
    output("site", "site", "runs/cup", "--jobs", "1")
    for file in _files("site/assets"):
        _write(out, ASSET.sub(r"\1", str(file)), _text_of(file))


def _files(folder: str) -> list[Path]:
    return sorted(file for file in Path(folder).rglob("*") if file.is_file())


def _without_clock(text: str) -> str:
    return CLOCK.sub("-", text)


def _text_of(file: Path) -> str:
    # A script that changes would change the hash of its name in every page.
    return ASSET.sub(r"\1", normalised(file.read_text(encoding="utf-8")))


def _write(folder: Path, name: str, *texts: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(texts), encoding="utf-8")


def _fix_ledgers(folder: Path) -> None:
    """Put fixed times into all ledgers, and leave out the content of the arena, which changes with its code."""
    for ledger in folder.rglob("ledger.sqlite"):
        with closing(sqlite3.connect(ledger)) as book, book:
            for table, column, seconds in (
                ("attempts", "started", 0),
                ("attempts", "ended", 40),
                ("events", "at", 50),
                ("steps", "at", 50),
            ):
                rows = book.execute(f"SELECT id FROM {table} WHERE {column} IS NOT NULL").fetchall()  # noqa: S608
                book.executemany(
                    f"UPDATE {table} SET {column} = ? WHERE id = ?",  # noqa: S608 - names from above
                    [(_time(60 * number + seconds), number) for (number,) in rows],
                )
            book.execute("UPDATE terms SET value = '\"sha256:0\"' WHERE key = 'content of the arena'")
            book.execute("UPDATE terms SET value = '{}' WHERE key = 'files of the arena'")


def _time(seconds: int) -> str:
    return (BEGUN + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")
