"""The union of HwtsTsKernel in documents: keys and values by the contract. cli.md, section 8."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter
from pydantic_core import to_json

from cannkit.format.ae_event import TsKernel, TsMessage
from cannkit.report.ae_union import UnionEntry, UnionField
from tests.ae.structs import CLOUD, EXAMPLE, FACTS, number, tagged

KIND: TypeAdapter[Any] = TypeAdapter(tuple[UnionEntry, ...])
RECORDS = {
    "cceKernel": "HwtsCceKernel",
    "fwkKernel": "HwtsFwkKernel",
    "hwtsKernel": "hwts_ts_kernel",
}
MEMBERS = {"cceKernel": "CCE", "fwkKernel": "FWK", "hwtsKernel": "HWTS"}
ADDRESSES = {"kernelName", "kernelSo", "paramBase", "l2VaddrBase", "kernel"}
TEXTS = {"l2Ctrl", "taskID"}  # 64 bits


def entries_of(raw: bytes) -> tuple[UnionEntry, ...]:
    return UnionEntry.of(TsKernel.decode(raw))


def made(raw: bytes) -> Any:
    return json.loads(to_json(entries_of(raw)))


def field(entries: tuple[UnionEntry, ...], member: str, name: str) -> UnionField:
    (found,) = (
        each
        for entry in entries
        if entry.member == member
        for each in entry.fields
        if each.name == name
    )
    return found


def test_keys_are_those_of_the_contract() -> None:
    for entry in made(EXAMPLE):
        assert list(entry) == ["member", "live", "fields", "note"]
        for each in entry["fields"]:
            assert list(each) == ["name", "offset", "size", "value", "bit", "width"]
    assert [entry["member"] for entry in made(EXAMPLE)] == list(RECORDS)


@pytest.mark.parametrize("raw", [EXAMPLE, EXAMPLE[:CLOUD]])
def test_text_and_schema_agree(raw: bytes) -> None:
    assert to_json(entries_of(raw)) == KIND.dump_json(entries_of(raw))
    Draft202012Validator(KIND.json_schema(mode="serialization")).validate(made(raw))


def test_worked_example() -> None:
    """10.1, and AE-103: offsets are those in HwtsTsKernel."""
    for entry in made(EXAMPLE):
        places = FACTS["records"][RECORDS[entry["member"]]]["fields"]
        values = FACTS["example"]["readings"][MEMBERS[entry["member"]]]
        assert [each["name"] for each in entry["fields"]] == list(places)
        assert entry["live"] is (entry["member"] == "cceKernel")
        for each in entry["fields"]:
            name, place = each["name"], places[each["name"]]
            assert each["offset"] == 8 + place[0]
            if len(place) == 2:
                assert (each["size"], each["bit"], each["width"]) == (place[1], None, None)
            else:
                assert (each["size"], each["bit"], each["width"]) == (1, *place[1:])
            value = number(values[name])
            shown: Any = hex(value) if name in ADDRESSES else str(value) if name in TEXTS else value
            assert (each["value"], type(each["value"])) == (shown, type(shown))


def test_what_a_cloud_build_cuts_off() -> None:
    """AE-101: null, not 0."""
    full, cut = entries_of(EXAMPLE), entries_of(EXAMPLE[:CLOUD])
    absent = [(e.member, f.name) for e in cut for f in e.fields if f.value is None]
    assert absent == [
        ("hwtsKernel", name) for name in ("blockId", "blockNum", "l2InMain", "taskID")
    ]
    assert all(f.value is not None for e in full for f in e.fields)
    for member in RECORDS:
        for name in FACTS["records"][RECORDS[member]]["fields"]:
            if (member, name) not in absent:
                assert field(cut, member, name).value == field(full, member, name).value
    assert cut[2].note.endswith("of its 64 bytes 48 are there")


@pytest.mark.parametrize(("kernel_type", "live"), FACTS["live"].items())
def test_live(kernel_type: str, live: str | None) -> None:
    entries = entries_of(tagged(int(kernel_type)))
    assert [MEMBERS[entry.member] for entry in entries if entry.live] == ([live] if live else [])


def test_values_that_are_large_or_have_a_sign() -> None:
    message = TsMessage(pid=0xFFFF_FFFE, task=1 << 63, l2_ctrl=1 << 49, l2_in_main=0xFFFF_FFFF)
    entries = UnionEntry.of(TsKernel.of(10, message))
    values = {
        name: field(entries, "hwtsKernel", name).value for name in ("pid", *TEXTS, "l2InMain")
    }
    assert values == {
        "pid": -2,
        "taskID": "9223372036854775808",
        "l2Ctrl": "562949953421312",
        "l2InMain": 0xFFFF_FFFF,
    }


@given(st.binary(min_size=72, max_size=72) | st.binary(min_size=56, max_size=56))
def test_fields_are_what_lies_there(raw: bytes) -> None:
    for entry in entries_of(raw):
        for each in entry.fields:
            here = raw[each.offset : each.offset + each.size]
            if each.value is None:
                assert len(here) < each.size
                continue
            value = int.from_bytes(here, "little")
            if each.bit is not None and each.width is not None:
                value = value >> each.bit & (1 << each.width) - 1
            told = int(each.value, 0) if isinstance(each.value, str) else each.value
            assert told % (1 << 8 * each.size) == value
