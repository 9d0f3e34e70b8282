"""Plays a match from plan to result: the host, its players, and the questions put to them."""

from referee.host.host import Host, MatchHooks
from referee.host.interview import (
    AnsweredQuestion,
    AskedWindow,
    BotAnswer,
    Interviewed,
    Questionnaire,
    questions_of,
)
from referee.host.kept_bots import can_stay, open_kept_bots
from referee.host.observers import Feed, FeedTerms, Publish
from referee.host.one_match import play
from referee.host.plan import (
    AttemptResult,
    Plan,
    files_allowed,
    files_needed,
    processes_left,
    processes_needed,
    too_long_for_sockets,
)
from referee.host.players import (
    LocalSeat,
    Player,
    RemoteBot,
    SandboxedBot,
    cannot_play,
    remote_bot,
)
from referee.host.reask import ask, ask_at_terminal, reask
