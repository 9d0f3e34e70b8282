"""A Debian machine with systemd and control groups of version 2, built, booted, and the project tried in it.

Runs in the machine's own Python, without the project's environment. What is done inside is in `inside`.
"""

import argparse
import hashlib
import io
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
PLACE = "srv/arena"
"""Of the clone, inside."""
MIRROR = "http://deb.debian.org/debian"
PROGRAMS = {"mmdebstrap": "mmdebstrap", "mke2fs": "e2fsprogs"}
"""With the package of each."""
QEMU = {"qemu-system-x86_64": "qemu-system-x86"}
USER_MODE = {"linux.uml": "user-mode-linux", "gcc": "gcc"}
SLOW_CLOCK = Path(__file__).with_name("slow_clock.c")
PACKAGES = (
    "systemd-sysv dbus dbus-user-session libpam-systemd linux-image-amd64 initramfs-tools python3 python3-venv "
    "python3-pip git bubblewrap libseccomp2 gcc libc6-dev sudo procps ca-certificates"
)
MODULES = "virtio_pci\nvirtio_blk\next4\n"
"""Of the kernel, for the initial file system: one with all modules takes an emulated machine long to unpack."""
DISK = "8G"
MEMORY_MB = 4096
CORES = 2
PATIENCE = "systemd.default_device_timeout_sec=1200 systemd.default_timeout_start_sec=1200"
"""Of systemd: on a busy machine an emulated one may take longer than its own 90 s to find a serial line."""
FIRST_SIGN_SECONDS = 120
"""Within which a machine with KVM shows that it has booted; else it is emulated."""
MOST_SECONDS = 4 * 3600
AUTOLOGIN = """[Service]
ExecStart=
ExecStart=-/sbin/agetty --autologin {user} --keep-baud 115200 - vt100
"""
PROFILE = """[ "$(tty)" = {terminal} ] && [ ! -e "$HOME/.tried" ] && touch "$HOME/.tried" &&
    cd /srv/arena && python3 -m tests.machine.inside {user} && exit
"""
MAKE_ENVIRONMENT = """set -e
mount -t proc proc {tree}/proc
mount --bind /dev {tree}/dev
exec chroot {tree} env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root PIP_ROOT_USER_ACTION=ignore {variables} \
    /srv/arena/scripts/environment
"""
UNPACKS = f"""[Unit]
Before=systemd-user-sessions.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'tar -xf /dev/[vu]*db -C /{PLACE} && chown -R alice: /{PLACE}'

[Install]
WantedBy=multi-user.target
"""
"""A unit of systemd's that brings the clone in, which is the second disk, before anybody logs in."""
CLONE = "clone.tar"
ORDERS = "try-vm.json"
KERNEL = ("vmlinuz", "initrd.img")
SERIAL = ("console-1", "console-2", "report")
"""The files that the machine's serial lines are written to."""
LINES = {"alice": "ttyS0", "root": "ttyS1"}
"""Where each user logs in; the console is where the first does, the other logs in once that one is done."""
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
"""Of this machine, which may trust a package index that Debian does not know."""
CERTIFICATES_INSIDE = "root/certificates.crt"
USERS = {"user": ["alice"], "root": ["root"], "both": ["alice", "root"]}


def main() -> int:
    """Build, boot, and print what came out."""
    parser = argparse.ArgumentParser(
        prog="scripts/try-vm",
        description="Build and boot a Debian machine with systemd and control groups of version 2, and try the "
        "project in it: doctor in every place that it may be started from, a match, tests, kill -9. Run it as "
        "root. The exit code is 1 if a step did not end as it should.",
    )
    parser.add_argument("--release", choices=["bookworm", "trixie"], default="bookworm", help="of Debian")
    parser.add_argument("--as", dest="users", choices=list(USERS), default="both", help="who tries it")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep packages, disk and output here; the next run is quicker"
    )
    parser.add_argument("--emulate", action="store_true", help="do not use KVM: five to ten times slower")
    parser.add_argument(
        "--user-mode",
        action="store_true",
        help="boot User Mode Linux, a kernel as a process: this is far quicker than to emulate. The kernel is "
        "that of this machine's Debian, with one core and without Landlock",
    )
    parser.add_argument(
        "--slower",
        type=int,
        default=1,
        metavar="TIMES",
        help="with --user-mode: clocks inside run so many times slower. Where other programs leave a tenth of a "
        "core, 10 makes it look like a whole one",
    )
    parser.add_argument(
        "--only",
        metavar="WORD",
        action="append",
        default=[],
        help="only the steps whose names have this in them; given several times: in this order",
    )
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="run this in the clone instead of the steps")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # The disk's folder and the machine go then, too.
    programs = PROGRAMS | (USER_MODE if given.user_mode else QEMU)
    lacks = [package for program, package in programs.items() if shutil.which(program) is None]
    if lacks or os.geteuid() != 0:
        needs = f"apt install {' '.join(lacks)}" if lacks else "start it as root"
        print(f"scripts/try-vm: to build a machine, {needs}", file=sys.stderr)
        return 3
    orders = {
        "users": USERS[given.users],
        "only": given.only,
        "command": shlex.join(given.command),
        "slow": given.emulate or given.user_mode,
    }
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
        return _try(given, orders, given.keep.resolve())
    with tempfile.TemporaryDirectory(prefix="try-vm.", dir="/var/tmp") as folder:
        return _try(given, orders, Path(folder))


