"""What a host model sees: its block, its arguments as live views with and without numpy, its bounds."""

from __future__ import annotations

import asyncio
import functools
import struct
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final

import pytest

from cannkit.api.models import ModelContext, check_model, device_model, typed_view
from cannkit.api.models import _numpy as numpy_of
from cannkit.api.values import DTYPES, Kind, pack, unpack
from cannkit.device.executor import BlockContext, Core, HostModels, Work
from cannkit.device.memory import DeviceFaultError, DeviceMemory, RegionName
from cannkit.errors import UsageError
from cannkit.format.sqe import v100
from cannkit.runtime.arg_values import ArgKind, BlockBuilder, Slot, SlotOrigin, UserArg
from cannkit.soc import find_soc

SOC: Final = find_soc("Ascend910B1")
PC: Final = 0x1240_0000_1000


@pytest.fixture(params=["plain", "numpy"])
def numpy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Each test with numpy, where it is installed, and without."""
    numpy_of.cache_clear()
    if request.param == "plain":
        monkeypatch.setitem(__import__("sys").modules, "numpy", None)
        yield None
    else:
        yield pytest.importorskip("numpy")
    numpy_of.cache_clear()


class World:
    """A device's memory with an argument block in it."""

    def __init__(self) -> None:
        self.memory = DeviceMemory()
        self.block = BlockBuilder()
        self.args: list[UserArg] = []

    def place(self, data: bytes, size: int | None = None) -> int:
        """The address of new memory that holds some bytes."""
        address = self.memory.allocate(max(size or len(data), 1), RegionName.DATA_RW)
        self.memory.write(address, data)
        return address

    def add(self, arg: UserArg, *, behind: bytes | None = None) -> None:
        """An argument, and in the block a value, an address, or the address of bytes behind it."""
        at = len(self.args)
        self.args.append(arg)
        if behind is not None:
            self.block.pointer(behind, str(arg.kind), SlotOrigin.USER, at)
        elif arg.kind is ArgKind.SCALAR:
            self.block.value(arg.data or b"", "scalar", SlotOrigin.USER, at)
        else:
            self.block.word(arg.address, str(arg.kind), SlotOrigin.USER, at)

    def tensor(self, dtype: str, values: Sequence[Any], shape: tuple[int, ...]) -> None:
        data = pack(DTYPES[dtype], values)
        address = self.place(data)
        self.add(UserArg(ArgKind.IN, None, address, len(data), dtype=dtype, shape=shape))

    def work(self, dim: int = 1, ratio: tuple[int, int] = (0, 1)) -> tuple[Work, tuple[Slot, ...]]:
        """The launch as its executor gets it, and the slots of the block."""
        ex, slots = self.block.finish()
        assert isinstance(ex.args, bytes)
        base = self.place(ex.args)
        for addr, data in ex.placeholders or ():
            self.memory.write(base + addr, (base + data).to_bytes(8, "little"))
        sqe = v100.KernelSqe()
        return Work(sqe, None, SOC, self.memory, 0, 0, dim, ratio, PC, PC, base, base), slots

    def context(self) -> ModelContext:
        work, slots = self.work()
        return ModelContext(BlockContext(work, Core.AIV, 0, 0), self.args, slots)


def test_block() -> None:
    """A mix kernel 1:2 of two blocks: cube core, then its two vector cores, block by block."""
    world, seen = World(), []
    work, slots = world.work(2, (1, 2))
    models = HostModels()

    def model(ctx: ModelContext) -> None:
        assert (ctx.blocks, ctx.soc, ctx.args_address) == (2, "Ascend910B1", work.aic_args)
        seen.append((ctx.block, ctx.core, ctx.sub_block, ctx.sub_blocks, repr(ctx)))

    models.bind(PC, device_model(model, lambda address: ((), slots)))
    assert models.execute(work).error_type == 0
    assert [each[:4] for each in seen] == [
        (block, *side) for block in (0, 1) for side in (("aic", 0, 1), ("aiv", 0, 2), ("aiv", 1, 2))
    ]
    assert seen[-1][4] == "<ModelContext aiv block 1.1 of 2>"


