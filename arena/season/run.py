"""Playing a season stage by stage, from its current state.

A stage's field depends only on the file, the season's seed and the tables of its source stage, which is closed
first. The field is one of the terms in the stage's ledger: if it differs later, the stage does not continue.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from hashlib import shake_128
from itertools import chain
from operator import attrgetter
from pathlib import Path
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from arena.config import Season, Stage, StageBot, Tournament, stage_line, tournament_of_stage, write_face
from arena.errors import WrongUse, cannot_write
from arena.quantities import pluralise, seconds_in
from arena.schedule import DRAWN_BITS, SEED_BITS
from arena.season.qualification import Finish, Qualified, cut_texts, drawn, qualified
from arena.season.results import (
    BOOK,
    CUT,
    FIELD,
    PartResults,
    PlannedStage,
    SeasonBook,
    part_in,
    parts_of,
    read_book,
    told_apart,
    write_book,
)
from arena.terminal import say
from arena.tournament import (
    LEDGER,
    Ledger,
    Terms,
    close,
    copies_of_file,
    copy_of_entry,
    drawn_seed,
    held,
    load_start_terms,
    now,
    set_aside,
)
from referee.bot_folder import is_remote
from referee.display_text import did_you_mean
from referee.host import RemoteBot

SEED_BYTES = 8
FILE = "file"
"""Source of bots listed in the season's file, in place of a tournament's name."""
FOUND = "stage.found"
"""Term with the folders of a later stage's bots, by label."""
MOST_NAMED = 30

FINISHES = attrgetter("finishes")
Play = Callable[[Tournament], object]
"""Plays a tournament to its end and applies changes to its field. Blocks."""
Check = Callable[[Tournament], Mapping[str, str]]
"""Returns reasons by label for the bots that cannot start and are left out, or raises."""


class _Drawn(Struct, frozen=True):
    """The field of one of a stage's tournaments."""

    bots: list[StageBot]
    terms: Terms


def play_season(season: Season, play: Play, *, check: Check, last: str | None = None) -> None:
    """Play the remaining matches of a season.

    Args:
        season: the season.
        play: plays one tournament.
        check: checks the bots before a new season begins.
        last: the last stage to play, which remains open for changes; None for all stages.

    Raises:
        WrongUse: earlier matches were played under other terms, or a bot cannot start.
        MachineCannot: the season cannot be played to its end now.
        Stopped: a signal stopped the season; another run continues it.
    """
    _number_of(season, last)
    with held(season.results, transcripts=False):
        book = _begun(season, check)
        write_face(season.form, season.file, season.results)
        for stage in season.stages:
            while not _close_source(season, stage):
                _play_stage(season, season.stages[stage.source or 0], book, play)
            _play_stage(season, stage, book, play)
            if stage.name == last:
                break
            if _ends_in_time(season, stage):
                while not _closed(season, stage, "its time is up"):
                    _play_stage(season, stage, book, play)


def _number_of(season: Season, stage: str | None) -> int:
    """Return the number of the stage with this name, from 0; 0 for None. Raise `WrongUse` if there is none."""
    if stage is None:
        return 0
    names = [each.name for each in season.stages]
    if stage not in names:
        raise WrongUse(f"{season.file}: has no stage {stage!r}; {did_you_mean(stage, names, 'stages')}")
    return names.index(stage)


def _begun(season: Season, check: Check) -> SeasonBook:
    """Return the book of the season; create it if the season is new, and update its planned stages.

    Raises:
        WrongUse: the season was begun with another seed, or a folder with results is no longer one of its stages.
    """
    book, given = read_book(season.results), season.form.seed
    planned: tuple[PlannedStage, ...] = ()
    for stage in season.stages:
        planned = (*planned, PlannedStage(name=stage.name, rule=season.rule_text(stage), parts=stage.parts))
    otherwise = f"{season.file}: has changed since its results in {season.results} were begun"
    anew = "Undo that to go on, or begin anew: --fresh, or another folder with --results"
    if book is None:
        left_out = dict(check(all_bots(season)))
        seed = drawn_seed() if given is None else given
        book = SeasonBook(seed=seed, left_out=left_out, stages=planned)
    elif given not in {None, book.seed}:
        raise WrongUse(f"{otherwise}: seed was {book.seed}, is {given}. {anew}")
    with_results = {path.parent.name for path in season.results.glob(f"*/{LEDGER}")}
    if strange := sorted(with_results.difference(parts_of(planned))):
        raise WrongUse(f"{otherwise}: {strange[0]} has results, but is not one of its stages or groups. {anew}")
    if book.stages != planned or not (season.results / BOOK).exists():
        book = SeasonBook(seed=book.seed, left_out=book.left_out, stages=planned)
        write_book(season.results, book)
    return book


def all_bots(season: Season) -> Tournament:
    """Return a tournament of all bots of the file under the first stage's terms, for checking the bots.

    Raises:
        WrongUse: an entry is not valid; the text names file, line and field.
    """
    stage = season.stages[0]
    return tournament_of_stage(season, stage, "checks", _bots_of_file(season, {}), seed=0, kept={}, depends_on={})


