"""The bad bots' table: what each is to be called, and which of its messages are refused, how often."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from protocol.refusals import Conduct
from referee.bot_folder.content import content_hash, copy_place
from referee.bot_folder.manifest import BotFolder, find_bot

BAD_BOTS = Path(__file__).parents[1] / "bad_bots"
BY_LINES = "by_lines_"
"""How the files of those begin that speak by lines."""
SHARED = "raw"
"""What the bad bots share; no bot itself."""
REFUSALS = 100
"""Refused messages that the zoo's matches bear; with one more the bot is hung up on."""
WINDOWS = 3
"""How many each seat has in the zoo's matches."""
LONG_FRAMES = 4
"""Frames of the greatest length that a window's bytes allow."""
LATE_FRAMES = (WINDOWS - 1) * LONG_FRAMES
"""Of those, at most, that a slow machine reads when their window is over, and another one allows more."""
HOGS = ("flood_of_commands", "flood_of_parts", "flood_of_words", "parts_without_end")
"""Those that keep the referee as busy as they can and submit nothing."""
LIMITS = {"eats_memory": "[limits]\nmemory_mb = 128\n"}
"""Of those that must come to a limit before their match is over: a busy machine takes long for a gigabyte."""
SOME = range(1, REFUSALS + 1)
"""Refused at least once; how often depends on who is quicker."""


@dataclass(frozen=True)
class Expected:
    """What a match against a bad bot comes to."""

    conduct: Conduct
    refused: Mapping[str, int | range] = field(default_factory=dict)
    """How many of its messages, by `Refusal`."""

    def fits(self, conduct: Conduct, refused: Mapping[str, int]) -> bool:
        """Whether it came to that."""
        return (
            self.conduct is conduct
            and self.refused.keys() >= refused.keys()
            and all(
                refused.get(name, 0) in (count if isinstance(count, range) else (count,))
                for name, count in self.refused.items()
            )
        )


def _never_started() -> Expected:
    return Expected(Conduct.NEVER_STARTED)


def _plays(**refused: int | range) -> Expected:
    return Expected(Conduct.OK, {name.replace("_", "-"): count for name, count in refused.items()})


def _misbehaves(**refused: int | range) -> Expected:
    return Expected(Conduct.MISBEHAVED, {name.replace("_", "-"): count for name, count in refused.items()})


def _crashes() -> Expected:
    return Expected(Conduct.CRASHED)


def _disconnects() -> Expected:
    return Expected(Conduct.DISCONNECTED)


TABLE: dict[str, Expected] = {
    # It does not come in.
    "crash_at_start": _never_started(),
    "crash_before_hello": _never_started(),
    "drips_greeting": _never_started(),
    "half_greeting": _never_started(),
    "knocks": _never_started(),
    "never_connects": _never_started(),
    "never_hello": _never_started(),
    "noise": _never_started(),
    "wrong_protocol": _never_started(),
    "wrong_token": _misbehaves(),
    # It does not come in: the bridge does, for a program that ends before it says anything.
    "by_lines_closes_its_output": _never_started(),
    "by_lines_crash_at_start": _never_started(),
    "by_lines_crash_at_welcome": _never_started(),
    "by_lines_crash_at_window": _never_started(),
    "by_lines_crash_after_print": Expected(Conduct.NEVER_STARTED, {"no-message": 1}),
    "by_lines_kills_itself": _never_started(),
    "by_lines_leaves_at_start": _never_started(),
    "by_lines_leaves_a_child": _never_started(),
    # It comes in again and again.
    "deaf": _misbehaves(),
    "reconnects": _misbehaves(),
    "two_hellos": _plays(),
    # It says nothing, or nothing whole.
    "half_frame": _plays(),
    "never_reads": _plays(),
    "silent": _plays(),
    "spins": _plays(),
    "stops_itself": _plays(),
    # What it says is not of the protocol.
    "endless_message": _misbehaves(),
    "garbage": _misbehaves(malformed=REFUSALS + 1),
    "huge_frame": _plays(),
    "flood_of_commands": _misbehaves(),
    "flood_of_parts": _misbehaves(malformed=REFUSALS, flood=1),
    "flood_of_words": _misbehaves(malformed=SOME, flood=SOME),
    "parts_without_end": _plays(),
    "parts": _plays(malformed=3 * WINDOWS),
    "too_much": _plays(oversized=SOME, flood=SOME),
    "by_lines_answers_at_its_end": _plays(),
    "by_lines_echoes": _plays(no_message=range(WINDOWS, WINDOWS + 2)),
    "by_lines_flood": _misbehaves(no_message=SOME, flood=SOME),
    "by_lines_prints": _plays(no_message=range(WINDOWS, WINDOWS + 2)),
    # What it says is not for now, against the rules, or too much.
    "anothers_window": _plays(late=WINDOWS, unknown_window=WINDOWS),
    "changes_its_mind": _plays(),
    "drips": _plays(),
    "fills_the_transcript": _misbehaves(
        illegal=LONG_FRAMES,
        flood=range(REFUSALS + 1 - LONG_FRAMES - LATE_FRAMES, REFUSALS + 2 - LONG_FRAMES),
        late=range(LATE_FRAMES + 1),
    ),
    "flood": _misbehaves(flood=REFUSALS + 1),
    "flood_of_illegal": _misbehaves(illegal=REFUSALS, flood=1),
    "flood_of_pause": _misbehaves(no_pause=REFUSALS, flood=1),
    "flood_of_undo": _misbehaves(flood=REFUSALS + 1),
    "illegal": _plays(illegal=5 * WINDOWS),
    "long_notes": _plays(too_long=10 * WINDOWS),
    "out_of_turn": _plays(out_of_turn=1, late=WINDOWS - 1, unknown_window=2 * WINDOWS + 1),
    # It ends before its time, each at its own stage.
    "crash": _crashes(),
    "crash_after_hello": _crashes(),
    "crash_after_submitting": _crashes(),
    "crash_at_over": _plays(),
    "crash_later": _crashes(),
    "exit_code": _crashes(),
    "killed_by_signal": _crashes(),
    "kills_itself": _crashes(),
    "leaves": _disconnects(),
    # What it does to its machine.
    "closes_its_outputs": _plays(),
    "eats_memory": _crashes(),
    "fills_disk": _crashes(),
    "forks": _plays(),
    "heirs": _disconnects(),
    "orphans": _plays(),
    "talker": _plays(),
    "writes_without_end": _plays(),
}


