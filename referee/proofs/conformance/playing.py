"""Matches of a game that are played at random, with a check of every promise on the way."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from importlib import import_module
from itertools import chain
from random import Random
from typing import Any

import msgspec
from msgspec import Raw, Struct

from protocol.codec import encode
from protocol.words import Event, Outcome
from referee.games import GAMES
from referee.proofs.conformance.sitting import (
    Chooser,
    ConformanceError,
    Guesser,
    MatchPlace,
    ObservedTable,
    difference,
    open_window,
)
from referee.proofs.conformance.swaps import (
    DEALS,
    Forge,
    History,
    Reseated,
    Twin,
    ViewMemory,
    check_commuting,
    check_disguised,
    check_forged,
    check_sealed,
)
from referee.rules import AnyGame, BadSetupError, Deal, Illegal, Leak, Move, Table

LONGEST_MATCH = 10_000
"""Number of windows after which a match counts as endless."""
THOROUGH = 40
"""Number of matches per variant that are checked for several observers. Later ones are checked for one observer,
which takes a third of the time."""
OBSERVERS_TWINNED = 3
WATCHED = 4
"""Number of seats per window, and of observers per seat, that are checked; they are drawn at random."""


def check_position(sitting: ObservedTable, where: MatchPlace) -> None:
    """Check a position between two steps: a window or an outcome, legal defaults, views of the declared type."""
    table = sitting.table
    if (table.window is None) == (table.outcome is None):
        raise where.error("a window is open exactly while there is no outcome", f"{table.window}", table.number)
    _check_window(table, where)
    for observer in sitting.observers:
        view = encode(table.game.view(table.state, observer))
        _check_spelling(table.game.view_type, view, where, table.number, observer)
    for owed in table.owed:
        if owed.default is None:
            continue
        seat, default = owed.seat, encode(owed.default)
        try:
            canonical = encode(table.read(seat, default))
        except Illegal as illegal:
            raise where.error("every default is legal", illegal.reason, table.number, seat) from None
        if canonical != default:
            raise where.error("every default is canonical", difference(default, canonical), table.number, seat)


def check_drawn_defaults(table: Table, where: MatchPlace) -> None:
    """Check that each random default is legal, and the same if it is drawn again."""
    for owed in table.owed:
        if not owed.drawn:
            continue
        seat, drawn = owed.seat, encode(table.default(owed.seat))
        if drawn != encode(table.default(seat)):
            raise where.error("same journal, same bytes", "a default drawn twice differs", table.number, seat)
        try:
            table.read(seat, drawn)
        except Illegal as illegal:
            raise where.error(
                "every default is legal", f"{drawn!r}: {illegal.reason}", table.number, seat
            ) from None


def check_events(sitting: ObservedTable, where: MatchPlace) -> None:
    """Check that the events of the last step have declared types and survive decoding and encoding."""
    types: dict[str, type[Event]] = {str(each.__struct_config__.tag): each for each in sitting.table.game.events}
    number = sitting.table.number
    for observer, events in sitting.last.items():
        for event in events:
            tag = msgspec.json.decode(event)["type"]
            if tag not in types:
                raise where.error("events are of declared types", f"{tag} is not in `events`", number, observer)
            _check_spelling(types[tag], event, where, number, observer)


def check_outcome(outcome: Outcome, seats: int, where: MatchPlace) -> None:
    """Check that the ranking contains every seat once, and that every seat in the outcome exists."""
    everyone = list(range(seats))
    ranked = sorted(chain.from_iterable(outcome.ranking))
    keyed = [*(outcome.scores or {}), *outcome.tokens, *outcome.garnets]
    complaints = {
        "the ranking partitions the seats": ranked != everyone,
        "no group of the ranking is empty": not all(outcome.ranking),
        "winners are seats, ascending": list(outcome.winners) != sorted(set(outcome.winners) & set(everyone)),
        "the eliminated is a seat or null": outcome.eliminated not in (None, *everyone),
        "scores, tokens and garnets are keyed by seats": not set(keyed) <= set(map(str, everyone)),
        "scores have every seat": outcome.scores is not None and len(outcome.scores) != seats,
        "seats without tokens or garnets are left out": 0 in (*outcome.tokens.values(), *outcome.garnets.values()),
        "an outcome has a reason": not outcome.reason,
    }
    for promise, broken in complaints.items():
        if broken:
            raise where.error(promise, repr(outcome))


def spelled_out(table: Table) -> Deal:
    """Return the deal of a table with its options and setup, as if they had been passed."""
    return Deal(table.deal.variant, table.deal.seed, Raw(encode(table.options)), Raw(encode(table.setup)))


def check_replay(table: Table, where: MatchPlace) -> None:
    """Check that the journal replays to the same bytes, with options and setup drawn again or passed."""
    spelled = spelled_out(table)
    once, again = _retold(table.game, table.deal, table.journal), _retold(table.game, spelled, table.journal)
    if once != again:
        raise where.error("same journal, same bytes", difference(once, again))
    if not once.endswith(encode(table.game.host_view(table.state))):
        raise where.error("same journal, same bytes", "a replay ends in another state")


def _retold(game: AnyGame, deal: Deal, journal: list[Move]) -> bytes:
    table = Table(game, deal)
    lines = [encode(table.start)]
    for move in journal:
        lines.append(encode(table.apply(move)))
        lines += [encode(game.view(table.state, seat)) for seat in (*range(table.seats), None)]
    return b"\n".join((*lines, encode(table.outcome), encode(game.host_view(table.state))))


def _check_window(table: Table, where: MatchPlace) -> None:
    if (window := table.window) is None:
        return
    seats = list(window.seats)
    if not seats or seats != sorted(set(seats) & set(range(table.seats))):
        raise where.error("a window's seats are ascending and not none", f"{window.name}: {seats}", table.number)
    if window.name not in table.game.actions:
        raise where.error("every window has a form", f"{window.name} is not in `actions`", table.number)
    if window.name not in table.game.variant(table.deal.variant).time.main_ms:
        raise where.error(
            "every window has its time", f"{window.name} is not in the variant's times", table.number
        )


def _check_spelling(form: type[Any], text: bytes, where: MatchPlace, window: int, seat: int | None) -> None:
    """Check that a message decodes as its declared type, and encodes to the same bytes again."""
    try:
        again = encode(msgspec.json.decode(text, type=form))
    except msgspec.ValidationError as error:
        raise where.error(f"it reads as {form.__name__}", str(error), window, seat) from None
    if again != text:
        raise where.error(f"it reads as {form.__name__}", difference(text, again), window, seat)


def seat_match(game: AnyGame, variant: str, seed: int) -> ObservedTable:
    """Return a match before its first window. Even seeds use the default options, odd seeds guessed ones."""
    options = guessed_options(game, variant, seed) if seed % 2 else None
    return ObservedTable(Table(game, Deal(variant, seed, options)))


def guessed_options(game: AnyGame, variant: str, seed: int) -> Raw | None:
    """Guess options. Return None if the game does not accept the guess."""
    guess = Raw(encode(Guesser(Random(f"{seed}/options")).guess(game.options)))
    try:
        game.read_options(variant, guess)
    except BadSetupError:
        return None
    return guess


class ConformanceReport(Struct, kw_only=True):
    """Counts of the comparisons made in one variant."""

    game: str
    variant: str
    matches: int = 0
    windows: int = 0
    twinned: int = 0
    """Secret swaps: positions compared with one that differs in hidden facts only."""
    forged: int = 0
    """Secret swaps: positions compared with those of forged histories."""
    remembered: int = 0
    """Secret swaps: positions compared with one of another match that had sent an observer the same messages."""
    probes: int = 0
    """Submissions whose answers were compared in secret swaps."""
    sealed: int = 0
    """Submissions that were swapped while the views of other observers were compared."""
    commuted: int = 0
    """Answers of `asap` windows that were sent in the opposite order too."""
    reseated: int = 0
    """Anonymous events compared with those of the same match in other seats."""
    disguised: int = 0
    """Secret swaps: positions compared with the result of `Game.disguise`."""
    drawn: int = 0
    """Views and events that the game's text drew."""
    typed: int = 0
    """Texts that were read as actions."""
    commented: int = 0
    """Steps that the game's commentary remarked on."""
    built: int = 0
    """Legal actions that were built of their choices."""
    encoded: int = 0
    """Observations that the game's encoder made."""
    unopened: tuple[str, ...] = ()
    """Names of the windows that no match opened; they are untested."""


