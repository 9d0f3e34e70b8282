"""What bots do every day works behind the filter: libraries, processes of their own, other languages."""

import json
import shutil
from pathlib import Path

import pytest

from tests.real_wire.sandbox.lab import How, Lab

pytestmark = pytest.mark.usefixtures("all_walls")
ROOM = "memory_mb = 2048\naddress_space_mb = 65536\nprocesses = 256\nscratch_mb = 64"

PYTHON = {
    "processes that talk": """
import json, multiprocessing, sys

def double(queue, number):
    queue.put(2 * number)

if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=double, args=(queue, 21))
    process.start()
    got = [queue.get()]
    process.join()
    with multiprocessing.Pool(2) as pool:
        got += pool.map(abs, [-1, -2])
    with multiprocessing.Manager() as manager:
        kept = manager.dict(seat=1)
        got.append(kept["seat"])
    print(json.dumps(got == [42, 1, 2, 1]))
""",
    "programs, threads and files": """
import json, subprocess, tempfile, threading
said = subprocess.run(["sort", "-r"], input=b"a\\nb\\n", capture_output=True, check=True).stdout
with tempfile.NamedTemporaryFile() as file:
    file.write(b"x" * 1_000_000)
    file.flush()
    copied = subprocess.run(["cat", file.name], capture_output=True, check=True).stdout
done = []
threads = [threading.Thread(target=done.append, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps([said, len(copied), sorted(done)] == [b"b\\na\\n", 1_000_000, [0, 1, 2, 3]]))
""",
    "asyncio with programs and sockets": """
import asyncio, json, os, subprocess

async def main():
    cat = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    said, _ = await cat.communicate(b"x" * 1_000_000)
    came = asyncio.get_running_loop().create_future()

    async def serve(reader, writer):
        came.set_result(len(await reader.read()))
        writer.close()

    path = os.environ["TMPDIR"] + "/own"
    await asyncio.start_unix_server(serve, path)
    _, writer = await asyncio.open_unix_connection(path)
    writer.write(b"x" * 3_000_000)
    await writer.drain()
    writer.close()
    print(json.dumps([len(said), await came] == [1_000_000, 3_000_000]))

asyncio.run(main())
""",
    "arrays": """
import json
try:
    import numpy
except ImportError:
    print(json.dumps(True))
else:
    numbers = numpy.random.default_rng(0).random((500, 500))
    print(json.dumps(bool(numpy.allclose(numbers @ numpy.linalg.inv(numbers), numpy.eye(500)))))
""",
    "memory mapped and given back": """
import json, mmap, os
with open(os.__file__, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
    pages.madvise(mmap.MADV_SEQUENTIAL)
    begins = pages[:3]
with mmap.mmap(-1, 1 << 24, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
    pages[:1] = b"x"
    for advice in (mmap.MADV_HUGEPAGE, mmap.MADV_DONTFORK, mmap.MADV_DONTNEED):
        pages.madvise(advice)
    print(json.dumps([begins, pages[:1]] == [b'r""', b"\\0"]))
""",
    "the zoo of Python's data": """
import bz2, ctypes, decimal, json, lzma, os, shutil, sqlite3, ssl, zipfile, zlib
os.chdir(os.environ["TMPDIR"])
with zipfile.ZipFile("a.zip", "w") as archive:
    archive.writestr("a", b"1" * 1000)
shutil.copyfile("a.zip", "b.zip")
shutil.make_archive("c", "gztar", ".", "b.zip")
database = sqlite3.connect(":memory:")
database.execute("create table kept (move)")
print(json.dumps([os.path.getsize("b.zip") > 0, os.path.getsize("c.tar.gz") > 0] == [True, True]))
""",
}
NODE = """
const {fork, spawnSync} = require('child_process'), net = require('net'), {Worker} = require('worker_threads')
if (process.argv[2] === 'child') {
  process.on('message', said => { process.send(said.length); process.disconnect() })
} else {
  const told = {}
  const tell = (name, what) => {
    told[name] = what
    if (Object.keys(told).length === 4) console.log(JSON.stringify(told))
  }
  const child = fork(__filename, ['child'])
  child.on('message', length => tell('child', length))
  child.send('x'.repeat(500000))
  tell('program', spawnSync('echo', ['hi']).stdout.toString())
  new Worker("require('worker_threads').parentPort.postMessage(5)", {eval: true})
    .on('message', number => tell('thread', number))
  const path = process.env.TMPDIR + '/own'
  let came = 0
  const server = net.createServer(socket => {
    socket.on('data', data => came += data.length)
    socket.on('end', () => { tell('socket', came); server.close() })
  }).listen(path, () => {
    const socket = net.connect(path)
    socket.cork()
    for (let part = 0; part < 50; part++) socket.write(Buffer.alloc(50000))
    socket.uncork()
    socket.end()
  })
}
"""
TOLD_BY_NODE = {"program": "hi\n", "thread": 5, "socket": 2_500_000, "child": 500_000}


@pytest.mark.parametrize("start", ["strict", "warm"])
@pytest.mark.parametrize("program", PYTHON.values(), ids=PYTHON)
async def test_python_has(lab: Lab, program: str, start: How) -> None:
    assert await lab.told(program, limits=ROOM, isolation=start)


async def test_nodes_children_threads_and_sockets_talk(lab: Lab) -> None:
    if shutil.which("node", path="/usr/local/bin:/usr/bin:/bin") is None:
        pytest.skip("node is not installed")
    (lab.folder / "bot.js").write_text(NODE)
    assert 0 == await lab.run(lab.bot("", limits=ROOM, command='["node", "bot.js"]')), lab.log.read_text()
    assert TOLD_BY_NODE == json.loads(lab.log.read_text().splitlines()[-1])


TOOLS = """
set -e
mkdir "$TMPDIR/own"
cd "$TMPDIR/own"
printf '#include <stdio.h>\\nint main(void) { puts("built"); return 0; }\\n' > a.c
gcc -O1 -o a a.c
./a
tar czf a.tgz a.c
mkdir out
tar xzf a.tgz -C out
cp out/a.c b.c
git init -q .
git -c user.name=b -c user.email=b@b add a.c
git -c user.name=b -c user.email=b@b commit -qm b
git log --format=%s
printf 'all:\\n\\t@cmp a.c b.c && echo same\\n' > Makefile
make -s
"""


async def test_a_compiler_an_archiver_and_git_work(lab: Lab) -> None:
    if any(not Path("/usr/bin", tool).exists() for tool in ("gcc", "tar", "git", "make")):
        pytest.skip("no compiler, tar, git or make is installed")
    (lab.folder / "bot.sh").write_text(TOOLS)
    assert 0 == await lab.run(lab.bot("", limits=ROOM, command='["sh", "bot.sh"]')), lab.log.read_text()
    assert ["built", "b", "same"] == lab.log.read_text().splitlines()[-3:]
