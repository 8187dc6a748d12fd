"""cannkit/runtime/args_memory.py: where argument blocks are placed. Spec 04, LCH-36 to LCH-41."""

from __future__ import annotations

import tracemalloc
from typing import Final

import pytest

from cannkit.device.device import Device
from cannkit.device.hardware import DeviceConfig
from cannkit.device.host_profile import Attach, HostProfile
from cannkit.format.status import AclStatus, RtError
from cannkit.runtime.args import block_of
from cannkit.runtime.args_memory import ArgsKind, ArgsMemory
from cannkit.runtime.args_pool import Placement
from cannkit.soc import find_soc
from tests.facts import A2_SOC, A5_SOC
from tests.runtime.arg_rows import BLOCK_CALLS, CPU_CALLS, Row, args_of, kernel_of, recorded

PLAIN, MIX, CPU, CPU_EX = ArgsKind.PLAIN, ArgsKind.MIX, ArgsKind.CPU, ArgsKind.CPU_EX
CALLER: Final = 0x12C0_0000_1000

NO_BAR: Final = HostProfile(bar_usable=False)
ARM: Final = HostProfile(bar_limit=4096)
UB: Final = HostProfile(attach=Attach.UB)


def device_of(soc: str = A2_SOC, host: HostProfile | None = None) -> Device:
    device = Device(0, find_soc(soc), DeviceConfig(host=host or HostProfile()))
    device.start()
    return device


def memory_of(soc: str = A2_SOC, host: HostProfile | None = None) -> ArgsMemory:
    return ArgsMemory(device_of(soc, host))


def words(place: Placement) -> tuple[str, str]:
    return place.policy.value, place.memory.value


@pytest.mark.parametrize(
    "row",
    [row for row in recorded(*BLOCK_CALLS) if "argsPolicy" in row["result"]],
    ids=lambda row: f"{row['id']}-{row['call']}",
)
def test_recorded_policies(row: Row) -> None:
    """The kind of memory the original asks for; its A5 does not tell how it is attached.

    Its v100 streams had no window for deferred copies, nor its A5 streams a pool: a captured stream
    uses neither.
    """
    is_v100 = row["family"] == "v100"
    usable = bool(row["device"].get("pcieBar"))
    attach = Attach.UB if row["device"].get("ub") else Attach.PCIE
    host = HostProfile(bar_usable=usable or not is_v100, attach=attach)
    memory = memory_of(A2_SOC if is_v100 else A5_SOC, host)
    block = block_of(kernel_of(row), args_of(row))
    kind = {"cpu_names": CPU}.get(row["call"], CPU_EX if row["call"] in CPU_CALLS else PLAIN)
    if is_v100 and row["kernel"].get("mixType"):
        kind = MIX
    place = memory.place(
        row["launch"].get("stream", 0),
        kind,
        block.size,
        pointer=block.pointer if block.content is None else None,
        captured=not is_v100,
    )
    policy = "generic" if place.policy == "ub" else place.policy
    assert policy == row["result"]["argsPolicy"]
    if "ctx" in row["result"]:
        assert place.context % 128 == 0
        assert place.context_view is not None
        in_slot = place.policy == "mix" and block.content is not None
        assert (place.address == place.context + 128) == in_slot


