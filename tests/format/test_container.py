"""What is embedded in bytes. Spec 01, section 12."""

from __future__ import annotations

import shutil
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import CannkitError, FormatError
from cannkit.format.container import (
    ContainerKind,
    Embedded,
    embedded_objects,
    has_container_section,
    is_device_object,
)
from cannkit.format.elf import ElfObject, open_elf
from tests.raw import (
    AI_CORE,
    DATA_ADDRESS,
    DYNSYM,
    FATBIN,
    NOTE,
    PROGBITS,
    SYMTAB,
    X86_64,
    fatbin,
    host_library,
    packed,
)

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = b"\x7fELF" + bytes(60)


def opened(raw: bytes) -> ElfObject:
    return open_elf(memoryview(raw))


def contents(raw: bytes, each: Embedded) -> bytes:
    return raw[each.offset : each.offset + each.size]


def library_of(raw: bytes) -> ElfObject:
    return opened(host_library((FATBIN, PROGBITS, raw)))


def refused(elf: ElfObject) -> FormatError:
    with pytest.raises(FormatError) as caught:
        embedded_objects(elf)
    return caught.value


class TestFatbin:
    def test_entries_come_in_order_and_without_their_padding(self) -> None:
        """CON-02."""
        bodies = [KERNEL + b"mix", KERNEL + b"a", KERNEL]
        raw = host_library((FATBIN, PROGBITS, fatbin(*enumerate(bodies))))
        found = embedded_objects(opened(raw))
        assert [contents(raw, each) for each in found] == bodies
        assert [each.member for each in found] == [
            f"{FATBIN}[{index}] {kind}" for index, kind in enumerate(("mix", "aiv", "aic"))
        ]
        assert {each.kind for each in found} == {ContainerKind.FATBIN}
        assert not any(each.warnings or each.sidecar for each in found)

    def test_no_entry_is_fine(self) -> None:
        """S42."""
        elf = library_of(fatbin())
        assert embedded_objects(elf) == ()
        assert has_container_section(elf)

    def test_unknown_type_is_a_warning(self) -> None:
        """S42."""
        (each,) = embedded_objects(library_of(fatbin((9, KERNEL))))
        assert each.member == f"{FATBIN}[0] unknown(9)"
        assert [remark.code for remark in each.warnings] == ["fatbin-type"]

    def test_trailing_bytes_are_a_warning_on_the_last_entry(self) -> None:
        """CON-02."""
        first, last = embedded_objects(library_of(fatbin((0, KERNEL), (1, KERNEL)) + b"tail"))
        assert first.warnings == ()
        assert [(each.code, each.message) for each in last.warnings] == [
            ("fatbin-tail", "4 bytes after the last entry")
        ]

    @pytest.mark.parametrize(
        ("raw", "why", "at"),
        [
            (fatbin(version=2), "version is 2, not 1", 64),
            (fatbin(count=17), "count is 17, at most 16", 64),
            (b"\1\0\0\0", "4 bytes, its head takes 8", 64),
            (fatbin(count=1), "0 bytes are left for entry 0, its head takes 12", 72),
            (
                struct.pack("<IIIII", 1, 1, 0, 4, 8) + bytes(4),
                "file_len of entry 0 is 8, its len is 4",
                72,
            ),
            (
                struct.pack("<IIIII", 1, 1, 0, 2**32 - 1, 8) + bytes(8),
                "len of entry 0 is 4294967295, 8 bytes are left",
                72,
            ),
        ],
    )
    def test_contradictions_are_refused(self, raw: bytes, why: str, at: int) -> None:
        """S41, with the offset in the file."""
        error = refused(library_of(raw))
        assert (error.rule, error.why) == ("CON-02", why)
        assert error.where == f"section {FATBIN!r}, offset {at:#x}"

    def test_relocations_of_a_fatbin_are_not_one(self) -> None:
        elf = opened(host_library((f".rela{FATBIN}", 4, bytes(24))))
        assert embedded_objects(elf) == ()
        assert not has_container_section(elf)


class TestDetection:
    """CON-01: the first way found counts."""

    def test_fusion_binary_before_fatbin(self) -> None:
        """CON-06."""
        raw = host_library(
            (FATBIN, PROGBITS, fatbin((0, KERNEL))), (".aicore_binary", PROGBITS, KERNEL + b"!")
        )
        (each,) = embedded_objects(opened(raw))
        assert (each.kind, each.member) == (ContainerKind.AICORE_BINARY, ".aicore_binary")
        assert contents(raw, each) == KERNEL + b"!"

    @pytest.mark.parametrize("machine", [X86_64, AI_CORE])
    def test_device_object_embeds_nothing(self, machine: int) -> None:
        meta = (".ascend.meta.k_0", NOTE, bytes(8))
        sections = [(".data", PROGBITS, KERNEL)] + ([meta] if machine == X86_64 else [])
        symbols = packed("k_o", DATA_ADDRESS, DATA_ADDRESS + 64, 64)
        elf = opened(host_library(*sections, symbols=symbols, machine=machine))
        assert is_device_object(elf)
        assert embedded_objects(elf) == ()

    def test_plain_library(self) -> None:
        elf = opened(host_library((".text", PROGBITS, b"\xc3")))
        assert not is_device_object(elf)
        assert embedded_objects(elf) == ()


