"""The document of `cannkit sqe`: keys and values by the contract, and what the values mean."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from cannkit.errors import FormatError, ReadWarning
from cannkit.format.bits import Record
from cannkit.format.sqe import Family, IdMode, decode_sqe, exchange_ids, v100, v200
from cannkit.format.sqe.dump import DumpReader
from cannkit.report.json import document_json, entry_json
from cannkit.report.sqe import SqeDocument, SqeEntry
from cannkit.report.sqe_fields import FieldEntry
from tests.report.test_json import validator
from tests.sqe import ALL_RECORDS, context, examples, recorded, sqe

KEYS = {  # cli.md, section 6: these first, in this order
    "document": ["sqes", "warnings", "error"],
    "sqe": ["arch", "guessed", "type", "size", "hex", "fields"],
    "field": ["word", "bits", "name", "value", "meaning"],
}


def entry_of(name: str, **values: int) -> SqeEntry:
    record = decode_sqe(sqe(name), examples()[name]["family"]).replace(**values)
    return SqeEntry.of(record)


def field(entry: SqeEntry, name: str) -> FieldEntry:
    (found,) = [each for each in entry.fields if each.name == name]
    return found


def document() -> SqeDocument:
    """Entries of every kind, and what goes with them."""
    mix = v100.MixSqe.decode(sqe("W-3")).replace(residue=1 << 500)
    sqes = [SqeEntry.of(kind()) for kind in ALL_RECORDS]
    sqes += [SqeEntry.of(mix, v100.MixContext.decode(context("W-3")))]
    sqes += map(SqeEntry.of_dump, DumpReader().read([bytes(64).hex(), sqe("W-4").hex()]))
    return SqeDocument.of(sqes, [ReadWarning("incomplete", "line 1", "short")], FormatError("no"))


def test_text_is_what_the_schema_s_own_serializer_writes() -> None:
    kind: TypeAdapter[Any] = TypeAdapter(SqeDocument)
    assert entry_json(document()) == kind.dump_json(document())
    body = kind.dump_json(document(), indent=2)[1:]
    assert document_json(document()) == b'{\n  "schema": "cannkit.sqe/1",' + body + b"\n"


def test_documents_follow_the_schema() -> None:
    validator(SqeDocument).validate(json.loads(document_json(document())))


def test_keys_are_those_of_the_contract() -> None:
    made = json.loads(document_json(document()))
    assert list(made) == ["schema", *KEYS["document"]]
    for entry in made["sqes"]:
        assert list(entry)[:6] == KEYS["sqe"]
        for each in [*entry["fields"], *(entry["context"] or {"fields": []})["fields"]]:
            assert list(each)[:5] == KEYS["field"]
            assert each["value"] is not True
            assert each["value"] is not False
    assert list(made["sqes"][-3]["context"]) == ["size", "hex", "fields"]


def bits_of(entry: FieldEntry) -> int:
    """The bits of a field in the record, as a mask."""
    mask = 0
    for part in entry.bits.split(","):
        lo, _, high = part.partition("-")
        mask |= ((1 << int(high or lo) - int(lo) + 1) - 1) << 32 * entry.word + int(lo)
    return mask


def value_of(entry: FieldEntry) -> int:
    return int(entry.value, 0) if isinstance(entry.value, str) else entry.value


@pytest.mark.parametrize("kind", ALL_RECORDS)
@given(data=st.data())
def test_all_bits_are_told(kind: type[Record], data: st.DataObject) -> None:
    """Every bit that is set is in one field, and the value of a field is that of its bits."""
    raw = data.draw(st.binary(min_size=kind.SIZE, max_size=kind.SIZE))
    number, seen = int.from_bytes(raw, "little"), 0
    places = []
    for entry in FieldEntry.all_of(kind.decode(raw)):
        mask = bits_of(entry)
        assert mask & seen == 0
        seen |= mask
        places.append((entry.word, min(int(p.split("-")[0]) for p in entry.bits.split(","))))
        bits = iter(
            (number >> at & 1)
            for part in entry.bits.split(",")
            for lo, _, high in [part.partition("-")]
            for at in range(32 * entry.word + int(lo), 32 * entry.word + int(high or lo) + 1)
        )
        assert sum(bit << at for at, bit in enumerate(bits)) == value_of(entry), entry.name
        assert (entry.name == "reserved") <= (value_of(entry) != 0)
    assert number & ~seen == 0
    assert places == sorted(places)


def test_recorded_entries_have_no_reserved_bits() -> None:
    for family, raw, _ in recorded():
        names = {each.name for each in SqeEntry.of(decode_sqe(raw, family)).fields}
        assert "reserved" not in names
        assert "sqe_type" in names


def test_values_are_written_as_the_contract_says() -> None:
    """Addresses are `0x` text, other values of 64 bits decimal text, the rest integers."""
    entry = entry_of("W-8", extra_field=(1 << 64) - 1)
    assert field(entry, "so_name_addr").value == "0x124081000000"
    assert field(entry, "extra_field").value == "18446744073709551615"
    assert field(entry, "topic_id").value == 3
    assert (field(entry, "sqe_type").value, field(entry, "sqe_type").meaning) == (1, "AICPU")
    assert entry.hex == entry_of("W-8", extra_field=(1 << 64) - 1).hex
    assert (entry.type, entry.type_name, entry.record) == (1, "AICPU", "aicpu")
    assert (entry.arch, entry.guessed, entry.evidence) == ("v100", False, "soc")


def test_fields_in_two_places() -> None:
    """Bits count from the first word on, the lowest ones of the value first."""
    aic, tail = field(entry_of("W-7"), "aic_pc"), None
    assert (aic.word, aic.bits, aic.value) == (8, "0-31,64-79", "0x12c041400000")
    made = SqeEntry.of(v100.MixSqe(), v100.MixContext.decode(context("W-3"))).context
    assert made is not None
    (tail,) = [each for each in made.fields if each.name == "aic_tail_pc"]
    assert (tail.word, tail.bits, tail.value) == (25, "32-63,16-31", "0x12c041400000")


@pytest.mark.parametrize(
    ("name", "values", "meaning"),
    [
        ("W-1", {"kernel_credit": 254}, "timeout 1,090.9 s"),
        ("W-1", {"kernel_credit": 255}, "no timeout"),
        ("W-2", {"kernel_credit": 3}, "timeout 12.9 s"),
        ("W-5", {"kernel_credit": 2}, "timeout 12.9 s"),
        ("W-4", {"kernel_credit": 253}, "timeout 1,090.9 s"),
        ("W-4", {"kernel_credit": 0}, "timeout 4.3 s"),
        ("W-11", {"kernel_credit": 255}, "no timeout"),
        ("W-2", {"stack_level": 2}, "stack of 65,536 B"),
        ("W-11", {"aiv_stack_level": 6}, "stack of 131,072 B"),
        ("W-2", {"schem": 1}, "batch: all blocks at once"),
        ("W-1", {"schem": 0}, "normal"),
        ("W-1", {"schem": 3}, "no such schedule mode"),
        ("W-2", {"flags": 1}, "dump"),
        ("W-1", {"flags": 0}, "none"),
        ("W-3", {"flags": 7}, "dump, BIU perf, L2 profiling"),
        ("W-5", {"feature_flag": 0x99}, "dump, data cache lock, unknown 0x90"),
        ("W-5", {"aic_prefetch_count": 16}, "32,768 B of code"),
        ("W-7", {"ratio": 2}, "2 AIV for each AIC block"),
        ("W-4", {"ratio": 1}, "one side alone"),
        ("W-1", {"ffts_type": 1}, "AIV"),
        ("W-1", {"ffts_type": 2}, "UNKNOWN_0x2"),
        ("W-4", {"loose": 1}, "yes: both sides need not start together"),
        ("W-4", {"mix": 0}, "no"),
        ("W-4", {"stl": 1}, "yes"),
        ("W-1", {"block_dim": 48}, "blocks of the main side"),
        ("W-9", {"kfc_args_offset": 0xFFFF}, "none"),
        ("W-9", {"kfc_args_offset": 8}, ""),
        ("W-1", {"stream_id": 3}, "stream"),
    ],
)
def test_meanings(name: str, values: dict[str, int], meaning: str) -> None:
    """LCH-49 to LCH-55: what a value amounts to. The hardware of A5 adds one to the credit."""
    (changed,) = values
    assert field(entry_of(name, **values), changed).meaning == meaning


def test_meanings_of_a_context() -> None:
    """Q-7: without AIC no code is fetched before."""
    known = [
        ("W-3", "aiv_prefetch_count", "16,384 B of code"),
        ("W-10", "aiv_prefetch_count", "0 B of code, always 0 for AIV alone (Q-7)"),
        ("W-3", "ratio", "2 AIV for each AIC block"),
        ("W-10", "ratio", "one side alone"),
        ("W-3", "thread_id", "stack of 32,768 B"),
        ("W-10", "context_type", "MIX_AIV"),
    ]
    for name, wanted, meaning in known:
        entry = SqeEntry.of(v100.MixContext.decode(context(name)))
        assert field(entry, wanted).meaning == meaning
        assert (entry.record, entry.type, entry.ids, entry.size) == ("context", None, None, 128)
    swapped = v100.MixContext(context_type=v100.ContextType.MIX_AIV, ratio=2)
    assert field(SqeEntry.of(swapped), "ratio").meaning == "2 AIC for each AIV block"


@pytest.mark.parametrize("mode", IdMode)
def test_exchanged_ids_are_told(mode: IdMode) -> None:
    """LCH-73, Q-31: the true stream and task, and how they were carried."""
    plain = v100.MixSqe.decode(sqe("W-3"))
    entry = SqeEntry.of(exchange_ids(plain, mode))
    assert entry.ids is not None
    assert (entry.ids.stream_id, entry.ids.task_id, entry.ids.mode) == (3, 18, mode.name.lower())
    if mode is not IdMode.PLAIN:
        assert field(entry, "stream_id").meaning == "exchanged: stream 3"
        assert field(entry, "task_id").meaning == "exchanged: task 18"


def test_an_a5_entry_names_no_stream() -> None:
    """Q-18."""
    ids = entry_of("W-4").ids
    assert ids is not None
    assert (ids.stream_id, ids.task_id) == (None, 0x1234)


def test_what_is_odd_is_told() -> None:
    entry = entry_of("W-3", sqe_type=63)
    assert entry.notes == ("its context could not be copied to the device (Q-10)",)
    entry = entry_of("W-1", residue=0b101 << 67 | 1 << 511)
    odd = [each for each in entry.fields if each.name == "reserved"]
    assert [(each.word, each.bits, each.value) for each in odd] == [
        (2, "3-11", 0b101),
        (15, "0-31", 1 << 31),
    ]
    assert odd[0].c_name is None


def test_entries_that_are_no_kernel() -> None:
    """Header and words; without a family the words alone."""
    raw = v200.Header(sqe_type=v200.SqeType.NOTIFY_WAIT, task_sn=5).encode()[:60] + b"\1\2\3\4"
    entry = SqeEntry.of(decode_sqe(raw, Family.V200))
    assert (entry.record, entry.type_name) == ("header", "NOTIFY_WAIT")
    assert [each.name for each in entry.fields[-14:]] == [f"w{at}" for at in range(2, 16)]
    assert entry.fields[-1].value == 0x0403_0201
    reserved = SqeEntry.of(v200.Header.decode(b"\x07\x80" + bytes(62)))
    assert field(reserved, "reserved").bits == "15"
    (dump,) = DumpReader().read([raw.hex()])
    unknown = SqeEntry.of_dump(dump)
    assert (unknown.arch, unknown.guessed, unknown.type, unknown.record) == (None, True, None, None)
    assert [each.name for each in unknown.fields] == [f"w{at}" for at in range(16)]
    assert unknown.hex == raw.hex()