class GameExamination:
    """A series of matches of one variant, with all checks; `report` counts the comparisons."""

    def __init__(self, game: AnyGame, variant: str, forge: Forge | None) -> None:
        self.game = game
        self.report = ConformanceReport(game=game.name, variant=variant)
        self._forge = forge
        self._memory = ViewMemory()
        self.opened: set[str] = set()
        """Names of the windows that opened."""
        self.acted: set[str] = set()
        """Names of the windows in which a legal action was guessed."""

    def play(self, seed: int) -> None:
        """Play one match to its end. Raise ConformanceError if a promise is broken."""
        self._number = 0
        where = MatchPlace(self.report.variant, seed)
        try:
            self._play(where)
        except ConformanceError:
            raise
        except Leak as leak:
            raise where.error("events keep to their audience", str(leak), self._number) from leak
        except Exception as error:  # The author of the game needs the place of any exception.
            raise where.error("nothing that is legal fails", repr(error), self._number) from error

    def _play(self, where: MatchPlace) -> None:
        seed, thorough = where.seed, self.report.matches < THOROUGH
        watched = WATCHED if thorough else 1
        match = seat_match(self.game, self.report.variant, seed)
        # Checks draw from separate streams, so that they do not change the course of the match.
        chooser, prober = Chooser(Random(f"{seed}/play")), Chooser(Random(f"{seed}/probe"))
        rng = Random(f"{seed}/watched")
        twins = self._twins(match, seed, OBSERVERS_TWINNED if thorough else 1)
        forger = Random(f"{seed}/forger")
        history: History = ()
        reseated = Reseated(match, Random(f"{seed}/seats"))
        while match.table.window is not None:
            self._look(match, twins, where)
            self._compare_forged(match, history, forger, where)
            self._number = match.table.number
            self.opened.add(open_window(match.table).name)
            self.report.sealed += check_sealed(match, prober, rng, where, watched)
            self.report.disguised += check_disguised(match, prober, rng, where, watched)
            self.report.commuted += check_commuting(match, prober, where)
            chosen = chooser.choose_all(match.table)
            before = match.fork()
            match.play(chosen)
            history = (*history, chosen)
            for twin in twins:
                twin.follow(before, chosen, match, where)
            reseated.follow(chosen, match, where)
            if match.table.number > LONGEST_MATCH:
                raise where.error("a match ends", f"{LONGEST_MATCH} windows and no outcome")
        self._look(match, twins, where)
        self.report.disguised += check_disguised(match, prober, rng, where, watched)
        if match.table.outcome:
            check_outcome(match.table.outcome, match.table.seats, where)
        check_replay(match.table, where)
        self.report.matches += 1
        self.report.windows += match.table.number
        self.report.reseated += reseated.compared
        for twin in twins:
            self.report.twinned += twin.pairs
            self.report.probes += twin.probes
        self.acted |= chooser.legal

    def _twins(self, match: ObservedTable, seed: int, most: int) -> list[Twin]:
        rng = Random(f"{seed}/twins")
        options = Raw(encode(match.table.options))
        deals = []
        for _ in range(DEALS):
            deal = Deal(self.report.variant, rng.getrandbits(32), options)
            deals.append(ObservedTable(Table(self.game, deal)))
        observers = rng.sample(match.observers, min(most, len(match.observers)))
        return [Twin(observer, match, deals, rng) for observer in observers]

    def _compare_forged(self, match: ObservedTable, history: History, rng: Random, where: MatchPlace) -> None:
        if self._forge is None:
            return
        observer = rng.choice(match.observers)
        true = spelled_out(match.table), history
        forged = self._forge(*true, observer, rng)
        if forged is not None and forged != true:
            self.report.forged += 1
            self.report.probes += check_forged(match, forged, observer, Chooser(rng), where)

    def _look(self, match: ObservedTable, twins: list[Twin], where: MatchPlace) -> None:
        check_position(match, where)
        check_drawn_defaults(match.table, where)
        check_events(match, where)
        self.report.remembered += self._memory.compare(match, where)
        for twin in twins:
            twin.compare(match, where)


