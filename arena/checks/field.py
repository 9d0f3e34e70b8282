"""Checks of a tournament's bots before its first match: each is started once and plays one short match.

A file records a refused start for later readers of the results folder, and the matches give a forecast of the
tournament's duration.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.checks.trials import Trial, TrialMatch, TrialSummary, order, play_trials, players_at, summarise_trials
from arena.config import Tournament, affinity_place, entry_place, random_bot, without
from arena.errors import WrongUse, writing
from arena.quantities import pluralise
from arena.schedule import Block
from arena.terminal import say
from arena.workers import LOCAL, Placement, PoolSetup, WorkerPool
from referee.bot_folder import BotFolder, find_bot
from referee.display_text import printable, printable_name
from referee.host import Player
from referee.linux.files import FOLDER_MODE, MODE, read_regular, write_bytes_whole

REFUSED = "refused.json"
MOST_BYTES = 1_000_000
MOST_BOTS, MOST_NAMED = 100, 3
MOST_CHARACTERS = 1_000
Text = Annotated[str, Meta(max_length=MOST_CHARACTERS)]
MATCH_SECONDS = 30.0
"""Maximum seconds for a bot's match, in addition to its start-up time."""
WAY_ON = 'to play without bots that cannot start: --broken leave-out, or broken = "leave-out" in the file'
MILLISECONDS, MICROSECONDS = 1_000, 1_000_000

PlayerT = TypeVar("PlayerT")


class FieldCheck(Struct, Generic[PlayerT], frozen=True):
    """Inputs of a check in addition to the tournament."""

    opponent: PlayerT
    """Bot in all other seats: the game's random sample bot."""
    open_workers: WorkerPool[PlayerT]
    """Opens workers without a feed for spectators."""
    unbuilt: Mapping[int, str]
    """Reason of each failed build, by entrant."""
    plays: bool = True
    """True if bots are started; if False, only failed builds are reported."""


class BotCheck(Struct, frozen=True, kw_only=True):
    """Result of a field's check for one bot."""

    entrant: int
    label: str
    trial: Trial | None
    """Its match; None if the bot could not be built or plays on its author's machine."""
    tally: TrialSummary
    broken: str
    """Reason why the bot cannot start; empty if it can, or if the machine prevented the check."""

    @property
    def times(self) -> tuple[float, float] | None:
        """Seconds that the bot's match took, and that the bot thought in it; None if not measured."""
        if self.trial is None or self.broken:
            return None
        if self.trial.result is None:
            return self.trial.seconds, self.trial.seconds
        return self.trial.seconds, self.trial.result.charged_us[self.trial.seat] / MICROSECONDS


def check_field(
    tournament: Tournament,
    players: Sequence[PlayerT],
    check: FieldCheck[PlayerT],
    folder: Path,
) -> list[BotCheck]:
    """Start every local bot once, in a match under the tournament's terms against random bots.

    A bot that never starts forfeits that match, so that it costs only its start-up time.

    Raises:
        MachineCannot: no match can be played now.
        Stopped: a signal arrived.
    """
    policy = replace(tournament.form.policy, fault="forfeit", unfair="note", pacing="prompt", processes="fresh")
    plan = replace(tournament.plan(), policy=policy)
    seconds = policy.startup_ms / MILLISECONDS + MATCH_SECONDS
    orders: dict[int, TrialMatch[PlayerT]] = {}
    for entrant, bot in enumerate(tournament.bots):
        if entrant not in check.unbuilt and isinstance(bot, BotFolder):
            seat = entrant % tournament.seats
            seated = players_at(seat, players[entrant], check.opponent, tournament.seats)
            label = tournament.labels[entrant]
            orders[entrant] = order(f"bot-{entrant}", plan, seated, seat, label=label, seconds=seconds)
    played = play_trials(list(orders.values()), check.open_workers, folder, words="checking bots")
    trials = dict(zip(orders, played, strict=True))
    return [
        _bot_check(entrant, label, trials.get(entrant), check.unbuilt.get(entrant, ""))
        for entrant, label in enumerate(tournament.labels)
    ]


