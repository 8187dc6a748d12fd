"""cannkit/runtime/arg_dfx.py and arg_slots.py: kernels whose DFX records name their slots."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.device.trace import Finding, Severity
from cannkit.errors import CannkitError, UsageError
from cannkit.format.dfx import UNKNOWN_SIZE, PointerType, TensorType, encode_dfx, read_dfx
from cannkit.runtime.arg_dfx import DfxPlan
from cannkit.runtime.arg_slots import slots_of
from cannkit.runtime.arg_values import ArgKind, Slot, SlotOrigin, UserArg
from cannkit.runtime.args import ArgsEx, Placeholder, block_of
from cannkit.runtime.args_check import check_args
from tests.shapes import word

FFTS, OVERFLOW = 0x1300_0000_0000, 0x12F9_8000_0000
X, Y, WORKSPACE = 0x1240_9000_0000, 0x1240_9010_0000, 0x1240_9020_0000
BASE = 0x1240_8030_0080
USER = SlotOrigin.USER
T = TensorType
LIST = PointerType.LEVEL_2_WITH_SHAPE


def plan_of(*records: tuple[int, ...], **options: Any) -> DfxPlan:
    dfx = read_dfx(encode_dfx([(5, words) for words in records]))
    assert not dfx.problem
    values: dict[str, Any] = {"dtype_bits": 1, "has_oom": False}
    return DfxPlan(slots_of(dfx.args, **(values | options)))


def unknown(kind: TensorType) -> tuple[int, ...]:
    """An input or output of a kernel with tiling. DFX-04."""
    return word(kind), UNKNOWN_SIZE


MIX = plan_of(  # W-12
    (word(T.FFTS),), unknown(T.INPUT), unknown(T.OUTPUT), (word(T.WORKSPACE),), (word(T.TILING), 40)
)
VECTOR = plan_of(*[unknown(T.INPUT)] * 6, unknown(T.OUTPUT), (word(T.WORKSPACE),))
STATIC = plan_of(
    (word(T.INPUT), 64, 2, 4, 4),
    (word(T.OUTPUT), 32, 1, 8),
    (word(T.WORKSPACE), 4096),
    (word(T.OVERFLOW),),
)


def complaint(plan: DfxPlan, *args: object) -> UsageError:
    """The same from check, bind, block and, where they are all numbers, from pack."""
    with pytest.raises(UsageError) as caught:
        plan.check(list(args))
    for call in (plan.bind, plan.block, plan.pack):
        with pytest.raises(UsageError) as again:
            call(args)  # type: ignore[arg-type]
        assert str(again.value) == str(caught.value)
    return caught.value


def test_the_block_of_a_mix() -> None:
    """W-12, with its slots by LCH-91."""
    args, slots = MIX.bind([X, Y, WORKSPACE, bytes(range(40))], ffts=FFTS)
    assert isinstance(args, ArgsEx)
    assert (args.size, args.tiling, args.placeholders) == (80, Placeholder(32, 40), ())
    check_args(None, args)
    patched = block_of(None, args).patched(BASE)
    assert struct.unpack_from("<5Q", patched) == (FFTS, X, Y, WORKSPACE, 0x1240_8030_00A8)
    assert patched[40:] == bytes(range(40))
    assert slots == (
        Slot(0, 8, "ffts", SlotOrigin.FFTS),
        Slot(8, 8, "input", USER, 0),
        Slot(16, 8, "output", USER, 1),
        Slot(24, 8, "workspace", USER, 2),
        Slot(32, 8, "tiling", SlotOrigin.TILING, 3),
        Slot(40, 40, "tiling data", SlotOrigin.TILING, 3),
    )


def test_facts() -> None:
    assert (MIX.source, MIX.args_size, MIX.pointers) == ("DFX", 40, (8, 16, 24, 32))
    assert (STATIC.args_size, STATIC.pointers) == (32, (0, 8, 16))
    remark = Finding("DFX-10", Severity.WARNING, "...")
    assert DfxPlan(MIX.slots, [remark]).remarks == (remark,)


def test_words_are_packed() -> None:
    assert VECTOR.pack(range(8)) == struct.pack("<8Q", *range(8))
    assert MIX.pack([1, 2, 3, 4], ffts=FFTS) == struct.pack("<5Q", FFTS, 1, 2, 3, 4)
    assert STATIC.pack([1, 2, 3], overflow=OVERFLOW) == struct.pack("<4Q", 1, 2, 3, OVERFLOW)
    assert MIX.bind([1, 2, 3, 4], ffts=FFTS)[0].args == MIX.pack([1, 2, 3, 4], ffts=FFTS)


def test_pack_takes_numbers_only() -> None:
    for value in (None, bytes(8), UserArg(ArgKind.NULL)):
        VECTOR.check([value] * 8)
        with pytest.raises(UsageError, match="only whole numbers can be packed"):
            VECTOR.pack([value] * 8)  # type: ignore[list-item]


def test_null_and_raw_words() -> None:
    eight = (7).to_bytes(8, "little")
    scalar = UserArg(ArgKind.SCALAR, eight, dtype="u64")
    args, _ = MIX.bind([None, eight, scalar, UserArg(ArgKind.NULL)])
    assert args.args == struct.pack("<5Q", 0, 0, 7, 7, 0)


def test_arguments_of_the_user() -> None:
    given = [
        UserArg(ArgKind.IN, address=X, size=64, dtype="f32", shape=(16,)),
        UserArg(ArgKind.INOUT, address=Y, size=64, dtype="f32", shape=(16,)),
        UserArg(ArgKind.WORKSPACE, address=WORKSPACE, size=4096),
        UserArg(ArgKind.TILING, bytes(40), size=40),
    ]
    assert MIX.resolve(given) == tuple(given)
    assert MIX.bind(given, ffts=FFTS) == MIX.bind([X, Y, WORKSPACE, bytes(40)], ffts=FFTS)
    there = UserArg(ArgKind.TILING, address=0x5000)  # tiling data that are on the device already
    assert MIX.bind([*given[:3], there])[0].size == 40


def test_a_block_is_taken_as_it_is() -> None:
    args, slots = MIX.bind(b"anything")
    assert args == ArgsEx(b"anything", 8)
    assert slots == (Slot(0, 8, "block", USER, 0),)
    assert MIX.block(bytearray(b"abc")).content == b"abc"
    assert MIX.resolve(b"abc")[0].data == b"abc"
    MIX.check(b"abc")


@pytest.mark.parametrize(
    ("count", "missing"),
    [(0, "1 of 4 (input)"), (2, "3 of 4 (workspace)"), (3, "4 of 4 (tiling)")],
)
def test_what_is_missing(count: int, missing: str) -> None:
    error = complaint(MIX, *[0x1000] * count)
    assert error.what == f"argument {missing} is missing"
    assert error.hint == (
        "it takes input, output, workspace, tiling (40 bytes); ffts it gets by itself"
    )


def test_too_many() -> None:
    error = complaint(STATIC, *[0x1000] * 4)
    assert error.what == "4 arguments, the kernel takes 3"
    assert error.hint == (
        "it takes input (64 bytes), output (32 bytes), workspace (4096 bytes); "
        "overflow it gets by itself"
    )


@pytest.mark.parametrize(
    ("plan", "at", "value", "words"),
    [
        (MIX, 0, UserArg(ArgKind.OUT, label="out:f32[4]"), "(input), out:f32[4] is given as an output"),
        (MIX, 1, UserArg(ArgKind.IN), "(output) is given as an input"),
        (MIX, 1, UserArg(ArgKind.WORKSPACE), "(output) is given as a workspace"),
        (MIX, 2, UserArg(ArgKind.IN), "(workspace) is given as an input"),
        (MIX, 2, UserArg(ArgKind.TILING, bytes(40)), "(workspace) is given as tiling data"),
        (MIX, 3, UserArg(ArgKind.IN), "(tiling) is given as an input"),
        (MIX, 0, UserArg("other"), "is given as of kind other"),  # type: ignore[arg-type]
        (MIX, 0, bytes(64), "(input) is 64 bytes by value, the kernel takes an address"),
        (MIX, 0, bytes(4), "4 bytes by value"),
        (MIX, 0, b"", "0 bytes by value"),
        (MIX, 0, UserArg(ArgKind.SCALAR, bytes(8), dtype="f64"), "8 bytes by value"),
        (MIX, 3, UserArg(ArgKind.SCALAR, bytes(40)), "(tiling) is 40 bytes by value"),
        (MIX, 3, bytes(41), "(tiling) has 41 bytes, the kernel takes 32 to 40"),
        (MIX, 3, bytes(31), "has 31 bytes, the kernel takes 32 to 40"),
        (MIX, 3, b"", "has 0 bytes"),
        (MIX, 0, -1, "(input) does not fit in 64 bits"),
        (MIX, 2, 2**64, "(workspace) does not fit in 64 bits"),
        (MIX, 1, 1.5, "(output) is a float"),
        (STATIC, 0, UserArg(ArgKind.IN, size=60), "has 60 bytes, the kernel takes 64"),
        (STATIC, 0, UserArg(ArgKind.IN, dtype="f32", shape=(0,)), "has 0 bytes"),
        (STATIC, 0, UserArg(ArgKind.IN, size=80, shape=(5, 4)), "the shape [5, 4], the kernel takes [4, 4]"),
        (STATIC, 2, UserArg(ArgKind.WORKSPACE, size=4095), "has 4095 bytes, the kernel takes 4096"),
    ],
)  # fmt: skip
def test_what_a_slot_does_not_take(plan: DfxPlan, at: int, value: object, words: str) -> None:
    args: list[object] = [0x1000] * len(plan.pointers)
    args[at] = value
    error = complaint(plan, *args)
    assert error.what.startswith(f"argument {at + 1} of {len(args)} ")
    assert words in error.what


def test_shapes_of_as_many_elements_will_do() -> None:
    """DFX-04."""
    for shape in ((4, 4), (16,), (2, 8), ()):
        STATIC.check([UserArg(ArgKind.IN, address=X, size=64, shape=shape), Y, WORKSPACE])
    STATIC.check([UserArg(ArgKind.IN, address=X), Y, WORKSPACE])  # of unknown size


@pytest.mark.parametrize("size", [32, 39, 40])
def test_tiling_with_and_without_what_the_dump_needs(size: int) -> None:
    """DFX-06: the block has all of it either way."""
    args, slots = MIX.bind([X, Y, WORKSPACE, b"t" * size])
    assert args.size == 80
    assert isinstance(args.args, bytes)
    assert args.args[40:] == (b"t" * size).ljust(40, b"\0")
    assert slots[-1].size == 40
    assert MIX.block([X, Y, WORKSPACE, b"t" * size]) == block_of(None, args)


def test_tiling_with_the_oom_option() -> None:
    """DFX-06: 8 bytes more for each input, output and workspace, and a struct rounded up."""
    records = (unknown(T.INPUT), unknown(T.OUTPUT), (word(T.WORKSPACE),), (word(T.TILING), 72))
    plan = plan_of(*records, has_oom=True)
    plan.check([X, Y, WORKSPACE, bytes(33)])  # 40 + 8 + 3 * 8
    with pytest.raises(UsageError, match="takes 33 to 72"):
        plan.check([X, Y, WORKSPACE, bytes(32)])


@pytest.mark.parametrize("record", [(word(T.TILING),), (word(T.TILING), UNKNOWN_SIZE)])
def test_tiling_of_unknown_size(record: tuple[int, ...]) -> None:
    plan = plan_of((word(T.INPUT), 8, 0), record)
    args, slots = plan.bind([X, b"abc"])
    assert (args.tiling, slots[-1].size) == (Placeholder(8, 16), 3)
    assert plan.block([X, b"abc"]).patched(BASE)[8:] == struct.pack("<Q3s", BASE + 16, b"abc")
    with pytest.raises(UsageError, match="has 0 bytes"):
        plan.check([X, b""])


def test_a_list_of_tensors() -> None:
    """DFX-07: one tensor becomes a list; a descriptor as bytes is laid behind the table."""
    plan = plan_of((word(T.INPUT, LIST), UNKNOWN_SIZE, 2), (word(T.TILING), 16), dtype_bits=8)
    tensor = UserArg(ArgKind.IN, address=X, size=24, dtype="f16", shape=(3, 4))
    args, slots = plan.bind([tensor, bytes(16)])
    patched = block_of(None, args).patched(BASE)
    assert struct.unpack_from("<2Q", patched) == (BASE + 16, BASE + 56)
    assert struct.unpack_from("<5Q", patched, 16) == (32, 1 << 32 | 2, 3, 4, X)
    assert [slot.kind for slot in slots] == ["input", "tiling", "input data", "tiling data"]
    mine = struct.pack("<3Q", 16, 1 << 32, Y)
    args, _ = plan.bind([mine, bytes(16)])
    assert args.placeholders == (Placeholder(0, 16),)
    assert plan.block([mine, bytes(16)]).patched(BASE)[16:40] == mine
    assert plan.bind([0x5000, bytes(16)])[0].placeholders == ()
    with pytest.raises(UsageError, match="has elements of f32, the kernel takes 16 bits"):
        plan.check([tensor._replace(dtype="f32", size=48), bytes(16)])
    with pytest.raises(UsageError, match=r"argument 1 of 2 \(input list\) is missing"):
        plan.check([])


def test_an_array_of_pointers() -> None:
    """DFX-03, LEVEL_2."""
    plan = plan_of((word(T.OUTPUT, PointerType.LEVEL_2), UNKNOWN_SIZE))
    args, _ = plan.bind([UserArg(ArgKind.OUT, address=Y, size=8, dtype="f32", shape=(2,))])
    assert block_of(None, args).patched(BASE) == struct.pack("<2Q", BASE + 8, Y)


def test_other_slots() -> None:
    """DFX-03: any memory of the user will do."""
    plan = plan_of(
        (word(T.MC2_CTX),), (word(T.SHAPE_TENSOR), UNKNOWN_SIZE), (word(TensorType(77)),)
    )
    out, room = UserArg(ArgKind.OUT, address=1), UserArg(ArgKind.WORKSPACE, address=2)
    assert plan.bind([room, out, out])[0].args == struct.pack("<3Q", 2, 1, 1)
    assert [slot.what for slot in plan.slots] == ["mc2 ctx", "shape tensor", "unknown 0x4d"]
    with pytest.raises(UsageError, match=r"2 of 3 \(shape tensor\) is given as a workspace"):
        plan.check([room, room, room])


def test_messages_of_kernels_with_many_slots() -> None:
    many = plan_of(*[unknown(T.INPUT)] * 3000, unknown(T.OUTPUT))
    assert complaint(many).hint == "it takes 3000 x input, output"
    mixed = plan_of(*[unknown(T.INPUT), unknown(T.OUTPUT)] * 1500)
    error = complaint(mixed)
    assert len(error.hint or "") < 200
    assert "(3000 in all)" in (error.hint or "")
    huge = plan_of((word(T.INPUT), 8, 4000, *[2**63] * 4000))
    with pytest.raises(UsageError) as caught:
        huge.check([UserArg(ArgKind.IN, size=8, shape=tuple(range(1, 9999)))])
    assert len(str(caught.value)) < 500


records = st.lists(
    st.one_of(
        st.sampled_from([T.INPUT, T.OUTPUT, T.WORKSPACE, T.FFTS, T.OVERFLOW, T.SHAPE_TENSOR]).map(unknown),
        st.just((word(T.TILING), 24)),
        st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)),
    ),
    min_size=1,
    max_size=12,
)  # fmt: skip
user_args = st.one_of(
    st.integers(-1, 2**64),
    st.none(),
    st.binary(max_size=32),
    st.builds(
        UserArg,
        st.sampled_from(ArgKind),
        st.one_of(st.none(), st.binary(max_size=32)),
        st.integers(0, 2**64 - 1),
        st.integers(0, 100),
    ),
)


@given(records, st.lists(user_args, max_size=14))
def test_any_arguments(found: list[tuple[int, ...]], args: list[Any]) -> None:
    """Every block that is bound passes the runtime's checks, and `block` makes the same."""
    plan = plan_of(*found)
    args = (args + [0x1000] * len(plan.pointers))[: len(plan.pointers)]
    try:
        bound, slots = plan.bind(args, ffts=FFTS, overflow=OVERFLOW)
    except CannkitError:
        with pytest.raises(UsageError):
            plan.block(args, ffts=FFTS, overflow=OVERFLOW)
        return
    check_args(None, bound)
    block = block_of(None, bound)
    assert plan.block(args, ffts=FFTS, overflow=OVERFLOW) == block
    patched = block.patched(BASE)
    ends = [slot.offset + slot.size for slot in slots]
    assert all(slot.offset >= end for slot, end in zip(slots[1:], ends, strict=False))
    assert ends[-1] == len(patched)
    assert plan.args_size is not None
    for slot in slots:
        if (
            slot.origin in (SlotOrigin.TILING, SlotOrigin.PLACEHOLDER)
            and slot.offset < plan.args_size
        ):
            at = int.from_bytes(patched[slot.offset : slot.offset + 8], "little") - BASE
            assert plan.args_size <= at < len(patched)
