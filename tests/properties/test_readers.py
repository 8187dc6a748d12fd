"""Readers raise CannkitError or nothing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cannkit.errors import CannkitError
from cannkit.format.dfx import encode_dfx, read_dfx, runtime_arg_count
from cannkit.format.elf_types import HEADER_STRUCT, ByteOrder, ElfHeader, SectionType
from cannkit.format.sidecar import read_sidecar
from cannkit.format.tlv import HEAD, encode_tlv
from cannkit.image.kernel_object import KernelObject
from cannkit.image.meta_reader import read_binary_meta, read_kernel_meta
from cannkit.image.sidecar_check import check_sidecar
from cannkit.soc import find_soc
from tests.build import ObjectBuilder
from tests.facts import A2_SOC, A5_SOC, read
from tests.objects import BUILDERS, fixtures
from tests.shapes import m0, m0_meta

OBJECTS = {name: data for name, data in fixtures().items() if not name.endswith(".json")}
SIDECARS = [data for name, data in fixtures().items() if name.endswith(".json")]
ORDERS = st.sampled_from(["little", "big"])
WORDS = {
    name: st.integers(0, (1 << width) - 1) for name, width in (("H", 16), ("I", 32), ("Q", 64))
}
# Values that headers are wrong about: bounds, signs, wraps.
EXTREMES = st.sampled_from(
    [0, 1, 23, 24, 63, 64, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 63, (1 << 64) - 1]
)


def swallow(data: bytes) -> KernelObject | None:
    """Read everything that is read of an object."""
    obj = None
    with suppress(CannkitError):
        obj = read(data, A5_SOC)
        assert obj.verdict
        assert obj.failure or obj.kernels or not obj.refusals
        for section in obj.elf.sections:
            obj.elf.section_name(section)
    return obj


@given(st.binary(max_size=512))
@example(b"")
@example(b"\x7fELF")
@example(b"\x7fELF\2\1\1" + bytes(57))
def test_any_bytes(data: bytes) -> None:
    swallow(data)


@given(st.binary(max_size=300))
def test_any_bytes_behind_a_header(data: bytes) -> None:
    """A header with a section table that lies at the front of what follows."""
    count = len(data) // 64
    header = m0().build()[:64]
    fields = ElfHeader._make(HEADER_STRUCT["little"].unpack(header))
    fields = fields._replace(shoff=64, shnum=count, shstrndx=max(count - 1, 0))
    packed = HEADER_STRUCT["little"].pack(*fields)
    swallow(header[:4] + packed[4:6] + b"\1" + packed[7:] + data)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A built object with some bytes overwritten, and perhaps cut or grown."""
    data = bytearray(OBJECTS[draw(st.sampled_from(sorted(OBJECTS)))])
    header = ElfHeader._make(HEADER_STRUCT["little"].unpack_from(data))
    # most of it where the structure is, not in the code
    places = st.one_of(
        st.integers(0, 63),
        st.integers(header.shoff, len(data) - 1),
        st.integers(0, len(data) - 1),
    )
    for _ in range(draw(st.integers(1, 6))):
        at = draw(places)
        width = draw(st.sampled_from([1, 2, 4, 8]))
        value = draw(EXTREMES | WORDS["Q"]) & (1 << 8 * width) - 1
        patch = value.to_bytes(width, "little")
        data[at : at + width] = patch
    if draw(st.booleans()):
        del data[draw(st.integers(0, len(data))) :]
    return bytes(data) + draw(st.binary(max_size=8))


@given(mutated())
@settings(max_examples=300)
def test_mutated_objects(data: bytes) -> None:
    swallow(data)


