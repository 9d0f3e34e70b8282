"""The terms with which a tournament begins, and changes of them. Results under different terms are not mixed."""

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import filterfalse
from pathlib import Path
from random import SystemRandom
from typing import Any

import msgspec
from msgspec.structs import replace

from arena.config import Tournament, bot_name_of, label_of
from arena.errors import WrongUse
from arena.schedule import DRAWN_BITS, FILE_FIELDS, SEED_BITS, Deadline, Entered, Extended, FieldChange, format_of
from arena.terminal import arguments, command_line
from arena.tournament.ledger import Ledger
from arena.workers import own_content, own_files
from protocol.games import package_of
from referee import __version__
from referee.bot_folder import BotFolder, file_hashes

Terms = dict[str, Any]
"""Plain JSON values by dotted name."""
UNSET = "not set"
UNTIL = "entries_until"
"""The term with the time until which bots may enter."""
LEFT_OUT = "left out"
"""The term with the bots that could not start, and the reasons."""
CONTENT, FILES = "content of ", "files of "
NAMED = 5
"""The most changed files that a message names."""


def terms_of(tournament: Tournament, seed: int) -> Terms:
    """Return everything on which a result depends.

    The number of matches at once, their cores, the wait for remote bots and the results folder are not included.
    """
    form = tournament.form
    credit_ms = form.remote.credit_ms
    terms: Terms = {
        "arena": __version__,
        "content of the arena": own_content(),
        "files of the arena": own_files(),
        "game": form.game,
    }
    package = package_of(form.game)
    if package is not None:
        terms["package of the game"] = package
    terms |= {"variant": tournament.variant, **_dotted("options", tournament.options)}
    for name in FILE_FIELDS:
        value = getattr(form, name)
        if value not in (None, False):
            terms[name] = value
    terms |= {"rotations": tournament.rotations, "seed": seed, **_dotted("policy", form.policy)}
    if form.clock is not None:
        terms |= _dotted("clock", form.clock)
    if tournament.remote or credit_ms:
        terms["remote.credit_ms"] = credit_ms
    terms["isolation"] = form.isolation
    if tournament.entries_until is not None:
        terms[UNTIL] = tournament.entries_until
    terms |= {"bots": list(tournament.labels), "house": tournament.house is not None}
    if tournament.left_out:
        terms[LEFT_OUT] = dict(tournament.left_out)
    terms |= tournament.stage
    for label, bot in zip(tournament.labels, tournament.bots, strict=True):
        terms[f"{CONTENT}{label}"] = bot.content
        if isinstance(bot, BotFolder):
            terms[f"{FILES}{label}"] = file_hashes(bot.folder)
    return terms


def left_out_of(terms: Terms) -> dict[str, str] | None:
    """Return the reason for each bot that was left out at the start, by label; None: it has not begun."""
    if not terms:
        return None
    found = terms.get(LEFT_OUT, {})
    if not isinstance(found, dict) or not all(isinstance(why, str) for why in found.values()):
        return {}
    return found


def left_out_now(terms: Terms, events: Sequence[FieldChange]) -> dict[str, str]:
    """Return the reason for each bot that is still left out, by label, without bots that entered later."""
    came = names_entered(events)
    return {label: why for label, why in (left_out_of(terms) or {}).items() if label not in came}


def names_entered(events: Sequence[FieldChange]) -> set[str]:
    """Return the names of the bots that entered: their labels, and the labels that their folders would give."""
    found = set()
    for event in events:
        if isinstance(event.what, Entered) and event.block is not None:
            found |= {event.what.label, label_of(event.what.folder)}
    return found


def as_begun(tournament: Tournament, ledger: Ledger) -> Tournament:
    """Return the tournament as it was begun, if its file already has the totals of a later change."""
    begun, form = ledger.terms(), tournament.form
    for event in ledger.events():
        if isinstance(event.what, Deadline) and event.what.entries_until == tournament.entries_until:
            form = replace(form, entries_until=_moment(begun.get(UNTIL)))
        if isinstance(event.what, Extended) and event.refused is None:
            for total in ("blocks", "rounds"):
                if begun.get(total) != getattr(form, total) == getattr(event.what, total):
                    form = replace(form, **{total: begun.get(total)})
    return replace(tournament, form=form)