def _try(given: argparse.Namespace, orders: dict[str, Any], folder: Path) -> int:
    begun = time.monotonic()
    lock = (PROJECT / "requirements.lock").read_bytes()
    made_from = (PACKAGES, MODULES, UNPACKS, AUTOLOGIN, PROFILE, DISK)
    disk = folder / f"{given.release}-{_hash(lock, *map(str.encode, made_from))}.img"
    if not disk.exists():
        _make_disk(_base(given.release, folder), disk)
    (folder / CLONE).write_bytes(_clone(orders))
    _say(f"built in {time.monotonic() - begun:.0f} s")
    begun = time.monotonic()
    console = LINES[orders["users"][0]]
    reports = (
        _boot_user_mode(disk, console, given.slower) if given.user_mode else _boot(disk, console, given.emulate)
    )
    _say(f"ran for {time.monotonic() - begun:.0f} s; all output is in {folder}/output.txt")
    return show(reports, folder)


def _hash(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def _say(line: str) -> None:
    print(f"scripts/try-vm: {line}", file=sys.stderr, flush=True)


def _base(release: str, folder: Path) -> Path:
    """Return an archive of Debian with what the project needs; made once for each list of packages."""
    base = folder / f"{release}-{_hash(PACKAGES.encode(), MODULES.encode())}.tar"
    if base.exists():
        return base
    _say(f"fetching and unpacking Debian {release}")
    unfinished = folder / f"unfinished-{release}.tar"
    few_modules = (
        'mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/modules.d"; '
        'echo MODULES=list > "$1/etc/initramfs-tools/conf.d/try-vm"; '
        f'printf {shlex.quote(MODULES)} > "$1/usr/share/initramfs-tools/modules.d/try-vm"'
    )
    command = ["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", f"--include={PACKAGES}"]
    command += [f"--setup-hook={few_modules}", "--dpkgopt=force-unsafe-io"]
    command += [f"--dpkgopt=path-exclude=/usr/share/{left_out}/*" for left_out in ("doc", "man", "locale")]
    subprocess.run([*command, release, str(unfinished), MIRROR], check=True)
    return unfinished.rename(base)


def _make_disk(base: Path, disk: Path) -> None:
    """Make the machine's disk, with the locked packages; beside it kernel and initial file system."""
    _say("making the disk, with the locked packages")
    with tempfile.TemporaryDirectory(prefix="tree.", dir=disk.parent) as place:
        tree = Path(place)
        tree.chmod(0o755)
        subprocess.run(["tar", "-xpf", str(base), "--numeric-owner", "-C", str(tree)], check=True)
        _make_environment(tree)
        _set_up(tree)
        for kind in KERNEL:
            newest = max((tree / "boot").glob(f"{kind}-*"))
            shutil.copyfile(newest, disk.with_suffix(f".{kind}"))
        unfinished = disk.with_name("unfinished.img")
        unfinished.unlink(missing_ok=True)
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", str(tree), str(unfinished), DISK], check=True)
        unfinished.rename(disk)


def _make_environment(tree: Path) -> None:
    """Install the locked packages for the Python inside; nothing there needs the network later."""
    place = tree / PLACE
    with tarfile.open(fileobj=io.BytesIO(_clone({}))) as clone:
        clone.extractall(place, filter="tar")
    resolver = tree / "etc/resolv.conf"
    shutil.copyfile("/etc/resolv.conf", resolver)
    shutil.copyfile("/etc/hosts", tree / "etc/hosts")
    certificates = tree / CERTIFICATES_INSIDE
    shutil.copyfile(CERTIFICATES, certificates)
    known = {"PIP_CERT": f"/{CERTIFICATES_INSIDE}", "PIP_NO_CACHE_DIR": "1"}
    passed = ("PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT", "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")
    known |= {name: os.environ[name] for name in passed if name in os.environ}
    variables = shlex.join(f"{name}={value}" for name, value in known.items())
    script = MAKE_ENVIRONMENT.format(tree=shlex.quote(str(tree)), variables=variables)
    # In namespaces of its own, whose mounts and processes are gone with it.
    subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script], check=True)
    certificates.unlink()
    resolver.unlink()
    for file in place.iterdir():
        if not file.name.startswith(".venv"):
            # The clone of each run comes by a disk of its own.
            shutil.rmtree(file) if file.is_dir() and not file.is_symlink() else file.unlink()


