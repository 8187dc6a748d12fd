"""Launches through the Runtime: checks and codes, tasks, rings, ends. Spec 04, sections 1, 5 and W-14."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest

from cannkit.api.function import FunctionHandle
from cannkit.api.models import ModelContext
from cannkit.api.runtime import Runtime
from cannkit.device.device import DeviceConfig
from cannkit.device.memory import DeviceFaultError
from cannkit.errors import UsageError
from cannkit.format.ascend_meta import FuncType, VfType
from cannkit.format.sqe import IdMode, restore_ids, v100
from cannkit.format.status import AclStatus, RtError
from cannkit.runtime.args import ArgsEx, CpuArgsEx, Dim3, Placeholder
from cannkit.runtime.launch_config import LaunchConfig, TaskConfig
from cannkit.runtime.launch_env import LaunchEnv
from tests.api.launching import CUBE, MIX, PLAIN, VECTOR, Bench, bench, decoded, simt_function
from tests.api.runtimes import kernels, refused
from tests.build import OBJECTS
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.programs import Function

BOTH = pytest.mark.parametrize("soc", [A2_SOC, A5_SOC])
BLOCK = bytes(64)


@BOTH
def test_vector(soc: str) -> None:
    """One walk: block in device memory, entry in the ring, done at synchronise."""
    found = bench(soc=soc)
    done = found.runtime.launch(found.function, 48, found.buffers)
    memory = found.runtime.devices[0].memory
    entry = decoded(done.sqe, soc)
    assert done.block == struct.pack("<8Q", *found.buffers)
    assert memory.read(done.placement.address, 64) == done.block
    assert entry.block_dim == 48
    pc, args = (entry.aiv_pc, entry.aiv_args_addr) if soc == A5_SOC else (entry.pc, entry.args_addr)
    assert pc == found.function.addresses().aiv
    assert args == done.placement.address
    ring = found.runtime.default_stream.ring
    assert memory.read(ring.address, 64) == done.sqe
    assert (ring.head, ring.tail) == (0, 1)
    assert not found.runtime.query_stream()
    found.runtime.synchronize()
    assert found.runtime.query_stream()
    (task,) = found.tasks
    assert (task.aic, task.aiv, task.findings, task.outcome.error_type) == (0, 48, (), 0)


def test_mix_on_a2() -> None:
    """LCH-29, LCH-57: FFTS base first, the context in front of the block, blocks by the ratio."""
    found = bench(*MIX)
    done = found.runtime.launch(found.function, 20, found.buffers[:3])
    assert done.placement.policy == "mix"
    assert done.context is not None
    assert found.runtime.devices[0].memory.read(done.placement.context, 128) == done.context
    assert done.placement.address == done.placement.context + 128
    assert decoded(done.sqe).context_addr == done.placement.context
    found.runtime.synchronize()
    (task,) = found.tasks
    assert (task.aic, task.aiv) == (20, 40)


def test_mix_on_a5() -> None:
    """04, 4.6: one entry, both program counters."""
    found = bench(*MIX, soc=A5_SOC)
    done = found.runtime.launch(found.function, 20, found.buffers[:3])
    entry, where = decoded(done.sqe, A5_SOC), found.function.addresses()
    assert (entry.aic_pc, entry.aiv_pc) == where
    assert entry.aic_args_addr == entry.aiv_args_addr == done.placement.address
    assert entry.mix
    assert done.context is None
    found.runtime.synchronize()
    (task,) = found.tasks
    assert (task.aic, task.aiv) == (20, 40)


def handle(found: Bench) -> Any:
    runtime = found.runtime
    args = runtime.kernel_args(found.function)
    for address in found.buffers:
        runtime.kernel_args_append(args, address.to_bytes(8, "little"))
    runtime.kernel_args_finalize(args)
    return args


@BOTH
def test_every_call_makes_the_same_entry(soc: str) -> None:
    """04, 1.1: whatever the call, kernel and blocks are in the same places."""
    found = bench(soc=soc)
    rt, function = found.runtime, found.function
    block = struct.pack("<8Q", *found.buffers)
    device_block = rt.malloc(64)
    rt.memcpy(device_block, 64, block, 64)
    config = LaunchConfig()
    tasks = [
        rt.launch_kernel(function, 8, device_block, 64),
        rt.launch_kernel_v2(function, 8, device_block, 64, config),
        rt.launch_kernel_with_host_args(function, 8, block),
        rt.launch_kernel_with_config(function, 8, handle(found)),
        rt.launch(function, 8, found.buffers),
        rt.launch(function, 8, block),
    ]
    rt.synchronize()
    assert len(found.tasks) == len(tasks)
    blank = {"task_id": 0, "task_sn": 0, "args_addr": 0, "aiv_args_addr": 0}
    seen = {
        entry.replace(**{key: 0 for key in blank if key in entry.SPANS})
        for entry in (decoded(task.sqe, soc) for task in tasks)
    }
    assert len(seen) == 1
    assert [task.placement.policy for task in tasks[:2]] == ["nocopy", "nocopy"]
    assert tasks[0].block is None


def test_host_args_are_patched_in_a_copy() -> None:
    """LCH-20, Q-6."""
    found = bench(PLAIN)
    block = bytearray(32)
    done = found.runtime.launch_kernel_with_host_args(
        found.function, 1, block, [Placeholder(8, 24)]
    )
    assert block == bytearray(32)
    assert done.block is not None
    assert struct.unpack_from("<Q", done.block, 8) == (done.placement.address + 24,)
    assert done.findings == ()
    no_data = found.runtime.launch_kernel_with_host_args(
        found.function, 1, block, [Placeholder(8, 0)]
    )
    assert [finding.rule for finding in no_data.findings] == ["Q-4"]


def test_what_has_no_effect_is_told() -> None:
    """Q-9, Q-26, Q-27."""
    found = bench(*MIX)
    config = LaunchConfig(((4, 3), (6, 1), (6, 1)))
    done = found.runtime.launch(found.function, 1, found.buffers[:3], config=config)
    assert [finding.rule for finding in done.findings] == ["Q-27", "Q-26"]
    rt = Runtime(A2_SOC)
    binary = rt.load_old(kernels(*MIX))
    legacy = rt.launch_with_key(binary, 0, 1, ArgsEx(bytes(64), 64), TaskConfig(qos=1))
    assert [finding.rule for finding in legacy.findings] == ["Q-9"]
    big = found.runtime.launch(found.function, 1, bytes(70000))
    assert [finding.rule for finding in big.findings] == ["Q-8"]
    simd = bench(
        Function("simd_0", FuncType.AIV, 0, 16, vf_type=VfType.SIMD_VF, ub_size=8192), soc=A5_SOC
    )
    wide = LaunchConfig.of(local_memory=253952)
    told = simd.runtime.launch(simd.function, 1, [], config=wide)
    assert [finding.rule for finding in told.findings] == ["LCH-48"]


@pytest.mark.parametrize(
    ("name", "args", "acl"),
    [
        # 04, 1.2: the ACL's own checks
        ("launch_kernel", (None, 8, 0x1000, 64), 100000),
        ("launch_kernel", ("f", 8, None, 64), 100000),
        ("launch_kernel", ("f", 8, 0, 64), 100000),
        ("launch_kernel_v2", ("f", 8, None, 64), 100000),
        ("launch_kernel_with_config", ("f", 0, None), 100000),
        ("launch_kernel_with_config", ("f", 8, None), 100000),
        ("launch_kernel_with_host_args", ("f", 8, None), 100000),
        ("launch_kernel_with_args_array", (None, 8, []), 100000),
        ("launch_kernel_with_args_array", ("f", 0, []), 100000),
        ("launch_simt_kernel_with_host_args", ("f", Dim3(), Dim3(), b""), 100000),
        ("launch_simt_kernel_with_args_array", (0, Dim3(), Dim3(), []), 100000),
        # 04, 1.3: those of the runtime
        ("launch_kernel", ("f", 0, 0x1000, 64), 107000),
        ("launch_kernel", ("f", 65536, 0x1000, 64), 107000),
        ("launch_kernel", ("f", 8, 0x1000, 0), 107000),
        ("launch_kernel", ("f", 8, 0x1000, 1 << 32), 107000),  # cut to 0 bytes
        ("launch_kernel_v2", ("f", 0, 0x1000, 64), 107000),
        ("launch_kernel_v2", ("f", 65536, 0x1000, 64), 107000),
        ("launch_kernel_v2", ("f", 8, 1 << 48, 64), 107000),
        ("launch_kernel_v2", ("f", 8, 0x1000, 64, LaunchConfig(((1, 2),))), 107000),
        ("launch_kernel_with_host_args", ("f", 8, b""), 107000),
        ("launch_kernel_with_host_args", ("f", 8, BLOCK, [Placeholder(64, 0)]), 107000),
        ("launch_kernel_with_host_args", ("f", 8, BLOCK, [Placeholder(60, 0)]), 107000),
        ("launch_kernel_with_args_array", ("f", 8, []), 107000),  # no PARAM_INFO
        ("launch_kernel_with_args_array", (0x1234, 8, []), 107017),  # LCH-2: neither
        ("launch_simt_kernel_with_args_array", ("f", Dim3(), Dim3(), []), 107000),  # LCH-4
    ],
)
def test_refused(name: str, args: tuple[Any, ...], acl: int) -> None:
    found = bench()
    given = [found.function if value == "f" else value for value in args]
    with refused(acl):
        getattr(found.runtime, name)(*given)
    assert found.runtime.default_stream.ring.count == 0


def test_order_of_checks() -> None:
    """LCH-6: arguments, blocks, config, then context and stream."""
    found = bench()
    rt = found.runtime
    bad = LaunchConfig(((1, 2),))
    with pytest.raises(RtError, match="argument"):
        rt.launch_kernel_with_host_args(found.function, 0, b"", config=bad)
    with pytest.raises(RtError, match="0 blocks"):
        rt.launch_kernel_with_host_args(found.function, 0, BLOCK, config=bad)
    rt.set_device(1)
    other = rt.create_stream()
    rt.set_device(0)
    with pytest.raises(RtError, match="SCHEM_MODE"):
        rt.launch_kernel_with_host_args(found.function, 1, BLOCK, config=bad, stream=other)
    with refused(107003):
        rt.launch_kernel_with_host_args(found.function, 1, BLOCK, stream=other)


def test_reserve_is_null() -> None:
    found = bench()
    with refused(100000):
        found.runtime.launch_kernel_with_config(found.function, 8, handle(found), reserve=1)


def test_not_prepared_on_this_device() -> None:
    """LCH-8, DEV-12: 107017, unchanged by the ACL (LCH-5)."""
    found = bench()
    found.runtime.set_device(1)
    with refused(107017):
        found.runtime.launch(found.function, 8, found.buffers)
    found.binary.get_function("vec_0")
    found.runtime.launch(found.function, 8, found.buffers)


def test_unloaded() -> None:
    found = bench()
    prepared = found.runtime.prepare(found.function, 8, found.buffers)
    found.runtime.unload(found.binary)
    with refused(107017):
        found.runtime.launch(found.function, 8, found.buffers)
    with refused(107017):
        prepared(found.buffers)


def test_without_context() -> None:
    runtime = Runtime(A2_SOC, device=None)
    binary = runtime.load_from_data(kernels(VECTOR))
    runtime.set_device(0)
    function = binary.get_function("vec_0")
    runtime.reset_device(0)
    with refused(107002):
        runtime.launch(function, 8, [0] * 8)
    with refused(107002):
        runtime.synchronize()


@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend910A"])
def test_other_chips(soc: str) -> None:
    """04, 4.8: the layout of their entries is another one."""
    runtime = Runtime(soc)
    function = runtime.load_from_data(kernels(PLAIN)).get_function("plain_0")
    with refused(207000):
        runtime.launch(function, 8, [])


def test_q3() -> None:
    """Q-3: an AIV half at offset 0: 107000, with the cause."""
    aic, aiv = MIX
    found = bench(
        type(aic)("op_0_mix_aiv", aiv.func_type, 0, 0x10, ratio=(1, 2), args=3),
        type(aic)("op_0_mix_aic", aic.func_type, 0x10, 0x10, ratio=(1, 2), args=3),
    )
    with pytest.raises(RtError, match="AIV half starts the image") as caught:
        found.runtime.launch(found.function, 8, found.buffers[:3])
    assert caught.value.acl is AclStatus.RT_PARAM_INVALID


@BOTH
def test_arguments_are_checked(soc: str) -> None:
    found = bench(soc=soc)
    with pytest.raises(UsageError, match="argument 8 of 8") as caught:
        found.runtime.launch(found.function, 8, found.buffers[:7])
    assert "missing" in str(caught.value)
    with pytest.raises(UsageError, match="9 arguments, the kernel takes 8"):
        found.runtime.launch(found.function, 8, [*found.buffers, 0])


@BOTH
@pytest.mark.parametrize(
    ("attributes", "credit"),
    [
        ((), (254, 253)),
        (((7, 0),), (255, 255)),
        (((7, 1),), (1, 0)),
        (((8, 10_000_000),), (3, 2)),
    ],
)
def test_timeouts(soc: str, attributes: Any, credit: tuple[int, int]) -> None:
    """W-14."""
    found = bench(soc=soc)
    done = found.runtime.launch(found.function, 1, found.buffers, config=LaunchConfig(attributes))
    assert decoded(done.sqe, soc).kernel_credit == credit[soc == A5_SOC]


def test_prefetch_blockers() -> None:
    """LCH-15: eight tasks that do nothing come first, each with an id of its own."""
    found = bench()
    done = found.runtime.launch(found.function, 1, found.buffers, config=LaunchConfig(((5, 1),)))
    assert decoded(done.sqe).task_id == 8
    found.runtime.synchronize()
    assert [bool(task.aiv) for task in found.tasks] == [False] * 8 + [True]


@pytest.mark.parametrize("soc", [A5_SOC])
def test_dynamic_ubuf(soc: str) -> None:
    """LCH-48: of a kernel that does not state its vector type only 0 bytes."""
    found = bench(soc=soc)
    with refused(107000):
        found.runtime.launch(
            found.function, 1, found.buffers, config=LaunchConfig.of(local_memory=1)
        )
    assert found.runtime.default_stream.ring.count == 0
    simt = bench(simt_function(args=8), soc=soc)
    done = simt.runtime.launch(
        simt.function, 1, simt.buffers, config=LaunchConfig.of(local_memory=2000)
    )
    assert decoded(done.sqe, soc).dcu_size == 3072


def test_simt_needs_parameters() -> None:
    """04, 1.3: a kernel without a parameter summary has no SIMT launch."""
    found = bench(simt_function(args=8), soc=A5_SOC)
    with refused(107000):
        found.runtime.launch(found.function, 0, found.buffers, grid=(4, 3), threads=(256, 4))


def test_simt_on_a2() -> None:
    """LCH-4: 107000."""
    found = bench(simt_function(args=8))
    with refused(107000):
        found.runtime.launch(found.function, 0, bytes(64), grid=(4,))


@BOTH
def test_flipped_bit_in_the_ring(soc: str) -> None:
    """Only bytes go down: what changes them before they are read changes what happens."""
    found = bench(soc=soc)
    rt = found.runtime
    rt.launch(found.function, 8, found.buffers)
    ring = rt.default_stream.ring
    at = 36 if soc == A5_SOC else 32
    byte = rt.devices[0].memory.read(ring.address + at, 1)[0]
    found.poke(ring.address + at, bytes([byte ^ 2]))  # the program counter: no multiple of 4
    with refused(507035):
        rt.synchronize()
    rt.synchronize()  # the error is told once (LCH-72)


def test_flipped_bit_in_the_context() -> None:
    """SIM-11: thread_dim of the context."""
    found = bench(*MIX)
    done = found.runtime.launch(found.function, 8, found.buffers[:3])
    found.poke(done.placement.context + 74, b"\3")
    with refused(507001):
        found.runtime.synchronize()


@BOTH
def test_flipped_bit_in_the_arguments(soc: str) -> None:
    """SIM-5: a pointer that points nowhere is told, and is an error where warnings are."""
    for strict in (False, True):
        found = bench(soc=soc, config=DeviceConfig(strict=strict))
        done = found.runtime.launch(found.function, 8, found.buffers)
        found.poke(done.placement.address + 5, b"\x77")
        if strict:
            with refused(507035):
                found.runtime.synchronize()
        else:
            found.runtime.synchronize()
        (task,) = found.tasks
        assert [finding.rule for finding in task.findings] == ["SIM-5"]


def test_core_kinds_fail_with_their_own_codes() -> None:
    """LCH-71: only attribute VECTOR counts as AIV; a mix reports AI Core codes."""
    for functions, code in (((VECTOR,), 507035), ((CUBE,), 507015), (MIX, 507015)):
        found = bench(*functions)
        count = 8 if functions == (VECTOR,) else 3
        found.runtime.register_model("*", lambda context: 1 // 0)
        found.runtime.launch(found.function, 2, found.buffers[:count])
        with refused(code):
            found.runtime.synchronize()


def test_failure_says_what_happened() -> None:
    found = bench()

    def broken(context: Any) -> None:
        context.write(0x10, b"x")

    found.runtime.register_model("vec_0", broken)
    found.runtime.launch(found.function, 2, found.buffers)
    with pytest.raises(RtError) as caught:
        found.runtime.synchronize()
    text = str(caught.value)
    assert "vec_0" in text
    assert "DeviceFaultError" in text
    assert "stream 0, task 0" in text
    assert isinstance(caught.value.__cause__, DeviceFaultError)


def test_exception_callback() -> None:
    """cli.md, 10: called at synchronise with code, kernel and stream, before the error is raised."""
    found = bench()
    told: list[tuple[object, ...]] = []
    found.binary.set_exception_callback(lambda *args: told.append(args), "mine")
    found.runtime.register_model("vec_0", lambda context: [][0])
    stream = found.runtime.create_stream()
    found.runtime.launch(found.function, 1, found.buffers, stream=stream)
    found.runtime.launch(found.function, 1, found.buffers, stream=stream)
    assert not told
    with refused(507035):
        found.runtime.synchronize(stream)
    assert told == [(507035, "vec_0", stream, "mine")] * 2
    found.runtime.synchronize()


def test_what_is_no_stream() -> None:
    """The name of one, or of a function, where the handle is meant: an error of ours."""
    found = bench()
    rt, wrong = found.runtime, cast("Any", 7)
    for ask in (
        lambda: rt.launch(found.function, 1, found.buffers, stream=wrong),
        lambda: rt.prepare(found.function, 1, found.buffers, stream=wrong),
        lambda: rt.synchronize(wrong),
        lambda: rt.query_stream(wrong),
        lambda: rt.destroy_stream(wrong),
        lambda: rt.capture_begin(wrong),
        lambda: rt.set_stream_failure_mode(wrong, 1),
    ):
        with pytest.raises(UsageError, match="a stream is needed, not a int"):
            ask()


def test_callback_that_raises() -> None:
    """It hides nothing: the error of the task is raised, with that of the callback as its cause."""
    found = bench()

    def callback(*told: object) -> None:
        raise ValueError("mine")

    found.binary.set_exception_callback(callback)
    found.runtime.register_model("vec_0", lambda context: [][0])
    found.runtime.launch(found.function, 1, found.buffers)
    with pytest.raises(RtError) as caught:
        found.runtime.synchronize()
    assert caught.value.acl == 507035
    assert isinstance(caught.value.__cause__, ValueError)
    assert isinstance(caught.value.__cause__.__context__, IndexError)


@pytest.mark.parametrize("error", [asyncio.CancelledError, GeneratorExit, SystemExit])
def test_models_may_raise_anything(error: type[BaseException]) -> None:
    """But Ctrl-C it is a fault of the task."""
    found = bench()

    def broken(context: ModelContext) -> None:
        raise error

    found.runtime.register_model("vec_0", broken)
    found.runtime.launch(found.function, 1, found.buffers)
    with refused(507035):
        found.runtime.synchronize()

    def interrupted(context: ModelContext) -> None:
        raise KeyboardInterrupt

    found.runtime.register_model("vec_0", interrupted)
    found.runtime.launch(found.function, 1, found.buffers)
    with pytest.raises(KeyboardInterrupt):
        found.runtime.synchronize()


def test_model_that_launches_itself() -> None:
    """What it launches waits for the next synchronise: each one ends."""
    found = bench()
    rt, calls = found.runtime, list[int]()

    def again(context: ModelContext) -> None:
        calls.append(context.block)
        rt.launch(found.function, 1, found.buffers)

    rt.register_model("vec_0", again)
    rt.launch(found.function, 1, found.buffers)
    for count in (1, 2, 3):
        rt.synchronize()
        assert len(calls) == count
        assert rt.default_stream.ring.count == 1


def test_negative_sizes() -> None:
    """MEM-2: a range has no negative size."""
    found = bench()
    seen: list[type[Exception]] = []

    def model(context: ModelContext) -> None:
        for address, size in ((found.buffers[0] + 8, -8), (found.buffers[0], -(1 << 40))):
            try:
                context.read(address, size)
            except DeviceFaultError as fault:
                seen.append(type(fault))

    found.runtime.register_model("vec_0", model)
    found.runtime.launch(found.function, 1, found.buffers)
    found.runtime.synchronize()
    assert seen == [DeviceFaultError] * 2


def test_names_of_models() -> None:
    """`function.name` without its parentheses is no name."""
    found = bench()
    for name in (found.function.name, 3, None, b"vec_0"):
        with pytest.raises(UsageError, match="a kernel name is text"):
            found.runtime.register_model(name, print)  # type: ignore[arg-type]


def test_handles_of_another_runtime() -> None:
    found, other = bench(), bench()
    for call in (
        lambda: found.runtime.launch(other.function, 1, found.buffers),
        lambda: found.runtime.launch_kernel_with_host_args(other.function, 1, BLOCK),
        lambda: found.runtime.prepare(other.function, 1, found.buffers),
    ):
        with pytest.raises(UsageError, match="another Runtime"):
            call()


@pytest.mark.parametrize(
    ("call", "acl"),
    [
        (lambda rt: rt.launch(None, 1, []), 107000),
        (lambda rt: rt.prepare(None, 1, []), 107000),
        (lambda rt: rt.launch_with_key(None, 0, 1, ArgsEx(BLOCK, 64)), 107000),
        (lambda rt: rt.launch_cpu_kernel(None, 1, CpuArgsEx(ArgsEx(BLOCK, 64))), 107000),
        (lambda rt: rt.launch_cpu_names(None, 1, ArgsEx(BLOCK, 64)), 107000),
        (lambda rt: rt.capture_begin(None), 100000),
        (lambda rt: rt.capture_end(None), 100000),
        (lambda rt: rt.execute_capture(None), 100000),
        (lambda rt: rt.destroy_stream(None), 100000),
    ],
)
def test_null(call: Callable[[Runtime], object], acl: int) -> None:
    with refused(acl):
        call(bench().runtime)


@pytest.mark.parametrize(
    "call",
    [
        lambda rt, f: rt.launch("vec_0", 1, []),
        lambda rt, f: rt.launch(f, "8", [0] * 8),
        lambda rt, f: rt.launch(f, 8.0, [0] * 8),
        lambda rt, f: rt.launch_kernel_with_host_args(f, 1, BLOCK, ["x"]),
        lambda rt, f: rt.launch_cpu_ex(None, "op", 1, CpuArgsEx(ArgsEx(BLOCK, 64))),
        lambda rt, f: rt.kernel_args_memory_size(f, -1),
        lambda rt, f: rt.kernel_args_memory_size(f, 1.5),
        lambda rt, f: rt.register_model("vec_0", 3),
    ],
)
def test_wrong_types(call: Callable[[Runtime, FunctionHandle], object]) -> None:
    found = bench()
    with pytest.raises(UsageError):
        call(found.runtime, found.function)


def test_numbers_that_fill_pages() -> None:
    """A message tells them in short."""
    found = bench()
    with pytest.raises(RtError) as caught:
        found.runtime.launch(found.function, 10**5000, found.buffers)
    assert len(str(caught.value)) < 300


def test_short_block() -> None:
    """A block has at least what the kernel takes; `lenient` says so only."""
    found = bench()
    with pytest.raises(UsageError, match="8 bytes, the kernel takes 64"):
        found.runtime.launch(found.function, 1, bytes(8))
    with pytest.raises(UsageError, match="8 bytes, the kernel takes 64"):
        found.runtime.prepare(found.function, 1, bytes(8))
    lenient = bench(config=DeviceConfig(lenient=True))
    done = lenient.runtime.launch(lenient.function, 1, bytes(8))
    assert [finding.rule for finding in done.findings] == ["LCH-91"]


def test_prepared_is_gone_with_its_device() -> None:
    found = bench()
    prepared = found.runtime.prepare(found.function, 1, found.buffers)
    found.runtime.reset_device(0)
    found.runtime.set_device(0)
    with refused(107017):
        prepared(found.buffers)


def test_stop_on_failure() -> None:
    """LCH-72, STR-9: the rest is dropped, later launches are refused, the error stays."""
    for soc in (A2_SOC, A5_SOC):
        found = bench(soc=soc)
        stream = found.runtime.create_stream()
        found.runtime.set_stream_failure_mode(stream, 1)
        found.runtime.register_model("vec_0", lambda context: [][0])
        for _ in range(3):
            found.runtime.launch(found.function, 1, found.buffers, stream=stream)
        for _ in range(2):
            with refused(507035):
                found.runtime.synchronize(stream)
        assert len(found.tasks) == 1
        with refused(107023):
            found.runtime.launch(found.function, 1, found.buffers, stream=stream)


def test_streams_are_apart() -> None:
    found = bench()
    rt = found.runtime
    one, two = rt.create_stream(), rt.create_stream()
    assert (rt.default_stream.queue, one.queue, two.queue) == (0, 1, 2)
    calls = []
    rt.register_model("vec_0", lambda context: calls.append(context.block))
    done = rt.launch(found.function, 1, found.buffers, stream=two)
    assert decoded(done.sqe).stream_id == 2
    rt.synchronize(one)
    assert calls == [0], "the device works off every ring"
    rt.destroy_stream(one)
    with refused(107017):
        rt.launch(found.function, 1, found.buffers, stream=one)
    with refused(107017):
        rt.synchronize(one)
    with refused(107000):
        rt.destroy_stream(rt.default_stream)


@pytest.mark.parametrize(("timeout", "acl"), [(-2, 100000), (0, 107000)])
def test_synchronise_timeouts(timeout: int, acl: int) -> None:
    """STR-9."""
    with refused(acl):
        bench().runtime.synchronize(timeout=timeout)


def test_stream_flags() -> None:
    """STR-3, STR-9: a stream of the control process is not waited for."""
    found = bench()
    stream = found.runtime.create_stream(flags=0x20, priority=99)
    assert (stream.flags, stream.priority) == (0x800, 7)
    found.runtime.register_model("vec_0", lambda context: [][0])
    found.runtime.launch(found.function, 1, found.buffers, stream=stream)
    found.runtime.synchronize(stream)
    with refused(107000):
        found.runtime.create_stream(flags=0x40)


@BOTH
def test_capture(soc: str) -> None:
    """LCH-66, STR-10: nothing reaches the device until what was captured is executed."""
    found = bench(soc=soc)
    rt, stream = found.runtime, found.runtime.create_stream()
    with refused(107031):
        rt.capture_begin(rt.default_stream)
    with refused(107029):
        rt.capture_end(stream)
    rt.capture_begin(stream)
    with refused(107027):
        rt.capture_begin(stream)
    with refused(107027):
        rt.synchronize(stream)
    for _ in range(3):
        rt.launch(found.function, 4, found.buffers, stream=stream)
    captured = rt.capture_end(stream)
    rt.synchronize(stream)
    assert not found.tasks
    for _ in range(2):
        rt.execute_capture(captured, stream)
    rt.synchronize(stream)
    assert [task.aiv for task in found.tasks] == [4] * 6
    captured.release()
    with refused(107000):
        rt.execute_capture(captured, stream)


def keep_arguments(seen: list[list[int]], count: int, context: ModelContext) -> None:
    seen.append(list(struct.unpack(f"<{count}Q", context.read(context.args_address, 8 * count))))


@BOTH
def test_prepared(soc: str) -> None:
    """The same bytes as a launch of its own, but for task and arguments."""
    for functions in ((VECTOR,), MIX):
        found = bench(*functions, soc=soc)
        count = 8 if functions == (VECTOR,) else 3
        config = LaunchConfig.of(sched_mode=1, timeout_us=10)
        values = found.buffers[:count]
        prepared = found.runtime.prepare(found.function, 4, values, config=config)
        assert found.runtime.default_stream.ring.count == 0
        seen: list[list[int]] = []
        found.runtime.register_model("*", partial(keep_arguments, seen, count))
        done = found.runtime.launch(found.function, 4, values, config=config)
        prepared(values[::-1])
        found.runtime.synchronize()
        plain, other = (decoded(task.raw, soc) for task in found.tasks)
        moved = [name for name in plain.SPANS if getattr(plain, name) != getattr(other, name)]
        assert set(moved) <= {
            *("task_id", "task_sn", "args_addr", "context_addr"),
            *("aic_args_addr", "aiv_args_addr"),
        }
        assert moved
        assert plain.encode() == done.sqe
        assert all(task.outcome.error_type == 0 for task in found.tasks)
        assert values in seen
        assert values[::-1] in seen
        with pytest.raises(UsageError):
            prepared(values[1:])


def test_prepared_again() -> None:
    """Without values those it was prepared with; others must take as many bytes."""
    rt = Runtime(A2_SOC)
    function = rt.load_from_file(OBJECTS / "AddCustom.o").get_function("AddCustom_0")
    buffers = [rt.malloc(64) for _ in range(4)]
    seen: list[tuple[int, bytes]] = []
    rt.register_model("AddCustom_0", lambda context: seen.append((context.arg(0), context.tiling)))
    one, two = bytes([1]) * 40, bytes([2]) * 40
    prepared = rt.prepare(function, 1, [*buffers, one])
    prepared()
    prepared([*buffers[::-1], two])
    prepared()
    rt.synchronize()
    assert seen == [(buffers[0], one), (buffers[3], two), (buffers[0], one)]
    with pytest.raises(UsageError, match="40 bytes, it was prepared for 80"):
        prepared([*buffers, 0])
    rt.register_model("AddCustom_0", None)
    rt.prepare(function, 1, bytes(40))()
    rt.synchronize()


def test_prepared_cpu_kernel() -> None:
    rt = Runtime(A2_SOC)
    binary = rt.load_from_data(b"\x7fELF library", cpu_mode=2)
    with pytest.raises(UsageError, match="AI CPU"):
        rt.prepare(binary.register_cpu_function("Run", "Add"), 1, bytes(20))


@pytest.mark.parametrize("mode", list(IdMode))
def test_prepared_with_exchanged_ids(mode: IdMode) -> None:
    """LCH-73: a prepared mix exchanges its ids as any other."""
    rt = Runtime(A2_SOC, launch_env=LaunchEnv(id_mode=mode))
    function = rt.load_from_data(kernels(*MIX)).get_function("op_0")
    values = [rt.malloc(64) for _ in range(3)]
    rt.launch(function, 1, values)
    plain = rt.launch(function, 1, values)
    stream, memory = rt.default_stream, rt.devices[0].memory
    rt.prepare(function, 1, values)()
    raw = memory.read(stream.ring.address + 128, 64)
    assert restore_ids(v100.MixSqe.decode(raw))[:2] == (0, 2)
    assert restore_ids(v100.MixSqe.decode(plain.sqe))[:2] == (0, 1)
    rt.synchronize()


def test_prepared_head_update() -> None:
    """04, 4.5: every 64th task of a stream, on UB."""
    rt = Runtime(A5_SOC, launch_env=LaunchEnv(is_ub=True))
    function = rt.load_from_data(kernels(VECTOR)).get_function("vec_0")
    values = [rt.malloc(64) for _ in range(8)]
    prepared = rt.prepare(function, 1, values)
    for _ in range(128):
        prepared()
    ring, memory = rt.default_stream.ring, rt.devices[0].memory
    entries = [decoded(memory.read(ring.address + 64 * at, 64), A5_SOC) for at in range(128)]
    assert [at + 1 for at, entry in enumerate(entries) if entry.head_update] == [64, 128]
    rt.synchronize()


def test_old_flow() -> None:
    """POL-10: by stub, in a module that the first launch makes; LCH-7."""
    rt = Runtime(A2_SOC)
    binary = rt.register_binary(kernels(VECTOR))
    binary.register_function(0x7000, "stub", "vec_0")
    ex = ArgsEx(BLOCK, 64)
    done = rt.launch_stub(0x7000, 4, ex, TaskConfig(qos=2, part_id=5))
    entry = decoded(done.sqe)
    assert entry.pc == rt.stub_address(0x7000)
    assert (entry.qos, entry.part_id) == (2, 5)
    rt.synchronize()
    calls: list[tuple[Callable[[], object], int]] = [
        (lambda: rt.launch_stub(0, 4, ex), 107000),
        (lambda: rt.launch_stub(0x7000, 0, ex), 107000),
        (lambda: rt.launch_stub(0x7000, 65536, ex), 107000),
        (lambda: rt.launch_stub(0x7000, 4, ArgsEx(None, 0)), 107000),
        (lambda: rt.launch_stub(0x7000, 4, ex, TaskConfig(schem_mode=3)), 107000),
        (lambda: rt.launch_stub(0x7001, 4, ex), 507000),
    ]
    for call, acl in calls:
        with refused(acl):
            call()


def test_by_key() -> None:
    """LCH-7, POL-5, POL-6, Q-14."""
    rt = Runtime(A2_SOC)
    binary = rt.load_old(kernels(VECTOR))
    ex = ArgsEx(BLOCK, 64)
    done = rt.launch_with_key(binary, 0, 4, ex)
    rt.synchronize()
    assert decoded(done.sqe).pc
    new = rt.load_from_data(kernels(VECTOR))
    calls: list[tuple[Callable[[], object], int]] = [
        (lambda: rt.launch_with_key(binary, 7, 4, ex), 507000),
        (lambda: rt.launch_with_key(binary, (1 << 64) - 1, 4, ex), 507000),
        (lambda: rt.launch_with_key(new, 0, 4, ex), 507000),
    ]
    for call, acl in calls:
        with refused(acl):
            call()


def test_models_follow_the_code() -> None:
    """A host model is bound to addresses; memory that another image takes must not run it."""
    found = bench()
    rt, calls = found.runtime, list[int]()
    rt.register_model("vec_0", lambda context: calls.append(context.block))
    rt.launch(found.function, 2, found.buffers)
    rt.synchronize()
    assert calls == [0, 1]
    rt.unload(found.binary)
    other = rt.load_from_data(kernels(PLAIN)).get_function("plain_0")
    rt.launch(other, 2, [])
    rt.synchronize()
    assert calls == [0, 1]
    rt.register_model("plain_0", lambda context: calls.append(7))
    rt.launch(other, 1, [])
    rt.synchronize()
    rt.register_model("plain_0", None)
    rt.launch(other, 1, [])
    rt.synchronize()
    assert calls == [0, 1, 7]
    with pytest.raises(UsageError):
        rt.register_model("x", 3)  # type: ignore[arg-type]


def test_reset_ends_streams() -> None:
    found = bench()
    rt = found.runtime
    rt.launch(found.function, 1, found.buffers)
    rt.reset_device(0)
    rt.set_device(0)
    assert rt.default_stream.ring.count == 0
    function = found.binary.get_function("vec_0")
    rt.launch(function, 1, [rt.malloc(64) for _ in range(8)])
    rt.synchronize()
    assert len(found.tasks) == 1


@BOTH
def test_many(soc: str) -> None:
    """LCH-61, LCH-63, LCH-65: 100,000 launches over the ring and the task id; memory stays."""
    found = bench(soc=soc)
    rt = found.runtime
    found.log.clear()
    prepared = rt.prepare(found.function, 2, found.buffers)
    rt.devices[0].trace = lambda event: None
    before = rt.devices[0].memory.used
    for _ in range(4096):
        prepared(found.buffers)
    used = rt.devices[0].memory.used
    assert used - before < 8 << 20
    for _ in range(100_000 - 4096):
        prepared(found.buffers)
    rt.synchronize()
    stream = rt.default_stream
    assert rt.devices[0].memory.used == used
    assert stream.ring.count == 0
    assert not stream.pending
    if soc == A2_SOC:
        assert stream.last_id == (100_000 - 1) % 65535
        assert stream.flip_num == 1
        assert stream.count == 100_001, "with the flip task"
    else:
        assert stream.count == 100_000
