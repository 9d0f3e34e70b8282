"""The terms with which a tournament begins, and changes of them. Results under different terms are not mixed."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from random import SystemRandom
from typing import Any

import msgspec
from msgspec.structs import replace

from arena.config import Entry, Tournament, bot_name_of, label_of
from arena.errors import WrongUse
from arena.schedule import DRAWN_BITS, FILE_FIELDS, SEED_BITS, Deadline, Entered, Event, Extended, format_of
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
    return {
        "arena": __version__,
        "content of the arena": own_content(),
        "files of the arena": own_files(),
        "game": form.game,
        **({} if (package := package_of(form.game)) is None else {"package of the game": package}),
        "variant": tournament.variant,
        **_dotted("options", tournament.options),
        **{name: value for name in FILE_FIELDS if (value := getattr(form, name)) not in (None, False)},
        "rotations": tournament.rotations,
        "seed": seed,
        **_dotted("policy", form.policy),
        **({} if form.clock is None else _dotted("clock", form.clock)),
        **({"remote.credit_ms": credit_ms} if tournament.remote or credit_ms else {}),
        "isolation": form.isolation,
        **({} if tournament.entries_until is None else {UNTIL: tournament.entries_until}),
        "bots": list(tournament.labels),
        "house": tournament.house is not None,
        **({LEFT_OUT: dict(tournament.left_out)} if tournament.left_out else {}),
        **tournament.stage,
        **{
            f"{what} of {label}": value
            for label, bot in zip(tournament.labels, tournament.bots, strict=True)
            for what, value in _what_is_in(bot)
        },
    }


def _what_is_in(bot: Entry) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of the terms about a bot's content; a remote bot's content is its key."""
    yield "content", bot.content
    if isinstance(bot, BotFolder):
        yield "files", file_hashes(bot.folder)


def left_out_of(terms: Terms) -> dict[str, str] | None:
    """Return the reason for each bot that was left out at the start, by label; None: it has not begun."""
    if not terms:
        return None
    found = terms.get(LEFT_OUT, {})
    if not isinstance(found, dict) or not all(isinstance(why, str) for why in found.values()):
        return {}
    return found


def left_out_now(terms: Terms, events: Sequence[Event]) -> dict[str, str]:
    """Return the reason for each bot that is still left out, by label: those that entered later are not."""
    came = names_entered(events)
    return {label: why for label, why in (left_out_of(terms) or {}).items() if label not in came}


def names_entered(events: Sequence[Event]) -> set[str]:
    """Return the names of the bots that entered: their labels, and the labels that their folders would give."""
    entered = [event.what for event in events if isinstance(event.what, Entered) and event.block is not None]
    return {name for bot in entered for name in (bot.label, label_of(bot.folder))}


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
    place = ("--results", tournament.results) if tournament.stage else ()
    if key.startswith(CONTENT) and key not in {"content of the arena", UNSET}:
        label = key.removeprefix(CONTENT)
        return (
            ""
            if UNSET in {begun, now}
            else command_line("entry", "update", *arguments(file, label, options=place))
        )
    if key == "bots" and isinstance(begun, list) and isinstance(now, list):
        competing = [label for label in now if label in tournament.labels[: len(tournament.form.bots)]]
        added = [
            command_line("entry", "add", *arguments(file, _given(tournament, label), options=place))
            for label in competing
            if label not in begun
        ]
        of = tournament.results if tournament.stage else file
        gone = [
            command_line("entry", "withdraw", *arguments(of, str(label))) for label in begun if label not in now
        ]
        return f"undo it, then {'; '.join([*added, *gone][:NAMED])}" if added or gone else ""
    if key == UNTIL and now != UNSET and (begun == UNSET or (isinstance(begun, str) and now > begun)):
        return command_line("extend", *(place[1:] or (file,)), "--entries-until", now)
    if key == format_of(tournament.spec).grows and isinstance(begun, int) and isinstance(now, int) and now > begun:
        return command_line("extend", tournament.results if tournament.stage else file, f"--{key}", str(now))
    return ""


def _given(tournament: Tournament, label: str) -> str:
    """Return the name or path of a bot of the file, relative to the current folder."""
    return bot_name_of(tournament, tournament.labels.index(label)).given


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
            command = remedy(key, was, is_now)
            found.append(
                f"{key} was {_short(was)}, is {_short(is_now)}{_which(key, begun, now)}"
                f"{f' (to take it in: {command})' if command else ''}"
            )
    return found


def _which(key: str, begun: Terms, now: Terms) -> str:
    """Return the files behind a change of content, in brackets; empty if they are unknown."""
    name = FILES + key.removeprefix(CONTENT)
    if not key.startswith(CONTENT) or name not in begun or name not in now:
        return ""
    before, after = begun[name], now[name]
    changed = [
        f"{file} {'is new' if file not in before else 'is gone' if file not in after else 'changed'}"
        for file in sorted({**before, **after})
        if before.get(file) != after.get(file)
    ]
    more = [f"{len(changed) - NAMED} more"] if len(changed) > NAMED else []
    return f" ({', '.join(changed[:NAMED] + more)})"


def _dotted(name: str, values: Any) -> Terms:
    return {f"{name}.{key}": value for key, value in msgspec.to_builtins(values).items()}


def _short(value: Any) -> str:
    """Return a value for one line. A content hash is shortened."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:19] if text.startswith("sha256:") else text
