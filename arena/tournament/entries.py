"""The field of a running tournament: copies of its bots, and the acceptance of the host's changes.

The results folder has a copy of each bot's content. So an old version can finish its blocks while its author
changes the folder.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from arena.config import Entry, Tournament, entrant_label, find_entrant, with_changes
from arena.errors import WrongUse, cannot_write
from arena.quantities import pluralise
from arena.schedule import (
    BadChangeError,
    Deadline,
    Entered,
    EntriesClosed,
    Extended,
    FieldChange,
    ScheduleSpec,
    Withdrawn,
    fields_of,
    format_of,
    refusal,
)
from arena.tournament.ledger import Ledger
from arena.tournament.provenance import CONTENT
from arena.tournament.results import StartTerms
from arena.tournament.results_folder import ENTRIES, LEDGER
from referee.bot_folder import (
    MEGABYTE,
    MOST_MB,
    BotFolder,
    BotFolderError,
    ContentError,
    copy_into,
    folder_name,
    kept_bot,
)
from referee.host import remote_bot
from referee.linux.files import FOLDER_MODE

MOST_REFUSAL = 500
"""Most characters of the reason for a refused change."""
_HASH = re.compile(r"sha256:([0-9a-f]{64})")


def copy_of_entry(results: Path, content: str) -> Path:
    """Return the path of the copy of a bot's content, whether it exists or not."""
    return results / ENTRIES / content.removeprefix("sha256:")