def _bot_check(entrant: int, label: str, trial: Trial | None, unbuilt: str) -> BotCheck:
    trials = []
    broken = unbuilt
    if trial is not None:
        trials.append(trial)
    found = summarise_trials(trials)
    if trial is not None and not trial.started:
        broken = never_started(found)
    return BotCheck(entrant=entrant, label=label, trial=trial, tally=found, broken=broken)


def never_started(found: TrialSummary) -> str:
    """Describe why a bot never started."""
    return f"never started: {'; '.join(found.said) or 'no hello'}"


def _checked(
    tournament: Tournament, players: Sequence[PlayerT], check: FieldCheck[PlayerT], folder: Path
) -> Mapping[int, str]:
    """Check a field and print the results; return why bots cannot start. Raises as `check_field`."""
    why: dict[int, str] = {}
    for each in check_field(tournament, players, check, folder):
        if each.broken:
            why[each.entrant] = each.broken
        elif each.trial is not None and not each.tally.is_well:
            say(f"check: {each.label}: {'; '.join(each.tally.said) or 'no result'}")
    away = ""
    if tournament.remote:
        away = f"; {pluralise(len(tournament.remote), 'remote bot')} not checked"
    here = len(tournament.bots) - len(tournament.remote)
    say(f"check: {pluralise(here - len(why), 'bot')} of {here} start{away}; logs: {folder}")
    return why


def exclude_broken_bots(
    tournament: Tournament,
    players: tuple[PlayerT, ...],
    check: FieldCheck[PlayerT] | None,
    *,
    folder: Path,
    begun: Mapping[str, str] | None,
    entered: Collection[str] = (),
) -> tuple[Tournament, tuple[PlayerT, ...]]:
    """Return the tournament to play and its players, without the bots that cannot start.

    Args:
        tournament: the tournament of the file.
        players: its entrants.
        check: inputs of the check; None assumes that all bots start.
        folder: folder for transcripts and logs.
        begun: reasons of the bots left out at the start, by label; None if the tournament starts now.
        entered: labels of bots that entered after the start; nothing is printed about these.

    Raises:
        WrongUse: a bot cannot start and `broken` is not "leave-out", or too few bots remain.
        MachineCannot: no match can be played now.
        Stopped: a signal arrived.
    """
    if check is None:
        return tournament, players
    why: Mapping[int, str] = check.unbuilt
    if begun is None:
        forget_refusal(folder)
        if check.plays:
            why = _checked(tournament, players, check, folder)
    left_out = dict(begun or {})
    broken = {entrant: text for entrant, text in why.items() if tournament.labels[entrant] not in left_out}
    by_label = {tournament.labels[entrant]: text for entrant, text in broken.items()}
    if begun is None and broken:
        # If the tournament starts without these bots, the record is not used.
        write_refusal(folder, by_label)
    if begun is None and tournament.form.broken == "leave-out":
        left_out |= by_label
    elif broken:
        raise _refused(tournament, broken, may_leave_out=begun is None)
    rest = without(tournament, left_out)
    for label, text in rest.left_out.items():
        if label not in entered:
            say(f"left out: {label}: {text}")
    stay = [player for player, label in zip(players, tournament.labels, strict=True) if label not in left_out]
    return rest, tuple(stay)


def _refused(tournament: Tournament, broken: Mapping[int, str], *, may_leave_out: bool) -> WrongUse:
    """Print all bots that cannot start except the last one, and return the error that names it."""
    lines = [
        f"{entry_place(tournament, entrant)}: {tournament.labels[entrant]}: {text}"
        for entrant, text in broken.items()
    ]
    for line in lines[:-1]:
        say(line)
    if may_leave_out and tournament.house not in broken:
        return WrongUse(f"{lines[-1]}; {WAY_ON}")
    return WrongUse(lines[-1])


class RefusedCheck(Struct, frozen=True, kw_only=True):
    """The bots that cannot start, because of which a competition was not started."""

    cannot_start: Annotated[dict[Text, Text], Meta(min_length=1, max_length=MOST_BOTS)]
    """Reason by the bot's label; the first `MOST_BOTS` bots only."""
    count: Annotated[int, Meta(ge=1)]
    """Number of bots that cannot start."""
    logs: Text
    """Name of the folder with the check's transcripts and logs, inside the folder of checks."""

    @property
    def text(self) -> str:
        """Sentence that names the bots that cannot start."""
        names = list(map(printable_name, islice(self.cannot_start, MOST_NAMED)))
        if self.count > MOST_NAMED:
            names.append(pluralise(self.count - MOST_NAMED, "other"))
        *others, last = names
        if others:
            last = f"{', '.join(others)} and {last}"
        return f"{last} cannot start"

    @property
    def lines(self) -> list[str]:
        """One line per bot with the reason why it cannot start."""
        return [f"{printable_name(label)}: {printable(why)}" for label, why in self.cannot_start.items()]


