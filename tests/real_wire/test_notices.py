"""A real arena that is stopped tells its host, and tells nobody where."""

import json
import signal
from pathlib import Path

import pytest

from arena.errors import DONE, SIGNALLED
from tests.arena.tournament.test_webhook import Server, answer, answers
from tests.real_wire.held import LONG, Gate
from tests.real_wire.processes import until
from tests.real_wire.test_killed import REAL_MATCHES, cup
from tests.real_wire.test_tournament_stopped import ARENA, start

FEW_MATCHES = REAL_MATCHES.replace("blocks = 3", "blocks = 2").replace("max_turns = 30", "max_turns = 4") + LONG


@pytest.mark.slow
def test_a_stop_and_the_end_are_told_by_webhook_and_the_urls_secret_is_nowhere(tmp_path: Path) -> None:
    server = Server(answers(answer("503 Later"), answer("200 OK")))
    words = (*ARENA, "--log", tmp_path / "log", "--notify", server.url)
    gate = Gate(tmp_path / "gate")
    file = cup(tmp_path / "b", FEW_MATCHES, gate.bot)
    stopped = start(*words, file)
    until(lambda: gate.waiting)
    stopped.send_signal(signal.SIGTERM)
    _, complaints = stopped.communicate()
    gate.open()
    assert SIGNALLED + signal.SIGTERM == stopped.returncode
    again = start(*words, file)
    output, more = again.communicate()
    assert DONE == again.returncode, more.decode()
    server.close()
    events = [(body["event"], body["text"].partition(";")[0]) for _, body in server.heard]
    stop = ("stopped", "cup: stopped: by signal 15")
    assert [stop, stop, ("over", "cup: all 4 matches are played")] == events
    assert 4 == sum(row["played"] for row in json.loads(output)["standings"]) // 2
    assert f"to go on where it was: arena tournament --no-check --json --log {tmp_path}/log --notify URL" in (
        complaints.decode()
    )
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not [each for each in (*files, output, complaints, more) if b"S3CRET" in each]
