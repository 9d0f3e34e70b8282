"""Submissions of teams: uploads, records, the judge and its queue, and scrimmages."""

from arena.submissions.backup import ServerBackup, ServerChecked, at_one_moment, back_up_server, check_server
from arena.submissions.competition import JUDGING, SCRIMMAGES, Competition, NoMore, NotYet, OpenPart
from arena.submissions.entering import HERE, OpenField, bot_in, open_field, tournament_to_change
from arena.submissions.examiner import MachineExaminer
from arena.submissions.jobs import Place, Queue, about
from arena.submissions.judge import Judge, is_busy, judge_lock, server_lock
from arena.submissions.quotas import Quota
from arena.submissions.records import Receipt, Submissions
from arena.submissions.scrimmages import Budget, Scrimmage, ScrimmageMatch, ScrimmagePlayer, Scrimmages
from arena.submissions.store import SubmissionRefused, Upload, UploadPart, UploadStore
from arena.submissions.submission import ENDED, STATES, State, Submission, SubmissionEvent
from arena.submissions.verdict import Margin, MatchSummary, Step, Verdict