V100: Final = [
    # kind, bytes, host, captured -> policy, memory
    (MIX, 896, None, False, ("mix", "bar")),
    (MIX, 897, None, False, ("deferred", "bar")),
    (MIX, 1024, None, False, ("deferred", "bar")),
    (MIX, 1025, None, False, ("no_mix", "allocator")),
    (MIX, 896, None, True, ("no_mix", "bar")),
    (MIX, 896, NO_BAR, False, ("no_mix", "allocator")),
    (MIX, 3968, ARM, False, ("mix", "bar")),
    (MIX, 3969, ARM, False, ("no_mix", "bar")),
    (PLAIN, 1, None, False, ("deferred", "bar")),
    (PLAIN, 1024, None, False, ("deferred", "bar")),
    (PLAIN, 1024, None, True, ("no_mix", "bar")),
    (PLAIN, 1024, NO_BAR, False, ("no_mix", "allocator")),
    (PLAIN, 1025, None, False, ("no_mix", "allocator")),
    (PLAIN, 4096, ARM, False, ("no_mix", "bar")),
    (PLAIN, 6208, None, False, ("no_mix", "allocator")),
    (PLAIN, 6209, None, False, ("no_mix", "max")),
    (PLAIN, 47168, None, False, ("no_mix", "max")),
    (PLAIN, 47169, None, False, ("no_mix", "dynamic")),
    (CPU, 1, None, False, ("cpu", "allocator")),
    (CPU, 6208, None, False, ("cpu", "allocator")),
    (CPU, 6209, None, False, ("cpu", "super")),
    (CPU, 15360, None, False, ("cpu", "super")),
    (CPU_EX, 1024, None, False, ("cpu_ex", "bar")),
    (CPU_EX, 1025, None, False, ("cpu_ex", "allocator")),
    (CPU_EX, 6209, None, False, ("cpu_ex", "max")),
    (CPU_EX, 47169, None, False, ("cpu_ex", "dynamic")),
    (CPU_EX, 1, NO_BAR, False, ("cpu_ex", "allocator")),
]
V200: Final = [
    (PLAIN, 1024, None, False, ("stream_pool", "pool")),
    (PLAIN, 1025, None, False, ("generic", "allocator")),
    (PLAIN, 1024, None, True, ("generic", "bar")),
    (PLAIN, 4096, ARM, False, ("stream_pool", "pool")),
    (PLAIN, 4096, ARM, True, ("generic", "bar")),
    (PLAIN, 1024, NO_BAR, True, ("generic", "allocator")),
    (PLAIN, 6209, None, False, ("generic", "super")),
    (PLAIN, 15361, None, False, ("generic", "max")),
    (PLAIN, 47169, None, False, ("generic", "dynamic")),
    (CPU, 20000, None, False, ("generic", "max")),
    (PLAIN, 1024, UB, False, ("stream_pool", "pool")),
    (PLAIN, 4096, UB, True, ("ub", "pool")),
    (PLAIN, 4097, UB, False, ("ub", "super")),
    (PLAIN, 16384, UB, False, ("ub", "super")),
    (PLAIN, 16385, UB, False, ("ub", "dynamic")),
]


@pytest.mark.parametrize(
    ("soc", "kind", "size", "host", "captured", "chosen"),
    [(A2_SOC, *case) for case in V100] + [(A5_SOC, *case) for case in V200],
)
def test_choice(
    soc: str,
    kind: ArgsKind,
    size: int,
    host: HostProfile | None,
    captured: bool,
    chosen: tuple[str, str],
) -> None:
    """LCH-37 to LCH-40, LCH-92: and that the place is memory, is used again, and has room."""
    device = device_of(soc, host)
    memory = ArgsMemory(device)
    place = memory.place(3, kind, size, task_slot=7, captured=captured)
    assert words(place) == chosen
    device.memory.write(place.address, b"\xee" * size)
    assert (place.context != 0) == (kind is MIX)
    if place.context:
        assert place.context % 128 == 0
        device.memory.write(place.context, b"\xdd" * 128)
        assert device.memory.read(place.address, size) == b"\xee" * size
    used = device.memory.used
    memory.release(place)
    again = memory.place(3, kind, size, task_slot=7, captured=captured)
    assert device.memory.used == used
    if chosen[0] != "stream_pool" and chosen[1] != "dynamic":
        assert (again.address, again.context) == (place.address, place.context)


def test_memory_of_the_caller() -> None:
    """LCH-36."""
    for soc in (A2_SOC, A5_SOC):
        place = memory_of(soc).place(0, PLAIN, 64, pointer=CALLER)
        assert (words(place), place.address, place.view) == (("nocopy", "caller"), CALLER, None)
        assert words(memory_of(soc).place(0, CPU, 70_000, pointer=CALLER)) == words(place)


def test_a_mix_with_memory_of_the_caller() -> None:
    """LCH-37: a slot is taken for the context alone."""
    memory = memory_of()
    place = memory.place(0, MIX, 896, pointer=CALLER)
    assert (words(place), place.address, place.view) == (("mix", "bar"), CALLER, None)
    assert place.context
    memory.release(place)
    copied = memory.place(0, MIX, 896)
    assert (copied.context, copied.address) == (place.context, place.context + 128)
    large = memory.place(0, MIX, 897, pointer=CALLER)
    assert (words(large), large.address) == (("nocopy", "caller"), CALLER)
    assert large.context % 128 == 0
    assert large.context_view is not None


def test_nothing_to_copy() -> None:
    """LCH-33: a kernel without parameters; the pointer is 0."""
    place = memory_of().place(0, MIX, 0, pointer=0)
    assert (words(place), place.address) == (("mix", "bar"), 0)
    place = memory_of(host=NO_BAR).place(0, MIX, 0, pointer=0)
    assert (words(place), place.address) == (("nocopy", "caller"), 0)
    assert place.context


