"""Tasks and what is derived for them. Spec 04, section 3."""

from __future__ import annotations

import pytest

from cannkit.format.ascend_meta import FuncType, VfType
from cannkit.format.status import AclStatus, RtError
from cannkit.image.kernel_meta import EntryKind
from cannkit.runtime.kernel import AttrType, Kernel, MixType, Part
from cannkit.runtime.launch_config import ALL_ONES, DEFAULT_CONFIG, TaskConfig
from cannkit.runtime.launch_env import LaunchEnv
from cannkit.runtime.task import (
    KernelPlace,
    TaskType,
    check_blocks,
    expand_blocks,
    make_task,
    place_kernel,
    simt_dcu_size,
    stack_place,
)
from tests.facts import rows
from tests.runtime.launch_rows import SOC, STACKS, Row, answer, config_of, soc_of, task_words

LAUNCHED = [row for row in rows("sqe") if "task" in row["result"]]
CORES = [row for row in LAUNCHED if "funcAddr" in row["result"]["task"]]
WITH_KERNEL = [row for row in CORES if row.get("kernel")]

MIX_AIC = MixType.MIX_AIC_AIV_MAIN_AIC
MIX_AIV = MixType.MIX_AIC_AIV_MAIN_AIV


def name_of(row: Row) -> str:
    return f"{row.get('name', row['id'])}-{row['call']}-{row['family']}"


def kernel(
    attr: AttrType = AttrType.VECTOR,
    mix: MixType = MixType.NO_MIX,
    *,
    second: int | None = None,
    lengths: tuple[int, int] = (0, 0),
) -> Kernel:
    return Kernel(
        name="k",
        symbols=["k"],
        attr=attr,
        mix=mix,
        tiling_key=0,
        entry_kind=EntryKind.TILING_KEY,
        func_type=FuncType.INVALID,
        task_ratio_value=2,
        part1=Part(0x100, lengths[0], 0, 3, present=True),
        part2=Part(second or 0, lengths[1], 0, 4, present=second is not None),
    )


@pytest.mark.parametrize("row", CORES, ids=name_of)
def test_recorded(row: Row) -> None:
    """04, 3.1: every field of the task record."""
    assert task_words(answer(row)) == row["result"]["task"]


@pytest.mark.parametrize("row", WITH_KERNEL, ids=name_of)
def test_recorded_prefetch(row: Row) -> None:
    """LCH-47."""
    assert list(answer(row).place.prefetch) == row["result"]["prefetch"]


def test_refused_config() -> None:
    """04, 1.4, LCH-7: the rows that the config stops."""
    stopped = {"CheckKernelLaunchCfg", "CheckCfg"}
    refused = [row for row in rows("sqe") if row["result"].get("refusedIn") in stopped]
    assert len(refused) == 3
    for row in refused:
        with pytest.raises(RtError) as caught:
            config_of(row)
        assert caught.value.rt == row["result"]["ret"]


def test_defaults() -> None:
    """04, 3.1: what a launch without a config has."""
    place = KernelPlace(attr=AttrType.CUBE, schem_mode=1)
    task = make_task(place, 3, DEFAULT_CONFIG, LaunchEnv())
    assert task.type is TaskType.KERNEL_AICORE
    assert task.dim == 3
    assert task.schem_mode == 1, "of the kernel"
    assert task.timeout == 0
    assert task.simt_dcu_size == 262144
    assert make_task(place, 3, TaskConfig(schem_mode=0), LaunchEnv()).schem_mode == 0
    assert make_task(KernelPlace(attr=AttrType.MIX), 1, DEFAULT_CONFIG, LaunchEnv()).type == 0
    assert make_task(KernelPlace(attr=AttrType.VECTOR), 1, DEFAULT_CONFIG, LaunchEnv()).type == 66


@pytest.mark.parametrize(
    ("never", "timeout", "can_wait", "expected"),
    [
        (0, None, True, 0),
        (1, None, True, ALL_ONES),
        (2, None, True, 0),
        (1, 0, True, 0),  # LCH-13: a V2 launch always overwrites it
        (1, None, False, ALL_ONES - 1),
        (0, ALL_ONES, False, ALL_ONES - 1),
        (0, 7, False, 7),
    ],
)
def test_timeout(never: int, timeout: int | None, can_wait: bool, expected: int) -> None:
    config = TaskConfig(never_timeout=never, timeout=timeout)
    env = LaunchEnv(can_wait_forever=can_wait)
    assert make_task(KernelPlace(), 1, config, env).timeout == expected


@pytest.mark.parametrize("blocks", [1, 65535])
def test_blocks(blocks: int) -> None:
    check_blocks(blocks)


@pytest.mark.parametrize(
    ("blocks", "why"),
    [
        (0, "cannot launch 0 blocks"),
        (65536, "would launch 0 blocks"),
        (65537, "would launch 1 blocks"),
        (1 << 64, "16 bits"),
        (-1, "16 bits"),
    ],
)
def test_bad_blocks(blocks: int, why: str) -> None:
    """Q-1, W-14: both values are told."""
    with pytest.raises(RtError, match=why) as caught:
        check_blocks(blocks)
    assert caught.value.acl is AclStatus.RT_PARAM_INVALID
    assert str(blocks) in str(caught.value)


def test_addresses() -> None:
    """LCH-47."""
    place = place_kernel(
        kernel(AttrType.MIX, MIX_AIC, second=0x900), 0x1100, 0x1900, 0, SOC["v100"]
    )
    assert (place.func1, place.func2) == (0x1100, 0x1900)
    alone = place_kernel(kernel(), 0x1100, None, 16384, SOC["v100"])
    assert (alone.func1, alone.func2, alone.program_stack) == (0x1100, 0, 16384)


