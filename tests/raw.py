"""The smallest bytes that hold kernel objects, written out by hand: no table of ours is behind them."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import TYPE_CHECKING

from cannkit.inputs.contents import Input
from cannkit.inputs.paths import Inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGBITS, SYMTAB, STRTAB, NOTE, DYNSYM = 1, 2, 3, 7, 11
X86_64, AARCH64, AI_CORE, UNKNOWN = 62, 183, 0x1029, 0x7777
DATA_ADDRESS = 0x4000
FATBIN = ".ascend.kernel.ascend910b1.demo"
JSON = b'{"magic": "RT_DEV_BINARY_MAGIC_ELF"}'


def host_library(
    *sections: tuple[str, int, bytes],
    symbols: Sequence[tuple[str, int, int]] = (),
    machine: int = X86_64,
    symbol_type: int = SYMTAB,
) -> bytes:
    """An ELF64 file: the sections from index 1 on, symbols as (name, section, value)."""
    names, strings, table, body = bytearray(1), bytearray(1), bytearray(24), bytearray(64)
    for name, section, value in symbols:
        table += struct.pack("<IBBHQQ", len(strings), 17, 0, section, value, 0)
        strings += name.encode() + b"\0"
    every = [*sections, (".symtab", symbol_type, bytes(table)), (".strtab", STRTAB, bytes(strings))]
    headers = bytearray(64)
    link = len(every)  # .strtab
    for name, kind, content in every:
        entry = 24 if kind in (SYMTAB, DYNSYM) else 0
        size = len(content)
        headers += struct.pack(
            "<IIQQQQIIQQ",
            *(
                len(names),
                kind,
                0,
                DATA_ADDRESS,
                len(body),
                size,
                link if entry else 0,
                0,
                1,
                entry,
            ),
        )
        names += name.encode() + b"\0"
        body += content
    headers += struct.pack("<IIQQQQIIQQ", 0, STRTAB, 0, 0, len(body), len(names), 0, 0, 1, 0)
    body += names
    count = len(headers) // 64
    ident = b"\x7fELF\2\1\1" + bytes(9)
    tail = (3, machine, 1, 0, 0, len(body), 0, 64, 0, 0, 64, count, count - 1)
    body[:64] = ident + struct.pack("<HHIQQQIHHHHHH", *tail)
    return bytes(body + headers)


def fatbin(*entries: tuple[int, bytes], version: int = 1, count: int | None = None) -> bytes:
    raw = struct.pack("<II", version, len(entries) if count is None else count)
    for kind, body in entries:
        padded = body + bytes(-len(body) % 4)
        raw += struct.pack("<III", kind, len(padded), len(body)) + padded
    return raw


def packed(name: str, start: int, end: int, size: int | None = None) -> list[tuple[str, int, int]]:
    symbols = [(f"_binary_{name}_start", 1, start), (f"_binary_{name}_end", 1, end)]
    return symbols if size is None else [*symbols, (f"_binary_{name}_size", 0xFFF1, size)]


def elf(machine: int, section: str = ".text", content: bytes = b"code") -> bytes:
    return host_library((section, PROGBITS, content), machine=machine)


KERNEL = elf(AI_CORE)
HOST = elf(X86_64)


def fatbin_library(body: bytes = KERNEL, count: int = 1) -> bytes:
    return elf(X86_64, FATBIN, fatbin(*[(1, body)] * count, count=count))


def package_library() -> bytes:
    middle, end = DATA_ADDRESS + len(KERNEL), DATA_ADDRESS + len(KERNEL + JSON)
    symbols = packed("k_1_o", DATA_ADDRESS, middle) + packed("k_1_json", middle, end)
    return host_library((".data", PROGBITS, KERNEL + JSON), symbols=symbols)


def archive(**members: bytes) -> bytes:
    raw = b"!<arch>\n"
    for name, body in members.items():
        raw += b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name.encode(), 0, 0, 0, 0o644, len(body))
        raw += body + b"\n" * (len(body) % 2)
    return raw


def wheel(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, body in members.items():
            target.writestr(zipfile.ZipInfo(name), body)
    return out.getvalue()


def told(inputs: Inputs) -> list[str]:
    """What comes out, one line each."""
    lines = []
    for each in inputs:
        line = f"{each.container.kind} {each.container.member}" if each.container else each.file
        lines.append(line if isinstance(each, Input) else f"{line}: {each.error.why}")
    return lines
