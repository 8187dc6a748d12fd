"""Numbers and records of dynamic linking: program headers, DT_*, versions, names of machines. Spec 05, AE-1204."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

from cannkit.format.elf_types import Machine

# type, flags, offset, vaddr, paddr, filesz, memsz, align
PROGRAM: Final = struct.Struct("<IIQQQQQQ")
DYNAMIC: Final = struct.Struct("<QQ")  # tag, value
VERNEED: Final = struct.Struct("<HHIII")  # version, count, file, aux, next
VERNAUX: Final = struct.Struct("<IHHII")  # hash, flags, other, name, next
GNU_HASH: Final = struct.Struct("<IIII")  # buckets, first symbol, words of the filter, shift

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ = 0, 1, 4, 5, 6, 10
DT_SONAME, DT_RPATH, DT_RUNPATH = 14, 15, 29
DT_GNU_HASH, DT_FLAGS_1 = 0x6FFF_FEF5, 0x6FFF_FFFB
DT_VERNEED, DT_VERNEEDNUM = 0x6FFF_FFFE, 0x6FFF_FFFF
DF_1_PIE: Final = 0x0800_0000

GNU_UNIQUE: Final = 10  # a binding
HIDDEN: Final = (1, 2)  # visibilities that the linker passes over
LINKED_TYPES: Final = (0, 1, 2, 5, 6, 10)  # NOTYPE, OBJECT, FUNC, COMMON, TLS, GNU_IFUNC

MACHINE_NAMES: Final[Mapping[int, str]] = {
    Machine.EM_386: "x86",
    Machine.EM_ARM: "ARM",
    Machine.EM_X86_64: "x86-64",
    Machine.EM_AARCH64: "AArch64",
    Machine.EM_RISCV: "RISC-V",
    Machine.EM_LOONGARCH: "LoongArch",
    Machine.EM_ASCEND_AI_CORE: "Ascend AI Core",
}


def machine_name(machine: int) -> str:
    """A machine as people call it."""
    return MACHINE_NAMES.get(machine, f"machine {machine:#x}")
