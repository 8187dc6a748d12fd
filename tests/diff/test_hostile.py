"""Objects that want to take all memory and time: a difference, or an error. HAZ-14, HAZ-15."""

from __future__ import annotations

import json
import random
import time
from typing import Final

import pytest

from cannkit.diff.digests import HASHED_AGAIN
from cannkit.diff.summary import LONGEST
from cannkit.errors import CannkitError
from cannkit.format.dfx import TensorType
from tests.build import OBJECTS, SHF_ALLOC, SHF_EXEC, ObjectBuilder
from tests.diff.sides import changes, summary
from tests.objects import MIX
from tests.shapes import dfx_tlv, m0, with_meta, word

SECONDS: Final = 10
FLIPS: Final = 200


def test_kernels_that_overlap() -> None:
    """Each covers all of a large object: no more bytes are hashed than in eight times its size."""
    builder = ObjectBuilder()
    builder.section(".text", bytes(4 << 20), flags=SHF_ALLOC | SHF_EXEC, at=64)
    for number in range(4000):
        builder.symbol(f"k_{number}", value=number, size=(4 << 20) - number)
    begin = time.monotonic()
    found = summary(builder.build())
    assert time.monotonic() - begin < SECONDS
    known = sum(kernel.facts["code"] is not None for kernel in found.kernels.values())
    assert 0 < known <= HASHED_AGAIN


def test_sections_that_overlap() -> None:
    """Each is all code with a gap behind every byte: a span counts for more than it has."""
    builder = ObjectBuilder()
    builder.section(".text", bytes(range(1, 129)) * 500, flags=SHF_ALLOC | SHF_EXEC, at=64)
    for number in range(30_000):
        builder.section("", flags=SHF_ALLOC, offset=64, size=64_000)
        builder.symbol(f"k_{number}", value=2 * number, size=1)
    begin = time.monotonic()
    found = summary(builder.build())
    assert time.monotonic() - begin < SECONDS
    assert len(found.kernels) == 30_000


def test_kernels_of_one_name() -> None:
    builder = ObjectBuilder()
    builder.section(".text", bytes(64), flags=SHF_ALLOC | SHF_EXEC, at=64)
    for _ in range(5000):
        builder.symbol("k_0", size=32)
    begin = time.monotonic()
    found = summary(builder.build())
    assert changes(found, found) == []
    assert time.monotonic() - begin < SECONDS
    assert 1 < len(found.kernels) <= 5000


def test_many_arguments() -> None:
    """A list is kept up to a size; what is not kept is told apart all the same."""
    record = (word(TensorType.INPUT), 1 << 40, *range(1 << 60, (1 << 60) + 2000))
    one = summary(with_meta(m0(), dfx_tlv(*[record] * 4)).build())
    other = summary(with_meta(m0(), dfx_tlv(*[record] * 3, (*record[:-1], 7))).build())
    (kernel,) = one.kernels.values()
    arguments = kernel.facts["arguments"]
    assert isinstance(arguments, tuple)
    assert sum(map(len, arguments)) <= 2 * LONGEST
    assert [each.kind for each in changes(one, other)] == ["arguments"]


def test_a_sidecar_of_many_keys() -> None:
    data = (OBJECTS / f"{MIX.stem}.o").read_bytes()
    keys = {f"key{number}": ["x" * 100] * 10 for number in range(3000)}
    one = summary(data, json.dumps(keys).encode(), MIX.stem)
    other = summary(data, json.dumps(keys | {"key2999": 1}).encode(), MIX.stem)
    assert len(one.facts) < 1200
    assert [each.kind for each in changes(one, other)] == ["sidecar...."]
    deep = json.loads("[" * 60 + "]" * 60)
    nested = json.dumps({"supportInfo": {"inputs": deep}, "kernelList": deep}).encode()
    assert changes(summary(data, nested, MIX.stem), summary(data, nested, MIX.stem)) == []


@pytest.mark.parametrize("path", sorted(OBJECTS.glob("*.o")), ids=lambda path: path.stem)
def test_damaged_objects(path: object) -> None:
    """Any bytes give changes or a CannkitError; another byte is told, whatever it is."""
    data = getattr(path, "read_bytes", bytes)()
    whole = summary(data)
    rand = random.Random(1)
    read = 0
    for _ in range(FLIPS):
        damaged = bytearray(data)
        at = rand.randrange(len(damaged))
        damaged[at] ^= 1 << rand.randrange(8)
        try:
            found = summary(bytes(damaged))
        except CannkitError:
            continue
        read += 1
        assert changes(whole, found)
        assert changes(found, found) == []
    assert read > FLIPS / 2
