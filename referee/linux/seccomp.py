"""The system calls that a sandboxed bot may make: an allow-list, as a program for the kernel's seccomp.

libseccomp makes it: it knows the numbers of every machine, and closes the doors of foreign numbers (32-bit
calls, x32). It is called directly, because `pyseccomp` runs two programs to find it at each import. What is not
listed does not exist for a bot (ENOSYS), so that libraries take the way they take on an older kernel. Not
listed, on purpose: io_uring, userfaultfd, bpf, keys, perf events, ptrace and the memory of others, mounts and
namespaces, memfd and System V memory (both outside a process's own limits), clocks that can be set, `sync` (it
waits for the whole machine's disks), modules, reboot. Nor what tells of others, or talks to them, through the
read-only files that all bots share: locks, leases and watches (inotify, fanotify), and what asks for or steers
what the kernel keeps of them in memory (`mincore`, `fadvise64`, `preadv2` and the like). Nor `sendmsg`: it
passes descriptors on, and who receives one has to free what is behind it.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import socket
from contextlib import suppress
from functools import cache
from typing import Any

LIBRARY = "libseccomp.so.2"
"""libseccomp 2, as the dynamic linker calls it: the C interface has stayed the same since 2012."""
ALLOW, ERROR = 0x7FFF_0000, 0x0005_0000
"""Actions of libseccomp's; to `ERROR` the number of the error is added."""
NOT_EQUAL, EQUAL, MASKED_EQUAL = 1, 4, 7
"""How libseccomp compares an argument; the last with two numbers, a mask and a value."""
OPTIMIZE, OPTIMIZE_AS_TREE = 8, 2
"""An attribute of a filter of libseccomp's, and its value for a tree."""