def remote_bots(season: Season) -> tuple[RemoteBot, ...]:
    """Return the remote bots of the file.

    Raises:
        WrongUse: an entry is not valid; the text names file, line and field.
    """
    if any(map(is_remote, season.form.bots)):
        return all_bots(season).remote
    return ()


def _bots_of_file(season: Season, left_out: Mapping[str, str]) -> list[StageBot]:
    found = []
    for number, (given, label) in enumerate(zip(season.form.bots, season.labels, strict=True)):
        if label not in left_out:
            found.append(StageBot(label=label, given=given, field=f"bots[{number}]"))
    return found


def _play_stage(season: Season, stage: Stage, book: SeasonBook, play: Play) -> None:
    """Play the remaining matches of a stage."""
    fields = _field(season, stage, book)
    where = f"stage {stage.number + 1} of {len(season.stages)}: {stage.name}"
    say(f"{where}: {season.rule_text(stage)}, {pluralise(sum(len(each.bots) for each in fields), 'bot')}")
    for part, field in zip(stage.parts, fields, strict=True):
        folder = season.folder(part)
        found = part_in(folder)
        if found is not None and CUT in found.results.terms:
            # Keep the text from the part's start. A different decision would show in the field.
            field.terms[CUT] = found.results.terms[CUT]
        if found is not None and found.closed and found.finished and _same(found, field):
            continue
        tournament = _tournament(season, stage, part, book, field)
        if stage.rules.groups is not None:
            labels = [bot.label for bot in field.bots]
            more = f" and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else ""
            say(f"{part}: {', '.join(labels[:MOST_NAMED])}{more}")
        play(replace(tournament, ends=_end(season, stage, folder)))


def _tournament(
    season: Season, stage: Stage, part: str, book: SeasonBook, field: _Drawn, *, withdrawn_only: bool = True
) -> Tournament:
    """Return a tournament of a stage; for `withdrawn_only` see `copies_of_file`."""
    kept = copies_of_file(season.folder(part), withdrawn_only=withdrawn_only)
    return tournament_of_stage(
        season, stage, part, field.bots, seed=_seed(book, part), kept=kept, depends_on=field.terms
    )


def _end(season: Season, stage: Stage, folder: Path) -> datetime | None:
    """Return the end time of a stage that is an endless ladder; None for other stages.

    Raises:
        WrongUse: the stage would end before it begins.
    """
    rules = stage.rules
    if not stage.form.endless:
        return None
    begun = None
    if (folder / LEDGER).exists():
        with closing(Ledger(folder / LEDGER)) as ledger:
            begun = ledger.times().begun
    if rules.until is not None:
        if begun is None and rules.until <= now():
            raise WrongUse(f"{stage_line(season, stage)}.until: {rules.until} is in the past")
        return rules.until
    start = now()
    if begun is not None:
        start = datetime.fromisoformat(begun)
    return start + timedelta(seconds=seconds_in(rules.how_long or "") or 0)


def _same(found: PartResults, field: _Drawn) -> bool:
    """Return whether a part was started with this field. If not, playing it reports the difference."""
    terms = found.results.terms
    return terms | field.terms == terms


def _field(season: Season, stage: Stage, book: SeasonBook) -> list[_Drawn]:
    """Return the field of each of a stage's tournaments."""
    rules = stage.rules
    terms: Terms = {"stage": stage.name, "stage.rule": season.rule_text(stage)}
    bots: list[StageBot] = []
    places: list[tuple[str, int, str]] = []
    """The terms about each bot: its tournament, its place there and its label."""
    if stage.source is None:
        for place, bot in enumerate(_bots_of_file(season, book.left_out), start=1):
            bots.append(bot)
            places.append((FILE, place, bot.label))
    else:
        terms |= {"stage.vacant": rules.vacant, "stage.versions": rules.versions}
        parts = _sources(season, stage)
        terms[FOUND] = {}
        for one in _going_on(season, stage, parts):
            bot = _stage_bot(season, stage, parts[one.part], one.finish)
            bots.append(bot)
            places.append((parts[one.part].name, one.place, bot.label))
            terms[FOUND][bot.label] = bot.given
        for part in parts:
            terms[f"table of {part.name}"] = part.table_hash()
        terms[CUT] = cut_texts(list(map(FINISHES, parts)), terms[FOUND].keys())
    if rules.groups is None:
        groups = [list(range(len(bots)))]
    else:
        terms |= {"stage.groups": rules.groups, "stage.draw": rules.draw}
        lots = None
        if rules.draw == "lots":
            lots = Random(f"{book.seed}/{stage.name}/lots")
        groups = drawn(len(bots), rules.groups, lots)
    fields = []
    for group in groups:
        of_group = list(map(list, map(places.__getitem__, group)))
        fields.append(_Drawn(list(map(bots.__getitem__, group)), terms | {FIELD: of_group}))
    return fields


