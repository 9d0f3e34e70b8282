"""Scrimmages: matches that a team asks for, within a budget per day, against bots that compete and sample bots.

They are played by the judge when no submission waits, in a folder of their own, and never count. Only the team
that asked sees the results, with its own bot's eyes.
"""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from random import SystemRandom
from typing import Any, Literal

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena.accounts import Account, Accounts, Database
from arena.checks import Trial, TrialMatch, play_trials
from arena.config import ServerTerms, Tournament, find_entrant
from arena.errors import MachineCannot, WrongUse, reason_of
from arena.quantities import pluralise
from arena.schedule import SEED_BITS
from arena.statistics import points
from arena.submissions.competition import SCRIMMAGES, Competition, OpenPart
from arena.submissions.jobs import Job, Jobs, Place
from arena.submissions.store import SubmissionRefused, remove_others
from arena.submissions.submission import day_of, new_public, team_of
from arena.workers import Placement, PoolSetup
from referee.bot_folder import NEEDING_NETWORK, BotFolder, BotFolderError, built_in, find_bot, folder_name
from referee.display_text import did_you_mean, printable
from referee.linux.processes import children_cpu_seconds

ScrimmageState = Literal["queued", "playing", "played", "failed"]
MOST_QUEUED = 3
"""Maximum scrimmages of a team that are not played yet."""
MATCH_SECONDS = 600.0
"""Seconds after which a match is stopped."""
KEPT = 50
"""Number of a team's latest scrimmages whose transcripts and logs are kept."""
MOST_TRIES = 5
"""Attempts of the arena at a match after which the scrimmage has failed."""


class ScrimmageMatch(Struct, frozen=True, kw_only=True):
    """A match of a scrimmage."""

    seats: tuple[str, ...]
    """Names of the bots, indexed by seat."""
    seat: int
    """Seat of the team's bot."""
    points: float | None
    """Share of the other seats that it ranked before; None: the match was stopped, or is void."""
    conduct: tuple[str, ...]
    """Conduct of each bot, indexed by seat."""
    note: str = ""
    """Why there is no result."""
    transcript: str
    """Name of the transcript in the scrimmage's folder. It has all seats' secrets."""


class Scrimmage(Struct, frozen=True, kw_only=True):
    """A scrimmage."""

    id: int
    public: str
    team: int
    team_name: str
    bot: str
    opponents_json: str
    matches: int
    """Number of matches that were asked for."""
    state: ScrimmageState
    created: str
    changed: str
    result_json: str

    @property
    def opponents(self) -> tuple[str, ...]:
        """Names of the opponents: one for all other seats, or one for each."""
        return msgspec.json.decode(self.opponents_json, type=tuple[str, ...])

    @property
    def played(self) -> tuple[ScrimmageMatch, ...]:
        """The matches that were played so far."""
        if not self.result_json:
            return ()
        return msgspec.json.decode(self.result_json, type=tuple[ScrimmageMatch, ...])

    @property
    def mean_points(self) -> float | None:
        """Mean points of the team's bot; None: no match has a result."""
        found = [match.points for match in self.played if match.points is not None]
        return sum(found) / len(found) if found else None


class Budget(Struct, frozen=True, kw_only=True):
    """What a team may still ask for."""

    used_today: int
    per_day: int
    most_matches: int
    """Maximum matches of a scrimmage."""
    queued: int
    most_queued: int
    resets: str


_COLUMNS = (
    "SELECT s.id, s.public, s.team, t.name AS team_name, s.bot, s.opponents AS opponents_json, s.matches, s.state,"
    " s.created, s.changed, coalesce(s.result, '') AS result_json FROM scrimmages s JOIN teams t ON t.id = s.team"
)


@cache
def _samples(game: str) -> tuple[str, ...]:
    """Return the names of a game's sample bots that the sandbox can run. The arena includes them: read once."""
    samples = []
    for name in sorted(set(built_in()) - NEEDING_NETWORK):
        with suppress(BotFolderError):
            if find_bot(name).plays(game):
                samples.append(name)
    return tuple(samples)


