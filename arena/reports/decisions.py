"""Decisions of a match compared with those of another bot: tables and lines for people, JSON for programs.

A regression test compares head with base and shows the decisions that differ; a single match can be compared with
any other bot.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from arena.quantities import Column, Table, pluralise, span, three_digits
from arena.regression import ComparedMatch, Decision, DecisionDiff, Group, decision_of, total
from arena.reports.files import escaped, markdown_table
from arena.schedule import TWO, sortable_match_name
from arena.terminal import Grid, grid
from protocol.codec import encode
from protocol.words import Action
from referee.display_text import cut
from referee.host import AnsweredQuestion, AskedWindow, Interviewed

ROWS = 40
"""Maximum number of decisions in a table; if there are more, it has the first one of each match."""
LONGEST = 60
"""Maximum number of characters of an action in a table."""
WORDS = {1.0: "won", 0.5: "tied", 0.0: "lost"}
"""Results of a match between two, by points."""
SHOWN = 400
"""Maximum number of characters of a view, or of an action, in a comparison for people."""
REFUSALS = 5
"""Maximum number of refused messages of one window in a comparison for people."""


class DecisionRow(Struct, frozen=True):
    """A row of the table of decisions. Only the first row of a match names it and has its results."""

    match: str = ""
    seat: str = ""
    window: str = ""
    turn: str = ""
    base: str = ""
    head: str = ""
    base_result: str = ""
    head_result: str = ""


DECISIONS: tuple[Column[DecisionRow], ...] = (
    Column(
        "match",
        lambda row: row.match,
        meaning="A number for the deal and a letter for the seating: 18a and 18b have the same deal.",
        is_text=True,
    ),
    Column("seat", lambda row: row.seat, meaning="The place at the table, counted from 0."),
    Column("window", lambda row: row.window, meaning="The name of the window in which they differ.", is_text=True),
    Column("turn", lambda row: row.turn, meaning="The turn or round, as the game counts."),
    Column("base", lambda row: row.base, meaning="What base did.", is_text=True),
    Column("head", lambda row: row.head, meaning="What head would have done.", is_text=True),
    Column("base's outcome", lambda row: row.base_result, meaning="How the match ended for base.", is_text=True),
    Column(
        "head's outcome",
        lambda row: row.head_result,
        meaning="How the match of the same deal ended for head in the same seat.",
        is_text=True,
    ),
)

GroupRow = tuple[str, Group]
GROUPS: tuple[Column[GroupRow], ...] = (
    Column("matches in which they", lambda row: row[0], is_text=True),
    Column("matches", lambda row: row[1].matches),
    Column("base's mean", lambda row: _of_both(row[1], row[1].base), three_digits),
    Column("head's mean", lambda row: _of_both(row[1], row[1].head), three_digits),
    Column("head's gain", lambda row: _gain(row[1]), "{:+z.3f}".format),
)


def _of_both(group: Group, mean: float | None) -> float | None:
    """Return a mean; None unless base and head both have one."""
    if group.base is None or group.head is None:
        return None
    return mean


def _gain(group: Group) -> float | None:
    if group.base is None or group.head is None:
        return None
    return group.head - group.base


def explained_lines(matches: Sequence[DecisionDiff]) -> list[str]:
    """Return how often head differs from base, as lines."""
    sums = total(matches)
    differing = f"{sums.partings} of {pluralise(sums.asked, 'decision')}"
    if sums.asked:
        differing += f" ({sums.partings / sums.asked:.1%})"
    lines = [
        f"head differs from base in {differing}, in {sums.parted.matches} of {pluralise(len(matches), 'match')}"
    ]
    if sums.illegal or sums.unanswered:
        were = "was" if sums.illegal == 1 else "were"
        lines.append(
            f"{sums.illegal} of head's answers {were} illegal and {sums.unanswered} did not come in time:"
            " the default counts for them"
        )
    gone = [match for match in matches if match.gone]
    if gone:
        not_asked = pluralise(sums.left, "decision")
        lines.append(
            f"head dropped out before the end of {pluralise(len(gone), 'match')} ({not_asked} not asked),"
            f" first in {_name(gone[0].place)}: {gone[0].gone}"
        )
    return lines


def decisions_table(matches: Sequence[DecisionDiff], seats: int) -> Grid:
    """Return the table of decisions in which head differs from base."""
    return grid(Table(DECISIONS, decision_rows(matches, seats)))


def outcomes_table(matches: Sequence[DecisionDiff]) -> Grid:
    """Return the table of mean points in matches in which head differs from base, and in the others."""
    return grid(outcomes(matches))


def outcomes(matches: Sequence[DecisionDiff]) -> Table[GroupRow]:
    """Return the mean points of the groups of matches that are not empty."""
    sums = total(matches)
    groups = (
        ("differ", sums.parted),
        ("never differ", sums.same),
        ("did not differ before head dropped out", sums.cut_short),
    )
    return Table(GROUPS, [(name, group) for name, group in groups if group.matches])


def decision_rows(matches: Sequence[DecisionDiff], seats: int) -> list[DecisionRow]:
    """Return the decisions that differ or in which head had trouble: all, or the first of each match."""
    rows: list[DecisionRow] = []
    for match in matches:
        rows += _rows(match, seats)
    if len(rows) <= ROWS:
        return rows
    return [row for row in rows if row.match]


def rows_left_out(matches: Sequence[DecisionDiff], seats: int) -> int:
    """Return the number of decisions that the table leaves out."""
    return sum(len(list(_rows(match, seats))) for match in matches) - len(decision_rows(matches, seats))


def explained_markdown(matches: Sequence[DecisionDiff], seats: int) -> str:
    """Return the section of a CI summary about decisions."""
    rows = decision_rows(matches, seats)
    lines = ["", "### Where head differs from base", ""]
    lines += [f"- {escaped(line)}" for line in explained_lines(matches)]
    lines += ["", *markdown_table(outcomes(matches)), ""]
    if rows:
        lines += markdown_table(Table(DECISIONS, rows))
    if more := rows_left_out(matches, seats):
        lines += ["", f"Only the first of each match is shown; `--json` has {more} more."]
    return "\n".join([*lines, ""])


def explained_json(matches: Sequence[DecisionDiff]) -> dict[str, Any]:
    """Return all compared decisions as plain values, match by match."""
    sums: dict[str, Any] = msgspec.to_builtins(total(matches))
    return sums | {"matches": list(map(_match_json, matches))}


def _match_json(match: DecisionDiff) -> dict[str, Any]:
    place = match.place
    decisions = [msgspec.to_builtins(each) | {"parts": each.parts} for each in match.decisions]
    return {
        "match": _name(place),
        "block": place.block,
        "seating": place.seating,
        "seat": place.seat,
        "base_points": place.base_points,
        "head_points": place.head_points,
        "asked": match.asked,
        "partings": match.partings,
        "gone": match.gone,
        "left": match.left,
        "decisions": decisions,
    }


def _rows(match: DecisionDiff, seats: int) -> Iterator[DecisionRow]:
    """Yield the rows of one match."""
    place = match.place
    rows = list(map(_decision_row, match.decisions))
    if match.gone:
        rows.append(DecisionRow(head=match.gone))
    for number, row in enumerate(rows):
        if number > 0:
            yield row
            continue
        yield msgspec.structs.replace(
            row,
            match=_name(place),
            seat=str(place.seat),
            base_result=_result(place.base_points, seats),
            head_result=_result(place.head_points, seats),
        )


def _decision_row(decision: Decision) -> DecisionRow:
    base, head = decision.base, decision.head
    if decision.parts:
        base, head = _differing(base, head)
    head_remark = decision.trouble or "default" * decision.head_by_default
    return DecisionRow(
        window=f"{decision.window} {decision.name}",
        turn="" if decision.turn is None else str(decision.turn),
        base=_action_cell(base, "default" * decision.base_by_default),
        head=_action_cell(head, head_remark),
    )


def _differing(base: Any, head: Any) -> tuple[Any, Any]:
    """Return two actions without the fields in which they agree, which would fill the table."""
    if not (isinstance(base, dict) and isinstance(head, dict)):
        return base, head
    base, head = base.copy(), head.copy()
    for key in base.keys() & head.keys():
        if base[key] == head[key]:
            del base[key], head[key]
    return base, head


def _action_cell(action: Any, remark: str) -> str:
    text = cut(encode(action).decode(), LONGEST)
    if remark:
        text += f" ({remark})"
    return text


def _result(points: float, seats: int) -> str:
    return WORDS[points] if seats == TWO else f"{points:.2f}"


def _name(place: ComparedMatch) -> str:
    return sortable_match_name(place.block, place.seating)


class ComparedDecision(Struct, frozen=True, kw_only=True):
    """One window: the action of the match, and the answer of another bot."""

    window: int
    """Number of the window, as the seat counts."""
    name: str
    main_ms: int
    reserve_ms: int
    view: Any
    default: Any
    recorded: Any = None
    recorded_by_default: bool = False
    recorded_gone: bool = False
    """True if no action is recorded, because the seat's bot was gone."""
    refused: tuple[str, ...] = ()
    """Reasons and texts of the messages that were refused in the match."""
    answer: Any = None
    answer_by_default: bool = False
    answer_refused: tuple[str, ...] = ()
    """Reasons and texts of the other bot's refused messages."""
    trouble: str = ""
    """Reason why there is no answer, or why it is the default."""
    same: bool = False


