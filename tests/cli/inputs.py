"""Objects that commands are tried on, beside those of `fixtures/objects`.

`python -m tests.cli.inputs` writes the inputs of each case afresh.
"""

from __future__ import annotations

import json
from typing import Final

from cannkit.api.check import check_many
from cannkit.check.baseline import baseline_json
from cannkit.format.ascend_meta import FunctionMeta, FuncType, VfType
from cannkit.format.elf_types import ElfType, Machine
from tests.build import OBJECTS, SHF_ALLOC, SHF_EXEC, ObjectBuilder
from tests.demo import PACKAGES
from tests.runtime.programs import DISABLED, Function, builder
from tests.shapes import function_tlv, m0, with_meta

CASES: Final = OBJECTS.parent / "cases"
CODE: Final = 64

LONG: Final = "a" * 118 + "_0"  # 120 characters
CHINESE: Final = "\u52a0\u6cd5\u7b97\u5b50_1"
MARKUP: Final = "[bold]x[/bold]:smile:_2"
ESCAPES: Final = "\x1b[31mred\x1b[0m_3"
BREAKS: Final = "tab\tline\nreturn\r_4"
BIDI: Final = "left\u202eright\u2066_5"
BYTES: Final = "byte\udcff_6"
SPACES: Final = "a b_7"
ODD_NAMES: Final = (LONG, CHINESE, MARKUP, ESCAPES, BREAKS, BIDI, BYTES, SPACES)
SHOWN_NAMES: Final = (  # cli.md: nothing cut; HAZ-18: what is not printable is escaped
    LONG,
    CHINESE,
    MARKUP,
    r"\x1b[31mred\x1b[0m_3",
    r"tab\tline\nreturn\r_4",
    r"left\u202eright\u2066_5",
    r"byte\xff_6",
    SPACES,
)


def vector_object(*names: str) -> bytes:
    """An object with a vector kernel of each name."""
    builder = ObjectBuilder()
    builder.section(".text", bytes(CODE * len(names)), flags=SHF_ALLOC | SHF_EXEC, at=64)
    for at, name in enumerate(names):
        builder.symbol(name, value=CODE * at, size=CODE)
    for name in names:
        record = function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.AIV)
        with_meta(builder, record, kernel=name)
    return builder.build()


def entry_object(entry: int) -> bytes:
    """An object whose kernel is found by a function entry, and has two parameters."""
    return with_meta(
        m0(),
        function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.AIV),
        function_tlv(FunctionMeta.FUNCTION_ENTRY_INFO, function_entry=entry),
        function_tlv(FunctionMeta.PARAM_SUMMARY, param_count=2, param_total_size=16),
        *(
            function_tlv(FunctionMeta.PARAM_INFO, index=at, ordinal=at, offset=8 * at, size=8)
            for at in range(2)
        ),
    ).build()


def simt_object() -> bytes:
    """An A5 object with SIMT code that states its parameters: u64 and i32."""
    places = ((0, 8), (8, 4))
    return with_meta(
        m0(flags=0x0099_0000),
        function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.AIV),
        function_tlv(FunctionMeta.AIV_TYPE_FLAG, vf_type=VfType.SIMT_VF),
        function_tlv(FunctionMeta.COMPILER_ALLOC_UB_SIZE, ub_size=1024),
        function_tlv(FunctionMeta.PARAM_SUMMARY, param_count=2, param_total_size=12),
        *(
            function_tlv(FunctionMeta.PARAM_INFO, index=at, ordinal=at, offset=offset, size=size)
            for at, (offset, size) in enumerate(places)
        ),
    ).build()


def refused_object() -> bytes:
    """FUN-08: a ratio the runtime knows no value for; 2:2 is none of 1:2, 2:1, 1:1, 1:0, 0:1."""
    return with_meta(
        m0(),
        function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.MIX_AIC_MAIN),
        function_tlv(FunctionMeta.MIX_TASK_RATION, ratio_aic=2, ratio_aiv=2),
    ).build()


