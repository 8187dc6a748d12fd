"""The recorded answers of the engine: their files, their small kernels, and what cannkit is asked, logged.

The original asks the path of a library twice, for the guard and to open it; cannkit asks once. A row is
compared without the second question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, Final

from cannkit.ae.caller import Found, Opened, Returned, Signature
from cannkit.ae.context import AeContext
from cannkit.ae.event import NULL, AeEvent, Argument, Segment
from cannkit.ae.scheduler import parameters
from cannkit.format.ae_status import RunMode
from cannkit.inputs.files import PathView
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.inputs.real_path import Link

LIBRARY: Final = b"\x7fELF"
PARAM: Final = 0x1240_0000_2000

Event = list[Any]


def tree(files: Iterable[list[str]]) -> MemoryTree:
    """The files of a row."""
    content: dict[str, bytes | None] = {"so": LIBRARY, "text": b"text\n", "empty": b"", "dir": None}
    return MemoryTree(
        {
            canonical(path): Link(kind.removeprefix("link:"))
            if kind.startswith("link:")
            else content[kind]
            for path, kind in files
        }
    )


def canonical(path: str) -> str:
    """The path without what mkdir takes, too: doubled slashes, dots."""
    import posixpath

    return "/" + posixpath.normpath(path).lstrip("/")


def context_of(row: Mapping[str, Any]) -> AeContext:
    """The process that a row tells of."""
    return AeContext(
        RunMode(row["mode"]),
        row["custSd"],
        row["dev"],
        row["vf"],
        row["pid"],
        {name: value for name, value in row["env"].items() if value is not None},
        row.get("modeFail", False),
        row.get("ctxFail", False),
    )


def event_of(call: Mapping[str, Any]) -> AeEvent | None:
    """The task of a call; None for a null address."""
    if call.get("addrNull"):
        return None
    kind = call["type"]
    if kind == 1:
        operate = Argument(PARAM, (Segment(PARAM, _word(call.get("opType", 0)) + bytes(104)),))
        fwk_type = None if call.get("fwkNull") else call["fwkType"]
        return AeEvent(kind, argument=operate, fwk_type=fwk_type)
    word = call.get("param")
    argument = NULL if word is None else Argument(PARAM, (Segment(PARAM, _word(word)),))
    block = call.get("blockId", 0), call.get("blockNum", 1)
    return AeEvent(kind, call["so"], call["func"], argument, *block)


def asked(log: Iterable[Event]) -> list[Event]:
    """A recorded log without the second question for the same path."""
    found: list[Event] = []
    for event in log:
        if event[0] != "realpath" or not found or event != found[-1]:
            found.append(event)
    return found


class LoggedTree:
    """A tree that tells what it was asked."""

    def __init__(self, files: PathView, log: list[Event]) -> None:
        self._files = files
        self._log = log

    def real_path(self, path: str) -> str | None:
        real = self._files.real_path(path)
        self._log.append(["realpath", path, real])
        return real

    def why_missing(self, path: str) -> str:
        return self._files.why_missing(path)

    def read(self, path: str, limit: int) -> bytes | None:
        return self._files.read(path, limit)


class SmallKernels:
    """A caller whose every library is that of the recorded rows. Changes."""

    def __init__(self, files: PathView, log: list[Event]) -> None:
        self._files = files
        self._log = log
        self._open: dict[int, str] = {}
        self._counts: dict[str, int] = {}
        self._handles = count(1)
        self._functions: dict[int, tuple[str, str]] = {}

    def open(self, path: str) -> Opened:
        try:
            is_library = self._files.read(path, 1 << 20) == LIBRARY
        except Exception:
            is_library = False
        self._log.append(["dlopen", path, int(is_library)])
        if not is_library:
            return Opened(None, "no library")
        handle = next(self._handles)
        self._open[handle] = path
        return Opened(handle)

    def close(self, library: int) -> None:
        path = self._open.pop(library)
        if path not in self._open.values():
            self._counts.pop(path, None)

    def find(self, library: int, name: str) -> Found | None:
        found = has_function(name)
        self._log.append(["dlsym", name, int(found)])
        return self._function(self._open[library], name) if found else None

    def why_missing(self, library: int | None, name: str) -> str:
        return ""

    def find_global(self, name: str) -> Found | None:
        path = next(iter(self._open.values()), None)
        found = path is not None and has_function(name)
        self._log.append(["dlsym_default", name, int(found)])
        return self._function(path, name) if path is not None and found else None

    def _function(self, path: str, name: str) -> Found:
        address = next(self._handles)
        self._functions[address] = path, name
        return Found(address)

    def call(
        self, function: int, signature: Signature, argument: Argument, block: tuple[int, int]
    ) -> Returned:
        path, name = self._functions[function]
        data = parameters(argument)
        word = None if data is None else int.from_bytes(data[:4], "little")
        return Returned(self._code(path, name, word, block, signature))

    def _code(
        self, path: str, name: str, word: int | None, block: tuple[int, int], signature: Signature
    ) -> int:
        if name.startswith("k_count"):
            self._counts[path] = self._counts.get(path, 0) + 1
            return self._counts[path] + (1000 if name == "k_count1000" else 0)
        if name.startswith("k_ret_"):
            return int(name.removeprefix("k_ret_"))
        if name == "TFOperateAPI":
            assert signature is Signature.ADDRESS
        if word is not None:
            return word
        if name == "RunCpuKernelWithBlock":
            assert signature is Signature.BLOCK
            return block[1] * 100 + block[0]
        return {"RunCpuKernelWithBlock2": 77, "RunCpuKernel": 78, "a" * 200: 11}.get(name, 0)


RETURNS: Final = frozenset(
    (
        *(0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 99, 100, 101, 102, 200, 201, 202, 300, 301, 302),
        *(500, 501, 502, 503, 504, 505, 506, 999, 1000, 1001, 1050, 1098, 1099, 1100),
        *(11001, 11002, 11003, 11006, 11009, 65535, 65536, 2147483647, 2147483648, 4294967295),
    )
)
OTHERS: Final = frozenset(
    (
        *("k_param", "k_count", "k_count1000", "RunCpuKernelWithBlock", "RunCpuKernelWithBlock2"),
        *("RunCpuKernel", "TFOperateAPI", "a" * 200, "a" * 201),
    )
)


def has_function(name: str) -> bool:
    """Whether the library of the recorded rows has a function."""
    code = name.removeprefix("k_ret_")
    return name in OTHERS or (code != name and code.isdecimal() and int(code) in RETURNS)


def _word(value: int) -> bytes:
    return value.to_bytes(4, "little")
