"""Shared libraries: what other readers say of them, refusals, and hostile bytes."""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import lief
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import FormatError
from cannkit.format import dynamic_types as dt
from cannkit.format.elf_types import HEADER_STRUCT, ByteView, ElfHeader, ElfType
from cannkit.format.host_library import HostLibrary, read_host_library
from cannkit.inputs.files import open_window
from tests.ae.library import built

SYSTEM: Final = [
    path
    for folder in ("/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64")
    for name in ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1")
    if Path(path := f"{folder}/{name}").exists()
]


@pytest.fixture(scope="module")
def ops() -> bytes:
    return Path(built("ops")).read_bytes()


def library_of(data: bytes) -> HostLibrary:
    return read_host_library(memoryview(data))


def judged(path: str) -> Any:
    found = lief.ELF.parse(path)
    assert found is not None
    return found


def same_as_lief(path: str) -> HostLibrary:
    ours, theirs = read_host_library(open_window(path)), judged(path)
    symbols = list(theirs.dynamic_symbols)[1:]
    linked = [s for s in symbols if s.binding.value in (1, 2, 10) and s.name]
    assert set(ours.exports) == {s.name for s in linked if s.shndx and s.visibility.value in (0, 3)}
    strong = [s.name for s in linked if not s.shndx and s.binding.value == 1]
    weak = [s.name for s in linked if not s.shndx and s.binding.value == 2]
    assert (ours.undefined, ours.undefined_weak) == (tuple(strong), tuple(weak))
    assert ours.needed == tuple(theirs.libraries)
    assert set(ours.versions_needed) == {
        (need.name, aux.name)
        for need in theirs.symbols_version_requirement
        for aux in need.get_auxiliary_symbols()
    }
    assert ours.machine == theirs.header.machine_type.value
    return ours


@pytest.mark.parametrize("path", SYSTEM)
def test_libraries_of_this_machine(path: str) -> None:
    assert same_as_lief(path).soname == Path(path).name


@pytest.mark.parametrize("style", ["sysv", "gnu", "both"])
def test_each_kind_of_hash_table(style: str) -> None:
    """The symbols are counted by either table."""
    ours = same_as_lief(built("ops", f"-Wl,--hash-style={style}"))
    assert {"RunCpuKernel", "_Z5my_opPv", "feeble", "datum"} <= ours.exports.keys()
    assert "concealed" not in ours.exports


@pytest.mark.parametrize("style", ["sysv", "gnu"])
def test_symbols_of_a_library_that_exports_nothing(style: str) -> None:
    ours = same_as_lief(built("needs", f"-Wl,--hash-style={style}", "-fvisibility=hidden"))
    assert "code_201" in ours.undefined
    assert "no_such_thing" in ours.undefined_weak
    assert "through" not in ours.exports


def test_names_of_a_library() -> None:
    flags = "-Wl,-soname,libother.so", "-Wl,-rpath,$ORIGIN:/opt/lib", "-Wl,--enable-new-dtags"
    ours = library_of(Path(built("ops", *flags)).read_bytes())
    assert ours.soname == "libother.so"
    assert ours.run_path == ("$ORIGIN", "/opt/lib")
    assert ours.needed == ("libc.so.6",)
    assert not ours.is_pie
    assert ours.interpreter is None


def test_a_name_of_the_old_kind_of_path() -> None:
    flags = "-Wl,-rpath,/opt/lib", "-Wl,--disable-new-dtags"
    assert library_of(Path(built("ops", *flags)).read_bytes()).run_path == ("/opt/lib",)


def test_a_program_is_seen() -> None:
    ours = read_host_library(open_window("/bin/ls"))
    assert ours.is_pie
    assert ours.interpreter


def test_a_large_library_is_not_read(tmp_path: Path, ops: bytes) -> None:
    """500 MB behind the tables make no difference."""
    path = tmp_path / "libhuge.so"
    path.write_bytes(ops)
    os.truncate(path, 500 << 20)

    class Counted:
        def __init__(self, view: ByteView) -> None:
            self.view, self.bytes = view, 0

        def __len__(self) -> int:
            return len(self.view)

        def __getitem__(self, span: slice, /) -> memoryview:
            part = self.view[span]
            self.bytes += len(part)
            return part

    counted = Counted(open_window(str(path)))
    assert read_host_library(counted) == library_of(ops)
    assert counted.bytes < 96 << 10