class Scrimmages:
    """The scrimmages in a database. Methods raise `SubmissionRefused` if they refuse."""

    def __init__(self, database: Database, terms: ServerTerms, *, competition: Competition) -> None:
        self.jobs = Jobs(database)
        self._db = database
        self._accounts = Accounts(database)
        self._terms = terms
        self._competition = competition

    def opponents(self) -> list[str]:
        """Return the names of possible opponents: bots that compete, and sample bots that the sandbox can run."""
        samples = _samples(self._competition.form.game)
        return list(dict.fromkeys([*sorted(self._competition.competitors()), *samples]))

    def seats(self) -> int:
        """Return the number of seats of a match."""
        return self._competition.tournament(self._competition.part_for("")).seats

    def ask(self, account: Account, opponents: Sequence[str], matches: int) -> Scrimmage:
        """Ask for matches of the team's bot, as it competes now.

        Args:
            account: who asks, for the account's team.
            opponents: one bot for all other seats, or one for each.
            matches: the number of matches; the bot's seat rotates.
        """
        team, label = team_of(account)
        most = self._terms.scrimmage_matches
        if not 1 <= matches <= most:
            raise SubmissionRefused(f"a scrimmage has 1 to {pluralise(most, 'match')}")
        self._check_opponents(opponents)
        if label not in self._competition.competitors():
            raise SubmissionRefused("your team has no bot that competes: submit one first", "late")
        with self._db.change():
            self._check_budget(team)
            now = self._db.now()
            public = new_public()
            id_ = self._db.insert(
                "scrimmages",
                public=public,
                team=team,
                account=account.id,
                bot=label,
                opponents=msgspec.json.encode(list(opponents)).decode(),
                matches=matches,
                state="queued",
                created=now,
                changed=now,
            )
            self.jobs.add("scrimmage", id_, team, self._competition.name)
            self._accounts.audit("scrimmage asked for", f"{public}: {', '.join(opponents)}", account, team)
            found = self.by_id(id_)
        assert found is not None  # noqa: S101
        return found

    def by_public(self, public: str) -> Scrimmage | None:
        """Return the scrimmage with this public name, or None. Whose it is, the caller has to check."""
        return self._db.row(Scrimmage, f"{_COLUMNS} WHERE s.public = ?", public)

    def by_id(self, id_: int) -> Scrimmage | None:
        """Return the scrimmage with this number, or None."""
        return self._db.row(Scrimmage, f"{_COLUMNS} WHERE s.id = ?", id_)

    def of_team(self, team: int, *, before: int | None = None, count: int = 50) -> list[Scrimmage]:
        """Return a team's scrimmages, the newest first."""
        where = "s.team = ? AND s.id < ? ORDER BY s.id DESC LIMIT ?"
        return self._db.rows(Scrimmage, f"{_COLUMNS} WHERE {where}", team, before or 2**62, count)

    def place(self, scrimmage: Scrimmage) -> Place | None:
        """Return a scrimmage's place in the queue, None if it is over. The estimate is of submissions alone."""
        return self.jobs.place("scrimmage", scrimmage.id)

    def budget(self, team: int) -> Budget:
        """Return what a team may still ask for."""
        begin, end = day_of(self._db.now())
        used = "SELECT count(*) FROM scrimmages WHERE team = ? AND created >= ? AND state != 'failed'"
        queued = "SELECT count(*) FROM scrimmages WHERE team = ? AND state IN ('queued', 'playing')"
        return Budget(
            used_today=int(self._db.value(used, team, begin)),
            per_day=self._terms.scrimmages_per_day,
            most_matches=self._terms.scrimmage_matches,
            queued=int(self._db.value(queued, team)),
            most_queued=MOST_QUEUED,
            resets=end,
        )

    def folder(self, scrimmage: Scrimmage) -> Path:
        """Return the folder with a scrimmage's transcripts."""
        return self._competition.server / SCRIMMAGES / scrimmage.public

    def remove_old(self) -> int:
        """Remove the transcripts and logs of scrimmages, except of each team's latest `KEPT`; return how many.

        Those that are not over stay, too. Their results stay in the database.
        """
        kept = self._db.column(
            str,
            "SELECT public FROM (SELECT public, state, row_number() OVER (PARTITION BY team ORDER BY id DESC)"
            " AS age FROM scrimmages) WHERE age <= ? OR state IN ('queued', 'playing')",
            KEPT,
        )
        return remove_others(self._competition.server / SCRIMMAGES, set(kept))

    def add_match(self, scrimmage: Scrimmage, job: Job, match: ScrimmageMatch, cpu_ms: int) -> None:
        """Record a match, and let the scrimmage wait for its next turn if more are to be played."""
        matches = [*scrimmage.played, match]
        is_over = len(matches) >= scrimmage.matches
        with self._db.change():
            self._db.update(
                "UPDATE scrimmages SET state = ?, changed = ?, result = ? WHERE id = ?",
                "played" if is_over else "playing",
                self._db.now(),
                msgspec.json.encode(matches).decode(),
                scrimmage.id,
            )
            self.jobs.charge(job.id, cpu_ms)
            if is_over:
                self.jobs.end(job.id)
            else:
                self.jobs.put_back(job)

    def fail(self, job: Job, why: str) -> None:
        """Record that the arena failed at a match. It is tried again, and after `MOST_TRIES` attempts given up."""
        with self._db.change():
            self.jobs.fail(job.id, why)
            if job.attempts >= MOST_TRIES:
                self._end(job, why)

    def end(self, job: Job, why: str) -> None:
        """Record that a scrimmage cannot be played."""
        with self._db.change():
            self._end(job, why)

    def _end(self, job: Job, why: str) -> None:
        self._db.update(
            "UPDATE scrimmages SET state = 'failed', changed = ? WHERE id = ?", self._db.now(), job.subject
        )
        self.jobs.end(job.id)
        self._accounts.audit("scrimmage failed", why, None, job.team)

    def _check_opponents(self, opponents: Sequence[str]) -> None:
        seats = self.seats()
        if len(opponents) not in {1, seats - 1}:
            one = "one bot" if seats == 2 else f"one bot, or {seats - 1}"  # noqa: PLR2004 - of two players
            raise SubmissionRefused(f"opponents: give {one} for the other {pluralise(seats - 1, 'seat')}")
        known = self.opponents()
        for name in opponents:
            if name not in known:
                near = did_you_mean(name, known, "bots")
                raise SubmissionRefused(f"no bot is called {printable(name)[:100]}; {near}")

    def _check_budget(self, team: int) -> None:
        budget = self.budget(team)
        if budget.used_today >= budget.per_day:
            text = f"a team has {pluralise(budget.per_day, 'scrimmage')} per day, and all of today's are used"
            left = datetime.fromisoformat(budget.resets) - datetime.fromisoformat(self._db.now())
            raise SubmissionRefused(
                f"{text}; a new day begins at 00:00 UTC", "quota", int(left.total_seconds()) + 1
            )
        if budget.queued >= MOST_QUEUED:
            text = f"{pluralise(budget.queued, 'scrimmage')} of yours wait already"
            raise SubmissionRefused(text, "quota", 60)


