"""One decision of a match beside the answer that another bot gives, as people read it and as programs do."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from arena.quantities import counted, span
from arena.regression import decision_of
from protocol.codec import encode
from protocol.words import Action
from referee.host import Asked, Interviewed, Question

SHOWN = 400
"""Characters of a view, or of an action, that people are shown."""
REFUSALS = 5
"""As many refused messages of one window are listed."""


class Compared(Struct, frozen=True, kw_only=True):
    """One window: what was done in the match, and what the bot answers now."""

    window: int
    """The seat's own count."""
    name: str
    main_ms: int
    reserve_ms: int
    view: Any
    default: Any
    recorded: Any = None
    recorded_by_default: bool = False
    recorded_gone: bool = False
    """Nothing is recorded: the seat's bot was gone."""
    refused: tuple[str, ...] = ()
    """What was said of each refused message."""
    answer: Any = None
    answer_by_default: bool = False
    answer_refused: tuple[str, ...] = ()
    """As `refused`, of the messages of now."""
    trouble: str = ""
    """Why there is no answer, or why the default stands for it."""
    same: bool = False


def compared(question: Question, asked: Asked, gone: str) -> Compared:
    """`gone`: why the bot was not asked to the end."""
    opened, closed, answer = asked.opened, asked.closed, asked.answer
    found = Compared(
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
        action: Action | None = answer.action
        default = action is None
        return msgspec.structs.replace(
            found,
            answer=opened.default if default else action,
            answer_by_default=default,
            trouble=f"illegal: {answer.illegal}" if answer.illegal else "",
        )
    decision = decision_of(asked, closed, answer)
    return msgspec.structs.replace(
        found,
        answer=decision.head,
        answer_by_default=decision.head_by_default,
        trouble=decision.trouble,
        same=not decision.parts and not decision.trouble,
    )


def all_compared(questions: Sequence[Question], interviewed: Interviewed) -> list[Compared]:
    """Every question that was put."""
    pairs = zip(questions, interviewed.asked, strict=True)
    return [compared(question, asked, interviewed.gone) for question, asked in pairs]


def compared_lines(found: Compared, windows: int) -> list[str]:
    """One window in a few lines. `windows`: how many the seat had."""
    reserve = f", reserve {span(found.reserve_ms)}" if found.reserve_ms else ""
    recorded = "nothing: the bot was gone"
    if not found.recorded_gone:
        recorded = _action(found.recorded, found.default, by_default=found.recorded_by_default)
    lines = [
        f"window {found.window} ({found.name}) of {windows}: main time {span(found.main_ms)}{reserve}",
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
    more = len(texts) - REFUSALS
    return [*lines, f"  refused   and {counted(more, 'message')} more"] if more > 0 else lines


def _action(action: Any, default: Any, *, by_default: bool) -> str:
    """A bot may have submitted the default itself: the kit does after a refusal."""
    return f"{_short(action)} (the default)" if by_default or action == default else _short(action)


def _short(content: Any) -> str:
    return _cut(encode(content).decode())


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters; --json has all)"