def big_endian_object() -> bytes:
    """HAZ-02: readable, but of no use to the runtime."""
    record = function_tlv(FunctionMeta.KERNEL_TYPE, "big", func_type=FuncType.AIV)
    return with_meta(m0("big"), record).build()


def odd_object() -> bytes:
    """What a registration remarks on: a shadowed key, half of a mix alone, an entry disabled."""
    return builder(
        Function("add_0", offset=0, length=64),
        Function("add_1", offset=64, length=64, entry=0),
        Function("mm_2_mix_aic", FuncType.MIX_AIC_MAIN, 128, 64, ratio=(1, 2)),
        Function("sub_3", offset=192, length=64, entry=DISABLED),
        code=256,
    ).build()


def object_with_lines() -> bytes:
    """DWARF 2: the first 16 bytes of `add_0` are line 41, the others line 42."""
    program = b"\0\x09\x02" + bytes(8)  # at address 0
    program += b"\x03\x28\x01"  # line 41
    program += b"\x02\x10\x03\x01\x01"  # 16 bytes on, the next line
    program += b"\x02\x30\0\x01\x01"  # 48 bytes on, the end
    counts = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1])
    tables = counts + b"src\0\0" + b"add_custom.cpp\0\x01\0\0" + b"\0"
    header = bytes([1, 1, 0xFB, 14, 10]) + tables
    body = (2).to_bytes(2, "little") + len(header).to_bytes(4, "little") + header + program
    lines = len(body).to_bytes(4, "little") + body
    made = builder(Function("add_0", offset=0, length=64), code=64)
    return made.section(".debug_line", lines).build()


def cpu_library() -> bytes:
    """A library for the device's CPUs, as far as anybody looks at it: an ELF file."""
    return ObjectBuilder(type=ElfType.DYN, machine=Machine.EM_AARCH64).build()


def cpu_json() -> bytes:
    """WE-6: the operators beside a library, each of a kind of its own; two are left out."""
    custom = {"kernelSo": "libcust.so", "functionName": "RunCpuKernelWithBlock"}
    ops = {
        "AddCust": {"opInfo": {**custom, "opKernelLib": "CUSTAICPUKernel", "userDefined": "True"}},
        "Re": {
            "opInfo": {
                "functionName": "RunCpuKernel",
                "kernelSo": "libcust.so",
                "opKernelLib": "AICPUKernel",
                "userDefined": "False",
            }
        },
        "Tf": {"opInfo": {"opKernelLib": "TFKernel"}},
        "Bad": {"opInfo": {"opKernelLib": "AICPUKernel", "userDefined": True}},
        "Skip": {"opInfo1": {}},
        "NoLib": {"opInfo": {}},
    }
    return json.dumps(ops, indent=1).encode()


def known_findings() -> bytes:
    """A baseline of what is wrong with a package, but for the size of its tiling data."""
    found = check_many([PACKAGES / "v2"]).findings
    known = [each for each in found if each.rule.code != "K017"]
    return baseline_json(known, str(CASES / "check-baseline" / "baseline.json"))


def case_files() -> dict[str, bytes]:
    """Every input of a case, by its path below `fixtures/cases`."""
    files = {f"{name}/input.o": data for name, data in case_inputs().items()}
    files["check-baseline/baseline.json"] = known_findings()
    files["register-cpu-mode-1/libcust.json"] = cpu_json()
    files["register-cpu-mode-1/libcust.so"] = cpu_library()
    return files


def case_inputs() -> dict[str, bytes]:
    """The `input.o` of each case that has one."""
    whole = vector_object("add_0")
    return {
        "big-endian": big_endian_object(),
        "launch-simt-grid": simt_object(),
        "odd-names": vector_object(*ODD_NAMES),
        "lookup-pc-source": object_with_lines(),
        "params": entry_object((1 << 64) - 1),
        "refused-ratio": refused_object(),
        "register-warnings": odd_object(),
        "truncated": whole[: len(whole) // 2],
        "wrong-magic": b"\x7fELK" + whole[4:],
    }


def main() -> None:
    """Write them."""
    for name, data in case_files().items():
        path = CASES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