class ScrimmagePlayer:
    """Plays scrimmages, a match at a time."""

    def __init__(self, competition: Competition, scrimmages: Scrimmages, where: Placement) -> None:
        self._competition = competition
        self._scrimmages = scrimmages
        self._where = replace(where, transcripts=None)
        if where.on == "local":
            self._where = replace(self._where, concurrency=1, workers=1)

    def play(self, job: Job) -> None:
        """Play the next match of a scrimmage.

        Raises:
            Stopped: a signal arrived; the match is played again.
        """
        scrimmage = self._scrimmages.by_id(job.subject)
        if scrimmage is None:
            return
        cpu = children_cpu_seconds()
        try:
            match = self._play(scrimmage)
        except SubmissionRefused as error:
            self._scrimmages.end(job, error.text)
        except (WrongUse, MachineCannot, OSError, BotFolderError) as error:
            reason = reason_of(error)
            why = reason.format_message() if isinstance(reason, click.ClickException) else repr(reason)
            self._scrimmages.fail(job, printable(why))
        else:
            self._scrimmages.add_match(scrimmage, job, match, round((children_cpu_seconds() - cpu) * 1_000))

    def remove_old(self) -> int:
        """See `Scrimmages.remove_old`."""
        return self._scrimmages.remove_old()

    def give_up(self, job: Job, why: str) -> None:
        """Let a match be played again whose judge has ended."""
        self._scrimmages.fail(job, why)

    def _play(self, scrimmage: Scrimmage) -> ScrimmageMatch:
        part = self._competition.part_for(scrimmage.bot)
        if not isinstance(part, OpenPart):
            raise SubmissionRefused("no tournament is open in which the bot competes")
        tournament = self._competition.tournament_in(part.results)
        contents = self._competition.competitors()
        number = len(scrimmage.played)
        seat = number % tournament.seats
        others = list(scrimmage.opponents)
        if len(others) == 1:
            others *= tournament.seats - 1
        seats = [*others[:seat], scrimmage.bot, *others[seat:]]
        bots = [self._bot(tournament, name, contents) for name in seats]
        setup = PoolSetup(
            where=self._where, isolation=tournament.form.isolation, seats=tournament.seats, at_once=1
        )
        players, pool = setup.pool_for(bots)
        plan = replace(
            tournament.plan(),
            match=f"scrimmage-{secrets.token_hex(4)}",
            seed=SystemRandom().getrandbits(SEED_BITS),
            labels=tuple(seats),
        )
        folder = self._scrimmages.folder(scrimmage)
        name = f"match-{number + 1}"
        for old in folder.glob(f"{name}.*"):
            old.unlink(missing_ok=True)
        ordered: TrialMatch[Any] = TrialMatch(
            name=name, plan=plan, players=players, seat=seat, seconds=MATCH_SECONDS
        )
        (trial,) = play_trials([ordered], pool, folder, words=f"scrimmage of {scrimmage.bot}")
        for log in folder.glob(f"{name}.seat-*.log"):
            # What other teams' bots print is theirs.
            if not log.name.startswith(f"{name}.seat-{seat}."):
                log.unlink(missing_ok=True)
        return _match(trial, tuple(seats), f"{name}.jsonl")

    def _bot(self, tournament: Tournament, name: str, contents: dict[str, str]) -> BotFolder:
        """Return the version of a bot that competes now, or a sample bot.

        Raises:
            SubmissionRefused: it no longer competes.
        """
        if name in contents:
            for copy in self._competition.copies(contents[name]):
                if copy.is_dir():
                    found = find_entrant(tournament, folder_name(copy), name)
                    if isinstance(found, BotFolder):
                        return found
            raise SubmissionRefused(f"{name}: there is no copy of the version that competes")
        if name in built_in():
            return find_bot(name)
        raise SubmissionRefused(f"{name} no longer competes")


def _match(trial: Trial, seats: tuple[str, ...], transcript: str) -> ScrimmageMatch:
    result = trial.result
    if result is None or result.outcome is None:
        return ScrimmageMatch(
            seats=seats, seat=trial.seat, points=None, conduct=(), note=trial.trouble, transcript=transcript
        )
    return ScrimmageMatch(
        seats=seats,
        seat=trial.seat,
        points=points(result.outcome, trial.seat),
        conduct=tuple(conduct.value for conduct in result.conduct),
        transcript=transcript,
    )