def _going_on(season: Season, stage: Stage, parts: Sequence[PartResults]) -> list[Qualified]:
    """Return the bots that a stage's rule selects from the tables of its source stage."""
    tables = list(map(FINISHES, parts))
    elsewhere: set[str] = set()
    if stage.rules.rest:
        for other in stage.before:
            elsewhere.update(one.finish.label for one in _taken(season.stages[other], tables, frozenset()))
    return _taken(stage, tables, frozenset(elsewhere))


def _taken(stage: Stage, tables: Sequence[Sequence[Finish]], without: frozenset[str]) -> list[Qualified]:
    rules = stage.rules
    found = qualified(
        tables,
        top=rules.top,
        each_group=rules.each_group,
        without=without,
        leave_empty=rules.vacant == "empty",
    )
    return [one for one in found if not one.finish.withdrawn]


def _close_source(season: Season, stage: Stage) -> bool:
    """Close the tournaments that a stage's field is drawn from. Return False if a change has to be played first.

    Raises:
        WrongUse: a tournament has not been played to its end.
    """
    if stage.source is None:
        return True
    for name in season.stages[stage.source].parts:
        part = part_in(season.folder(name))
        if part is None or not part.finished:
            raise WrongUse(f"{stage_line(season, stage)}: {name} has not been played to its end")
    return _closed(season, season.stages[stage.source], f"{stage.name} was drawn from its table")


def _ends_in_time(season: Season, stage: Stage) -> bool:
    """Return whether a stage is an endless ladder that is not the source of another stage.

    Other endless ladders are closed by the stage that follows.
    """
    return stage.form.endless and all(other.source != stage.number for other in season.stages)


def _closed(season: Season, stage: Stage, reason: str) -> bool:
    """Close the tournaments of a stage that are open. Return False if a change of one has to be played first."""
    for name in stage.parts:
        part = part_in(season.folder(name))
        if part is not None and not part.closed:
            with held(part.folder), closing(Ledger(part.folder / LEDGER)) as ledger:
                if not close(ledger, load_start_terms(ledger), reason):
                    return False
    return True


def _sources(season: Season, stage: Stage) -> list[PartResults]:
    """Return the results of the tournaments that a stage's field is drawn from."""
    if stage.source is None:
        return []
    parts = map(part_in, map(season.folder, season.stages[stage.source].parts))
    return told_apart([part for part in parts if part is not None])


def _stage_bot(season: Season, stage: Stage, part: PartResults, finish: Finish) -> StageBot:
    """Return the entry of a bot that advances to a stage."""
    origin = part.origins[finish.label]
    given = origin.folder or _given(season, part, finish.label)
    copy = None
    if origin.content is not None and stage.rules.versions == "kept" and not is_remote(given):
        copy = str(copy_of_entry(part.folder, origin.content))
    return StageBot(label=finish.label, given=given, content=origin.content, copy=copy)


def _given(season: Season, part: PartResults, label: str) -> str:
    """Return the folder of a bot that a part started with, from the part's terms or the season's file."""
    found = part.results.terms.get(FOUND, {})
    if isinstance(found, dict) and isinstance(given := found.get(label), str):
        return given
    if label in season.labels:
        return season.form.bots[season.labels.index(label)]
    raise WrongUse(f"{season.file}: names no {label}, which {part.name} was begun with")


def tournament_as_begun(season: Season, stage: Stage, part: str) -> Tournament:
    """Return a stage's tournament with the versions of its bots at its start, not the present ones.

    Raises:
        WrongUse: the tournament has not begun.
    """
    book, folder = read_book(season.results), season.folder(part)
    if book is None or part_in(folder) is None:
        raise WrongUse(f"{folder}: this stage has not begun")
    field = _field(season, stage, book)[stage.parts.index(part)]
    return _tournament(season, stage, part, book, field, withdrawn_only=False)


def _seed(book: SeasonBook, part: str) -> int:
    """Return the seed of a tournament's schedule; no two tournaments of a season share deals.

    The seed is as hard to guess as the season's seed: a short season seed, as in files and older arenas, gives a
    short one.
    """
    drawn_ = int.from_bytes(shake_128(f"{book.seed}/{part}".encode()).digest(SEED_BYTES))
    bits = DRAWN_BITS
    if book.seed < 2**SEED_BITS:
        bits = SEED_BITS
    return int(drawn_ % 2**bits)


def begin_anew(season: Season, first: str | None) -> None:
    """Set aside the results of a stage and of all later stages, or of the whole season with its book.

    Args:
        season: the season.
        first: the stage's name; None for the whole season.

    Raises:
        WrongUse: there is no such stage, or the folder cannot be written.
        MachineCannot: there is no space.
    """
    earlier = season.stages[: _number_of(season, first)]
    if not season.results.is_dir():
        return
    stay = set(chain.from_iterable(stage.parts for stage in earlier))
    with held(season.results, transcripts=False):
        for path in sorted(season.results.glob(f"*/{LEDGER}")):
            folder = path.parent
            if folder.name not in stay:
                with held(folder):
                    say(f"earlier results are now in {set_aside(folder)}")
        if first is None:
            book = season.results / BOOK
            aside = Path(f"before-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.json")
            try:
                with suppress(FileNotFoundError):
                    book.rename(season.results / aside)
            except OSError as error:
                raise cannot_write(book, error) from None
