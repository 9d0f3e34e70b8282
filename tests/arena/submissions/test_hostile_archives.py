"""Archives of strangers on their whole way: uploaded, unpacked and judged. None leaves anything behind."""

import io
import resource
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.submissions.examiner import MachineExaminer
from arena.submissions.store import SubmissionRefused, UploadStore
from referee.bot_folder import cache_folder
from referee.bot_folder.archive import MOST_MEMORY
from tests.arena.submissions.hostile_archives import ARCHIVES, FILES, MEGABYTE, UNPACKED_MB, UPLOAD_MB, Hostile
from tests.arena.submissions.judging import HERE, Court, begun_cup

KILOBYTE = 1024
pytestmark = pytest.mark.xdist_group("hostile archives")


class Unpacking(MachineExaminer):
    """An examiner that unpacks as always, and starts nothing."""

    def start(self, *_: Any) -> None:
        pass


class Gate(Court):
    """A server that unpacks what is uploaded."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self.store = self.submissions.store = UploadStore(
            self.competition.uploads, UPLOAD_MB * MEGABYTE, free_bytes=0
        )
        self.scratch = self.competition.server / "judging"
        self.judge._examiner = Unpacking(HERE, self.scratch, self.competition.terms, reserve_mb=0)

    def judged(self, team: str, archive: bytes) -> tuple[str, str]:
        """Return the state that an archive comes to, and the reason of its refusal."""
        with self.store.begin() as part:
            part.write(archive)
            upload = part.finish()
        found = self.submissions.receive(self.member(team), upload, "bot.zip").submission
        self.judge_all()
        now = self.now(found)
        assert [] == list(self.scratch.iterdir())
        return now.state, now.verdict.reason if now.verdict else ""


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    folder = tmp_path_factory.mktemp("gate")
    more = (f"unpacked_mb = {UNPACKED_MB}", "[entry]", f"files = {FILES}")
    with closing(Gate(begun_cup(folder, *more))) as gate:
        yield gate


def test_there_are_many_of_them() -> None:
    assert len({each.name for each in ARCHIVES}) == len(ARCHIVES) >= 100
    assert all(bool(each.refused) != bool(each.accepted) for each in ARCHIVES)


@pytest.mark.parametrize(
    "hostile",
    [pytest.param(each, id=each.name, marks=[pytest.mark.slow] if each.is_slow else []) for each in ARCHIVES],
)
def test_an_archive_is_refused_in_a_sentence_or_accepted_for_a_reason(gate: Gate, hostile: Hostile) -> None:
    state, reason = gate.judged(f"Team {ARCHIVES.index(hostile)}", hostile.make())
    assert ("refused" if hostile.refused else "entered", hostile.refused) == (state, reason and hostile.refused)
    assert hostile.refused in reason
    assert reason.isprintable()
    assert not any(word in reason for word in (str(gate.scratch), "Errno", "Traceback", "Error("))
    assert MOST_MEMORY // KILOBYTE >= resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def test_an_empty_file_and_one_that_is_too_large_are_refused_before_they_count(gate: Gate) -> None:
    with gate.store.begin() as part, pytest.raises(SubmissionRefused, match="the file is empty"):
        part.finish()
    with gate.store.begin() as part, pytest.raises(SubmissionRefused, match=f"more than {UPLOAD_MB} MB"):
        part.write(bytes(UPLOAD_MB * MEGABYTE + 1))
    assert [] == list((gate.competition.uploads / "parts").iterdir())


@pytest.mark.parametrize("text", ["games = [1]", None])
def test_no_copy_of_a_refused_bot_stays(gate: Gate, text: str | None) -> None:
    """A team could fill the disk with them. One is refused when it is unpacked, the other one later."""
    manifest = text or 'name = "b"\nversion = "1"\ncommand = ["python", "bot.py"]\ngames = ["pointing"]\n'
    before = set((cache_folder() / "contents").glob("*"))
    with io.BytesIO() as archive:
        with zipfile.ZipFile(archive, "w") as packed:
            packed.writestr("bot.toml", manifest)
            packed.writestr("bot.py", f"# {text}")
        assert "refused" == gate.judged("Refused", archive.getvalue())[0]
    assert before == set((cache_folder() / "contents").glob("*"))
