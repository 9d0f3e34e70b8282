"""What a tournament is begun with, and what has changed since. Results under other terms must not be mixed."""

from collections.abc import Callable
from importlib.metadata import version
from random import SystemRandom
from typing import Any

import msgspec

from arena.config import Tournament
from arena.errors import WrongUse
from arena.schedule import FILE_FIELDS, SEED_BITS
from arena.tournament.ledger import Ledger
from arena.workers import own_content, own_files
from referee.bot_folder import file_hashes

Terms = dict[str, Any]
"""Dotted name to plain JSON value."""
UNSET = "not set"
LEFT_OUT = "left out"
"""The term that names the bots which could not start, and why."""
CONTENT, FILES = "content of ", "files of "
NAMED = 5
"""The most changed files that a message names."""


def terms_of(tournament: Tournament, seed: int) -> Terms:
    """All that a result depends on. How many matches run at once, and where results go, is not among it."""
    form = tournament.form
    return {
        "arena": version("mist-arena"),
        "content of the arena": own_content(),
        "files of the arena": own_files(),
        "game": form.game,
        "variant": tournament.variant,
        **_dotted("options", tournament.options),
        **{name: value for name in FILE_FIELDS if (value := getattr(form, name)) is not None},
        "rotations": tournament.rotations,
        "seed": seed,
        **_dotted("policy", form.policy),
        **({} if form.clock is None else _dotted("clock", form.clock)),
        "isolation": form.isolation,
        "bots": list(tournament.labels),
        "house": tournament.house is not None,
        **({LEFT_OUT: dict(tournament.left_out)} if tournament.left_out else {}),
        **{
            f"{what} of {label}": value
            for label, bot in zip(tournament.labels, tournament.bots, strict=True)
            for what, value in (("content", bot.content), ("files", file_hashes(bot.folder)))
        },
    }


def left_out_of(terms: Terms) -> dict[str, str] | None:
    """The bots that a tournament is played without since it was begun, and why; None: it is not begun yet."""
    if not terms:
        return None
    found = terms.get(LEFT_OUT, {})
    if not isinstance(found, dict) or not all(isinstance(why, str) for why in found.values()):
        return {}
    return found


def begin_or_go_on(ledger: Ledger, given: int | None, terms: Callable[[int], Terms], otherwise: str) -> int:
    """Begins a book, or makes sure that it was begun on the same terms; the seed, drawn if none was given.

    `terms` gives the terms of a seed; `otherwise` is the complaint if the book was begun on others.

    Raises:
        WrongUse: it was not.
    """
    begun = ledger.terms()
    if not begun:
        seed = SystemRandom().getrandbits(SEED_BITS) if given is None else given
        ledger.begin(terms(seed))
        return seed
    seed = int(begun["seed"]) if given is None else given
    if changed := changes(begun, terms(seed)):
        raise WrongUse(
            f"{otherwise}: {'; '.join(changed)}."
            " Undo that to go on, or begin anew: --fresh, or another folder with --results"
        )
    return seed


def changes(begun: Terms, now: Terms) -> list[str]:
    """What is not as it was, one phrase each; of a folder's content, with the files that it comes from."""
    return [
        f"{key} was {_short(begun.get(key, UNSET))}, is {_short(now.get(key, UNSET))}{_which(key, begun, now)}"
        for key in {**begun, **now}
        if begun.get(key, UNSET) != now.get(key, UNSET) and not key.startswith(FILES)
    ]


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
