"""Numbers to reach: look-ups through the library, by handle."""

from __future__ import annotations

from timeit import repeat

import pytest

from cannkit.api.runtime import Runtime
from tests.api.runtimes import kernels
from tests.facts import A2_SOC
from tests.runtime.programs import Function

pytestmark = pytest.mark.bench

COUNT = 200_000


@pytest.mark.parametrize("call", ["get_function(name)", "get_function_by_entry(key)"])
def test_hits(call: str) -> None:
    """At least 1,000,000 hits a second, in a program of 1000 kernels."""
    binary = Runtime(A2_SOC).load_from_data(kernels(*(Function(f"k_{at}") for at in range(1000))))
    names, keys = [f"k_{at}" for at in range(1000)], list(range(1000))
    walk = f"for name, key in pairs: binary.{call}"
    known = {"binary": binary, "pairs": list(zip(names, keys, strict=True))}
    seconds = min(repeat(walk, globals=known, number=COUNT // 1000, repeat=5))
    rate = COUNT / seconds
    print(f"{call}: {rate / 1e6:.1f} million a second")  # noqa: T201
    assert rate >= 1_000_000


@pytest.mark.parametrize("call", ["lookup", "find"])
def test_stubs(call: str) -> None:
    """Stubs of the old flow: a bisect."""
    rt = Runtime(A2_SOC)
    binary = rt.register_binary(kernels(*(Function(f"k_{at}") for at in range(1000))))
    for at in range(1000):
        binary.register_function(0x1000 + at * 16, f"s{at}", f"k_{at}")
    known = {"look": getattr(rt.process.stubs, call), "stubs": range(0x1000, 0x1000 + 16000, 16)}
    seconds = min(repeat("for stub in stubs: look(stub)", globals=known, number=50, repeat=5))
    print(f"stub table, {call}: {50_000 / seconds / 1e6:.2f} million a second")  # noqa: T201
    assert 50_000 / seconds >= 100_000
