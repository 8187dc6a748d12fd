"""Layouts against the golden facts; which record, which family; exchanged ids. Spec 04, section 4."""

from __future__ import annotations

from typing import Any

import pytest

from cannkit.errors import FormatError, UsageError
from cannkit.format.bits import OpenEnum
from cannkit.format.sqe import (
    RECORDS,
    Family,
    IdMode,
    decode_sqe,
    exchange_ids,
    family_of,
    guess_family,
    is_context,
    is_plausible,
    restore_ids,
    v100,
    v200,
)
from cannkit.soc import all_socs, find_soc
from tests.facts import A2_SOC, A5_SOC
from tests.sqe import MODULES, context, examples, facts, recorded, records, sqe

NAMES = {(family, name) for family in Family for name in facts(family)["records"]}
WS = sorted(examples(), key=lambda name: int(name[2:]))


@pytest.mark.parametrize(("family", "name"), sorted(NAMES))
def test_layouts(family: Family, name: str) -> None:
    """04, 4.1 to 4.7: each field, its bits, and its name in C."""
    kind, known = records(family)[name], facts(family)["records"][name]
    spans = {
        field: [number for piece in span.pieces for number in (piece.lo, piece.width)]
        for field, span in kind.SPANS.items()
    }
    assert known["size"] == kind.SIZE
    assert spans == known["spans"]
    assert {field: span.c_name for field, span in kind.SPANS.items()} == known["c_names"]


@pytest.mark.parametrize("family", Family)
def test_numbers(family: Family) -> None:
    """04, 4.1, 4.4, 4.5 and 4.7: the values that have names."""
    enums = {
        name: {member.name: member.value for member in enum}
        for name, enum in vars(MODULES[family]).items()
        if isinstance(enum, type) and issubclass(enum, OpenEnum) and enum is not OpenEnum
    }
    known = facts(Family.V100)["enums"] | facts(family)["enums"]
    assert enums == {name: known[name] for name in enums}
    assert enums.keys() >= facts(family)["enums"].keys()


@pytest.mark.parametrize("family", Family)
def test_no_record_without_a_golden_fact(family: Family) -> None:
    assert records(family).keys() == facts(family)["records"].keys()
    assert set(RECORDS[family].values()) == set(records(family).values())


def values(sqe: Any, known: dict[str, int]) -> dict[str, int]:
    """What is known of it, and what else is not 0."""
    return {name: int(value) for name, _, value in sqe.rows() if value or name in known}


@pytest.mark.parametrize("name", WS)
def test_examples(name: str) -> None:
    """W-1 to W-13: the documented values, all others 0, and the same bytes again."""
    known = examples()[name]
    entry = decode_sqe(sqe(name), known["family"])
    assert known["record"] == entry.C_NAME
    assert values(entry, known["fields"]) == known["fields"]
    assert entry.residue == 0
    assert entry.encode() == sqe(name)
    assert type(entry)(**known["fields"]).encode() == sqe(name)
    assert guess_family(sqe(name)) is known["family"]
    assert is_plausible(sqe(name))


@pytest.mark.parametrize("name", ["W-3", "W-10", "W-12"])
def test_contexts_of_examples(name: str) -> None:
    known = examples()[name]["context_fields"]
    entry = v100.MixContext.decode(context(name))
    assert values(entry, known) == known
    assert entry.residue == 0
    assert entry.encode() == v100.MixContext(**known).encode() == context(name)
    assert is_context(context(name))
    assert not is_context(bytes(128))
    assert not is_context(context(name)[:64])


def test_defaults_are_those_of_a_kernel() -> None:
    """What 04 calls constant is there when nobody sets it."""
    assert v100.KernelSqe().encode()[8:12] == bytes.fromhex("00100000")
    assert decode_sqe(v100.MixSqe().encode(), Family.V100) == v100.MixSqe()
    assert decode_sqe(v100.AicpuSqe().encode(), Family.V100) == v100.AicpuSqe()
    assert decode_sqe(v200.AicpuSqe().encode(), Family.V200) == v200.AicpuSqe()
    assert is_context(v100.MixContext().encode())
    assert [guess_family(kind().encode()) for kind in records(Family.V100).values() if kind.SIZE == 64
            and kind is not v100.Header] == [Family.V100] * 3  # fmt: skip


def test_recorded_entries() -> None:
    """README of cases: each is decoded and encoded again, nothing is left over, its family is guessed."""
    seen = set()
    for family, raw, mix in recorded():
        entry = decode_sqe(raw, family)
        assert entry.residue == 0
        assert entry.encode() == raw
        assert guess_family(raw) is family
        assert is_plausible(raw, family)
        assert isinstance(entry, v100.MixSqe) is (mix is not None)
        if mix is not None:
            assert is_context(mix)
            assert v100.MixContext.decode(mix).encode() == mix
        seen.add(type(entry))
    assert len(recorded()) == 48
    assert seen == {v100.KernelSqe, v100.MixSqe, v100.AicpuSqe, v200.KernelSqe, v200.AicpuSqe}


