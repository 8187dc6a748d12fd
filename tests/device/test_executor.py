"""Executors: host models, block by block."""

from __future__ import annotations

import pytest

from cannkit.device.executor import (
    DONE,
    AbsentAicpu,
    BlockContext,
    Core,
    ErrorType,
    HostModels,
    HostModelTimeout,
    Work,
)
from cannkit.device.memory import DeviceMemory, RegionName
from cannkit.format.bits import Record
from cannkit.soc import find_soc
from tests.facts import A2_SOC

RW, RO = RegionName.DATA_RW, RegionName.CODE_RO
AIC_PC, AIV_PC, AIC_ARGS, AIV_ARGS = 0x1000, 0x2000, 0x3000, 0x4000

Run = tuple[str, int, int, int, int]


def a_work(
    dim: int = 2, ratio: tuple[int, int] = (0, 1), memory: DeviceMemory | None = None
) -> Work:
    return Work(
        Record(),
        None,
        find_soc(A2_SOC),
        memory or DeviceMemory(),
        0,
        0,
        dim,
        ratio,
        AIC_PC if ratio[0] else 0,
        AIV_PC if ratio[1] else 0,
        AIC_ARGS,
        AIV_ARGS,
    )


class Recorder:
    """A model that keeps what it is called with."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.contexts: list[BlockContext] = []

    def __call__(self, context: BlockContext) -> None:
        self.contexts.append(context)
        self.runs.append(
            (context.core, context.block, context.sub_block, context.blocks, context.sub_blocks)
        )


@pytest.mark.parametrize(
    ("ratio", "of_a_block"),
    [
        ((1, 0), [("aic", 0)]),
        ((0, 1), [("aiv", 0)]),
        ((1, 1), [("aic", 0), ("aiv", 0)]),
        ((1, 2), [("aic", 0), ("aiv", 0), ("aiv", 1)]),
        ((2, 1), [("aic", 0), ("aic", 1), ("aiv", 0)]),
        ((0, 0), []),
    ],
)
def test_blocks_run_in_order(ratio: tuple[int, int], of_a_block: list[tuple[str, int]]) -> None:
    """LCH-50: AIC block i, then AIV sub-blocks of i."""
    models, model = HostModels(), Recorder()
    models.bind(AIC_PC, model)
    models.bind(AIV_PC, model)
    work = a_work(3, ratio)
    assert models.execute(work) == DONE
    assert model.runs == [
        (core, block, sub_block, 3, ratio[core == "aiv"])
        for block in range(3)
        for core, sub_block in of_a_block
    ]
    assert (work.aic, work.aiv) == (3 * ratio[0], 3 * ratio[1])


def test_a_model_is_found_by_either_program_counter() -> None:
    models, model = HostModels(), Recorder()
    models.bind(AIV_PC, model)
    models.execute(a_work(1, (1, 2)))
    models.unbind(AIV_PC)
    models.unbind(AIV_PC)
    models.execute(a_work(1, (1, 2)))
    models.bind(AIC_PC, model)
    models.execute(a_work(1, (1, 2)))
    models.execute(a_work(1, (0, 1)))
    models.clear()
    models.execute(a_work(1, (1, 2)))
    assert len(model.runs) == 6


def test_what_a_model_is_given() -> None:
    models, model = HostModels(), Recorder()
    models.bind(AIC_PC, model)
    models.execute(a_work(1, (1, 1)))
    cube, vector = model.contexts
    assert (cube.core, cube.args_address, cube.soc) == (Core.AIC, AIC_ARGS, A2_SOC)
    assert (vector.core, vector.args_address) == ("aiv", AIV_ARGS)


@pytest.mark.parametrize(
    ("error", "bit", "text"),
    [
        (ValueError("a\n  b"), ErrorType.EXCEPTION, "ValueError: a b"),
        (KeyError(), ErrorType.EXCEPTION, "KeyError"),
        (HostModelTimeout("10 steps"), ErrorType.TIMEOUT, "HostModelTimeout: 10 steps"),
        (MemoryError(), ErrorType.EXCEPTION, "MemoryError"),
        (
            ValueError("x" * 500),
            ErrorType.EXCEPTION,
            f"ValueError: {'x' * 128}... (500 characters)",
        ),
    ],
)
def test_a_model_that_raises(error: Exception, bit: ErrorType, text: str) -> None:
    """Section 6, step 3; the first block that fails ends the task."""
    runs = []

    def model(context: BlockContext) -> None:
        runs.append(context.block)
        if context.block == 1:
            raise error

    models = HostModels()
    models.bind(AIV_PC, model)
    outcome = models.execute(a_work(4))
    assert outcome == (bit, 0, f"host model raised in AIV block 1, sub-block 0: {text}")
    assert runs == [0, 1]
    assert models.failure is error
    models.clear()
    assert models.failure is None


def test_an_exception_that_cannot_be_printed() -> None:
    class Silent(Exception):  # noqa: N818
        def __str__(self) -> str:
            raise RuntimeError

    def model(context: BlockContext) -> None:
        raise Silent

    models = HostModels()
    models.bind(AIV_PC, model)
    assert models.execute(a_work()).note.endswith("sub-block 0: Silent")


def test_an_interrupt_passes() -> None:
    def model(context: BlockContext) -> None:
        raise KeyboardInterrupt

    models = HostModels()
    models.bind(AIV_PC, model)
    with pytest.raises(KeyboardInterrupt):
        models.execute(a_work())


def test_memory_of_a_model_is_that_of_the_device() -> None:
    """MEM-2: a model reads all there is, and writes where the device may."""
    memory = DeviceMemory()
    data, code = memory.allocate(64, RW), memory.allocate(64, RO)
    memory.write(code, b"code")

    def model(context: BlockContext) -> None:
        context.write(data, context.read(code, 4))
        context.view(data, 8)[4:] = b"view"
        assert context.view(code, 4).readonly
        context.write(code, b"none")

    models = HostModels()
    models.bind(AIV_PC, model)
    outcome = models.execute(a_work(memory=memory))
    assert outcome.error_type == ErrorType.EXCEPTION
    assert f"memory fault ({code:#x}, 4 bytes): the device must not write here" in outcome.note
    assert memory.read(data, 8) == b"codeview"
    assert memory.read(code, 4) == b"code"


@pytest.mark.parametrize("access", ["read", "write", "view"])
def test_an_access_out_of_bounds(access: str) -> None:
    memory = DeviceMemory()
    at = memory.allocate(64, RW)

    def model(context: BlockContext) -> None:
        if access == "write":
            context.write(at + 60, b"12345")
        else:
            getattr(context, access)(at + 60, 5)

    models = HostModels()
    models.bind(AIV_PC, model)
    assert "crosses the end" in models.execute(a_work(memory=memory)).note
    assert memory.read(at, 64) == bytes(64)


def test_the_ai_cpu_that_is_not_there() -> None:
    assert AbsentAicpu().execute(a_work()) == (0, 0, "not executed: AE absent")