def compared(question: AskedWindow, asked: AnsweredQuestion, gone: str) -> ComparedDecision:
    """Return the comparison of one window. `gone` says why the bot did not answer all questions, or is empty."""
    opened, closed, answer = asked.opened, asked.closed, asked.answer
    found = ComparedDecision(
        window=opened.id,
        name=opened.window,
        main_ms=opened.main_ms,
        reserve_ms=opened.reserve_ms,
        view=opened.view,
        default=opened.default,
        refused=tuple(f"{each.reason}: {each.text}" for each in question.refused),
        recorded_gone=closed is None,
    )
    if closed is not None:
        found = msgspec.structs.replace(found, recorded=closed.taken, recorded_by_default=closed.by_default)
    if answer is None:
        return msgspec.structs.replace(found, trouble=gone or "it was gone")
    found = msgspec.structs.replace(found, answer_refused=answer.refused)
    if closed is None:
        if answer.illegal:
            found = msgspec.structs.replace(found, trouble=f"illegal: {answer.illegal}")
        action: Action | None = answer.action
        if action is None:
            return msgspec.structs.replace(found, answer=opened.default, answer_by_default=True)
        return msgspec.structs.replace(found, answer=action)
    decision = decision_of(asked, closed, answer)
    return msgspec.structs.replace(
        found,
        answer=decision.head,
        answer_by_default=decision.head_by_default,
        trouble=decision.trouble,
        same=not decision.parts and not decision.trouble,
    )


