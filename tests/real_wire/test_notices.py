"""A real arena that is stopped tells its host, and tells nobody where."""

import json
import signal
import time
from pathlib import Path

import pytest

from arena.errors import DONE, SIGNALLED
from tests.arena.tournament.test_webhook import Server, answer, answers
from tests.real_wire.test_tournament_stopped import ARENA, TWELVE_MATCHES, cup, start


@pytest.mark.slow
def test_a_stop_and_the_end_are_told_by_webhook_and_the_urls_secret_is_nowhere(tmp_path: Path) -> None:
    server = Server(answers(answer("503 Later"), answer("200 OK")))
    words = (*ARENA, "--log", tmp_path / "log", "--notify", server.url)
    file = cup(tmp_path / "b", TWELVE_MATCHES)
    stopped = start(*words, file)
    while not list((file.parent / "runs").rglob("*.jsonl")):
        assert stopped.poll() is None
        time.sleep(0.05)
    stopped.send_signal(signal.SIGTERM)
    _, complaints = stopped.communicate()
    assert SIGNALLED + signal.SIGTERM == stopped.returncode
    again = start(*words, file)
    output, more = again.communicate()
    assert DONE == again.returncode, more.decode()
    server.close()
    events = [(body["event"], body["text"].partition(";")[0]) for _, body in server.heard]
    stop = ("stopped", "cup: stopped: by signal 15")
    assert [stop, stop, ("over", "cup: all 12 matches are played")] == events
    assert 12 == sum(row["played"] for row in json.loads(output)["standings"]) // 2
    assert f"to go on where it was: arena tournament --no-check --json --log {tmp_path}/log --notify URL" in (
        complaints.decode()
    )
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not [each for each in (*files, output, complaints, more) if b"S3CRET" in each]
