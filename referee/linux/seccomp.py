"""The system calls that a sandboxed bot may make: an allow-list, as a program for the kernel's seccomp.

libseccomp compiles it: it knows the numbers of every architecture, and rejects foreign ones (32-bit calls, x32).
It is called directly, because `pyseccomp` runs two programs to find it at each import. Calls that are not listed
fail with
ENOSYS, so that libraries behave as on an older kernel. Not listed on purpose:

- io_uring, userfaultfd, bpf, keys, perf events, ptrace and the memory of other processes, mounts and namespaces,
memfd
  and System V memory (both outside a process's limits), clocks that can be set, `sync` (it waits for all disks of
  the machine), modules, reboot;
- ways to observe other bots, or to communicate with them, through the read-only files that all bots share: locks,
  leases and watches (inotify, fanotify), and calls that query or control the kernel's cache of files (`mincore`,
  `fadvise64`, `preadv2` and the like);
- `sendmsg`: it can pass descriptors, and the receiver has to free the files behind them.
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
"""The dynamic linker's name of libseccomp 2. Its C interface has not changed since 2012."""
ALLOW, ERROR = 0x7FFF_0000, 0x0005_0000
"""libseccomp's actions. Add the number of an error to `ERROR`."""
NOT_EQUAL, EQUAL, MASKED_EQUAL = 1, 4, 7
"""libseccomp's comparisons of an argument. The last one has two numbers, a mask and a value."""
OPTIMIZE, OPTIMIZE_AS_TREE = 8, 2
"""libseccomp's attribute for the form of a filter, and its value for a tree."""

WIPE_ON_FORK, KEEP_ON_FORK, GUARD, NO_GUARD = 18, 19, 102, 103
"""Values of `madvise` for which Python has no names."""
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
    # Identity. The sandbox itself drops its rights by the set… calls; a bot has none left to change.
    "getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid setresuid "
    "setresgid setgroups capget capset landlock_create_ruleset landlock_add_rule landlock_restrict_self uname "
    "sysinfo getcpu getrandom gettimeofday time clock_gettime clock_getres "
    # Its socket, and pipes of the same kind among its own processes.
    "connect bind listen accept accept4 sendto recvfrom recvmsg recvmmsg shutdown getsockname "
    "getpeername setsockopt getsockopt".split()
)
WITHOUT_EFFECT = ("setpriority", "sched_setaffinity", "sched_setparam", "sched_setscheduler", "sched_setattr")
"""Calls that succeed without effect. With them a bot could make its threads wait for a processor, and blame the
machine; but runtimes call some of them at their start, and fail if they are refused."""
OPTIONS = (
    *(1, 2, 3, 4, 7, 8, 15, 16, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30),
    *(33, 34, 36, 37, 38, 39, 40, 41, 42, 47, 50, 51, 52, 53, 54, 55, 56, 63, 64, 65, 66),
    *(0x4155_5856, 0x5356_4D41, 0x5961_6D61),
)
"""Allowed options of `prctl`: those that concern the process alone, such as its name and its death signal. Not
`PR_SCHED_CORE` (62), which reserves a core's hyperthreads: other processes would wait then, and the bot itself."""
NAMESPACES = 0x7E02_0000
"""The flags of `clone` for new namespaces. (`clone3` hides its flags from filters: it does not exist for bots.)"""
SIBLING = 0x8000
"""The flag of `clone` for a child of the caller's own parent, which is no process of the bot."""
CONTROLS = (0x5401, 0x5402, 0x5403, 0x5404, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""Allowed requests of `ioctl`: a terminal's modes and size, waiting bytes, blocking, closing at exec. None injects
input."""
HARMLESS = (
    *(fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL),
    *(fcntl.F_GETOWN, fcntl.F_SETOWN, fcntl.F_SETPIPE_SZ, fcntl.F_GETPIPE_SZ),
    *(fcntl.F_ADD_SEALS, fcntl.F_GET_SEALS),
)
"""Allowed commands of `fcntl`: those that concern the descriptor alone, not the file, which other bots may
share."""
ADVICE = (
    *(mmap.MADV_NORMAL, mmap.MADV_RANDOM, mmap.MADV_SEQUENTIAL),
    *(mmap.MADV_DONTNEED, mmap.MADV_FREE, mmap.MADV_HUGEPAGE, mmap.MADV_NOHUGEPAGE),
    *(mmap.MADV_DONTFORK, mmap.MADV_DOFORK, mmap.MADV_DONTDUMP, mmap.MADV_DODUMP),
    *(WIPE_ON_FORK, KEEP_ON_FORK, GUARD, NO_GUARD),
)
"""Allowed values of `madvise`: those that allocators need, and those that affect the process's own tables only.
None drops a file's pages from memory or reads them in advance: that would affect all bots."""
BY_ARGUMENT = (("ioctl", 1, CONTROLS), ("fcntl", 1, HARMLESS), ("madvise", 2, ADVICE), ("prctl", 0, OPTIONS))
"""Calls that are allowed for some values of an argument: the call, the argument's index, and the values."""
QUERY_PERSONALITY = 0xFFFF_FFFF
LOW_HALF = 0xFFFF_FFFF
"""Mask of the half of an argument that the kernel reads as an int. Filters that compare all bits can be evaded."""


class NoFilterError(Exception):
    """This machine cannot filter system calls. The text names the missing part and the remedy."""


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
    """Return the compiled filter, for the kernel and `bwrap --seccomp`.

    Raises:
        NoFilterError: libseccomp is not installed.
        OSError: libseccomp cannot compile it.
    """
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        missing = "libseccomp is not installed (apt install libseccomp2; dnf install libseccomp)"
        raise NoFilterError(missing) from None
    allowed = _Filter(library, ERROR + errno.ENOSYS)
    try:
        with suppress(OSError):  # Before libseccomp 2.5 there are lists only.
            # A tree, not a list: for each process the kernel runs the filter with every number.
            allowed.set_attribute(OPTIMIZE, OPTIMIZE_AS_TREE)
        for name in sorted(ALLOWED):
            try:
                allowed.add(ALLOW, name)
            except OSError:
                # Unknown to this libseccomp or architecture: then it does not exist for bots.
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
    """A filter in libseccomp's memory."""

    def __init__(self, library: ctypes.CDLL, otherwise: int) -> None:
        """Create a filter. `otherwise` is the action for calls without a rule."""
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
        """Set an attribute.

        Raises:
            OSError: this libseccomp does not know it, or not the value.
        """
        self._check(self._library.seccomp_attr_set(self._filter, attribute, value), "an attribute")

    def add(self, action: int, name: str, *conditions: Comparison) -> None:
        """Add a rule for a call whose arguments meet all conditions.

        Raises:
            OSError: libseccomp does not know the call, or refuses the rule.
        """
        number = self._library.seccomp_syscall_resolve_name(name.encode())
        array = (Comparison * len(conditions))(*conditions)
        self._check(
            self._library.seccomp_rule_add_array(self._filter, action, number, len(conditions), array), name
        )

    def words(self) -> bytes:
        """Return the compiled filter."""
        with os.fdopen(os.memfd_create("filter"), "rb", buffering=0) as file:
            self._check(self._library.seccomp_export_bpf(self._filter, file.fileno()), "the filter")
            file.seek(0)
            return file.readall()

    def close(self) -> None:
        """Free the memory of the filter."""
        self._library.seccomp_release(self._filter)

    @staticmethod
    def _check(result: Any, what: str) -> None:
        if result < 0:
            raise OSError(-result, os.strerror(-result), what)
