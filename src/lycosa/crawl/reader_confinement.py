"""A reader has no business with the network, other processes, or files that it could change; here it loses the means.

Linux filters system calls (seccomp): a reader that was taken over by a page gets "not permitted" for sockets, programs,
signals to others, and whatever changes files. It may still read files, allocate memory, and talk to the crawl over the
socket that it was given. Where the system has no such filter, readers work without.
"""

from __future__ import annotations

import ctypes
import errno
import io
import os
import platform
import struct
import sys
import tempfile
from typing import Any

PR_SET_NO_NEW_PRIVS = 38
SET_MODE_FILTER = 1
ALL_THREADS = 1
"""SECCOMP_FILTER_FLAG_TSYNC: libraries may have started threads already."""
ALLOW = 0x7FFF_0000
REFUSE = 0x0005_0000 | errno.EPERM
UNKNOWN = 0x0005_0000 | errno.ENOSYS
"""The C library then uses an older call, whose arguments can be seen."""

_MACHINES = {"x86_64": (0, 0xC000_003E, 317), "aarch64": (1, 0xC000_00B7, 277)}
"""Column in the table below, AUDIT_ARCH, and the number of seccomp itself."""
_OTHER_ABI = 0x4000_0000
"""From this number on, x86-64 has the same calls once more (x32)."""
NONE = -1
_REFUSED = {
    # name: number on x86-64 and on aarch64
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242),
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, NONE), "vfork": (58, NONE), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "creat": (85, NONE), "truncate": (76, 45), "rename": (82, NONE), "renameat": (264, 38), "renameat2": (316, 276),
    "mkdir": (83, NONE), "mkdirat": (258, 34), "rmdir": (84, NONE), "link": (86, NONE), "linkat": (265, 37),
    "unlink": (87, NONE), "unlinkat": (263, 35), "symlink": (88, NONE), "symlinkat": (266, 36), "mknod": (133, NONE),
    "mknodat": (259, 33), "chmod": (90, NONE), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, NONE), "fchown": (93, 55), "lchown": (94, NONE), "fchownat": (260, 54), "utimensat": (280, 88),
    "mount": (165, 40), "umount2": (166, 39), "setns": (308, 268), "unshare": (272, 97), "bpf": (321, 280),
    "perf_event_open": (298, 241), "io_uring_setup": (425, 425), "userfaultfd": (323, 282), "keyctl": (250, 219),
    "add_key": (248, 217), "request_key": (249, 218),
}  # fmt: skip
_UNKNOWN = {"clone3": (435, 435), "openat2": (437, 437)}
_OPENING = {"open": ((2, NONE), 1), "openat": ((257, 56), 2)}
"""With the position of the argument that says how."""
_SIGNALS = {"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131)}
_CLONE = (56, 220)
_THREAD = 0x0001_0000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def confine() -> str:
    """Take the means from this process, all its threads, and whatever it starts; why that is not possible, if so."""
    # Libraries unpack their data into files that nobody else sees; in memory it works without writing, too.
    tempfile.TemporaryFile = _in_memory  # type: ignore[assignment]
    if sys.platform != "linux" or platform.machine() not in _MACHINES or sys.byteorder != "little":
        return f"no filter for {sys.platform} on {platform.machine()}"
    column, architecture, seccomp = _MACHINES[platform.machine()]
    instructions = _filter(column, architecture)
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(instructions) // 8, instructions)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return f"no_new_privs: {os.strerror(ctypes.get_errno())}"
    if libc.syscall(seccomp, SET_MODE_FILTER, ALL_THREADS, ctypes.byref(program)):
        return f"seccomp: {os.strerror(ctypes.get_errno())}"
    return ""


def _in_memory(*_: Any, **__: Any) -> io.BytesIO:
    return io.BytesIO()


def _filter(column: int, architecture: int) -> bytes:
    """The program that the kernel runs at each call. Jumps count the instructions that are skipped."""
    program = [
        _do(_LOAD, _ARCHITECTURE), _do(_EQUAL, architecture, yes=1), _do(_RETURN, REFUSE),
        _do(_LOAD, _NUMBER), _do(_AT_LEAST, _OTHER_ABI, no=1), _do(_RETURN, REFUSE),
    ]  # fmt: skip
    for table, verdict in ((_REFUSED, REFUSE), (_UNKNOWN, UNKNOWN)):
        for numbers in table.values():
            if numbers[column] != NONE:
                program += [_do(_EQUAL, numbers[column], no=1), _do(_RETURN, verdict)]
    for numbers, place in _OPENING.values():
        if numbers[column] != NONE:
            program += _if(numbers[column], place, _do(_ANY_BIT, _WRITING, no=1), yes=REFUSE, no=ALLOW)
    program += _if(_CLONE[column], 0, _do(_ANY_BIT, _THREAD, no=1), yes=ALLOW, no=REFUSE)
    for numbers in _SIGNALS.values():
        program += _if(numbers[column], 0, _do(_EQUAL, os.getpid(), no=1), yes=ALLOW, no=REFUSE)
    return b"".join([*program, _do(_RETURN, ALLOW)])


def _if(number: int, place: int, test: bytes, *, yes: int, no: int) -> list[bytes]:
    """For one call: look at an argument, and decide."""
    return [
        _do(_EQUAL, number, no=4), _do(_LOAD, _ARGUMENTS + 8 * place), test, _do(_RETURN, yes), _do(_RETURN, no),
    ]  # fmt: skip


def _do(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
