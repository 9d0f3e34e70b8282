"""What a tournament is begun with, and what has changed since. Results under other terms must not be mixed."""

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
"""Dotted name to plain JSON value."""
UNSET = "not set"
UNTIL = "entries_until"
"""The term that says until when bots may enter."""
LEFT_OUT = "left out"
"""The term that names the bots which could not start, and why."""
CONTENT, FILES = "content of ", "files of "
NAMED = 5
"""The most changed files that a message names."""


def terms_of(tournament: Tournament, seed: int) -> Terms:
    """All that a result depends on.

    How many matches run at once and on which cores, how long they wait for remote bots, and where results go, is
    not among it.
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
    """What is known of a bot's content: of a remote one, its key."""
    yield "content", bot.content
    if isinstance(bot, BotFolder):
        yield "files", file_hashes(bot.folder)


def left_out_of(terms: Terms) -> dict[str, str] | None:
    """The bots that a tournament is played without since it was begun, and why; None: it is not begun yet."""
    if not terms:
        return None
    found = terms.get(LEFT_OUT, {})
    if not isinstance(found, dict) or not all(isinstance(why, str) for why in found.values()):
        return {}
    return found


def left_out_now(terms: Terms, events: Sequence[Event]) -> dict[str, str]:
    """Return the bots that a tournament is still played without, and why: not those that have entered since."""
    came = names_entered(events)
    return {label: why for label, why in (left_out_of(terms) or {}).items() if label not in came}


def names_entered(events: Sequence[Event]) -> set[str]:
    """Return the names of the bots that were taken in: their labels, and those that their folders would give."""
    entered = [event.what for event in events if isinstance(event.what, Entered) and event.block is not None]
    return {name for bot in entered for name in (bot.label, label_of(bot.folder))}


def as_begun(tournament: Tournament, ledger: Ledger) -> Tournament:
    """The tournament that was begun, where its file has the totals of a later change, too."""
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
    """A time from a ledger; None: it is none."""
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def remedy_of(tournament: Tournament, key: str, begun: Any, now: Any) -> str:
    """The commands that take a change of terms into a tournament that goes on; empty: none does."""
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
    """Return how a bot of the file is named, seen from the current folder."""
    return bot_name_of(tournament, tournament.labels.index(label)).given


def _no_remedy(key: str, begun: Any, now: Any) -> str:
    del key, begun, now
    return ""


def drawn_seed() -> int:
    """A seed for a tournament or a season: never as short as a match's, so that it is known for a long one."""
    return SystemRandom().randrange(2**SEED_BITS, 2**DRAWN_BITS)


def begin_or_go_on(
    ledger: Ledger,
    given: int | None,
    terms: Callable[[int], Terms],
    otherwise: str,
    remedy: Callable[[str, Any, Any], str] = _no_remedy,
) -> int:
    """Begins a book, or makes sure that it was begun on the same terms; the seed, drawn if none was given.

    Args:
        ledger: the book.
        given: the seed, if there is one.
        terms: gives the terms of a seed.
        otherwise: the complaint if the book was begun on others.
        remedy: gives the command that takes in a change, by its term, what it was, and what it is.

    Raises:
        WrongUse: it was not.
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
    """What is not as it was, one phrase each.

    Of a folder's content, it names the files that it comes from; of each, the command that takes it in, if any.
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
    """The files behind a change of content, where they are known."""
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
    """A value for one line; of a content hash, what tells it from others."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:19] if text.startswith("sha256:") else text