def test_tensors_are_live(numpy: Any) -> None:
    world = World()
    world.tensor("f32", range(6), (2, 3))
    ctx = world.context()
    view = ctx.arg(0)
    assert view[1, 2] == 5
    view[1, 2] = 7.5
    assert ctx.arg(0)[1, 2] == 7.5
    assert struct.unpack("<6f", ctx.read(world.args[0].address, 24)) == (0, 1, 2, 3, 4, 7.5)
    ctx.write(world.args[0].address, struct.pack("<f", -1))
    assert view[0, 0] == -1
    assert (type(view) is memoryview) == (numpy is None)
    with pytest.raises(IndexError):
        view[2, 0]


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name: str, numpy: Any) -> None:
    """Each as the type itself or the nearest that there is."""
    dtype = DTYPES[name]
    view = typed_view(memoryview(bytearray(pack(dtype, [1, 0, 1]))), dtype, (3,))
    plain = view.tolist()
    if name == "bf16" or (name == "f16" and numpy is None):
        words = struct.unpack("<3H", pack(dtype, [1, 0, 1]))
        assert plain == list(words)
    elif dtype.kind is Kind.COMPLEX and numpy is None:
        assert plain == [[1, 0], [0, 0], [1, 0]]
    else:
        assert plain == [1, 0, 1]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (0, 10**19)])
def test_shapes_of_one_value_and_of_none(shape: tuple[int, ...], numpy: Any) -> None:
    raw = memoryview(bytearray(0 if shape else 4))
    if numpy is not None and 10**19 in shape:
        return  # larger than any array of numpy may be
    view = typed_view(raw, DTYPES["f32"], shape)
    assert view[()] == 0 if not shape else len(view.tolist()) in (0, 2)


def test_scalars_and_the_rest() -> None:
    world = World()
    for dtype, value in {
        "i32": -5,
        "f32": 1.5,
        "u64": 2**64 - 1,
        "bool": True,
        "bf16": 2.0,
    }.items():
        data = pack(DTYPES[dtype], [value])
        world.add(UserArg(ArgKind.SCALAR, data, size=len(data), dtype=dtype))
    world.add(UserArg(ArgKind.SCALAR, b"\1\2\3", size=3))
    world.add(UserArg(ArgKind.NULL))
    world.add(UserArg(ArgKind.ADDRESS, address=0x1234))
    world.add(UserArg(ArgKind.WORKSPACE, None, world.place(b"ws", 64), 64))
    world.add(UserArg(ArgKind.TILING, b"tiling", size=6), behind=b"tiling..")
    ctx = world.context()
    assert [ctx.arg(index) for index in range(8)] == [-5, 1.5, 2**64 - 1, True, 2.0, b"\1\2\3", None, 0x1234]  # fmt: skip
    workspace = ctx.arg(8)
    assert (len(workspace), workspace.format, bytes(workspace[:2])) == (64, "B", b"ws")
    assert ctx.arg(9) == ctx.tiling == b"tiling"
    for index in (-1, 10):
        with pytest.raises(IndexError, match=f"no argument {index}: 10 were given"):
            ctx.arg(index)


def test_without_tiling() -> None:
    world = World()
    world.add(UserArg(ArgKind.TILING))
    assert World().context().tiling == b""
    with pytest.raises(DeviceFaultError):
        world.context().arg(0)  # null, as the kernel would see it


def test_list_of_a_tensor() -> None:
    """DFX-07: the slot points at a list, whose last word is the address."""
    world = World()
    address = world.place(pack(DTYPES["i8"], [1, 2]))
    arg = UserArg(ArgKind.IN, None, address, 2, dtype="i8", shape=(2,))
    world.add(arg, behind=struct.pack("<4Q", 24, 1 << 32 | 1, 2, address))
    assert world.context().arg(0).tolist() == [1, 2]


