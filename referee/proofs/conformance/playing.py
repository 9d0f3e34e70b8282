"""Plays matches of a game at random and puts every promise to the test on the way."""

from random import Random
from typing import Any

from msgspec import Raw, Struct

from protocol.codec import encode
from referee.proofs.conformance.finding import ConformanceError
from referee.proofs.conformance.forging import Forge, History, check_forged
from referee.proofs.conformance.guessing import Guesser
from referee.proofs.conformance.promises import (
    Where,
    check_drawn_defaults,
    check_events,
    check_outcome,
    check_position,
    check_replay,
)
from referee.proofs.conformance.reseating import Reseated
from referee.proofs.conformance.sitting import Chooser, Sitting, open_window
from referee.proofs.conformance.swaps import DEALS, Memory, Twin, check_commuting, check_disguised, check_sealed
from referee.rules import BadSetupError, Deal, Game, Leak, Table

LONGEST_MATCH = 10_000
"""Windows after which a match is taken never to end."""
THOROUGH = 40
"""So many matches of a variant are looked at from several sides; later ones from one, in a third of the time."""
OBSERVERS_TWINNED = 3
WATCHED = 4
"""How many seats of a window, and how many observers of each, are looked at in turn; chance says which."""


def seat_match(game: Game[Any], variant: str, seed: int) -> Sitting:
    """A match about to begin. Even seeds have all options by default, odd ones such as can be guessed."""
    options = guessed_options(game, variant, seed) if seed % 2 else None
    return Sitting(Table(game, Deal(variant, seed, options)))


def guessed_options(game: Game[Any], variant: str, seed: int) -> Raw | None:
    """Options that the game accepts; None where the guess was none."""
    guess = Raw(encode(Guesser(Random(f"{seed}/options")).guess(game.options)))
    try:
        game.read_options(variant, guess)
    except BadSetupError:
        return None
    return guess


class Report(Struct, kw_only=True):
    """How much of one variant was really put to the test."""

    game: str
    variant: str
    matches: int = 0
    windows: int = 0
    twinned: int = 0
    """Secret swaps: positions compared with one made to differ in what an observer was not told."""
    forged: int = 0
    """Secret swaps: positions compared with those of histories that the game's author forged."""
    remembered: int = 0
    """Secret swaps: positions compared with one of another match that had told an observer the same."""
    probes: int = 0
    """Submissions whose answers were compared in secret swaps."""
    sealed: int = 0
    """Submissions that were swapped while everyone else was looked at."""
    commuted: int = 0
    """Answers of windows that answer at once that were given in the opposite order too."""
    reseated: int = 0
    """Anonymous events that were compared with those of the same match in other seats."""
    disguised: int = 0
    """Secret swaps: positions compared with the game's own disguise of them."""
    unopened: tuple[str, ...] = ()
    """Windows that no match opened: nothing is known of them."""


class Examination:
    """Matches of one variant, played and put to the test; the figures say how much was really compared."""

    def __init__(self, game: Game[Any], variant: str, forge: Forge | None) -> None:
        self.game = game
        self.report = Report(game=game.name, variant=variant)
        self._forge = forge
        self._memory = Memory()
        self.opened: set[str] = set()
        """Names of the windows that opened."""
        self.acted: set[str] = set()
        """Those in which a legal action was guessed."""

    def play(self, seed: int) -> None:
        """Plays one match to its end. Raises ConformanceError where a promise is broken."""
        self._number = 0
        where = Where(self.report.variant, seed)
        try:
            self._play(where)
        except ConformanceError:
            raise
        except Leak as leak:
            raise where.error("events keep to their audience", str(leak), self._number) from leak
        except Exception as error:  # whatever the game raises, its author wants to know where
            raise where.error("nothing that is legal fails", repr(error), self._number) from error

    def _play(self, where: Where) -> None:
        seed, thorough = where.seed, self.report.matches < THOROUGH
        watched = WATCHED if thorough else 1
        match = seat_match(self.game, self.report.variant, seed)
        # Streams of their own: what the checks draw must not change how the match goes.
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

    def _twins(self, match: Sitting, seed: int, most: int) -> list[Twin]:
        luck = Random(f"{seed}/twins")
        options = Raw(encode(match.table.options))
        deals = [
            Sitting(Table(self.game, Deal(self.report.variant, luck.getrandbits(32), options)))
            for _ in range(DEALS)
        ]
        observers = luck.sample(match.observers, min(most, len(match.observers)))
        return [Twin(observer, match, deals, luck) for observer in observers]

    def _compare_forged(self, match: Sitting, history: History, luck: Random, where: Where) -> None:
        if self._forge is None:
            return
        observer = luck.choice(match.observers)
        options, setup = (Raw(encode(each)) for each in (match.table.options, match.table.setup))
        true = Deal(self.report.variant, where.seed, options, setup), history
        forged = self._forge(*true, observer, luck)
        if forged is not None and forged != true:
            self.report.forged += 1
            self.report.probes += check_forged(match, forged, observer, Chooser(luck), where)

    def _look(self, match: Sitting, twins: list[Twin], where: Where) -> None:
        check_position(match, where)
        check_drawn_defaults(match.table, where)
        check_events(match, where)
        self.report.remembered += self._memory.compare(match, where)
        for twin in twins:
            twin.compare(match, where)
