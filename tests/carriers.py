"""What carries kernel objects: fatbins, host libraries, op packages, archives. Spec 01, section 12."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from cannkit.format.elf_types import Binding, ElfType, Machine, SectionType, SymbolType
from tests.build import SHF_ALLOC, SHF_EXEC, SHF_WRITE, ObjectBuilder

SHN_ABS = 0xFFF1
DATA = SHF_ALLOC | SHF_WRITE


def fatbin(
    entries: Sequence[tuple[int, bytes]], *, version: int = 1, count: int | None = None
) -> bytes:
    """The bytes of a fatbin section: (type, object) entries, padded to 4 bytes. CON-02."""
    head = struct.pack("<II", version, len(entries) if count is None else count)
    return head + b"".join(fatbin_entry(kind, data) for kind, data in entries)


def fatbin_entry(
    kind: int, data: bytes, *, length: int | None = None, file_length: int | None = None
) -> bytes:
    """One entry; `length` and `file_length` may lie."""
    padded = data + bytes(-len(data) % 4)
    length = len(padded) if length is None else length
    file_length = len(data) if file_length is None else file_length
    return struct.pack("<III", kind, length, file_length) + padded


def host_library(machine: int = Machine.EM_X86_64, kind: int = ElfType.DYN) -> ObjectBuilder:
    """A small host library, to which sections that embed objects are added."""
    builder = ObjectBuilder(machine=machine, type=kind)
    builder.section(".text", b"\xc3" + bytes(15), flags=SHF_ALLOC | SHF_EXEC, at=64, align=16)
    builder.symbol("rtRegisterAscendBinary", section=".text", size=1)
    return builder


def fatbin_library(soc: str, target: str, content: bytes) -> bytes:
    """A host library with one `.ascend.kernel.<soc>.<target>` section."""
    builder = host_library()
    section = f".ascend.kernel.{soc}.{target}"
    builder.section(section, content, flags=DATA, align=32)
    name = f"__ascend_kernel_{soc}_{target}"
    builder.symbol(name, SymbolType.OBJECT, section=section, size=len(content))
    return builder.build()


def fusion_binary(data: bytes) -> bytes:
    """A host executable whose `.aicore_binary` section is one device object. CON-06."""
    builder = host_library(kind=ElfType.EXEC)
    return builder.section(".aicore_binary", data, flags=DATA, align=256).build()


def package_library(
    files: Mapping[str, bytes], *, sizes: Mapping[str, int] | None = None, with_end: bool = True
) -> bytes:
    """A host library of files that `objcopy -I binary` made into symbols of `.data`. CON-04.

    `sizes` replaces what `_size` says of a file.
    """
    builder = host_library()
    content = b""
    for path, data in files.items():
        content += bytes(-len(content) % 8)
        name = "_binary_" + path.replace("/", "_").replace(".", "_").replace("-", "_")
        start, end = len(content), len(content) + len(data)
        builder.symbol(f"{name}_start", SymbolType.NOTYPE, section=".data", value=start)
        if with_end:
            builder.symbol(f"{name}_end", SymbolType.NOTYPE, section=".data", value=end)
        size = (sizes or {}).get(path, len(data))
        builder.symbol(f"{name}_size", SymbolType.NOTYPE, section=SHN_ABS, value=size)
        content += data
    return builder.section(".data", content, flags=DATA, align=8).build()


def shared_object(
    dynamic: Sequence[tuple[int, int]],
    dynstr: bytes = b"\0libk.so\0",
    machine: int = Machine.EM_AARCH64,
) -> ObjectBuilder:
    """An AI CPU kernel library with these (tag, value) entries in `.dynamic`. SEC-10."""
    builder = host_library(machine)
    entries = b"".join(struct.pack("<QQ", *entry) for entry in dynamic)
    builder.section(".dynstr", dynstr, SectionType.STRTAB, flags=SHF_ALLOC)
    kind = SectionType.DYNAMIC
    builder.section(".dynamic", entries, kind, flags=DATA, align=8, entsize=16, link=".dynstr")
    builder.symbol("RunCpuKernel", binding=Binding.GLOBAL, size=1)
    return builder


def archive(members: Sequence[tuple[str, bytes]], *, names: str = "gnu") -> bytes:
    """An `ar` archive; a name longer than 15 bytes is written the GNU or the BSD way. CON-07."""
    table = b""
    body = b""
    for name, data in members:
        raw = name.encode()
        if names == "bsd":
            body += _member(f"#1/{len(raw)}".encode(), raw + data)
        elif len(raw) > 15:
            body += _member(f"/{len(table)}".encode(), data)
            table += raw + b"/\n"
        else:
            body += _member(raw + b"/", data)
    return b"!<arch>\n" + (_member(b"//", table) if table else b"") + body


def _member(name: bytes, data: bytes) -> bytes:
    head = name.ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8)
    head += str(len(data)).encode().ljust(10) + b"`\n"
    return head + data + b"\n" * (len(data) % 2)