@pytest.mark.parametrize("mix", [MIX_AIC, MIX_AIV])
@pytest.mark.parametrize(
    ("second", "why"), [(0, "AIV half starts the image"), (None, "second half is missing")]
)
def test_half_a_mix(mix: MixType, second: int | None, why: str) -> None:
    """LCH-47, Q-3, W-14: 107000, with the real cause."""
    broken = kernel(AttrType.MIX, mix, second=second)
    with pytest.raises(RtError, match=why) as caught:
        place_kernel(broken, 0x1100, None if second is None else 0x1000, 0, SOC["v200"])
    assert caught.value.acl is AclStatus.RT_PARAM_INVALID


def test_unknown_attribute() -> None:
    """Q-22."""
    with pytest.raises(RtError, match="says nothing of its cores"):
        place_kernel(kernel(AttrType.INVALID), 0x1100, None, 0, SOC["v100"])


def test_prefetch_by_family() -> None:
    """LCH-47: W-12's lengths, up on A2 at launch; A5 has what registration counted."""
    pair = kernel(AttrType.MIX, MIX_AIC, second=0xB98, lengths=(2968, 3168))
    assert place_kernel(pair, 0, 0xB98, 0, SOC["v100"]).prefetch == (2, 2)
    assert place_kernel(pair, 0, 0xB98, 0, SOC["v200"]).prefetch == (3, 4)


VF = {"none": VfType.NONE, "no_vf": VfType.NO_VF, "simd": VfType.SIMD_VF, "simt": VfType.SIMT_VF}


@pytest.mark.parametrize(
    ("vf", "static", "dynamic", "size"),
    [
        ("simt", 1024, 2000, 3072),
        ("simt", 8192, 221184, 229376),
        ("simt", 8192, 4000, 12288),
        ("simt", 0, 0, 0),
        ("none", 0, 0, 262144),
        ("simd", 8192, 253952, 262144),
        ("no_vf", 0, 262144, 262144),
    ],
)
def test_unified_buffer(vf: str, static: int, dynamic: int, size: int) -> None:
    """LCH-48, W-6, W-13, W-14."""
    assert simt_dcu_size(KernelPlace(vf_type=VF[vf], share_memory=static), dynamic) == size


@pytest.mark.parametrize(
    ("vf", "static", "dynamic"),
    [
        ("simt", 8192, 221185),
        ("simt", 229377, 0),
        ("none", 0, 1),
        ("none", 1, 0),
        ("simd", 8192, 253953),
        ("simd", 8192, 0xFFFF_E000),  # the original adds up to 0
        ("simt", 0, 0xFFFF_FF81),
        ("simt", 0, 1 << 32),
    ],
)
def test_too_much_unified_buffer(vf: str, static: int, dynamic: int) -> None:
    """LCH-48, Q-13: 107000, both numbers told."""
    with pytest.raises(RtError, match=f"static {static} and dynamic {dynamic}") as caught:
        simt_dcu_size(KernelPlace(vf_type=VF[vf], share_memory=static), dynamic)
    assert caught.value.acl is AclStatus.RT_PARAM_INVALID


LARGE, SMALL, CUSTOM = STACKS.large, STACKS.small, STACKS.custom
FAR = STACKS._replace(custom_size=65536)


@pytest.mark.parametrize(
    ("mix", "needs", "program", "v200", "expected"),
    [
        (0, (0, 0), 16384, False, (LARGE, 0)),
        (0, (32768, 0), 0, False, (LARGE, 0)),
        (0, (32769, 0), 0, False, (CUSTOM, 2)),
        (0, (0, 32769), 0, False, (LARGE, 0)),  # only the first half is asked
        (3, (0, 0), 16384, False, (SMALL, 0)),
        (3, (0, 0), 32768, False, (LARGE, 0)),
        (3, (0, 0), 0, False, (LARGE, 0)),
        (3, (1, 0), 16384, False, (LARGE, 0)),
        (3, (0, 49152), 16384, False, (CUSTOM, 2)),
        (3, (0, 0), 16384, True, (LARGE, 0)),
        (3, (32769, 0), 0, True, (CUSTOM, 2)),
    ],
)
def test_stack(
    mix: int, needs: tuple[int, int], program: int, v200: bool, expected: tuple[int, int]
) -> None:
    """LCH-54, LCH-55."""
    place = KernelPlace(mix=MixType(mix), min_stacks=needs, program_stack=program)
    assert stack_place(place, FAR, v200=v200) == expected


@pytest.mark.parametrize(
    ("attr", "mix", "ratio", "expected"),
    [
        (AttrType.CUBE, 0, 2, (7, 0)),
        (AttrType.AICORE, 0, 2, (7, 0)),
        (AttrType.CUBE, 1, 2, (7, 0)),
        (AttrType.VECTOR, 0, 2, (0, 7)),
        (AttrType.VECTOR, 2, 2, (0, 7)),
        (AttrType.MIX, 3, 1, (7, 7)),
        (AttrType.MIX, 3, 2, (7, 14)),
        (AttrType.MIX, 4, 1, (7, 7)),
        (AttrType.MIX, 4, 2, (14, 7)),
    ],
)
def test_expansion(attr: AttrType, mix: int, ratio: int, expected: tuple[int, int]) -> None:
    """LCH-50, every mix type and ratio."""
    place = KernelPlace(attr=attr, mix=MixType(mix), ratio=ratio)
    assert expand_blocks(place, 7) == expected


def test_row_families() -> None:
    assert {soc_of(row).library for row in LAUNCHED} == {"v100", "v200"}