def _moment(text: Any) -> datetime | None:
    """Return a time from a ledger; None if it is invalid."""
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def remedy_of(tournament: Tournament, key: str, begun: Any, now: Any) -> str:
    """Return the commands that apply a change of terms to a running tournament; empty: there is none."""
    file = tournament.file
    of, place = file, tuple[str | Path, ...]()
    if tournament.stage:
        of, place = tournament.results, ("--results", tournament.results)
    if key.startswith(CONTENT) and key != "content of the arena" and UNSET not in {begun, now}:
        return command_line("entry", "update", *arguments(file, key.removeprefix(CONTENT), options=place))
    if key == "bots" and isinstance(begun, list) and isinstance(now, list):
        commands = []
        for label in tournament.labels[: len(tournament.form.bots)]:
            if label in now and label not in begun:
                given = bot_name_of(tournament, tournament.labels.index(label)).given
                commands.append(command_line("entry", "add", *arguments(file, given, options=place)))
        gone = map(str, filterfalse(now.__contains__, begun))
        commands += [command_line("entry", "withdraw", *arguments(of, label)) for label in gone]
        if not commands:
            return ""
        return f"undo it, then {'; '.join(commands[:NAMED])}"
    if key == UNTIL and now != UNSET and (begun == UNSET or (isinstance(begun, str) and now > begun)):
        return command_line("extend", *(place[1:] or (file,)), "--entries-until", now)
    if key == format_of(tournament.spec).grows and isinstance(begun, int) and isinstance(now, int) and now > begun:
        return command_line("extend", of, f"--{key}", str(now))
    return ""


def _no_remedy(key: str, begun: Any, now: Any) -> str:
    del key, begun, now
    return ""


def drawn_seed() -> int:
    """Return a random seed for a tournament or a season. It is longer than a match's seed, so the two differ."""
    return SystemRandom().randrange(2**SEED_BITS, 2**DRAWN_BITS)


def begin_or_go_on(
    ledger: Ledger,
    given: int | None,
    terms: Callable[[int], Terms],
    otherwise: str,
    remedy: Callable[[str, Any, Any], str] = _no_remedy,
) -> int:
    """Begin a ledger, or check that it was begun with the same terms; return the seed, drawn if none was given.

    Args:
        ledger: the ledger.
        given: the seed, if there is one.
        terms: returns the terms for a seed.
        otherwise: the beginning of the error if the ledger was begun with other terms.
        remedy: returns the command that applies a change, given the term's name, its old and its new value.

    Raises:
        WrongUse: it was begun with other terms.
    """
    begun = ledger.terms()
    if not begun:
        seed = drawn_seed() if given is None else given
        ledger.begin(terms(seed))
        return seed
    seed = int(begun["seed"]) if given is None else given
    if changed := changes(begun, terms(seed), remedy):
        raise WrongUse(
            f"{otherwise}: {'; '.join(changed)}."
            " Undo that to go on, or begin anew: --fresh, or another folder with --results"
        )
    return seed


def changes(begun: Terms, now: Terms, remedy: Callable[[str, Any, Any], str] = _no_remedy) -> list[str]:
    """Return a phrase for each term that has changed, with the command that applies the change, if there is one.

    For the content of a folder, the phrase names the changed files.
    """
    found = []
    for key in {**begun, **now}:
        was, is_now = begun.get(key, UNSET), now.get(key, UNSET)
        if was != is_now and not key.startswith(FILES):
            said = f"{key} was {_short(was)}, is {_short(is_now)}{_which(key, begun, now)}"
            if command := remedy(key, was, is_now):
                said += f" (to take it in: {command})"
            found.append(said)
    return found


def _which(key: str, begun: Terms, now: Terms) -> str:
    """Return the files behind a change of content, in brackets; empty if they are unknown."""
    name = FILES + key.removeprefix(CONTENT)
    if not key.startswith(CONTENT) or name not in begun or name not in now:
        return ""
    before, after = begun[name], now[name]
    changed = []
    for file in sorted({**before, **after}):
        if file not in before:
            changed.append(f"{file} is new")
        elif file not in after:
            changed.append(f"{file} is gone")
        elif before[file] != after[file]:
            changed.append(f"{file} changed")
    if len(changed) > NAMED:
        changed[NAMED:] = [f"{len(changed) - NAMED} more"]
    return f" ({', '.join(changed)})"


def _dotted(name: str, values: Any) -> Terms:
    return {f"{name}.{key}": value for key, value in msgspec.to_builtins(values).items()}


def _short(value: Any) -> str:
    """Return a value for one line. A content hash is shortened."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:19] if text.startswith("sha256:") else text
