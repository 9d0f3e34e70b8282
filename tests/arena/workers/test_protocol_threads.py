"""What workers say to each other is decoded in several threads of a Dask worker."""

import subprocess
import sys

PROGRAM = """
import sys, threading
from msgspec import defstruct
from arena.workers.protocol import decoded
sys.setswitchinterval(1e-6)
def kind(n):
    inner = [defstruct(f"Inner{n}{k}", [("a", "int | None")]) for k in range(8)]
    return defstruct(f"Kind{n}", [(f"key{k}", each) for k, each in enumerate(inner)])
kinds = [kind(n) for n in range(60)]
text = b"{" + b",".join(b'"key%d":{"a":1}' % k for k in reversed(range(8))) + b"}"
together = threading.Barrier(6)
def decode():
    for kind in kinds:
        together.wait()
        decoded(text, kind)
threads = [threading.Thread(target=decode) for _ in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def test_threads_may_decode_a_kind_of_message_for_the_first_time_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=False)  # noqa: S603 - our own
    assert (0, b"") == (done.returncode, done.stderr)
