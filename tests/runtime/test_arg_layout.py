"""cannkit/runtime/arg_layout.py: which plan a kernel has. Spec 04, section 2."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from cannkit.errors import UsageError
from cannkit.format.ascend_meta import FunctionMeta, FuncType
from cannkit.format.dfx import TensorType
from cannkit.format.sidecar import read_sidecar
from cannkit.image.kernel_object import KernelObject, SidecarFile
from cannkit.runtime.arg_dfx import DfxPlan
from cannkit.runtime.arg_layout import ArgPlan, plan_arguments
from cannkit.runtime.arg_open import OpenPlan, ParamPlan
from cannkit.runtime.arg_values import SlotOrigin
from cannkit.runtime.args import ArgsEx, block_of
from cannkit.runtime.args_check import check_args
from cannkit.runtime.program import PlainProgram, register
from cannkit.soc import find_soc
from tests.facts import A2_SOC, A5_SOC, read
from tests.objects import MIX, PRINTF, SIMT_GATHER, TILING_KEYS
from tests.reals import reals
from tests.runtime.arg_rows import a_cpu_kernel
from tests.shapes import dfx_tlv, function_tlv, m0, m0_meta, with_meta, word

T = TensorType
FFTS, OVERFLOW = 0x1300_0000_0000, 0x12F9_8000_0000


def plan_of(obj: KernelObject, name: str | None = None) -> ArgPlan:
    program = register(obj)
    return plan_arguments(program, program.by_name(name) if name else program.kernels[0])


def fixture(stem: str, soc: str = A2_SOC) -> KernelObject:
    from tests.build import OBJECTS

    obj = read((OBJECTS / f"{stem}.o").read_bytes(), soc)
    sidecar = read_sidecar((OBJECTS / f"{stem}.json").read_bytes())
    return obj._replace(sidecar=SidecarFile(f"{stem}.json", sidecar))


def with_options(obj: KernelObject, **keys: Any) -> KernelObject:
    assert obj.sidecar is not None
    return obj._replace(sidecar=SidecarFile("k.json", obj.sidecar.sidecar._replace(**keys)))


def params_tlv(*places: tuple[int, int], total: int) -> bytes:
    summary = function_tlv(
        FunctionMeta.PARAM_SUMMARY, param_count=len(places), param_total_size=total
    )
    return summary + b"".join(
        function_tlv(FunctionMeta.PARAM_INFO, index=at, ordinal=at, offset=offset, size=size)
        for at, (offset, size) in enumerate(places)
    )


DFX = dfx_tlv((word(T.INPUT), 2**64 - 1), (word(T.TILING), 40))


def test_parameters_come_first() -> None:
    plan = plan_of(read(m0_meta(DFX, params_tlv((0, 8), total=8))))
    assert isinstance(plan, ParamPlan)
    assert plan.pack([5]) == struct.pack("<Q", 5)


def test_a_summary_of_nothing() -> None:
    """LCH-33: no parameters are known as such, unless the DFX records know better."""
    summary = params_tlv(total=0)
    assert isinstance(plan_of(read(m0_meta(summary))), ParamPlan)
    assert isinstance(plan_of(read(m0_meta(DFX, summary))), DfxPlan)


def test_dfx_records() -> None:
    plan = plan_of(read(m0_meta(DFX)))
    assert isinstance(plan, DfxPlan)
    assert (plan.args_size, plan.pointers, plan.remarks) == (16, (0, 8), ())


@pytest.mark.parametrize("records", [b"", DFX[:-8], dfx_tlv(()), dfx_tlv((word(T.INPUT),), ())])
def test_records_that_cannot_be_trusted(records: bytes) -> None:
    """DFX-02: half of the slots would be worse than none."""
    kind = function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.AIV)
    assert isinstance(plan_of(read(m0_meta(kind, records))), OpenPlan)
    assert isinstance(plan_of(read(m0().build())), OpenPlan)


def test_records_of_another_kind() -> None:
    """DFX-02."""
    other = DFX.replace(b"\x00\x05\x00\x02", b"\x00\x06\x00\x02", 1)
    assert other != DFX
    assert isinstance(plan_of(read(m0_meta(other))), OpenPlan)


def test_a_cpu_kernel() -> None:
    soc = find_soc(A2_SOC)
    plan = plan_arguments(PlainProgram(soc), a_cpu_kernel())
    assert isinstance(plan, OpenPlan)
    assert plan.pack([1]) == struct.pack("<Q", 1)


def test_a_mix_of_a2() -> None:
    plan = plan_of(fixture(MIX.stem))
    args, slots = plan.bind([1, 2, 3, 4, 5, bytes(200)], ffts=FFTS)
    assert isinstance(args, ArgsEx)
    assert (plan.args_size, args.size) == (56, 256)
    assert [slot.kind for slot in slots] == [
        *("ffts", "input", "input", "input", "output", "workspace", "tiling", "tiling data")
    ]
    assert slots[0].origin is SlotOrigin.FFTS
    assert plan.remarks == ()


def test_lists_of_a5() -> None:
    """DFX-05: sizes of dtypes are bits there."""
    plan = plan_of(fixture(SIMT_GATHER.stem, A5_SOC))
    assert isinstance(plan, DfxPlan)
    assert plan.slots[0].words == "input list"
    assert plan.slots[0].dtype_bits == 1
    a2 = plan_of(fixture(TILING_KEYS.stem))
    assert isinstance(a2, DfxPlan)
    assert a2.slots[0].dtype_bits == 8


def test_the_oom_option() -> None:
    """DFX-06."""
    obj = fixture(PRINTF.stem, A5_SOC)
    plain, oom = plan_of(obj), plan_of(with_options(obj, debug_options="printf,oom"))
    args = [0x1000] * (len(plain.pointers) - 1)
    plain.check([*args, bytes(48)])
    for size in (47, 57):
        with pytest.raises(UsageError, match="takes 48 to 56"):
            plain.check([*args, bytes(size)])
    oom.check([*args, bytes(1)])


def test_contradictions() -> None:
    """DFX-06, DFX-10: the records count."""
    obj = with_options(fixture(MIX.stem), op_para_size=96)
    first, second = obj.kernels
    assert second.dfx is not None
    shorter = second.dfx._replace(args=second.dfx.args[1:], arg_info_count=6)
    halves = (first._replace(arg_size=64), second._replace(dfx=shorter))
    plan = plan_of(obj._replace(kernels=halves))
    assert plan.args_size == 56
    assert [finding.rule for finding in plan.remarks] == ["DFX-08", "DFX-10", "DFX-06"]
    assert all(finding.severity == "warning" for finding in plan.remarks)


def test_the_stated_size_alone() -> None:
    """ARG-01: where nothing else is known."""
    obj = read(m0().build())
    (kernel,) = obj.kernels
    plan = plan_of(obj._replace(kernels=(kernel._replace(arg_size=72),)))
    assert (plan.source, plan.args_size) == ("none", 72)
    with pytest.raises(UsageError, match="the kernel takes 72"):
        plan.check([1, 2])


def test_one_half_of_a_mix_is_described() -> None:
    """CON-03: the half that states something counts."""
    kind = function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.MIX_AIC_MAIN)
    for half, other in (("_mix_aic", "_mix_aiv"), ("_mix_aiv", "_mix_aic")):
        built = m0()
        built.symbol(f"k_1{half}", size=32)
        built.symbol(f"k_1{other}", value=32, size=32)
        with_meta(built, kind, DFX, kernel=f"k_1{other}")
        with_meta(built, kind, kernel=f"k_1{half}")
        obj = read(built.build())
        assert len(register(obj).by_name("k_1").symbols) == 2
        assert isinstance(plan_of(obj, "k_1"), DfxPlan)


@pytest.mark.corpus
def test_every_real_kernel_takes_its_arguments(corpus: Path) -> None:
    """DFX-06, DFX-08, DFX-10: of 1,668 samples none contradicts itself."""
    count = 0
    for real in reals(corpus):
        file = SidecarFile("", real.sidecar)
        program = register(real.obj._replace(sidecar=file))
        for kernel in program.kernels:
            plan = plan_arguments(program, kernel)
            assert isinstance(plan, DfxPlan)
            assert plan.remarks == ()
            assert kernel.ffts_in_args == any(slot.what == "ffts" for slot in plan.slots)
            (tiling,) = (slot for slot in plan.slots if slot.is_tiling)
            assert tiling.tiling_sizes is not None
            words = range(1, len(plan.pointers))
            args, _ = plan.bind([*words, bytes(tiling.tiling_sizes[0])], ffts=FFTS)
            check_args(kernel, args)
            assert plan.args_size is not None
            assert args.size == plan.args_size + tiling.tiling_sizes[1]
            count += 1
    assert count > 1200


@pytest.mark.corpus
def test_a_real_mix(corpus: Path) -> None:
    """W-12."""
    (real,) = (
        real
        for real in reals(corpus)
        if real.product == "A2" and real.path.name.startswith("OffsetsRange_67fb5b")
    )
    plan = plan_of(real.obj)
    assert (plan.source, plan.args_size, plan.pointers) == ("DFX", 40, (8, 16, 24, 32))
    given = [0x1240_9000_0000, 0x1240_9010_0000, 0x1240_9020_0000, bytes(40)]
    args, _ = plan.bind(given, ffts=FFTS)
    block = block_of(None, args)
    assert block.size == 80
    assert struct.unpack_from("<5Q", block.patched(0x1240_8030_0080)) == (
        *(FFTS, *given[:3]),
        0x1240_8030_00A8,
    )
    assert plan.block(given, ffts=FFTS) == block
    with pytest.raises(UsageError, match=r"argument 3 of 4 \(workspace\) is missing"):
        plan.check(given[:2])
