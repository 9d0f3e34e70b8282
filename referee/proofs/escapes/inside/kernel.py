"""Raw system calls by name: those without a library function, and those that a library might make differently."""

import ctypes
import os
import platform

_ARM = platform.machine() == "aarch64"
# fmt: off
BOTH_NUMBERS = {
    "mincore": (27, 232), "madvise": (28, 233), "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195),
    "shmdt": (67, 197), "clone": (56, 220), "ptrace": (101, 117), "syslog": (103, 116), "capset": (126, 91),
    "personality": (135, 92), "prctl": (157, 167), "pivot_root": (155, 41), "chroot": (161, 51),
    "settimeofday": (164, 170), "mount": (165, 40), "umount2": (166, 39), "sethostname": (170, 161),
    "readahead": (187, 213), "init_module": (175, 105), "remap_file_pages": (216, 234),
    "fadvise64": (221, 223), "clock_settime": (227, 112), "get_mempolicy": (239, 236),
    "kexec_load": (246, 104), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "inotify_add_watch": (254, 27), "unshare": (272, 97), "sync_file_range": (277, 84),
    "move_pages": (279, 239), "inotify_init1": (294, 26), "perf_event_open": (298, 241),
    "fanotify_init": (300, 262), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "clock_adjtime": (305, 266), "sendmmsg": (307, 269), "setns": (308, 268), "process_vm_readv": (310, 270),
    "finit_module": (313, 273), "memfd_create": (319, 279), "bpf": (321, 280), "userfaultfd": (323, 282),
    "preadv2": (327, 286), "io_uring_setup": (425, 425), "open_tree": (428, 428), "fsopen": (430, 430),
    "pidfd_open": (434, 434), "clone3": (435, 435), "openat2": (437, 437), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440), "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446), "memfd_secret": (447, 447), "cachestat": (451, 451),
}
"""Numbers of the system calls on x86-64 and on 64-bit ARM, keyed by name."""
# fmt: on
NUMBERS = {name: (arm if _ARM else intel) for name, (intel, arm) in BOTH_NUMBERS.items()}
KNOWN = platform.machine() in {"x86_64", "aarch64"}

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


class UnknownMachineError(Exception):
    """The numbers of this machine's system calls are unknown."""


def call(name: str, *arguments: object) -> int:
    """Make a system call. Arguments are numbers, bytes, values of ctypes, and None for a null pointer.

    Raises:
        OSError: the kernel refuses the call.
        UnknownMachineError: the machine is neither x86-64 nor 64-bit ARM.
    """
    if not KNOWN:
        raise UnknownMachineError
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    answer: int = libc.syscall(ctypes.c_long(NUMBERS[name]), *words)
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