def edited(data: bytes, **fields: int) -> bytes:
    header = ElfHeader._make(HEADER_STRUCT["little"].unpack(data[:64]))._replace(**fields)
    return (
        data[:4]
        + HEADER_STRUCT["little"].pack(*header)[4:6]
        + data[6:16]
        + (HEADER_STRUCT["little"].pack(*header)[16:] + data[64:])
    )


REFUSED: Final = {
    "empty": (lambda _: b"", "the file is empty"),
    "text": (lambda _: b"hello world\n", "starts with 68656c6c, not with the ELF magic"),
    "short": (lambda d: d[:40], "40 bytes, an ELF header takes 64"),
    "32 bits": (lambda d: edited(d, elf_class=1), "a 32-bit ELF file"),
    "class": (lambda d: edited(d, elf_class=7), "EI_CLASS is 7"),
    "big endian": (lambda d: edited(d, data_encoding=2), "big endian"),
    "encoding": (lambda d: edited(d, data_encoding=0), "EI_DATA is 0"),
    "object": (lambda d: edited(d, type=ElfType.REL), "a relocatable object: e_type is 1"),
    "program": (lambda d: edited(d, type=ElfType.EXEC), "a program: e_type is 2"),
    "core": (lambda d: edited(d, type=4), "something else: e_type is 4"),
    "no headers": (lambda d: edited(d, phnum=0), "no program headers"),
    "odd headers": (lambda d: edited(d, phentsize=32), "e_phentsize is 32, not 56"),
    "far headers": (lambda d: edited(d, phoff=1 << 60), "program headers end at 0x1000"),
    "header alone": (lambda d: d[:64], "program headers end at"),
    "cut": (lambda d: d[:0x300], "the file at 0x300"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str, ops: bytes) -> None:
    change, why = REFUSED[name]
    with pytest.raises(FormatError) as caught:
        library_of(change(ops))  # type: ignore[no-untyped-call]
    assert why in caught.value.why
    assert caught.value.rule == "AE-1204"


def dynamic(data: bytes | bytearray) -> tuple[int, int]:
    """Where the dynamic section lies."""
    header = ElfHeader._make(HEADER_STRUCT["little"].unpack(data[:64]))
    for number in range(header.phnum):
        program = dt.PROGRAM.unpack_from(data, header.phoff + 56 * number)
        if program[0] == dt.PT_DYNAMIC:
            return header.phoff + 56 * number, program[2]
    raise AssertionError


def test_linked_statically(ops: bytes) -> None:
    at, _ = dynamic(ops)
    with pytest.raises(FormatError, match="no dynamic section"):
        library_of(ops[:at] + struct.pack("<I", 0) + ops[at + 4 :])


@pytest.mark.parametrize(
    ("tag", "value", "why"),
    [
        (dt.DT_STRTAB, 1 << 50, "no segment has the address of the string table"),
        (dt.DT_SYMTAB, 1 << 50, "no segment has the address of the symbol table"),
        (dt.DT_STRSZ, 1 << 40, "string table end at"),
        (dt.DT_VERNEED, 1 << 50, "no segment has the address of the version table"),
        (dt.DT_GNU_HASH, 1 << 50, "no segment has the address of the GNU hash table"),
    ],
)
def test_tables_outside_the_file(tag: int, value: int, why: str) -> None:
    data = bytearray(Path(built("ops", "-Wl,--hash-style=gnu")).read_bytes())
    _, at = dynamic(data)
    while struct.unpack_from("<Q", data, at)[0] != tag:
        at += 16
    struct.pack_into("<Q", data, at + 8, value)
    with pytest.raises(FormatError, match="cut off or damaged") as caught:
        library_of(bytes(data))
    assert why in caught.value.why


@given(st.data())
def test_hostile_bytes(data: st.DataObject) -> None:
    """Anything gives a library or a FormatError."""
    raw = bytearray(Path(built("ops", "-Wl,--hash-style=gnu")).read_bytes())
    _, start = dynamic(raw)
    tables = st.integers(0, 0x1000) | st.integers(start, start + 0x200)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(tables)
        raw[at : at + 4] = data.draw(st.binary(min_size=4, max_size=4))
    end = data.draw(st.just(len(raw)) | st.integers(0, len(raw)))
    with suppress(FormatError):
        assert library_of(bytes(raw[:end])).machine >= 0
