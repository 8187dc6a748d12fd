"""Any launch gives a task or a CannkitError, and what is launched decodes to what was asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cannkit.errors import CannkitError
from cannkit.format.bits import Record
from cannkit.format.sqe import IdMode, exchange_ids, v100, v200
from cannkit.format.status import RtError
from cannkit.runtime.args import ArgsEx, CpuArgsEx, Dim3, Placeholder
from cannkit.runtime.entry_pattern import EntryPattern
from cannkit.runtime.kernel import AttrType, MixType
from cannkit.runtime.launch_config import LaunchConfig, TaskConfig
from cannkit.runtime.launch_env import LaunchEnv
from cannkit.runtime.task import KernelPlace, make_task
from cannkit.runtime.task_sqe import core_sqe, kernel_sqe, mix_context, mix_sqe
from tests.api.launching import CUBE, MIX, PLAIN, VECTOR, Bench, bench, simt_function
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.launch_rows import STACKS

WILD = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
NUMBERS = st.integers(-2, 1 << 65) | st.sampled_from([0, 1, 65535, 65536, (1 << 48) - 1, 1 << 48])
SMALL = st.integers(0, 80)
ATTRIBUTES = st.lists(st.tuples(st.integers(0, 11), NUMBERS), max_size=3).map(tuple)
CONFIGS = st.none() | st.builds(LaunchConfig, st.none() | ATTRIBUTES)
VALUES = st.lists(NUMBERS | st.none() | st.binary(max_size=40) | st.text(max_size=2), max_size=9)
PLACES = st.lists(st.builds(Placeholder, SMALL, SMALL), max_size=4)
DIMS = st.builds(Dim3, *[st.integers(0, 1 << 33)] * 3)


@pytest.fixture(scope="module", params=[A2_SOC, A5_SOC])
def benches(request: pytest.FixtureRequest) -> list[Bench]:
    kinds = ((VECTOR,), (CUBE,), MIX, (PLAIN,), (simt_function(args=2),))
    return [bench(*functions, soc=request.param) for functions in kinds]


def attempt(found: Bench, call: str, *args: Any, **kwargs: Any) -> None:
    stream = found.runtime.default_stream
    before = stream.ring.count
    try:
        getattr(found.runtime, call)(*args, **kwargs)
    except CannkitError:
        assert stream.ring.count in (before, before + 8)  # only what blocks a prefetch
    try:
        found.runtime.synchronize()
    except CannkitError:
        assert stream.ring.count == 0


@WILD
@given(st.data(), NUMBERS, VALUES | st.binary(max_size=80), CONFIGS)
def test_launch(
    benches: list[Bench], data: st.DataObject, blocks: int, values: Any, config: Any
) -> None:
    found = data.draw(st.sampled_from(benches))
    attempt(found, "launch", found.function, blocks, values, config=config)


@WILD
@given(st.data(), NUMBERS, st.binary(max_size=80), PLACES, CONFIGS)
def test_host_args(
    benches: list[Bench], data: st.DataObject, blocks: int, raw: bytes, places: Any, config: Any
) -> None:
    found = data.draw(st.sampled_from(benches))
    call = "launch_kernel_with_host_args"
    attempt(found, call, found.function, blocks, raw, places, config)


@WILD
@given(st.data(), NUMBERS, NUMBERS, NUMBERS, CONFIGS)
def test_device_args(
    benches: list[Bench], data: st.DataObject, blocks: int, args: int, size: int, config: Any
) -> None:
    found = data.draw(st.sampled_from(benches))
    attempt(found, "launch_kernel_v2", found.function, blocks, args, size, config)


@WILD
@given(st.data(), DIMS, DIMS, st.binary(max_size=80), PLACES, NUMBERS)
def test_simt(
    benches: list[Bench],
    data: st.DataObject,
    grid: Dim3,
    threads: Dim3,
    raw: bytes,
    places: Any,
    ubuf: int,
) -> None:
    found = data.draw(st.sampled_from(benches))
    call = "launch_simt_kernel_with_host_args"
    attempt(found, call, found.function, grid, threads, raw, places, ubuf)


@WILD
@given(st.data(), NUMBERS, NUMBERS, st.binary(max_size=80), PLACES, NUMBERS, NUMBERS, NUMBERS)
def test_cpu(
    benches: list[Bench],
    data: st.DataObject,
    kind: int,
    blocks: int,
    raw: bytes,
    places: Any,
    so: int,
    name: int,
    flags: int,
) -> None:
    found = data.draw(st.sampled_from(benches))
    args = CpuArgsEx(ArgsEx(raw, len(raw), places), so, name)
    attempt(found, "launch_cpu_ex", kind, "op", blocks, args, flags=flags)


PLACES_OF_KERNELS = st.builds(
    KernelPlace,
    kernel=st.none(),
    func1=st.integers(0, (1 << 48) - 1),
    func2=st.integers(0, (1 << 48) - 1),
    attr=st.sampled_from([AttrType.AICORE, AttrType.CUBE, AttrType.VECTOR, AttrType.MIX]),
    mix=st.sampled_from(list(MixType)),
    ratio=st.integers(0, 0xFFFF_FFFF),
    prefetch=st.tuples(st.integers(0, 16), st.integers(0, 8)),
    min_stacks=st.tuples(st.integers(0, 1 << 20), st.integers(0, 1 << 20)),
    program_stack=st.sampled_from([0, 16384, 32768]),
    dcache_lock=st.booleans(),
    share_memory=st.integers(0, 300_000),
)
TASK_CONFIGS = st.builds(
    TaskConfig,
    dump_flag=st.sampled_from([0, 2, 4]),
    schem_mode=st.integers(0, 255),
    qos=st.integers(0, 1 << 20),
    part_id=st.integers(0, 1 << 20),
    never_timeout=st.integers(0, 2),
    timeout=st.none() | st.integers(0, (1 << 64) - 1),
    local_memory=st.integers(0, 300_000),
)
ENVS = st.builds(
    LaunchEnv,
    stream_id=st.integers(0, 1 << 17),
    overflow_switch=st.booleans(),
    debug_register=st.booleans(),
    bound=st.booleans(),
    writes_cqe=st.booleans(),
    biu_perf=st.booleans(),
    l2_profiling=st.booleans(),
    op_timeout=st.none() | st.integers(0, 1 << 62),
    dies=st.integers(0, 3),
    is_ub=st.booleans(),
    stacks=st.just(STACKS),
    credit_unit_us=st.floats(-1, 1e9),
)


@WILD
@given(PLACES_OF_KERNELS, TASK_CONFIGS, ENVS, st.integers(0, 65535), st.integers(0, (1 << 64) - 1))
def test_every_task_has_an_entry(
    place: KernelPlace, config: TaskConfig, env: LaunchEnv, blocks: int, args: int
) -> None:
    """Whatever the task: 64 bytes that hold the blocks, and no field runs over."""
    task = make_task(place, blocks, config, env, args=args, args_size=args & 0xFFFFF)
    entries: list[v100.KernelSqe | v100.MixSqe | v200.KernelSqe] = [
        kernel_sqe(task, place, env, 7),
        mix_sqe(task, place, env, 7, args & (1 << 48) - 1),
        core_sqe(task, place, env, 7, count=64),
    ]
    for entry in entries:
        assert type(entry).decode(entry.encode()) == entry
        assert entry.block_dim == blocks
        assert entry.residue == 0
    context = mix_context(task, place, env)
    assert type(context).decode(context.encode()) == context


@WILD
@given(
    PLACES_OF_KERNELS,
    TASK_CONFIGS,
    ENVS,
    st.integers(0, 65535),
    st.tuples(*[st.integers(0, (1 << 48) - 1)] * 2),
    st.integers(0, 0xFFFE),
    st.integers(0, 200),
    st.sampled_from(IdMode),
    st.booleans(),
)
def test_a_pattern_makes_the_same_entry(
    place: KernelPlace,
    config: TaskConfig,
    env: LaunchEnv,
    blocks: int,
    addresses: tuple[int, int],
    key: int,
    count: int,
    id_mode: IdMode,
    is_v200: bool,
) -> None:
    """What a pattern fills in is what an encoder makes of the task itself, bit for bit."""
    args, behind = addresses
    env = env._replace(id_mode=id_mode)
    size = args & 0xFFFFF
    try:
        pattern = EntryPattern(place, blocks, config, env, size, is_v200=is_v200)
    except RtError:
        assert is_v200, "too much unified buffer"
        return
    task = make_task(
        place, blocks, config, env, args=args, args_size=size, simt_dcu_size=pattern.dcu_size
    )
    if is_v200:
        entry: Record = core_sqe(task, place, env, key, count=count)
    elif pattern.has_context:
        entry = exchange_ids(mix_sqe(task, place, env, key, behind), id_mode)
        assert pattern.context(args) == mix_context(task, place, env).encode()
    else:
        entry = kernel_sqe(task, place, env, key)
    assert pattern.has_context == (not is_v200 and bool(place.mix))
    assert pattern.entry(key, args, behind, count) == entry.encode()