def all_compared(questions: Sequence[AskedWindow], interviewed: Interviewed) -> list[ComparedDecision]:
    """Return the comparisons of all windows."""
    pairs = zip(questions, interviewed.asked, strict=True)
    return [compared(question, asked, interviewed.gone) for question, asked in pairs]


def compared_lines(found: ComparedDecision, windows: int) -> list[str]:
    """Return the lines about one window. `windows` is the number of the seat's windows in the match."""
    time = f"main time {span(found.main_ms)}"
    if found.reserve_ms:
        time += f", reserve {span(found.reserve_ms)}"
    recorded = "nothing: the bot was gone"
    if not found.recorded_gone:
        recorded = _action(found.recorded, found.default, by_default=found.recorded_by_default)
    lines = [
        f"window {found.window} ({found.name}) of {windows}: {time}",
        f"  shown     {_short(found.view)}",
        f"  recorded  {recorded}",
        *_refusals(found.refused),
    ]
    if found.answer is None:
        lines.append(f"  now       no answer: {found.trouble}")
    else:
        lines.append(f"  now       {_action(found.answer, found.default, by_default=found.answer_by_default)}")
        lines += _refusals(found.answer_refused)
        if found.trouble and found.trouble not in found.answer_refused:
            lines.append(f"            {_cut(found.trouble)}")
    return [*lines, "  the same" if found.same else "  different"]


def _refusals(texts: Sequence[str]) -> list[str]:
    lines = [f"  refused   {_cut(text)}" for text in texts[:REFUSALS]]
    if len(texts) > REFUSALS:
        lines.append(f"  refused   and {pluralise(len(texts) - REFUSALS, 'message')} more")
    return lines


def _action(action: Any, default: Any, *, by_default: bool) -> str:
    """Return an action as text. The kit submits the default itself after a refusal, so equality is checked too."""
    text = _short(action)
    if by_default or action == default:
        text += " (the default)"
    return text


def _short(content: Any) -> str:
    return _cut(encode(content).decode())


def _cut(text: str) -> str:
    if len(text) > SHOWN:
        return f"{cut(text, SHOWN)} ({len(text)} characters; --json has all)"
    return text
