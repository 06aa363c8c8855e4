"""How code is run in bubblewrap: the command line, and the system calls that are refused.

Nothing of the machine is visible but /usr, the Python that runs this program, and its packages, all read-only.
"""

from __future__ import annotations

import errno
import os
import platform
import secrets
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

WORK = "/sandbox"
"""The working folder of the code."""
_SHARED_MEMORY = 16 << 20
_USERS = range(61184, 65520)
"""User ids that systemd gives to services for as long as they run: no account has one of them."""
_LINKS_OR_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_FILES = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime")
_NETWORK_FILES = ("/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/ssl", "/etc/ca-certificates")


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """An installed bubblewrap, and how it is used.

    With `by_root` the code gets a user id of its own, whose processes the kernel counts. Otherwise it runs in a user
    namespace.
    """

    path: str
    by_root: bool

    def user(self) -> int | None:
        """Returns the id of the user that the code becomes; None in a user namespace."""
        return secrets.choice(_USERS) if self.by_root else None

    def command(
        self, python: Sequence[str], *, filter: int | None, info: int, file_bytes: int, network: bool
    ) -> list[str]:
        """Returns the command line of `python` in a sandbox; `filter` and `info` are descriptors."""
        options = ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
        options += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--info-fd", str(info)]
        if not network:
            options.append("--unshare-net")
        if filter is not None:
            options += ["--seccomp", str(filter)]
        if self.by_root:
            options += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        else:
            options += ["--unshare-user", "--disable-userns", "--uid", str(_USERS[0]), "--gid", str(_USERS[0])]
        for folder, size in (("/tmp", file_bytes), (WORK, file_bytes)):
            options += ["--perms", "1777", "--size", str(size), "--tmpfs", folder]
        options += ["--proc", "/proc", "--dev", "/dev"]
        options += ["--perms", "1777", "--size", str(_SHARED_MEMORY), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
        for path in ("/usr", "/nix/store", *_FILES, *(_NETWORK_FILES if network else ()), *_python_folders()):
            options += _read_only(path)
        for path in _LINKS_OR_FOLDERS:
            options += ["--symlink", os.readlink(path), path] if os.path.islink(path) else _read_only(path)
        return [self.path, *options, "--remount-ro", "/", "--chdir", WORK, "--", *python]


def _read_only(path: str) -> Iterator[str]:
    """Yields the options that show a file or folder, if there is one, in folders that every user may enter."""
    if os.path.exists(path):
        for folder in reversed(Path(path).parents[:-1]):
            yield from ("--perms", "0755", "--dir", str(folder))
        yield from ("--ro-bind", path, path)


def _python_folders() -> list[str]:
    """Returns the folders of this Python and its packages outside /usr. One that holds the user's home is left out."""
    python = Path(sys.executable).resolve()
    folders = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, str(python.parent.parent)}
    home = Path.home()
    return sorted(
        each for each in folders if not Path(each).is_relative_to("/usr") and not home.is_relative_to(Path(each))
    )


_REFUSED: dict[str, tuple[int, int]] = {
    # Name: its number on x86-64 and on 64-bit ARM.
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "msgget": (68, 186),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "request_key": (249, 218),
    "semget": (64, 190),
    "setns": (308, 268),
    "shmget": (29, 194),
    "swapon": (167, 224),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
"""System calls that few programs need: they have been ways out of sandboxes, or take memory that no limit counts."""
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The column of the numbers, and the kernel's id of the machine."""
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_NEW_NAMESPACES = 0x7E020000
_SOCKET_FAMILIES = (1, 2, 10)
"""Unix, IPv4, IPv6. Others, such as those to the host of a virtual machine, know no network namespaces."""
_OTHER_ABI = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000


def system_call_filter() -> bytes | None:
    """Returns the program by which the kernel refuses system calls (seccomp); None on a machine without a table."""
    column, machine = _MACHINES.get(platform.machine(), (0, None))
    if machine is None:
        return None
    allow, refuse = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _FAIL | errno.EPERM)
    steps = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL)]
    steps += [(_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _OTHER_ABI), refuse]
    for numbers in _REFUSED.values():
        steps += [(_EQUAL, 0, 1, numbers[column]), refuse]
    steps += [(_EQUAL, 0, 1, _CLONE3[column]), (_RETURN, 0, 0, _FAIL | errno.ENOSYS)]  # then libraries use clone
    steps += [(_EQUAL, 0, 4, _CLONE[column]), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    steps += [(_ANY_BIT, 0, 1, _NEW_NAMESPACES), refuse, allow]
    steps += [(_EQUAL, 1, 0, _SOCKET[column]), allow, (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    for family in _SOCKET_FAMILIES:
        steps += [(_EQUAL, 0, 1, family), allow]
    steps += [(_RETURN, 0, 0, _FAIL | errno.EAFNOSUPPORT)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