HASH_SEEDS = ("1", "2")
SAME = "same journal, same bytes, under two PYTHONHASHSEEDs"


def digests(game: AnyGame, seeds: Sequence[int]) -> Iterator[str]:
    """Yield one line per variant, seed, window and observer: a hash of all messages to it and of its view."""
    for variant in game.variants:
        for seed in seeds:
            match = seat_match(game, variant.name, seed)
            chooser = Chooser(Random(f"{seed}/repetition"))
            while True:
                for observer in match.observers:
                    seen = blake2b(match.told[observer] + match.shown(observer), digest_size=8).hexdigest()
                    name = "spectator" if observer is None else observer
                    yield f"{variant.name} {seed} {match.table.number} {name} {seen}"
                if match.table.window is None:
                    break
                match.play(chooser.choose_all(match.table))


def check_repetition(game: AnyGame, seeds: Sequence[int]) -> None:
    """Play the seeds in two interpreters with different hash seeds. Raise ConformanceError if they differ."""
    command = [sys.executable, "-m", "referee.proofs.conformance", "--digests", spelled(game), *map(str, seeds)]
    runs = []
    for hash_seed in HASH_SEEDS:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        runs.append(subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True))  # noqa: S603 - ours
    one, other = (run.communicate()[0].splitlines() for run in runs)
    if any(run.returncode for run in runs) or not one:
        raise ConformanceError(SAME, f"{' '.join(command)} failed", variant=game.name)
    for line, again in zip(one, other, strict=False):
        if line != again:
            variant, seed, window, observer, _ = line.split()
            seat = None if observer == "spectator" else int(observer)
            where = MatchPlace(variant, int(seed))
            raise where.error(SAME, "what it is told or shown differs", int(window), seat)
    if len(one) != len(other):
        raise ConformanceError(SAME, f"{len(one)} and {len(other)} positions", variant=game.name)


def spelled(game: AnyGame) -> str:
    """Return the text by which another interpreter finds this game: its name, or MODULE:CLASS."""
    if GAMES.get(game.name) is game:
        return game.name
    return f"{type(game).__module__}:{type(game).__qualname__}"


def found(spelling: str) -> AnyGame:
    """Return the game of that name, or a new instance of MODULE:CLASS.

    Raises:
        LookupError: there is none; the text lists the names or gives the reason.
    """
    if spelling in GAMES:
        return GAMES[spelling]
    module, _, name = spelling.partition(":")
    if not name:
        raise LookupError(f'there is no game "{spelling}"; there are {", ".join(GAMES)}, or name MODULE:CLASS')
    try:
        game: AnyGame = getattr(import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise LookupError(f"{spelling}: {error}") from None
    return game
