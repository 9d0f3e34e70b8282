"""Finished matches: verification of one or many, and replay step by step."""

from arena.replay.recording import Fact, Recording, Step, play_back
from arena.replay.steps import recorded, recording_of, recording_of_seat
from arena.replay.story import Moment, Story, story_of, thinned
from arena.replay.verification import Found, check_files, found, not_held, path_text, proved, transcripts_in