def test_cpu_blocks_are_not_cut() -> None:
    """Q-15."""
    with pytest.raises(RtError, match="15361 bytes, the original would copy 15360") as caught:
        memory_of().place(0, CPU, 15361)
    assert caught.value.acl is AclStatus.RT_PARAM_INVALID


def test_names() -> None:
    """LCH-41, Q-15."""
    device = device_of()
    memory = ArgsMemory(device)
    long, short = memory.place_name(b"n" * 255), memory.place_name(b"RunCpuKernel")
    assert device.memory.read(long, 256) == b"n" * 255 + b"\0"
    assert device.memory.read(short, 13) == b"RunCpuKernel\0"
    assert memory.place_name(b"n" * 255) == long
    for name in (b"n" * 256, b"a\0b"):
        with pytest.raises(RtError, match="unusable name"):
            memory.place_name(name)


def test_slots_of_a_window_follow_the_task() -> None:
    """LCH-38."""
    memory = memory_of()
    places = [
        memory.place(stream, PLAIN, 8, task_slot=slot) for stream, slot in [(0, 0), (0, 9), (1, 0)]
    ]
    assert places[1].address == places[0].address + 9 * 1024
    assert abs(places[2].address - places[0].address) >= 2048 * 1024
    memory.close_stream(0)
    assert memory.place(2, PLAIN, 8).address == places[0].address
    memory.close_stream(77)  # it had none


def test_windows_leave_room_for_the_rest() -> None:
    memory = memory_of()
    policies = {memory.place(stream, PLAIN, 8).policy.value for stream in range(1100)}
    assert policies == {"deferred", "no_mix"}
    assert memory.place(0, PLAIN, 8).policy == "deferred"
    assert words(memory.place(0, PLAIN, 47000)) == ("no_mix", "max")


def test_eight_streams_have_a_pool() -> None:
    """LCH-40: and a ninth gets that of a stream that is closed."""
    memory = memory_of(A5_SOC)
    places = [memory.place(stream, PLAIN, 64) for stream in range(9)]
    assert [place.policy.value for place in places] == ["stream_pool"] * 8 + ["generic"]
    memory.close_stream(3)
    memory.close_stream(3)
    again = memory.place(8, PLAIN, 64)
    assert (again.policy, again.address) == ("stream_pool", places[3].address)
    assert memory.place(3, PLAIN, 64).policy == "generic"


def test_a_full_pool() -> None:
    """LCH-40."""
    memory = memory_of(A5_SOC)
    places = []
    while (place := memory.place(0, PLAIN, 1000)).policy == "stream_pool":
        places.append(place)
    assert len(places) == (1024 * 2049 - 1) // 1000
    assert words(place) == ("generic", "bar")
    for each in places[:2]:  # the head moves past the first, what ends there fits before it
        memory.release(each)
    assert memory.place(0, PLAIN, 1000).address == places[0].address


def test_reset() -> None:
    device = device_of()
    memory = ArgsMemory(device)
    memory.place(0, PLAIN, 64)
    memory.place_name(b"name")
    device.reset()
    device.start()
    memory.reset()
    assert device.memory.read(memory.place_name(b"name"), 5) == b"name\0"
    place = memory.place(0, PLAIN, 64)
    assert place.view is not None
    place.view[:1] = b"x"
    assert device.memory.read(place.address, 1) == b"x"


@pytest.mark.parametrize("soc", [A2_SOC, A5_SOC])
@pytest.mark.parametrize("host", [HostProfile(), NO_BAR, UB])
def test_memory_stays_flat(soc: str, host: HostProfile) -> None:
    """1,000,000 launches take no more memory than 2,048 under way."""
    device = device_of(soc, host)
    memory = ArgsMemory(device)
    sizes = (8, 64, 900, 1100, 7000, 20_000)
    kinds = (PLAIN, MIX, CPU_EX)

    def launches(count: int) -> None:
        live = []
        for number in range(count):
            size, kind = sizes[number % 6], kinds[number % 3]
            live.append(memory.place(1, kind, size, task_slot=number))
            if len(live) > 200:
                memory.release(live.pop(0))
        for place in live:
            memory.release(place)

    launches(2_000)
    used = device.memory.used
    tracemalloc.start()
    try:
        launches(10_000)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert device.memory.used == used
    assert grown < 2_100_000  # the slots of a window are met for the first time