@pytest.mark.parametrize(
    ("family", "start", "kind"),
    [
        (Family.V100, "00", v100.KernelSqe),
        (Family.V100, "00000000000000000400", v100.MixSqe),
        (Family.V100, "01", v100.AicpuSqe),
        (Family.V100, "02", v100.Header),
        (Family.V100, "3f", v100.Header),
        (Family.V200, "00", v200.KernelSqe),
        (Family.V200, "01", v200.KernelSqe),
        (Family.V200, "02", v200.Header),
        (Family.V200, "02000000000000000008", v200.AicpuSqe),
        (Family.V200, "04", v200.AicpuSqe),
        (Family.V200, "05", v200.AicpuSqe),
        (Family.V200, "06", v200.Header),
        (Family.V200, "3f", v200.Header),
    ],
)
def test_record_of_a_type(family: Family, start: str, kind: type[Any]) -> None:
    """04, 4.1 to 4.7. Bits 6 and 7 of byte 0 are not of the type."""
    raw = bytes.fromhex(start.ljust(128, "0"))
    assert type(decode_sqe(raw, family)) is kind
    locked = bytes([raw[0] | 0xC0]) + raw[1:]
    assert type(decode_sqe(locked, family)) is kind
    assert decode_sqe(locked, family).encode() == locked


def test_mix_whose_context_was_not_copied() -> None:
    """Q-10: type 63, the rest as it was."""
    raw = b"\x3f" + sqe("W-3")[1:]
    assert isinstance(decode_sqe(raw, Family.V100), v100.MixSqe)
    assert guess_family(raw) is Family.V100


@pytest.mark.parametrize("size", [0, 1, 63, 65, 128])
@pytest.mark.parametrize("family", Family)
def test_other_lengths(family: Family, size: int) -> None:
    with pytest.raises(FormatError, match=f"a queue entry of {size} bytes: it has 64 bytes"):
        decode_sqe(bytes(size), family)


def test_what_is_no_kernel_tells_no_family() -> None:
    """LCH-60: else unknown."""
    for kind in range(64):
        assert guess_family(bytes([kind]) + bytes(63)) is None
    assert not is_plausible(bytes(64))


def test_first_match_counts() -> None:
    """LCH-60: batch bits of a v100 kernel look like loose of v200, but rule 3 comes before rule 4."""
    batch = v100.KernelSqe(schem=2).encode()
    assert batch[15] & 6
    assert guess_family(batch) is Family.V100
    cpu = v200.AicpuSqe(sqe_type=v200.SqeType.FUSION, sub_type=1).encode()
    assert guess_family(cpu) is Family.V200
    assert guess_family(v200.AicpuSqe(sub_type=1).encode()) is None


def test_plausible() -> None:
    """A guess is not enough: reserved bits are 0, and no kernel has so large a buffer (LCH-48)."""
    assert is_plausible(sqe("W-4"), Family.V200)
    assert not is_plausible(sqe("W-4"), Family.V100)
    assert not is_plausible(v200.KernelSqe(loose=True, dcu_size=262_145).encode())
    assert not is_plausible(v200.Header.decode(sqe("W-4")).replace(sqe_type=9).encode())
    assert not is_plausible(sqe("W-1")[:12] + b"\0\0\0\x04" + sqe("W-1")[16:])


@pytest.mark.parametrize("mode", IdMode)
def test_exchanged_ids_of_the_boundary_table(mode: IdMode) -> None:
    """W-14, LCH-73."""
    known = facts(Family.V100)["exchanged_ids"]
    plain = v100.MixSqe(stream_id=known["stream_id"], task_id=known["task_id"])
    carried = exchange_ids(plain, mode)
    assert carried.encode()[4:8].hex() == known["bytes_4_to_7"][str(mode.value)]
    assert restore_ids(carried) == (known["stream_id"], known["task_id"], mode)
    assert carried.replace(stream_id=0, task_id=0) == plain.replace(stream_id=0, task_id=0)


def test_high_bits_of_exchanged_ids() -> None:
    """LCH-73: the task keeps all bits; of the stream two are lost under SAME_TASK_ID."""
    plain = v100.MixSqe(stream_id=0x7FFF, task_id=0xFFFE)
    assert restore_ids(exchange_ids(plain, IdMode.SOFTWARE_QUEUE))[:2] == (0x7FFF, 0xFFFE)
    assert restore_ids(exchange_ids(plain, IdMode.SAME_TASK_ID))[:2] == (0x4FFF, 0xFFFE)


def test_only_a_mix_exchanges_ids() -> None:
    """LCH-73: other entries keep them, whatever they look like."""
    for kind in (v100.KernelSqe, v100.AicpuSqe, v100.Header):
        assert restore_ids(kind(stream_id=0x8012, task_id=3)) == (0x8012, 3, IdMode.PLAIN)


def test_families_of_chips() -> None:
    """04, scope: A2 and A3 are v100, A5 is v200; nothing is said of the others."""
    assert family_of(find_soc(A2_SOC)) is Family.V100
    assert family_of(find_soc("Ascend910_9391")) is Family.V100
    assert family_of(find_soc(A5_SOC)) is Family.V200
    for name in ("Ascend310P3", "Ascend910A", "MC62CM12A"):
        with pytest.raises(UsageError, match=r"the layout of queue entries of .* is not known"):
            family_of(find_soc(name))
    known = {soc.family for soc in all_socs() if soc.library == "v200" or soc.has_ffts_plus}
    assert known == {"Ascend910B", "Ascend910_93", "Ascend950", "Ascend350"}