WIPE_ON_FORK, KEEP_ON_FORK, GUARD, NO_GUARD = 18, 19, 102, 103
"""Of `madvise`, what Python has no names for."""
ALLOWED = frozenset(
    # Files, by path.
    "open openat creat access faccessat faccessat2 stat lstat newfstatat statx statfs readlink "
    "readlinkat mknod mknodat getcwd chdir rename renameat renameat2 mkdir mkdirat rmdir unlink unlinkat link "
    "linkat symlink symlinkat chmod fchmodat fchmodat2 chown lchown fchownat utime utimes utimensat futimesat "
    "truncate umask getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr "
    # Files, by descriptor.
    "read write readv writev pread64 pwrite64 preadv pwritev close close_range lseek fstat "
    "fstatfs getdents getdents64 fchdir fchmod fchown ftruncate fallocate fsync fdatasync "
    "dup dup2 dup3 pipe pipe2 splice tee sendfile copy_file_range "
    # Waiting.
    "select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 "
    "eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime nanosleep "
    "clock_nanosleep pause alarm getitimer setitimer timer_create timer_settime timer_gettime timer_getoverrun "
    "timer_delete "
    # Memory.
    "brk mmap munmap mremap mprotect msync membarrier pkey_alloc pkey_mprotect pkey_free "
    # Processes and threads.
    "fork vfork execve exit exit_group wait4 waitid kill tkill tgkill getpid getppid gettid getpgid getpgrp "
    "setpgid getsid setsid set_tid_address set_robust_list get_robust_list rseq futex futex_waitv sched_yield "
    "sched_getaffinity sched_getparam sched_getscheduler "
    "sched_getattr sched_rr_get_interval sched_get_priority_max sched_get_priority_min "
    "getpriority ioprio_get arch_prctl pidfd_open pidfd_send_signal rt_sigaction "
    "rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo rt_sigsuspend rt_sigreturn "
    "sigaltstack restart_syscall getrusage times getrlimit setrlimit prlimit64 "
    # Who and where it is. With set… the sandbox gives its own rights up; a bot has none left to change.
    "getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid setresuid "
    "setresgid setgroups capget capset landlock_create_ruleset landlock_add_rule landlock_restrict_self uname "
    "sysinfo getcpu getrandom gettimeofday time clock_gettime clock_getres "
    # Its socket, and pipes of the same kind among its own processes.
    "connect bind listen accept accept4 sendto recvfrom recvmsg recvmmsg shutdown getsockname "
    "getpeername setsockopt getsockopt".split()
)
WITHOUT_EFFECT = ("setpriority", "sched_setaffinity", "sched_setparam", "sched_setscheduler", "sched_setattr")
"""Calls that succeed and do nothing. A bot could make its threads wait for a processor with them, and blame the
machine; runtimes call some of them at their start, and take a refusal badly."""
OPTIONS = (
    *(1, 2, 3, 4, 7, 8, 15, 16, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30),
    *(33, 34, 36, 37, 38, 39, 40, 41, 42, 47, 50, 51, 52, 53, 54, 55, 56, 63, 64, 65, 66),
    *(0x4155_5856, 0x5356_4D41, 0x5961_6D61),
)
"""What `prctl` may ask for: what concerns the process alone, such as its name and its death signal. Not
`PR_SCHED_CORE` (62), with which it shares a core's hyperthreads with nobody: others wait then, and it itself."""
NAMESPACES = 0x7E02_0000
"""The flags of `clone` for new namespaces. (`clone3` hides its flags from filters: it does not exist for bots.)"""
SIBLING = 0x8000
"""The flag of `clone` for a child of the caller's own parent, which is no process of the bot's."""
CONTROLS = (0x5401, 0x5402, 0x5403, 0x5404, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""What `ioctl` may do: a terminal's modes and size, bytes that wait, blocking, closing at exec. Nothing types."""
HARMLESS = (
    *(fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL),
    *(fcntl.F_GETOWN, fcntl.F_SETOWN, fcntl.F_SETPIPE_SZ, fcntl.F_GETPIPE_SZ),
    *(fcntl.F_ADD_SEALS, fcntl.F_GET_SEALS),
)
"""What `fcntl` may do: what concerns the descriptor alone, not the file behind it, which others may share."""
ADVICE = (
    *(mmap.MADV_NORMAL, mmap.MADV_RANDOM, mmap.MADV_SEQUENTIAL),
    *(mmap.MADV_DONTNEED, mmap.MADV_FREE, mmap.MADV_HUGEPAGE, mmap.MADV_NOHUGEPAGE),
    *(mmap.MADV_DONTFORK, mmap.MADV_DOFORK, mmap.MADV_DONTDUMP, mmap.MADV_DODUMP),
    *(WIPE_ON_FORK, KEEP_ON_FORK, GUARD, NO_GUARD),
)
"""What `madvise` may do: what allocators need, and what ends with the process's own tables. Nothing that drops a
file's pages from memory, or has them read before they are used; the kernel would do both for all bots."""
BY_ARGUMENT = (("ioctl", 1, CONTROLS), ("fcntl", 1, HARMLESS), ("madvise", 2, ADVICE), ("prctl", 0, OPTIONS))
"""Calls that are allowed for some values of an argument: the call, the argument's place, and these values."""
QUERY_PERSONALITY = 0xFFFF_FFFF
LOW_HALF = 0xFFFF_FFFF
"""The half of an argument that the kernel reads as an int. A filter that compares all of it can be evaded."""


class NoFilterError(Exception):
    """This machine cannot filter system calls. The text says what is missing and what helps."""


class Comparison(ctypes.Structure):
    """A condition on an argument of a call: libseccomp's `struct scmp_arg_cmp`."""

    _fields_ = (
        ("place", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


@cache
def program() -> bytes:
    """The filter, as the kernel and `bwrap --seccomp` take it.

    Raises:
        NoFilterError: libseccomp is not installed.
        OSError: libseccomp does not make it.
    """
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        missing = "libseccomp is not installed (apt install libseccomp2; dnf install libseccomp)"
        raise NoFilterError(missing) from None
    allowed = _Filter(library, ERROR + errno.ENOSYS)
    try:
        with suppress(OSError):  # Before libseccomp 2.5 there are lists only.
            # A tree, not a list: for each process the kernel tries the filter with every number that there is.
            allowed.set_attribute(OPTIMIZE, OPTIMIZE_AS_TREE)
        for name in sorted(ALLOWED):
            try:
                allowed.add(ALLOW, name)
            except OSError:
                # Not known to this libseccomp, or not on this kind of machine: then it does not exist for bots.
                continue
        for name in WITHOUT_EFFECT:
            allowed.add(ERROR, name)
        allowed.add(ALLOW, "clone", Comparison(0, MASKED_EQUAL, NAMESPACES | SIBLING, 0))
        for call in ("socket", "socketpair"):
            allowed.add(ALLOW, call, Comparison(0, EQUAL, socket.AF_UNIX))
            allowed.add(ERROR + errno.EAFNOSUPPORT, call, Comparison(0, NOT_EQUAL, socket.AF_UNIX))
        for call, place, values in BY_ARGUMENT:
            for value in values:
                allowed.add(ALLOW, call, Comparison(place, MASKED_EQUAL, LOW_HALF, value))
        for persona in (0, QUERY_PERSONALITY):
            allowed.add(ALLOW, "personality", Comparison(0, MASKED_EQUAL, LOW_HALF, persona))
        return allowed.words()
    finally:
        allowed.close()


class _Filter:
    """A filter that libseccomp holds."""

    def __init__(self, library: ctypes.CDLL, otherwise: int) -> None:
        """`otherwise`: the action for calls that no rule is about."""
        self._library = library
        library.seccomp_init.argtypes = (ctypes.c_uint32,)
        library.seccomp_init.restype = ctypes.c_void_p
        library.seccomp_release.argtypes = (ctypes.c_void_p,)
        library.seccomp_release.restype = None
        library.seccomp_attr_set.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32)
        library.seccomp_syscall_resolve_name.argtypes = (ctypes.c_char_p,)
        rule = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Comparison))
        library.seccomp_rule_add_array.argtypes = rule
        library.seccomp_export_bpf.argtypes = (ctypes.c_void_p, ctypes.c_int)
        self._filter = library.seccomp_init(otherwise)
        if self._filter is None:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    def set_attribute(self, attribute: int, value: int) -> None:
        """Set an attribute. Raises OSError: this libseccomp does not know it, or not the value."""
        self._check(self._library.seccomp_attr_set(self._filter, attribute, value), "an attribute")

    def add(self, action: int, name: str, *conditions: Comparison) -> None:
        """Add a rule for a call whose arguments meet all conditions.

        Raises:
            OSError: libseccomp does not know the call, or refuses the rule.
        """
        number = self._library.seccomp_syscall_resolve_name(name.encode())
        given = (Comparison * len(conditions))(*conditions)
        self._check(
            self._library.seccomp_rule_add_array(self._filter, action, number, len(conditions), given), name
        )

    def words(self) -> bytes:
        """Return the filter as the kernel takes it."""
        with os.fdopen(os.memfd_create("filter"), "rb", buffering=0) as file:
            self._check(self._library.seccomp_export_bpf(self._filter, file.fileno()), "the filter")
            file.seek(0)
            return file.readall()

    def close(self) -> None:
        """Give the memory back."""
        self._library.seccomp_release(self._filter)

    @staticmethod
    def _check(result: Any, what: str) -> None:
        if result < 0:
            raise OSError(-result, os.strerror(-result), what)
