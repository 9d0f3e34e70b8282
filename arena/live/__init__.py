"""Matches with people: watched, hosted, or played from a terminal."""

from arena.live.console import LanguageModelSeat, clock_text, console_seat
from arena.live.human import plain_refusal
from arena.live.moments import CONDUCTS, MOST_SCORE, Commentator, commentary_of, numbered_names
from arena.live.single_match import at_terminal, in_place, play_hosted, play_match, presses, under_pdb
from arena.live.watch import (
    Eyes,
    Watcher,
    board_text,
    in_names,
    joined,
    laid_out,
    may_know,
    part_of,
    read_eyes,
    view_of,
    with_names,
)
