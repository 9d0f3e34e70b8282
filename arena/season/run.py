"""Playing a season stage by stage, from its current state.

A stage's field depends only on the file, the season's seed and the tables of its source stage, which is closed
first. The field is one of the terms in the stage's ledger: if it differs later, the stage does not continue.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from hashlib import shake_128
from pathlib import Path
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from arena.config import Season, Stage, StageBot, Tournament, stage_line, tournament_of_stage
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
    names = [stage.name for stage in season.stages]
    if last is not None and last not in names:
        raise WrongUse(f"{season.file}: has no stage {last!r}; {did_you_mean(last, names, 'stages')}")
    with held(season.results, transcripts=False):
        book = _begun(season, check)
        for stage in season.stages:
            while not _close_source(season, stage):
                _play_stage(season, season.stages[stage.source or 0], book, play)
            _play_stage(season, stage, book, play)
            if stage.name == last:
                break
            if _ends_in_time(season, stage):
                while not _closed(season, stage, "its time is up"):
                    _play_stage(season, stage, book, play)


def _begun(season: Season, check: Check) -> SeasonBook:
    """Return the book of the season; create it if the season is new, and update its planned stages.

    Raises:
        WrongUse: the season was begun with another seed, or a folder with results is no longer one of its stages.
    """
    book, given = read_book(season.results), season.form.seed
    planned = tuple(
        PlannedStage(name=stage.name, rule=season.rule_text(stage), parts=stage.parts) for stage in season.stages
    )
    otherwise = f"{season.file}: has changed since its results in {season.results} were begun"
    anew = "Undo that to go on, or begin anew: --fresh, or another folder with --results"
    if book is None:
        left_out = dict(check(all_bots(season)))
        seed = drawn_seed() if given is None else given
        book = SeasonBook(seed=seed, left_out=left_out, stages=planned)
    elif given not in {None, book.seed}:
        raise WrongUse(f"{otherwise}: seed was {book.seed}, is {given}. {anew}")
    known = {part for stage in planned for part in stage.parts}
    strange = sorted(
        path.parent.name for path in season.results.glob(f"*/{LEDGER}") if path.parent.name not in known
    )
    if strange:
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
    return all_bots(season).remote if any(is_remote(bot) for bot in season.form.bots) else ()


def _bots_of_file(season: Season, left_out: Mapping[str, str]) -> list[StageBot]:
    bots = zip(season.form.bots, season.labels, strict=True)
    return [
        StageBot(label=label, given=given, field=f"bots[{number}]")
        for number, (given, label) in enumerate(bots)
        if label not in left_out
    ]


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
        kept = copies_of_file(folder, withdrawn_only=True)
        tournament = tournament_of_stage(
            season, stage, part, field.bots, seed=_seed(book, part), kept=kept, depends_on=field.terms
        )
        if stage.rules.groups is not None:
            labels = [bot.label for bot in field.bots]
            more = f" and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else ""
            say(f"{part}: {', '.join(labels[:MOST_NAMED])}{more}")
        play(replace(tournament, ends=_end(season, stage, folder)))


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
    start = now() if begun is None else datetime.fromisoformat(begun)
    return start + timedelta(seconds=seconds_in(rules.how_long or "") or 0)


def _same(found: PartResults, field: _Drawn) -> bool:
    """Return whether a part was started with this field. If not, playing it reports the difference."""
    terms = found.results.terms
    return all(terms.get(key) == value for key, value in field.terms.items())


def _field(season: Season, stage: Stage, book: SeasonBook) -> list[_Drawn]:
    """Return the field of each of a stage's tournaments."""
    rules = stage.rules
    terms: Terms = {"stage": stage.name, "stage.rule": season.rule_text(stage)}
    bots: list[tuple[StageBot, str, int]]
    if stage.source is None:
        places = enumerate(_bots_of_file(season, book.left_out), start=1)
        bots = [(bot, FILE, place) for place, bot in places]
    else:
        terms |= {"stage.vacant": rules.vacant, "stage.versions": rules.versions}
        parts = _sources(season, stage)
        goes_on = _going_on(season, stage, parts)
        bots = [(_stage_bot(season, stage, parts[one.part], one.finish), parts[one.part].name, one.place)
                for one in goes_on]  # fmt: skip
        terms[FOUND] = {bot.label: bot.given for bot, _, _ in bots}
        terms |= {f"table of {part.name}": part.table_hash() for part in parts}
        taken = {one.finish.label for one in goes_on}
        terms[CUT] = cut_texts([part.finishes for part in parts], taken)
    if rules.groups is None:
        groups = [list(range(len(bots)))]
    else:
        terms |= {"stage.groups": rules.groups, "stage.draw": rules.draw}
        lots = Random(f"{book.seed}/{stage.name}/lots") if rules.draw == "lots" else None
        groups = drawn(len(bots), rules.groups, lots)
    return [
        _Drawn(
            [bots[number][0] for number in group],
            terms | {FIELD: [[source, place, bot.label] for bot, source, place in (bots[each] for each in group)]},
        )
        for group in groups
    ]


def _going_on(season: Season, stage: Stage, parts: Sequence[PartResults]) -> list[Qualified]:
    """Return the bots that a stage's rule selects from the tables of its source stage."""
    tables = [part.finishes for part in parts]
    elsewhere: set[str] = set()
    for other in stage.before if stage.rules.rest else ():
        elsewhere |= {one.finish.label for one in _taken(season.stages[other], tables, frozenset())}
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
    names = () if stage.source is None else season.stages[stage.source].parts
    return told_apart([part for name in names if (part := part_in(season.folder(name))) is not None])


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
    kept = copies_of_file(folder, withdrawn_only=False)
    return tournament_of_stage(
        season, stage, part, field.bots, seed=_seed(book, part), kept=kept, depends_on=field.terms
    )


def _seed(book: SeasonBook, part: str) -> int:
    """Return the seed of a tournament's schedule; no two tournaments of a season share deals.

    The seed is as hard to guess as the season's seed: a short season seed, as in files and older arenas, gives a
    short one.
    """
    drawn_ = int.from_bytes(shake_128(f"{book.seed}/{part}".encode()).digest(SEED_BYTES))
    return int(drawn_ % 2 ** (SEED_BITS if book.seed < 2**SEED_BITS else DRAWN_BITS))


def begin_anew(season: Season, first: str | None) -> None:
    """Set aside the results of a stage and of all later stages, or of the whole season with its book.

    Args:
        season: the season.
        first: the stage's name; None for the whole season.

    Raises:
        WrongUse: there is no such stage, or the folder cannot be written.
        MachineCannot: there is no space.
    """
    names = [stage.name for stage in season.stages]
    if first is not None and first not in names:
        raise WrongUse(f"{season.file}: has no stage {first!r}; {did_you_mean(first, names, 'stages')}")
    if not season.results.is_dir():
        return
    with held(season.results, transcripts=False):
        for path in sorted(season.results.glob(f"*/{LEDGER}")):
            folder = path.parent
            owner = next((stage for stage in season.stages if folder.name in stage.parts), None)
            if first is None or owner is None or owner.number >= names.index(first):
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
