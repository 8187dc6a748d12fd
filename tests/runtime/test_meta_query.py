"""The meta queries. Spec 02, API-5; spec 01, section 9."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cannkit.format.ascend_meta import BinaryMeta, FunctionMeta
from cannkit.format.elf_types import SectionType
from cannkit.format.status import RtError
from cannkit.format.tlv import encode_tlv
from cannkit.runtime.meta_query import (
    binary_meta,
    binary_meta_count,
    function_meta,
    function_meta_size,
)
from cannkit.runtime.program import ElfProgram, PlainProgram, register
from cannkit.soc import find_soc
from tests.build import ObjectBuilder
from tests.facts import A2_SOC, read
from tests.runtime.programs import Function, builder
from tests.shapes import binary_tlv, function_tlv

PADDING = bytes(4)


def _program(built: ObjectBuilder) -> ElfProgram:
    return register(read(built.build()))


def _refused(call: Callable[[], object], acl: int = 107000) -> str:
    with pytest.raises(RtError) as caught:
        call()
    assert caught.value.acl == acl
    return str(caught.value)


def _with_binary_meta() -> ElfProgram:
    meta = b"".join(
        [
            binary_tlv(BinaryMeta.BIN_VERSION, version=3),
            PADDING,
            binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=2),
            binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=4),
        ]
    )
    return _program(builder(Function("k"), binary_meta=meta))


def test_binary_meta() -> None:
    """QRY-02."""
    program = _with_binary_meta()
    assert binary_meta_count(program, BinaryMeta.RUNTIME_IMPLICIT_INFO) == 2
    assert (
        binary_meta(program, 4, [4, 4])
        == binary_meta(program, 4)
        == [
            bytes([2, 0, 0, 0]),
            bytes([4, 0, 0, 0]),
        ]
    )
    assert binary_meta_count(program, BinaryMeta.BIN_VERSION) == 2  # TLV-03: padding is type 0
    assert binary_meta(program, 0, [4, 0]) == [bytes([3, 0, 0, 0]), b""]
    assert binary_meta_count(program, BinaryMeta.SK_INFO) == 0
    assert binary_meta(program, BinaryMeta.SK_INFO, []) == []


@pytest.mark.parametrize("sizes", [[], [4], [4, 5], [4, 4, 4]])
def test_binary_meta_of_other_sizes(sizes: list[int]) -> None:
    assert "the records have [4, 4]" in _refused(lambda: binary_meta(_with_binary_meta(), 4, sizes))


def test_no_binary_meta() -> None:
    program = _program(builder(Function("k")))
    assert binary_meta_count(program, 0) == 0
    assert binary_meta(program, 0, []) == []
    _refused(lambda: binary_meta(program, 0, [4]))
    _refused(lambda: binary_meta_count(program, 6), 207000)
    _refused(lambda: binary_meta(program, -1), 207000)


def _with_sections(*marks: str) -> ElfProgram:
    built = builder(Function("k_mix_aic", None), Function("k_mix_aiv", None))
    for size, mark in enumerate(marks, 1):
        raw = encode_tlv(FunctionMeta.BLOCK_DIM_INFO, bytes([size]) * size, "little")
        built.section(f".ascend.meta.k{mark}", raw, SectionType.NOTE)
    return _program(built)


@pytest.mark.parametrize(
    ("marks", "size"),
    [
        (("",), 1),
        (("", "_mix_aic"), 2),
        (("", "_mix_aic", "_mix_aiv"), 3),
        (("_mix_aiv", "_mix_aic"), 1),
        (("_mix_aic",), 1),
    ],
)
def test_the_last_section_found_counts(marks: tuple[str, ...], size: int) -> None:
    """QRY-03: AIV over AIC over plain, whatever their order in the file."""
    program = _with_sections(*marks)
    assert function_meta_size(program, "k", 15) == size
    assert (
        function_meta(program, "k", 15, size)
        == bytes([size]) * size
        == function_meta(program, "k", 15)
    )
    told = _refused(lambda: function_meta(program, "k", 15, size + 1))
    assert f"room for {size + 1} bytes, it has {size}" in told


def test_the_first_record_counts() -> None:
    """QRY-03: the loader takes the last one."""
    records = [function_tlv(FunctionMeta.KERNEL_TYPE, func_type=kind) for kind in (2, 3)]
    built = builder(Function("k", None))
    built.section(".ascend.meta.k", b"".join(records), SectionType.NOTE)
    program = _program(built)
    assert function_meta(program, "k", 1) == bytes([2, 0, 0, 0])
    assert program.kernels[0].func_type == 3


def test_function_meta_refusals() -> None:
    program = _program(builder(Function("k")))
    for kind in (0, 19, -1):
        _refused(lambda kind=kind: function_meta_size(program, "k", kind), 207000)  # type: ignore[misc]
    assert "EE1014: no BLOCK_DIM_INFO" in _refused(lambda: function_meta(program, "k", 15))
    assert "no meta section for it" in _refused(lambda: function_meta(program, "l", 1))


def test_cpu_programs_have_no_meta() -> None:
    """QK-11: the original answers success and writes nothing."""
    program = PlainProgram(find_soc(A2_SOC))
    for call in (
        lambda: binary_meta_count(program, 0),
        lambda: function_meta_size(program, "k", 1),
        lambda: function_meta(program, "k", 1),
    ):
        assert "AI CPU" in _refused(call)


def test_an_empty_record() -> None:
    """QRY-03: an empty value, where the original answers the bare number 1."""
    raw = encode_tlv(FunctionMeta.BLOCK_DIM_INFO, b"", "little") + function_tlv(
        FunctionMeta.KERNEL_TYPE, func_type=3
    )
    built = builder(Function("k", None)).section(".ascend.meta.k", raw, SectionType.NOTE)
    assert function_meta(_program(built), "k", 15, 0) == b""