def bad_bot(folder: Path, name: str) -> BotFolder:
    """Copy one of tests/bad_bots into a folder of its own."""
    bot = folder / name
    bot.mkdir()
    shutil.copy(BAD_BOTS / f"{name}.py", bot / "bot.py")
    shutil.copy(BAD_BOTS / f"{SHARED}.py", bot)
    # No two tests run one copy: by it a bot's processes are known.
    (bot / "bot.toml").write_text(
        f'# {bot}\nname = "{name}"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["mist"]\n'
        + ('transport = "stdio"\n' if name.startswith(BY_LINES) else "")
        + LIMITS.get(name, "")
    )
    return find_bot(str(bot))


def processes_of(folder: Path) -> list[str]:
    """Return the processes of this machine that see a bot's folder as their own, with their command lines.

    They are told by what is mounted for them: a bot cannot change that, as it could its environment, and one
    that was forked from a warm process has that one's.
    """
    if not (folder / "bot.toml").exists():
        return []
    mounted = "/".join(copy_place(content_hash(folder)).parts[-3:]).encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mounted in (process / "mountinfo").read_bytes():
                found.append(f"{process.name}: {(process / 'cmdline').read_bytes()!r}")
        except OSError:
            continue  # It has ended meanwhile, or is a zombie.
    return found


TIMES = {"at", "opened", "deadline", "arrived", "charged_ms", "lateness", "started"}
MEASURED = {"used", "verdict"}
"""Kinds of lines that tell how a window was on this machine."""
CHANCE = {"line", "prev", "seal", "heads", "salts", "token"}
"""Hashes over times, with where they stand in their chain, and what is drawn for each match anew."""


def timeless(transcript: Path) -> dict[int | None, list[str]]:
    """Return a transcript without what differs between two matches that went the same way.

    Left out are times, hashes and tokens; all else stands as it was written. By seat, as which of two seats is
    heard first is a matter of time, too; None: what is of no one seat.
    """
    text = transcript.read_text()
    told = [json.loads(line) for line in text.splitlines()]
    for seat, bot in enumerate(told[0]["bots"]):
        text = text.replace(bot["token"], f"token of seat {seat}") if bot["token"] else text
    lines: dict[int | None, list[str]] = {}
    for line in map(json.loads, text.splitlines()):
        if line["kind"] in MEASURED:
            continue
        lines.setdefault(line.get("seat"), []).append(json.dumps(_without(line, TIMES | CHANCE)))
    return lines


def _without(value: object, names: set[str]) -> object:
    if isinstance(value, dict):
        return {name: _without(inner, names) for name, inner in value.items() if name not in names}
    if isinstance(value, list):
        return [_without(inner, names) for inner in value]
    return value