def keep_entry(results: Path, bot: BotFolder) -> None:
    """Copy a bot's content, before its build, unless it was copied earlier.

    Raises:
        WrongUse: the folder cannot be written.
        MachineCannot: there is no space.
    """
    place = copy_of_entry(results, bot.content)
    if place.is_dir():
        return
    try:
        place.parent.mkdir(FOLDER_MODE, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix="making-", dir=place.parent))
        try:
            source = os.open(bot.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                content = copy_into(source, making, most=MOST_MB * MEGABYTE)
            finally:
                os.close(source)
            if content != bot.content:
                raise WrongUse(f"{bot.given}: was changed while it was read")
            making.rename(place)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    except ContentError as error:
        raise WrongUse(f"{bot.given}: {error}") from None
    except OSError as error:
        if not place.is_dir():  # Or another command made the same copy.
            raise cannot_write(place, error) from None


def keep_begun(results: Path, begun: StartTerms, needed: int | None = None) -> None:
    """Copy the bots with which a tournament was begun, if an older arena has not copied them.

    Their folders may have changed since, but the cache may still have the content that was run.

    Args:
        results: the results folder.
        begun: the terms at the start.
        needed: the number of a bot whose copy is required; None: no copy is required.

    Raises:
        WrongUse: the required bot cannot be found any more.
        MachineCannot: there is no space.
    """
    for number, (label, content) in enumerate(zip(begun.labels, begun.contents, strict=True)):
        if content is None or not _HASH.fullmatch(content) or copy_of_entry(results, content).is_dir():
            continue
        try:
            keep_entry(results, kept_bot(content, given=label))
        except BotFolderError:
            if number == needed:
                raise WrongUse(
                    f"{label}: the version that has played cannot be found: put its folder back as it was, run"
                    " `arena tournament` once, and update it then"
                ) from None


def copies_of_file(results: Path, *, withdrawn_only: bool) -> dict[str, str]:
    """Return the folder of the copy of each bot in the tournament's file, by label.

    Args:
        results: the results folder.
        withdrawn_only: whether to leave out bots that compete, whose own folders must not have changed.

    Raises:
        WrongUse: there is a ledger that cannot be used.
        MachineCannot: it cannot be read.
    """
    if not (results / LEDGER).exists():
        return {}
    with closing(Ledger(results / LEDGER)) as ledger:
        terms, events = ledger.terms(), ledger.events()
    gone = {_leaves(event) for event in events if event.refused is None}
    labels = terms.get("bots", [])
    found = {}
    if not isinstance(labels, list):
        return {}
    for number, label in enumerate(labels):
        content = terms.get(f"{CONTENT}{label}")
        if isinstance(content, str) and _HASH.fullmatch(content) and (number in gone or not withdrawn_only):
            copy = copy_of_entry(results, content)
            if copy.is_dir():
                found[str(label)] = str(copy)
    return found


def _leaves(event: FieldChange) -> int | None:
    """Return the entrant that no longer competes after an event; None if there is none."""
    match event.what:
        case Withdrawn(entrant=entrant):
            return entrant
        case Entered(predecessor=predecessor):
            return predecessor
        case Extended() | EntriesClosed() | Deadline():
            return None
        case _ as unreachable:
            assert_never(unreachable)


def resolve_changes(spec: ScheduleSpec, game: str, events: Sequence[FieldChange], begun: int) -> list[FieldChange]:
    """Return the changes that wait, each with the block from which it applies, or with the reason of its refusal.

    Args:
        spec: the schedule at the start.
        game: the game's name.
        events: all events.
        begun: the number of begun blocks.

    Raises:
        WrongUse: an accepted event is not valid.
    """
    taken = [event for event in events if event.block is not None]
    try:
        fields_of(replace(spec, changes=tuple(taken)))
    except BadChangeError as error:
        raise WrongUse(f"the tournament's ledger: {error}") from None
    found = []
    why = ""
    for event in events:
        if event.block is not None or event.refused is not None:
            continue
        if why:
            # The numbers of entrants depend on earlier entries.
            found.append(replace(event, refused="an earlier change could not be made"))
            continue
        now = replace(spec, changes=tuple(taken))
        block = format_of(now).schedule(now).change_at(begun)
        if taken:
            block = max(block, taken[-1].block or 0)
        given = replace(event, block=block)
        why = (refusal(now, given, game) or "")[:MOST_REFUSAL]
        if why:
            found.append(replace(event, refused=why))
        else:
            found.append(given)
            taken.append(given)
    return found


def accept_changes(tournament: Tournament, ledger: Ledger) -> list[tuple[FieldChange, str]]:
    """Accept or refuse the changes that wait in the ledger; return them, each with a text.

    Args:
        tournament: the tournament at its start.
        ledger: its ledger.
    """
    spec, game = tournament.spec, tournament.form.game
    if not ledger.waiting():
        return []
    settled = ledger.take_in(lambda events, begun: resolve_changes(spec, game, events, begun))
    labels = list(tournament.labels)
    texts = {}
    for event in ledger.events():
        texts[event.id] = change_text(event, labels)
        if isinstance(event.what, Entered) and event.refused is None:
            labels.append(event.what.label)
    return [(event, texts[event.id]) for event in settled]


def change_text(event: FieldChange, labels: Sequence[str]) -> str:
    """Return a change in words; `labels` are those of all entrants, in the order of entry."""
    what = event.what
    if isinstance(what, Withdrawn):
        return f"{entrant_label(labels, what.entrant)} withdraws"
    if isinstance(what, Deadline):
        return f"entries until {what.entries_until}"
    if isinstance(what, EntriesClosed):
        return f"closed: {what.reason}"
    if isinstance(what, Extended):
        return f"{what.blocks} blocks in all" if what.rounds is None else f"{what.rounds} rounds in all"
    if what.predecessor is None:
        return f"{what.label} enters"
    return f"{what.label} takes the place of {entrant_label(labels, what.predecessor)}"


def change_to_come_text(event: FieldChange, labels: Sequence[str]) -> str:
    """Return a future change in words; `labels` are those of all entrants, in the order of entry."""
    what = event.what
    match what:
        case Withdrawn(entrant=entrant):
            return f"{entrant_label(labels, entrant)} will withdraw"
        case Entered(label=label, predecessor=predecessor):
            if predecessor is None:
                return f"{label} will enter"
            return f"{label} will take the place of {entrant_label(labels, predecessor)}"
        case Deadline(entries_until=until):
            return f"entries will be taken until {until}"
        case Extended(blocks=blocks, rounds=rounds):
            total = pluralise(blocks or 0, "block") if rounds is None else pluralise(rounds, "round")
            return f"the tournament will have {total} in all"
        case EntriesClosed():
            return "the tournament will be closed"
        case _ as unreachable:
            assert_never(unreachable)


def apply_changes(tournament: Tournament, ledger: Ledger, found: dict[str, Entry]) -> Tournament:
    """Return the tournament with all accepted changes.

    Args:
        tournament: the tournament at its start.
        ledger: its ledger.
        found: bots that entered, by content. New ones are added, so that each is read only once.

    Raises:
        WrongUse: a change or a copy of a bot is not valid.
    """
    changes = tuple(event for event in ledger.events() if event.block is not None)
    try:
        fields_of(replace(tournament.spec, changes=changes))
    except BadChangeError as error:
        raise WrongUse(f"{ledger.path}: {error}") from None
    bots = [_kept(tournament, event.what, found) for event in changes if isinstance(event.what, Entered)]
    return with_changes(tournament, bots, changes)


def _kept(tournament: Tournament, entry: Entered, found: dict[str, Entry]) -> Entry:
    if entry.remote:
        return remote_bot(entry.label, entry.content)
    if entry.content not in found:
        copy = copy_of_entry(tournament.results, entry.content)
        try:
            bot = find_entrant(tournament, folder_name(copy), entry.label)
        except BotFolderError as error:
            raise WrongUse(f"the copy of {entry.label}: {error}") from None
        if bot.content != entry.content:
            raise WrongUse(f"{copy}: the copy of {entry.label} is not as it was made")
        found[entry.content] = bot
    return found[entry.content]
