"""Any sequence of calls on a Runtime keeps its pools and tables in order. Spec 03, section 14."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from cannkit.api.binary import BinaryHandle
from cannkit.api.runtime import Runtime
from cannkit.device.device import Device
from cannkit.device.kernel_pool import POOL_SIZE
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.program_base import Program
from tests.api.runtimes import image, world
from tests.facts import A2_SOC, A5_SOC

SIZES = (16, 3000, 5000, 0x150000, 3 << 20)
IMAGES = {(size, rw): image(size, writable=rw) for size in SIZES for rw in (False, True)}
FAULTS = ("alloc", "copy", "free", "advise")

NUMBERS = st.integers(0, 7)
OPS = st.one_of(
    st.tuples(st.just("load"), st.sampled_from(sorted(IMAGES)), st.booleans()),
    st.tuples(st.just("old"), st.sampled_from(sorted(IMAGES)), st.integers(0, 3)),
    st.tuples(
        st.sampled_from(["unload", "find", "miss", "global", "address", "stub", "unregister"]),
        NUMBERS,
    ),
    st.tuples(st.sampled_from(["set", "reset"]), st.integers(0, 2)),
    st.tuples(st.just("fault"), st.sampled_from(FAULTS), st.integers(1, 3)),
)


class Session:
    """A Runtime under test, and every handle it has given, live or not."""

    def __init__(self, soc: str) -> None:
        self.runtime, _, self.faults = world(soc)
        self.binaries: list[BinaryHandle] = []

    def run(self, op: tuple[Any, ...]) -> None:
        with suppress(RtError):
            getattr(self, f"_{op[0]}")(*op[1:])

    def _load(self, key: tuple[int, bool], lazy: bool) -> None:
        self.binaries.append(self.runtime.load_from_data(IMAGES[key], lazy=lazy))

    def _old(self, key: tuple[int, bool], how: int) -> None:
        rt = self.runtime
        if how == 0:
            self.binaries.append(rt.binary_load(rt.create_binary(IMAGES[key])))
        else:
            load = (rt.load_old, rt.register_all_kernels, rt.register_binary)[how - 1]
            self.binaries.append(load(IMAGES[key]))

    def _binary(self, number: int) -> BinaryHandle:
        return self.binaries[number] if number < len(self.binaries) else self.runtime.binary(0)

    def _unload(self, number: int) -> None:
        self.runtime.unload(self._binary(number))

    def _unregister(self, number: int) -> None:
        self.runtime.unregister_binary(self._binary(number))

    def _find(self, number: int) -> None:
        function = self._binary(number).get_function("k_0")
        assert self._binary(number).get_function("k_0") is function
        assert max(function.addresses()) % 4096 == 0

    def _miss(self, number: int) -> None:
        self._binary(number).get_function_by_entry(99)

    def _global(self, number: int) -> None:
        self._binary(number).get_global("g_opSystemRunCfg")

    def _address(self, number: int) -> None:
        self._binary(number).device_address()

    def _stub(self, number: int) -> None:
        self._binary(number).register_function(number, f"stub {number}")
        self.runtime.stub_address(number)

    def _set(self, device: int) -> None:
        self.runtime.set_device(device)

    def _reset(self, device: int) -> None:
        self.runtime.reset_device(device)

    def _fault(self, kind: str, after: int) -> None:
        self.faults.plan(kind, after, RtStatus.DRV_OUT_MEMORY)


class Span(NamedTuple):
    start: int
    end: int


def _check(runtime: Runtime) -> None:
    session, process = runtime.session, runtime.process
    live = set(session.binaries)
    assert set(process.pool.programs()) == live
    ids = [program.id for program in live]
    assert len(set(ids)) == len(ids)
    functions = sum(len(set(binary._functions)) for binary in session.binaries.values())
    assert len(session.handles) == len(live) + functions
    stubs = [entry.stub for entry in process.stubs]
    assert stubs == sorted(set(stubs))
    assert {entry.program for entry in process.stubs} <= live
    for device in runtime.devices.values():
        _check_device(device, runtime, live)


def _check_device(device: Device, runtime: Runtime, live: set[Program]) -> None:
    """Free and used make 2 MiB in each pool, and no two images or free ranges meet."""
    spans = []
    for pool in device.pools.pools:
        assert pool.used + sum(node.size for node in pool.free) == POOL_SIZE
        spans += [Span(node.address, node.address + node.size) for node in pool.free]
    images = set()
    for program in live:
        place = runtime.process.loader.find(program, device)
        if place and place.image:
            assert place.image.aligned % 4096 == 0
            assert device.memory.allocation_at(place.aligned) is not None
            images.add(Span(place.aligned, place.aligned + place.image.size))
    pairs = pairwise(sorted([*spans, *images]))
    assert all(one.end <= other.start for one, other in pairs)


@given(st.sampled_from([A2_SOC, A5_SOC, "Ascend910A"]), st.lists(OPS, max_size=30))
def test_invariants(soc: str, ops: list[tuple[Any, ...]]) -> None:
    session = Session(soc)
    for op in ops:
        session.run(op)
        _check(session.runtime)


@given(st.lists(OPS.filter(lambda op: op[0] != "fault"), max_size=20))
def test_all_is_given_back(ops: list[tuple[Any, ...]]) -> None:
    """After every binary is gone, no pool has a block and no table an entry."""
    session = Session(A2_SOC)
    rt = session.runtime
    for op in ops:
        session.run(op)
    rt.set_device(0)
    for binary in list(rt.session.binaries.values()):
        rt.unload(binary)
    _check(rt)
    assert len(rt.session.handles) == len(rt.process.pool) == len(rt.process.stubs) == 0
    for device in rt.devices.values():
        pools = device.pools.pools
        assert [pool.used for pool in pools] == [0] * len(pools)
        others = [a for a in device.memory if a.region != "SYS"]
        assert len(others) == len(pools)
