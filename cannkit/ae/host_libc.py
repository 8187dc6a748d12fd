"""The C library as the child calls it: mmap, dlopen, dlsym, and functions of foreign code. AE-1205, AE-704.

Spec 05. The only ctypes import of cannkit: only the child that runs foreign code loads it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
from collections.abc import Callable, Iterator
from ctypes import CFUNCTYPE, POINTER, Structure, byref
from ctypes import c_char_p as text
from ctypes import c_int as integer
from ctypes import c_size_t as size_t
from ctypes import c_uint32 as u32
from ctypes import c_uint64 as u64
from ctypes import c_void_p as pointer
from typing import Any, Final

from cannkit.ae.host_wire import ADDRESS, BLOCK, PARAM

READ, WRITE = 1, 2
PRIVATE_ANONYMOUS: Final = 0x22
NORESERVE: Final = 0x4000
FIXED_NOREPLACE: Final = 0x100000  # a hint only before Linux 4.17
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
RTLD_DI_LINKMAP: Final = 2
UNBUFFERED: Final = 2  # _IONBF
FAILED: Final = (1 << 8 * ctypes.sizeof(pointer)) - 1


class LinkMap(Structure):
    """struct link_map, the part that is public."""


LinkMap._fields_ = [
    ("l_addr", pointer),
    ("l_name", text),
    ("l_ld", pointer),
    ("l_next", POINTER(LinkMap)),
    ("l_prev", POINTER(LinkMap)),
]


class DlInfo(Structure):
    """Dl_info of dladdr."""

    _fields_ = (("name", text), ("base", pointer), ("symbol", text), ("address", pointer))


class BlkDimInfo(Structure):
    """AE-101: what a block function gets."""

    _fields_ = (("blockNum", u32), ("blockId", u32))


def _bind(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    function = getattr(_libc, name)
    function.restype = result
    function.argtypes = arguments
    return function  # type: ignore[no-any-return]


_libc: Final = ctypes.CDLL(None, use_errno=True)
_mmap = _bind("mmap", pointer, pointer, size_t, integer, integer, integer, ctypes.c_long)
_mprotect = _bind("mprotect", integer, pointer, size_t, integer)
_munmap = _bind("munmap", integer, pointer, size_t)
_prctl = _bind(
    "prctl", integer, integer, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong
)
_fflush = _bind("fflush", integer, pointer)
_setvbuf = _bind("setvbuf", integer, pointer, pointer, integer, size_t)
_dlopen = _bind("dlopen", pointer, text, integer)
_dlclose = _bind("dlclose", integer, pointer)
_dlsym = _bind("dlsym", pointer, pointer, text)
_dlerror = _bind("dlerror", text)
_dladdr = _bind("dladdr", integer, pointer, POINTER(DlInfo))
_dlinfo = _bind("dlinfo", integer, pointer, integer, pointer)

_FUNCTIONS: Final = {  # AE-704
    BLOCK: CFUNCTYPE(u32, pointer, POINTER(BlkDimInfo)),
    ADDRESS: CFUNCTYPE(u32, u64),
    PARAM: CFUNCTYPE(u32, pointer),
}


def reserve(start: int, size: int) -> str:
    """Take address space that nothing else has, without access to it; why not, or nothing."""
    flags = PRIVATE_ANONYMOUS | NORESERVE | FIXED_NOREPLACE
    got = _mmap(start, size, 0, flags, -1, 0)
    if got == start:
        return ""
    if got not in (FAILED, None):
        _munmap(got, size)
        return "the address is taken"
    code = ctypes.get_errno()
    if code == errno.EEXIST:
        return "the address is taken"
    if code == errno.ENOMEM:
        return "no process has such an address, or the memory limit is reached"
    return os.strerror(code)


def protect(start: int, size: int, access: int) -> bool:
    """Change what may be done with pages; whether it was possible."""
    return bool(_mprotect(start, size, access) == 0)


def unmap(start: int, size: int) -> None:
    """Give pages back."""
    _munmap(start, size)


def write(address: int, data: bytes) -> None:
    """Copy bytes to an address."""
    ctypes.memmove(address, data, len(data))


def read(address: int, size: int) -> bytes:
    """Copy bytes from an address."""
    return ctypes.string_at(address, size)


def restrict() -> None:
    """Die with the parent, and gain no rights by what is executed."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def print_at_once() -> None:
    """What foreign code prints is kept when it crashes, and comes in its order with what it logs."""
    _setvbuf(pointer.in_dll(_libc, "stdout"), None, UNBUFFERED, 0)


def flush() -> None:
    """Write out what foreign code has printed."""
    _fflush(None)


def load(path: bytes) -> tuple[int, bytes]:
    """AE-608: a handle, or 0 and why."""
    handle = _dlopen(path, os.RTLD_LAZY | os.RTLD_GLOBAL)
    return (handle, b"") if handle else (0, _dlerror() or b"")


def unload(handle: int) -> None:
    """AE-610."""
    _dlclose(handle)


def look_up(handle: int | None, name: bytes) -> int:
    """AE-701, AE-702: an address, 0 for none; without a handle of any library (RTLD_DEFAULT)."""
    return _dlsym(handle, name) or 0


def owner(address: int) -> bytes:
    """The object that has an address, as the linker calls it."""
    found = DlInfo()
    return found.name or b"" if _dladdr(address, byref(found)) else b""


def name_of(handle: int) -> bytes:
    """What the linker calls a library that is loaded."""
    return _link_map(handle).l_name or b""


def loaded() -> Iterator[bytes]:
    """All objects of the process; the program itself has no name."""
    each = _link_map(_dlopen(None, os.RTLD_LAZY))
    while True:
        yield each.l_name or b""
        if not each.l_next:
            return
        each = each.l_next.contents


def _link_map(handle: int) -> LinkMap:
    found = POINTER(LinkMap)()
    _dlinfo(handle, RTLD_DI_LINKMAP, byref(found))
    return found.contents


def call(address: int, signature: int, argument: int, block: tuple[int, int]) -> int:
    """AE-704: call a function; `block` is (id, number of blocks)."""
    function = _FUNCTIONS[signature](address)
    if signature == BLOCK:
        return int(function(argument, byref(BlkDimInfo(block[1], block[0]))))
    return int(function(argument))
