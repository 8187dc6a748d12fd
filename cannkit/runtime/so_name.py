"""Names of AI CPU libraries: from a path, and made up for a library given as bytes. Spec 02, CPU-3."""

from __future__ import annotations

from threading import Lock
from typing import Final

from cannkit.format.elf_types import ByteView

FNV_BASIS: Final = 14695981039346656037
FNV_PRIME: Final = 1099511628211
U64: Final = (1 << 64) - 1
QUICK: Final = 1024  # bytes that the first hash covers


def fnv1a(data: ByteView) -> int:
    """The 64-bit FNV-1a hash of all bytes."""
    value = FNV_BASIS
    for byte in data[0 : len(data)]:
        value = (value ^ byte) * FNV_PRIME & U64
    return value


def quick_hash(data: ByteView) -> int:
    """The hash of the first 1024 bytes."""
    return fnv1a(data[0:QUICK])


class SoNames:
    """The so names a process has made up. Only ever grows (QK-24); calls are atomic among threads."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._lock = Lock()

    def name_for(self, data: ByteView) -> str:
        """CPU-3: a name for a library of these bytes, by its first 1024 unless that name is used."""
        base = f"{quick_hash(data)}_{len(data)}"
        with self._lock:
            if base in self._used:
                base = f"{fnv1a(data)}_{len(data)}"  # a second collision is not looked for
            self._used.add(base)
        return f"{base}.so"


def with_extension(path: str, extension: str) -> str:
    """LDR-10: `path` up to its last dot, wherever that is (QK-22), and the extension."""
    return path.rpartition(".")[0] + extension


def file_name(path: str) -> str:
    """LDR-10: what stands behind the last slash of either kind."""
    return path[max(path.rfind("/"), path.rfind("\\")) + 1 :]