def test_arguments_are_read_from_the_device() -> None:
    """A bit that flips in the argument block is what the model sees."""
    world = World()
    world.tensor("i8", [1], (1,))
    world.add(UserArg(ArgKind.SCALAR, b"\1", size=1, dtype="i8"))
    ctx = world.context()
    word = ctx.read(ctx.args_address, 8)
    ctx.write(ctx.args_address + 8, b"\3")
    assert ctx.arg(1) == 3
    ctx.write(ctx.args_address, (int.from_bytes(word, "little") ^ 1 << 40).to_bytes(8, "little"))
    with pytest.raises(DeviceFaultError):
        ctx.arg(0)


def test_bounds() -> None:
    world = World()
    world.tensor("f32", [1], (1,))
    ctx = world.context()
    address = world.args[0].address
    for call in (
        lambda: ctx.read(address, 5),
        lambda: ctx.write(address + 4, b"x"),
        lambda: ctx.read(0, 1),
        lambda: ctx.write(address - (1 << 36), b"x"),
    ):
        with pytest.raises(DeviceFaultError):
            call()
    assert unpack(DTYPES["f32"], ctx.read(address, 4)) == (1,)


async def waits(ctx: ModelContext | None = None) -> None:
    await asyncio.sleep(0)


def yields(ctx: ModelContext | None = None) -> Iterator[int]:
    yield 1


async def yields_later(ctx: ModelContext | None = None) -> AsyncIterator[int]:
    yield 1


class Awaitable:
    def __await__(self) -> Iterator[None]:
        yield


class Waiting:
    async def __call__(self, ctx: ModelContext) -> None:
        pass

    def plain(self, ctx: ModelContext) -> None:
        pass

    async def waits(self, ctx: ModelContext) -> None:
        pass


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (waits, "an async function"),
        (yields, "a generator function"),
        (yields_later, "an async generator"),
        (functools.partial(functools.partial(waits)), "an async function"),
        (Waiting(), "an async function"),
        (Waiting().waits, "an async function"),
        (functools.partial(Waiting().waits), "an async function"),
    ],
)
def test_a_model_that_a_call_does_not_run(model: Any, what: str) -> None:
    """Nothing would happen, and all would seem well."""
    with pytest.raises(UsageError, match=f"not {what}: nothing would run"):
        device_model(model, lambda address: ((), ()))


@pytest.mark.parametrize(
    "model", [len, print, World, Waiting().plain, functools.partial(len), lambda ctx: None]
)
def test_a_model_that_a_call_runs(model: Any) -> None:
    check_model(model)


def test_layers_without_end() -> None:
    model = functools.partial(len)
    model.__setstate__((model, (), {}, {}))  # type: ignore[attr-defined]
    check_model(model)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (waits, "coroutine"),
        (yields, "generator"),
        (yields_later, "async_generator"),
        (Awaitable, "Awaitable"),
    ],
)
def test_a_model_that_gives_back_what_has_to_run(make: Any, kind: str) -> None:
    """It is a failure of the task; Python has nothing to warn of."""
    world, models = World(), HostModels()
    work, slots = world.work()
    models.bind(PC, device_model(lambda ctx: make(), lambda address: ((), slots)))
    outcome = models.execute(work)
    assert outcome.error_type == 1
    assert outcome.note.endswith(f"TypeError: it gave back what nobody runs: {kind}")


@pytest.mark.parametrize("result", [None, 0, [1], "text", World])
def test_a_model_may_give_back_anything_else(result: Any) -> None:
    world, models = World(), HostModels()
    work, slots = world.work()
    models.bind(PC, device_model(lambda ctx: result, lambda address: ((), slots)))
    assert models.execute(work).error_type == 0