SECTIONS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from([*SectionType, 0x7000_0000]),
        "flags": st.sampled_from([0, 2, 3, 6]),
        "addr": EXTREMES,
        "link": st.integers(0, 8),
        "entsize": st.sampled_from([0, 16, 24, 32]),
    },
    optional={
        "offset": EXTREMES,
        "size": EXTREMES,
        "name_offset": EXTREMES.map(lambda n: n & 0xFFFF_FFFF),
    },
)
NAMES = st.sampled_from(
    [
        ".data",
        ".ascend.meta",
        ".ascend.meta.k_0",
        "x.ascend.meta.",
        ".ascend.stack.size.record",
        "__CCE_KernelArgSize",
        ".dynamic",
        ".dynstr",
        ".symtab",
    ]
)


@given(st.lists(st.tuples(NAMES, SECTIONS, st.binary(max_size=48)), max_size=4), ORDERS)
def test_lying_section_headers(
    sections: list[tuple[str, dict[str, Any], bytes]], order: ByteOrder
) -> None:
    builder = m0(order)
    for name, fields, data in sections:
        builder.section(name, data, **fields)
    swallow(builder.build())


SYMBOLS = st.fixed_dictionaries(
    {
        "kind": st.integers(0, 4),
        "binding": st.integers(0, 3),
        "section": st.sampled_from([0, 1, 2, 4, 5, 0xFFF1, 0xFFFF]),
        "value": EXTREMES,
        "size": EXTREMES,
        "visibility": st.integers(0, 3),
    },
    optional={"name_offset": EXTREMES.map(lambda n: n & 0xFFFF_FFFF)},
)


@given(st.lists(SYMBOLS, max_size=5), st.binary(max_size=32))
def test_lying_symbols(symbols: list[dict[str, Any]], sizes: bytes) -> None:
    builder = ObjectBuilder().section("__CCE_KernelArgSize", sizes)
    builder.section(".ascend.meta", bytes.fromhex("04000400 02000000"))
    builder.symbol("f")
    builder.section(".text", bytes(8), flags=6)
    for fields in symbols:
        builder.symbol("g_sysFftsAddr", **fields)
    swallow(builder.build())


def tlv_stream(order: ByteOrder = "little") -> st.SearchStrategy[bytes]:
    """Records of known and unknown types, of right and wrong lengths, and a broken tail."""
    record = st.builds(encode_tlv, st.integers(0, 20), st.binary(max_size=40), st.just(order))
    return st.tuples(st.lists(record, max_size=6).map(b"".join), st.binary(max_size=6)).map(
        b"".join
    )


@given(tlv_stream())
def test_any_function_meta(raw: bytes) -> None:
    reading = read_kernel_meta(memoryview(raw), "little", 0, "k_0", find_soc(A5_SOC))
    assert sum(HEAD + len(record.tlv.raw) for record in reading.records) <= len(raw)
    swallow(m0_meta(raw))


@given(tlv_stream())
def test_any_binary_meta(raw: bytes) -> None:
    records, _ = read_binary_meta(memoryview(raw), "little", 0)
    assert sum(HEAD + len(record.tlv.raw) for record in records) <= len(raw)


@given(st.binary(max_size=80))
def test_any_dfx(raw: bytes) -> None:
    found = read_dfx(raw)
    count = runtime_arg_count(raw)
    assert (count is None) == (len(raw) in (1, 2, 3))
    if found.problem is None:
        assert encode_dfx([(arg.type, arg.words) for arg in found.args]) == raw


@given(st.sampled_from(SIDECARS), st.integers(0, 4000), st.binary(max_size=6))
def test_mutated_sidecars(raw: bytes, at: int, patch: bytes) -> None:
    with suppress(CannkitError):
        read_sidecar(raw[:at] + patch + raw[at + len(patch) :])


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KEYS = ("sha256", "kernelList", "taskRation", "debugOptions", "opParaSize", "magic", "binFileName")


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_sidecar_with_values_of_any_type(keys: dict[str, Any]) -> None:
    from json import dumps

    operator, build = BUILDERS[0]
    obj = read(build(operator), A2_SOC)
    with suppress(CannkitError):  # numbers that overflow a double
        found = read_sidecar(dumps(keys).encode())
        check_sidecar(obj, found, "", "AddCustom.o", "")
