"""A tournament's bots before its first match: each is started once, and plays one short match."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from arena.checks.refused import forget_refusal, write_refusal
from arena.checks.tally import Tally, tally
from arena.checks.trials import Trial, order, play_trials
from arena.config import Tournament, entry_place, without
from arena.errors import WrongUse
from arena.quantities import counted
from arena.terminal import say
from arena.workers import Venue
from referee.bot_folder import BotFolder

MATCH_SECONDS = 30.0
"""How long a bot's match may take, its start-up time not counted."""
WAY_ON = 'to play without bots that cannot start: --broken leave-out, or broken = "leave-out" in the file'
MILLISECONDS, MICROSECONDS = 1_000, 1_000_000

PlayerT = TypeVar("PlayerT")


class FieldCheck(Struct, Generic[PlayerT], frozen=True):
    """Inputs of a check in addition to the tournament."""

    opponent: PlayerT
    """Bot in all other seats: the game's random sample bot."""
    open_venue: Venue[PlayerT]
    """Where it is played: not where spectators are told of matches."""
    unbuilt: Mapping[int, str]
    """Reason of each failed build, by entrant."""
    plays: bool = True
    """Whether bots are started; False: a build that failed is all that is looked at."""


class BotCheck(Struct, frozen=True, kw_only=True):
    """Result of a field's check for one bot."""

    entrant: int
    label: str
    trial: Trial | None
    """Its match; None if the bot could not be built or plays on its author's machine."""
    tally: Tally
    broken: str
    """Why it cannot start; empty: it can, or the machine kept the check from finding out."""

    @property
    def times(self) -> tuple[float, float] | None:
        """How many seconds its match took, and how many of them it thought; None: nothing was measured."""
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
    built = [
        entrant
        for entrant, bot in enumerate(tournament.bots)
        if entrant not in check.unbuilt and isinstance(bot, BotFolder)
    ]
    orders = [
        order(
            f"bot-{entrant}",
            plan,
            players[entrant],
            check.opponent,
            seats=tournament.seats,
            seat=entrant % tournament.seats,
            label=tournament.labels[entrant],
            seconds=seconds,
        )
        for entrant in built
    ]
    trials = dict(zip(built, play_trials(orders, check.open_venue, folder, words="checking bots"), strict=True))
    return [
        _bot_check(entrant, label, trials.get(entrant), check.unbuilt.get(entrant, ""))
        for entrant, label in enumerate(tournament.labels)
    ]


def _bot_check(entrant: int, label: str, trial: Trial | None, unbuilt: str) -> BotCheck:
    found = tally([] if trial is None else [trial])
    broken = unbuilt if trial is None or trial.started else never_started(found)
    return BotCheck(entrant=entrant, label=label, trial=trial, tally=found, broken=broken)


def never_started(found: Tally) -> str:
    """Describe why a bot never started."""
    return f"never started: {'; '.join(found.said) or 'no hello'}"


def _checked(
    tournament: Tournament, players: Sequence[PlayerT], check: FieldCheck[PlayerT], folder: Path
) -> Mapping[int, str]:
    """Check a field and say what was found; return by entrant why it cannot start. Raises as `check_field`."""
    found = check_field(tournament, players, check, folder)
    why = {each.entrant: each.broken for each in found if each.broken}
    for each in found:
        if each.trial is not None and not each.broken and not each.tally.is_well:
            say(f"check: {each.label}: {'; '.join(each.tally.said) or 'no result'}")
    away = f"; {counted(len(tournament.remote), 'remote bot')} not checked" if tournament.remote else ""
    here = len(found) - len(tournament.remote)
    say(f"check: {counted(here - len(why), 'bot')} of {here} start{away}; logs: {folder}")
    return why


def settled(
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
        tournament: as its file says.
        players: its entrants.
        check: how to find out; None: all bots are taken to start.
        folder: for its transcripts and logs.
        begun: the bots that are left out since the tournament was begun, and why; None: it begins now.
        entered: the names of those that have entered since, of which nothing is said.

    Raises:
        WrongUse: a bot cannot start, and `broken` does not say to leave it out, or no tournament is left.
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
    if begun is None and broken:
        # If the tournament starts without these bots, the record is not used.
        write_refusal(folder, {tournament.labels[entrant]: text for entrant, text in broken.items()})
    if begun is None and tournament.form.broken == "leave-out":
        left_out |= {tournament.labels[entrant]: text for entrant, text in broken.items()}
    elif broken:
        *others, last = (
            f"{entry_place(tournament, entrant)}: {tournament.labels[entrant]}: {text}"
            for entrant, text in broken.items()
        )
        for line in others:
            say(line)
        raise WrongUse(f"{last}; {WAY_ON}" if begun is None and tournament.house not in broken else last)
    rest = without(tournament, left_out)
    for label, text in rest.left_out.items():
        if label not in entered:
            say(f"left out: {label}: {text}")
    stay = [player for player, label in zip(players, tournament.labels, strict=True) if label not in left_out]
    return rest, tuple(stay)
