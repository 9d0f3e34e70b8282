"""Matches of a game that are played at random, with a check of every promise on the way."""

from random import Random

from msgspec import Raw, Struct

from protocol.codec import encode
from referee.proofs.conformance.promises import (
    ConformanceError,
    MatchPlace,
    check_drawn_defaults,
    check_events,
    check_outcome,
    check_position,
    check_replay,
)
from referee.proofs.conformance.sitting import Chooser, Guesser, ObservedTable, open_window
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
from referee.rules import AnyGame, BadSetupError, Deal, Leak, Table

LONGEST_MATCH = 10_000
"""Number of windows after which a match counts as endless."""
THOROUGH = 40
"""Number of matches per variant that are checked for several observers. Later ones are checked for one observer,
which takes a third of the time."""
OBSERVERS_TWINNED = 3
WATCHED = 4
"""Number of seats per window, and of observers per seat, that are checked; they are drawn at random."""


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
        luck = Random(f"{seed}/watched")
        twins = self._twins(match, seed, OBSERVERS_TWINNED if thorough else 1)
        forger = Random(f"{seed}/forger")
        history: History = ()
        reseated = Reseated(match, Random(f"{seed}/seats"))
        while match.table.window is not None:
            self._look(match, twins, where)
            self._compare_forged(match, history, forger, where)
            self._number = match.table.number
            self.opened.add(open_window(match.table).name)
            self.report.sealed += check_sealed(match, prober, luck, where, watched)
            self.report.disguised += check_disguised(match, prober, luck, where, watched)
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
        self.report.disguised += check_disguised(match, prober, luck, where, watched)
        if match.table.outcome:
            check_outcome(match.table.outcome, match.table.seats, where)
        check_replay(match.table, where)
        self.report.matches += 1
        self.report.windows += match.table.number
        self.report.twinned += sum(twin.pairs for twin in twins)
        self.report.reseated += reseated.compared
        self.report.probes += sum(twin.probes for twin in twins)
        self.acted |= chooser.legal

    def _twins(self, match: ObservedTable, seed: int, most: int) -> list[Twin]:
        luck = Random(f"{seed}/twins")
        options = Raw(encode(match.table.options))
        deals = [
            ObservedTable(Table(self.game, Deal(self.report.variant, luck.getrandbits(32), options)))
            for _ in range(DEALS)
        ]
        observers = luck.sample(match.observers, min(most, len(match.observers)))
        return [Twin(observer, match, deals, luck) for observer in observers]

    def _compare_forged(self, match: ObservedTable, history: History, luck: Random, where: MatchPlace) -> None:
        if self._forge is None:
            return
        observer = luck.choice(match.observers)
        options, setup = (Raw(encode(each)) for each in (match.table.options, match.table.setup))
        true = Deal(self.report.variant, where.seed, options, setup), history
        forged = self._forge(*true, observer, luck)
        if forged is not None and forged != true:
            self.report.forged += 1
            self.report.probes += check_forged(match, forged, observer, Chooser(luck), where)

    def _look(self, match: ObservedTable, twins: list[Twin], where: MatchPlace) -> None:
        check_position(match, where)
        check_drawn_defaults(match.table, where)
        check_events(match, where)
        self.report.remembered += self._memory.compare(match, where)
        for twin in twins:
            twin.compare(match, where)