def write_refusal(folder: Path, cannot_start: dict[str, str]) -> None:
    """Record which bots cannot start, and why. `folder` is the check's, inside the folder of checks.

    Raises:
        WrongUse: the file cannot be written there.
        MachineCannot: the disk is full.
    """
    first = islice(cannot_start.items(), MOST_BOTS)
    refused = RefusedCheck(
        cannot_start={label[:MOST_CHARACTERS]: why[:MOST_CHARACTERS] for label, why in first},
        count=len(cannot_start),
        logs=folder.name,
    )
    path = folder.parent / REFUSED
    with writing(path):
        path.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        write_bytes_whole(path, msgspec.json.encode(refused), MODE)


def forget_refusal(folder: Path) -> None:
    """Remove the record of an earlier check. `folder` is the check's, inside the folder of checks."""
    with suppress(OSError):
        (folder.parent / REFUSED).unlink()


def read_refusal(checks: Path) -> RefusedCheck | None:
    """Return the record in a folder of checks, or None if there is no valid one."""
    try:
        return msgspec.json.decode(read_regular(checks / REFUSED, MOST_BYTES), type=RefusedCheck)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None  # The record only helps readers, so a broken one is no error.


class Forecast(Struct, frozen=True):
    """Bounds on a tournament's duration, if its matches are like those of the check."""

    matches: int
    at_once: int
    lower_seconds: float
    """Seconds if bots think at the same time, and starts take as long as in the quickest match."""
    upper_seconds: float
    """Seconds if bots think one after the other, and starts take as long as in the median match."""


def forecast(
    blocks: Iterable[Block], matches: int, times: Mapping[int, tuple[float, float]], *, at_once: int
) -> Forecast | None:
    """Forecast a tournament's duration. Return None if no match was measured.

    Args:
        blocks: the blocks that are known before the first match.
        matches: the total number of matches; later ones are assumed to be like those of `blocks`.
        times: by entrant, the seconds that its match took, and the seconds that it thought itself.
        at_once: the number of matches played at once.
    """
    if not times:
        return None
    rests: list[float] = []
    own_times: dict[int, float] = {}
    for entrant, (whole, own) in times.items():
        own_times[entrant] = own
        if whole > own:
            rests.append(whole - own)
    rest = rests or [0.0]
    typical = sum(own_times.values()) / len(times)
    known, longest, together = 0, 0.0, 0.0
    for block in blocks:
        thought = [own_times.get(entrant, typical) for entrant in block.entrants]
        known += len(block.shifts)
        longest += len(block.shifts) * max(thought)
        together += len(block.shifts) * sum(thought)
    share = matches / max(1, known) / at_once
    return Forecast(
        matches,
        at_once,
        share * (longest + known * min(rest)),
        share * (together + known * median(rest)),
    )


def check_asked(
    where: Placement, tournament: Tournament, failed: dict[int, str], *, plays: bool
) -> FieldCheck[Player]:
    """Return the inputs of a field's check, which is played where the tournament is.

    The check has no feed and no operator's log, and its transcripts are stored on this machine.

    Args:
        where: place of the matches.
        tournament: the tournament.
        failed: reason of each failed build, by entrant; later builds may add to it.
        plays: whether to start the bots.
    """
    form = tournament.form
    opponent = find_bot(random_bot(form.game))
    # A cluster gets all bots; bots that play on this machine are already built.
    bots: tuple[BotFolder, ...] = (opponent,)
    if where.on != LOCAL:
        bots = (*tournament.folders, opponent)
    setup = PoolSetup(
        where=replace(where, transcripts=None),
        isolation=form.isolation,
        seats=tournament.seats,
        at_once=form.concurrency,
        affinity=affinity_place(tournament),
    )
    players, pool = setup.pool_for(bots)
    return FieldCheck(players[-1], pool, failed, plays=plays)