class TestPackage:
    JSON = b'{"magic": "RT_DEV_BINARY_MAGIC_ELF"}'

    def library(self, *symbols: tuple[str, int, int], symbol_type: int = SYMTAB) -> bytes:
        data = (".data", PROGBITS, b"pad." + KERNEL + self.JSON)
        return host_library(data, symbols=symbols, symbol_type=symbol_type)

    def kernel(self, size: int | None = 64) -> list[tuple[str, int, int]]:
        return packed("ops_add_custom_o", DATA_ADDRESS + 4, DATA_ADDRESS + 68, size)

    def sidecar(self) -> list[tuple[str, int, int]]:
        end = DATA_ADDRESS + 68 + len(self.JSON)
        return packed("ops_add_custom_json", DATA_ADDRESS + 68, end, len(self.JSON))

    @pytest.mark.parametrize("symbol_type", [SYMTAB, DYNSYM])
    def test_object_and_sidecar(self, symbol_type: int) -> None:
        """CON-04."""
        raw = self.library(*self.sidecar(), *self.kernel(), symbol_type=symbol_type)
        (each,) = embedded_objects(opened(raw))
        assert (each.kind, each.member) == (ContainerKind.ACLNN, "ops_add_custom.o")
        assert contents(raw, each) == KERNEL
        assert each.sidecar is not None
        at, size = each.sidecar
        assert raw[at : at + size] == self.JSON
        assert each.warnings == ()

    def test_size_that_differs_is_a_warning(self) -> None:
        """CON-04."""
        (each,) = embedded_objects(opened(self.library(*self.kernel(size=63))))
        assert each.size == 64
        assert [remark.code for remark in each.warnings] == ["embedded-size"]

    def test_size_stands_in_for_a_missing_end(self) -> None:
        """HAZ-13."""
        start, _, size = self.kernel()
        (each,) = embedded_objects(opened(self.library(start, size)))
        assert each.size == 64
        assert [remark.code for remark in each.warnings] == ["embedded-end"]

    def test_neither_end_nor_size(self) -> None:
        """HAZ-13."""
        assert refused(opened(self.library(self.kernel()[0]))).rule == "CON-04"

    @pytest.mark.parametrize(
        ("section", "start", "end"),
        [
            (1, DATA_ADDRESS - 1, DATA_ADDRESS + 8),
            (1, DATA_ADDRESS + 8, DATA_ADDRESS + 4),
            (1, DATA_ADDRESS, DATA_ADDRESS + 2**40),
            (99, DATA_ADDRESS, DATA_ADDRESS + 8),
        ],
    )
    def test_span_outside_its_section(self, section: int, start: int, end: int) -> None:
        """CON-04."""
        symbols = [("_binary_k_o_start", section, start), ("_binary_k_o_end", section, end)]
        assert refused(opened(self.library(*symbols))).rule == "CON-04"

    def test_overlapping_files_cannot_count_bytes_twice(self) -> None:
        """HAZ-15."""
        symbols = [each for name in "abcd" for each in packed(f"{name}_o", 0x4000, 0x5000, 0x1000)]
        raw = host_library((".data", PROGBITS, bytes(0x1000)), symbols=symbols)
        error = refused(opened(raw))
        assert error.rule == "HAZ-15"
        assert error.why == f"4 of them add up to 16384 bytes, the file has {len(raw)}"

    def test_sidecar_that_cannot_be_located_is_a_warning(self) -> None:
        raw = self.library(*self.kernel(), ("_binary_ops_add_custom_json_start", 1, 0))
        (each,) = embedded_objects(opened(raw))
        assert each.sidecar is None
        assert [remark.code for remark in each.warnings] == ["embedded-sidecar"]

    def test_cpp_name_with_the_mark_inside_is_no_object(self) -> None:
        """CON-05."""
        names = ("_ZN10elementwise_binary_jagged_o_startEv", "x_elementwise_binary_jagged_o_start")
        raw = self.library(*[(name, 1, DATA_ADDRESS) for name in names])
        assert embedded_objects(opened(raw)) == ()

    def test_undefined_symbols_are_no_objects(self) -> None:
        assert embedded_objects(opened(self.library(("_binary_k_o_start", 0, 0)))) == ()

    def test_objcopy_agrees(self, tmp_path: Path) -> None:
        """CON-04, judged by binutils."""
        if shutil.which("objcopy") is None:
            pytest.skip("no objcopy")
        (tmp_path / "k_1.o").write_bytes(KERNEL * 3)
        command = ["objcopy", "-I", "binary", "-O", "elf64-x86-64", "k_1.o", "packed.o"]
        subprocess.run(command, cwd=tmp_path, check=True)
        raw = (tmp_path / "packed.o").read_bytes()
        (each,) = embedded_objects(opened(raw))
        assert (each.member, contents(raw, each)) == ("k_1.o", KERNEL * 3)
        assert each.warnings == ()


def cannkit_error_or_nothing(raw: bytes) -> None:
    try:
        found = embedded_objects(opened(raw))
    except CannkitError:
        return
    assert all(each.offset + each.size <= len(raw) for each in found)


@given(st.binary(max_size=300))
def test_any_bytes(raw: bytes) -> None:
    cannkit_error_or_nothing(raw)
    cannkit_error_or_nothing(host_library((FATBIN, PROGBITS, raw)))


@given(st.data())
def test_any_damage(data: st.DataObject) -> None:
    """Bytes changed in good files: more of the code is reached than by noise."""
    package = TestPackage()
    library = package.library(*package.kernel(), *package.sidecar())
    fatbins = host_library((FATBIN, PROGBITS, fatbin((0, KERNEL), (1, KERNEL))))
    raw = bytearray(data.draw(st.sampled_from([library, fatbins])))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 8))
        change = data.draw(st.sampled_from([b"\0", b"\1", b"\xff", b"9", b"\xff" * 8]))
        raw[at : at + len(change)] = change
    cannkit_error_or_nothing(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    cannkit_error_or_nothing(bytes(raw))