def _clone(orders: dict[str, Any]) -> bytes:
    """Return an archive of what git knows or would take, as it is now, and of the orders."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name in sorted(set(names.split("\0")) - {""}):
            if (PROJECT / name).is_symlink() or (PROJECT / name).exists():
                archive.add(PROJECT / name, name, recursive=False)
        written = json.dumps(orders).encode()
        member = tarfile.TarInfo(ORDERS)
        member.size = len(written)
        archive.addfile(member, io.BytesIO(written))
    return content.getvalue()


def _set_up(tree: Path) -> None:
    """Two users, who log in by themselves, each at a serial line; a third may be used by sudo."""
    _write(tree / "etc/hostname", "try-vm\n")
    _write(tree / "etc/hosts", "127.0.0.1 localhost try-vm\n::1 localhost\n")
    _write(tree / "etc/machine-id", hashlib.md5(b"try-vm", usedforsecurity=False).hexdigest() + "\n")
    _write(tree / "etc/sudoers.d/alice", "alice ALL=(ALL) NOPASSWD: ALL\n")
    _write(tree / "etc/systemd/system/try-vm.service", UNPACKS)
    for user in ("alice", "bob"):
        add = ["chroot", str(tree), "useradd", "--create-home", "--shell", "/bin/bash", user]
        subprocess.run(add, check=True)
    for command in (["usermod", "--append", "--groups", "dialout", "alice"], ["systemctl", "enable", "try-vm"]):
        subprocess.run(["chroot", str(tree), *command], check=True)
    for user, line in LINES.items():
        drop_in = tree / f"etc/systemd/system/serial-getty@{line}.service.d/autologin.conf"
        _write(drop_in, AUTOLOGIN.format(user=user))
        home = "root" if user == "root" else f"home/{user}"
        _write(tree / home / ".bash_profile", PROFILE.format(terminal=f"/dev/{line}", user=user))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _boot(disk: Path, console: str, emulate: bool) -> list[dict[str, Any]]:
    """Boot the machine, by KVM where that works, and return its reports when it has switched itself off."""
    if not emulate and os.access("/dev/kvm", os.R_OK | os.W_OK):
        reports = _run_machine(_qemu(disk, console, "-accel", "kvm", "-cpu", "host"), disk, FIRST_SIGN_SECONDS)
        if reports:
            return reports
        _say("KVM does not boot it")
    _say("the machine is emulated: believe no timing")
    return _run_machine(_qemu(disk, console, "-accel", "tcg", "-cpu", "Nehalem"), disk, MOST_SECONDS)


def _qemu(disk: Path, console: str, *processor: str) -> list[str]:
    folder = disk.parent
    return [
        *("qemu-system-x86_64", *processor, "-m", str(MEMORY_MB), "-smp", str(CORES)),
        *("-nodefaults", "-no-reboot", "-display", "none"),
        *("-kernel", str(disk.with_suffix(".vmlinuz")), "-initrd", str(disk.with_suffix(".initrd.img"))),
        *("-append", f"root=/dev/vda rw console={console} panic=-1 {PATIENCE}"),
        # What is written to the first goes into a file that is gone with the machine.
        *("-drive", f"file={disk},format=raw,if=virtio,cache=unsafe,snapshot=on"),
        *("-drive", f"file={folder / CLONE},format=raw,if=virtio,readonly=on"),
        *(word for file in SERIAL for word in ("-serial", f"file:{folder / file}")),
    ]


def _boot_user_mode(disk: Path, console: str, slower: int) -> list[dict[str, Any]]:
    """Boot User Mode Linux, and return its reports when it has switched itself off."""
    folder = disk.parent
    written = folder / "written"
    """What is written to the first disk."""
    written.unlink(missing_ok=True)
    clock = make_slow_clock(folder)
    files = {number: str(folder / file) for number, file in enumerate(SERIAL, 7)}
    # A serial line must be something that can be waited for: no file.
    opened = " ".join(f"{number}> >(exec cat > {shlex.quote(file)})" for number, file in files.items())
    opened += f" 2> {shlex.quote(str(folder / 'kernel'))}"
    words = [
        *("env", f"LD_PRELOAD={clock}", f"SLOWER={slower}", "linux.uml", f"mem={MEMORY_MB}M", "con=null"),
        *(f"ubd0={written},{disk}", f"ubd1r={folder / CLONE}"),
        *(f"ssl{line}=null,fd:{number}" for line, number in enumerate(files)),
        *("root=/dev/ubda", "rw", f"console={console}", "panic=-1", *PATIENCE.split()),
    ]
    try:
        return _run_machine(["bash", "-c", f"exec {opened}; exec {shlex.join(words)}"], disk, MOST_SECONDS)
    finally:
        written.unlink(missing_ok=True)


def make_slow_clock(folder: Path) -> Path:
    """Compile what slows the clocks down; return the file to preload."""
    clock = folder / "slow_clock.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", str(clock), str(SLOW_CLOCK)], check=True)
    return clock


def _run_machine(command: list[str], disk: Path, first_sign_seconds: float) -> list[dict[str, Any]]:
    report = disk.parent / SERIAL[-1]
    report.write_text("")
    nothing = subprocess.DEVNULL
    machine = subprocess.Popen(command, stdin=nothing, stdout=nothing, start_new_session=True)
    reports: list[dict[str, Any]] = []
    begun = time.monotonic()
    try:
        for found in follow(report, machine):
            if found is not None:
                reports.append(found)
                _say(_line(found))
            waited = time.monotonic() - begun
            if waited > (MOST_SECONDS if reports else first_sign_seconds):
                break
    finally:
        with suppress(ProcessLookupError):
            os.killpg(machine.pid, signal.SIGKILL)
        machine.wait()
    return reports


def follow(report: Path, machine: "subprocess.Popen[bytes]") -> Iterator[dict[str, Any] | None]:
    """Yield each report as it comes, and None each second, until the machine is off."""
    with report.open(encoding="utf-8", errors="replace") as lines:
        text = io.StringIO()
        is_over = False
        while not is_over:
            is_over = machine.poll() is not None
            while chunk := lines.readline():
                text.write(chunk)
                if chunk.endswith("\n"):
                    yield json.loads(text.getvalue())
                    text = io.StringIO()
            yield None
            if not is_over:
                time.sleep(1)


def _line(report: dict[str, Any]) -> str:
    if "machine" in report:
        return f"{report['user']} on {report['machine']}"
    if "end" in report:
        return "the machine switches itself off"
    return f"{report['seconds']:6.0f} s  exit code {report['code']:3}  {report['user']}: {report['step']}"


def show(reports: list[dict[str, Any]], folder: Path) -> int:
    """Write all output into a file, and print a table of the steps; return the exit code."""
    steps = [report for report in reports if "step" in report]
    with (folder / "output.txt").open("w", encoding="utf-8") as output:
        for step in steps:
            output.write(f"==== {step['user']}: {step['step']}\n$ {step['command']}\n{step['output']}\n")
    for report in reports:
        if "machine" in report:
            print(_line(report))
    rows = [("who", "step", "exit code", "seconds", "as it should", "printed last")]
    for step in steps:
        printed = [line for line in step["output"].splitlines() if line.strip()]
        good = "yes" if step["good"] else "NO"
        last = printed[-1].strip() if printed else ""
        rows.append((step["user"], step["step"], str(step["code"]), f"{step['seconds']:.0f}", good, last))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)))
    was_finished = any("end" in report for report in reports)
    if not was_finished:
        _say(f"the machine did not get to its end: see {folder}/console-1")
    return 0 if was_finished and all(step["good"] for step in steps) else 1


if __name__ == "__main__":
    sys.exit(main())
