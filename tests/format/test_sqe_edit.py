"""Entries made from names and texts: which record, which field, which value."""

from __future__ import annotations

import pytest

from cannkit.errors import UsageError
from cannkit.format.bits import Record
from cannkit.format.sqe import RECORDS, Family, v100, v200
from cannkit.format.sqe.edit import find_field, make_sqe, parse_value
from tests.sqe import context, sqe


def made(family: Family, *settings: str, record: str | None = None, base: str = "") -> Record:
    pairs = [(name, value) for name, _, value in (text.partition("=") for text in settings)]
    return make_sqe(family, pairs, record=record, base=bytes.fromhex(base) if base else None)


@pytest.mark.parametrize(
    ("family", "settings", "kind"),
    [
        (Family.V100, [], v100.KernelSqe),
        (Family.V100, ["block_dim=8", "ffts_type=AIV"], v100.KernelSqe),
        (Family.V100, ["ffts_type=MIX"], v100.MixSqe),
        (Family.V100, ["context_addr=0x80"], v100.MixSqe),
        (Family.V100, ["sqe_type=AICPU"], v100.AicpuSqe),
        (Family.V100, ["kernel_type=AICPU"], v100.AicpuSqe),
        (Family.V100, ["type=EVENT_WAIT"], v100.Header),
        (Family.V100, ["type=62", "stream_id=1"], v100.Header),
        (Family.V100, ["aiv_args_size=8"], v100.MixContext),
        (Family.V200, [], v200.KernelSqe),
        (Family.V200, ["type=AIV"], v200.KernelSqe),
        (Family.V200, ["type=AICPU_H"], v200.AicpuSqe),
        (Family.V200, ["so_name_addr=1"], v200.AicpuSqe),
        (Family.V200, ["type=FUSION", "sub_type=1"], v200.AicpuSqe),
        (Family.V200, ["type=FUSION", "kernel_type=5"], v200.AicpuSqe),
        (Family.V200, ["type=NOTIFY_WAIT"], v200.Header),
    ],
)
def test_record_that_the_fields_tell(
    family: Family, settings: list[str], kind: type[Record]
) -> None:
    """The first that has all the fields and is what its own bytes are decoded to."""
    assert type(made(family, *settings)) is kind


@pytest.mark.parametrize("family", Family)
def test_record_by_name(family: Family) -> None:
    for name, kind in RECORDS[family].items():
        assert made(family, record=name) == kind()


def test_record_of_the_base() -> None:
    """All bits stay that nobody sets, those without a name, too."""
    raw = bytearray(sqe("W-3"))
    raw[56] = 0xA5
    entry = made(Family.V100, "block_dim=0x18", base=raw.hex())
    assert isinstance(entry, v100.MixSqe)
    raw[2] = 0x18
    assert entry.encode() == raw
    other = made(Family.V200, "type=AICPU_H", base=sqe("W-9").hex())
    assert other.encode() == b"\x04" + sqe("W-9")[1:]
    assert type(made(Family.V200, "sqe_type=NOTIFY_WAIT", base=sqe("W-9").hex())) is v200.Header
    assert made(Family.V100, base=context("W-3").hex()).encode() == context("W-3")
    kernel = made(Family.V100, record="kernel", base=sqe("W-3").hex())
    assert isinstance(kernel, v100.KernelSqe)
    assert kernel.encode() == sqe("W-3")


def test_w_1_from_its_fields() -> None:
    """By name in Python and in C, as numbers and as names; the last value counts."""
    entry = made(
        Family.V100,
        "fftsType=aiv",
        "block_dim=1",
        "block_dim=48",
        "rt_stream_id=3",
        "task_id=0x11",
        "kernel_credit=254",
        "stackPhyBaseLow/High=0x1240C0000000",
        "pc=0X12C041200400",
        "args_addr=20068235739136",
    )
    assert entry.encode() == sqe("W-1")


def error(family: Family, *settings: str, record: str | None = None, base: str = "") -> str:
    with pytest.raises(UsageError) as caught:
        made(family, *settings, record=record, base=base)
    return f"{caught.value} | {caught.value.hint}"


KERNEL = "RtFftsPlusKernelSqe has no field"
FIELDS = f"it has {', '.join(v100.KernelSqe.SPANS)}"
NOT_A_NUMBER = "neither a decimal nor a 0x number"
MISTAKES = {
    "blok_dim=1": f"{KERNEL} 'blok_dim' | did you mean block_dim?",
    "prefetchcount=1": f"{KERNEL} 'prefetchcount' | did you mean prefetch_count, icache_prefetch_cnt?",
    "fftstype=1": f"{KERNEL} 'fftstype' | did you mean fftsType, ffts_type, type?",
    "zzzz=1": f"{KERNEL} 'zzzz' | {FIELDS}",
    "residue=1": f"{KERNEL} 'residue' | {FIELDS}",
    "=1": f"{KERNEL} '' | {FIELDS}",
    "param_addr_high=1": (
        f"{KERNEL} 'param_addr_high' | that is a half in C: set args_addr or stack_level"
    ),
    "stackPhyBaseHigh=1": f"{KERNEL} 'stackPhyBaseHigh' | that is a half in C: set stack_base",
    "pc=1 ffts_type=AIC dump_en=1": f"{KERNEL} 'dump_en' | it is one of --record aicpu",
    "block_dim=65536": "block_dim=65536 does not fit in 16 bits: at most 0xffff, 65535 | None",
    "ns=2": "ns=2 does not fit in 1 bit: at most 1 | None",
    "pmg=4": "pmg=4 does not fit in 2 bits: at most 3 | None",
    "stack_base=0x10000000000000000": (
        "stack_base=0x10000000000000000 does not fit in 64 bits: "
        "at most 0xffffffffffffffff, 18446744073709551615 | None"
    ),
    "block_dim=-1": f"block_dim=-1: {NOT_A_NUMBER} | None",
    "block_dim=": f"block_dim=: {NOT_A_NUMBER} | None",
    "block_dim=1_0": f"block_dim=1_0: {NOT_A_NUMBER} | None",
    "block_dim=\u0663": f"block_dim=\u0663: {NOT_A_NUMBER} | None",
    "ffts_type=CUBE": f"ffts_type=CUBE: {NOT_A_NUMBER} | or one of AIC, AIV, MIX, AICORE",
    "ns=maybe": f"ns=maybe: {NOT_A_NUMBER} | or one of TRUE, YES, ON, FALSE, NO, OFF",
}


@pytest.mark.parametrize(("settings", "said"), MISTAKES.items())
def test_what_cannot_be(settings: str, said: str) -> None:
    """cli.md: unknown names get the nearest ones suggested; what does not fit is a usage error."""
    assert error(Family.V100, *settings.split(" ")) == said


def test_value_as_long_as_a_page() -> None:
    said = error(Family.V100, f"block_dim={'9' * 100_000}")
    assert len(said) < 300
    assert "(100000 characters)" in said


def test_fields_of_another_family() -> None:
    assert "has no field 'dcu_size'" in error(Family.V100, "dcu_size=1")
    assert error(Family.V200, record="mix") == (
        "v200 has no record mix | one of kernel, aicpu, header"
    )
    assert "has no field 'pc'" in error(Family.V200, "pc=1", record="aicpu")


def test_base_of_another_size() -> None:
    said = error(Family.V100, record="kernel", base=context("W-3").hex())
    assert said == "RtFftsPlusKernelSqe has 64 bytes, the base 128 | None"
    assert "has 64 bytes, the base 128" in error(Family.V200, base="00" * 128)


@pytest.mark.parametrize("family", Family)
def test_each_field_is_found_by_both_names(family: Family) -> None:
    """But for the halves of a value, which in C have names of their own."""
    for kind in RECORDS[family].values():
        for field, span in kind.SPANS.items():
            assert find_field(kind, field) == field
            if not field.endswith("stack_level"):
                assert find_field(kind, span.c_name) == field
            if "/" in span.c_name:
                assert find_field(kind, span.c_name.partition("/")[0]) is None


@pytest.mark.parametrize("family", Family)
def test_each_value_is_found_by_its_name(family: Family) -> None:
    for kind in RECORDS[family].values():
        for field, span in kind.SPANS.items():
            assert parse_value(field, span, hex((1 << span.width) - 1)) == (1 << span.width) - 1
            for name, value in getattr(span.kind, "__members__", {}).items():
                assert parse_value(field, span, name) == parse_value(field, span, str(int(value)))
