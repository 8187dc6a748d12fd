"""Scripts: what each line becomes, and which lines are none. cli.md, section 8."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.ae.operations import Step
from cannkit.ae.script import KEYS, parse_script
from cannkit.ae.task import Parts, make_task
from cannkit.errors import InputError
from cannkit.format.ae_event import TsKernel

FWK, AICPU, CUST, KFC = 1, 2, 4, 5


def steps(*rows: dict[str, Any], is_cloud: bool = False) -> list[Step]:
    raw = "\n".join(map(json.dumps, rows)).encode()
    return parse_script(raw, "s.jsonl", is_cloud=is_cloud)


def step(**row: Any) -> Step:
    (found,) = steps(row)
    return found


def refusal(line: str | bytes) -> str:
    raw = line if isinstance(line, bytes) else line.encode()
    with pytest.raises(InputError) as caught:
        parse_script(b'{"op": "clear"}\n\n' + raw, "s.jsonl")
    assert caught.value.where == "s.jsonl, line 3"
    assert caught.value.hint == "the README shows a script"
    return caught.value.why


def test_operations() -> None:
    assert steps(
        {"op": "close", "type": "kfc", "so": "a.so"},
        {"op": "close", "type": 2, "so": None},
        {"op": "batch", "type": "custom", "sos": ["a.so", None, "libtf_kernels.so"]},
        {"op": "batch", "type": 2},
        {"op": "clear"},
        {"op": "addWhite", "so": "a.so"},
        {"op": "delWhite", "so": None, "custSd": True},
    ) == [
        Step("close", KFC, ("a.so",)),
        Step("close", AICPU, (None,)),
        Step("batch", CUST, ("a.so", None, "libtf_kernels.so")),
        Step("batch", AICPU),
        Step("clear"),
        Step("addWhite", None, ("a.so",)),
        Step("delWhite", None, (None,), is_cust_sd=True),
    ]


def test_calls() -> None:
    """The word of a number is what the argument points at; a text is hex."""
    made = make_task(Parts(AICPU, "a.so", "f", b"\7\0\0\0", 1, 4))
    row = {"type": "aicpu", "so": "a.so", "func": "f", "blockId": 1, "blockNum": 4}
    assert step(**row, param=7) == Step("call", AICPU, task=made)
    assert step(**row, param="07000000").task == made
    assert step(**row, param="0x07000000", op="call").task == made
    assert step(type=KFC).task == make_task(Parts(KFC))
    assert step(type=KFC, custSd=False).is_cust_sd is False


def test_framework_calls() -> None:
    """The type of the block, the word behind it, and the rest of it."""
    block = (10).to_bytes(4, "little") + (12).to_bytes(4, "little") + bytes(104)
    assert step(type="fwk", fwkType=10, opType=12).task == make_task(Parts(FWK, param=block))
    assert step(type=1).task == make_task(Parts(FWK, param=bytes(112)))
    assert step(type=1, fwkNull=True).task == make_task(Parts(FWK))
    assert step(type=1, param="00").task == make_task(Parts(FWK, param=b"\0"))


@pytest.mark.parametrize(("is_cloud", "size"), [(False, 72), (True, 56)])
def test_null_task(is_cloud: bool, size: int) -> None:
    (found,) = steps({"type": 2, "addrNull": True}, is_cloud=is_cloud)
    assert found.task is not None
    assert found.task.event is None
    assert found.task.kernel == TsKernel(2, bytes(size - 8))
    (found,) = steps({"type": 2, "so": "a", "func": "b"}, is_cloud=is_cloud)
    assert found.task is not None
    assert len(found.task.kernel.encode()) == size


def test_nothing_to_do() -> None:
    assert parse_script(b"", "s") == []
    assert parse_script(b"\n  \n\t\r\n", "s") == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "Expecting property name"),
        ("[]", "no JSON object"),
        ("7", "no JSON object"),
        ('{"op": "run"}', "no operation 'run'"),
        ('{"op": ["call"]}', "no operation ['call']"),
        ('{"op": null}', "no operation None"),
        ('{"op": "clear", "so": "a"}', "clear has no key 'so': it has op, custSd"),
        ('{"type": 2, "function": "f"}', "call has no key 'function'"),
        ('{"type": "aicore"}', "type: a number of 32 bits, not 'aicore'"),
        ('{"type": 4294967296}', "type: a number of 32 bits, not 4294967296"),
        ('{"type": -1}', "type: a number of 32 bits"),
        ('{"type": true}', "type: a number of 32 bits, not True"),
        ('{"type": 2.0}', "type: a number of 32 bits, not 2.0"),
        ('{"type": NaN}', "type: a number of 32 bits, not nan"),
        ('{"type": 2, "so": 3}', "so: a text without NUL, or null, not 3"),
        (r'{"type": 2, "func": "a\u0000b"}', "func: a text without NUL"),
        (r'{"type": 2, "so": "\ud800"}', "so: a text without NUL"),
        ('{"type": 2, "blockId": "1"}', "blockId: a number of 32 bits, not '1'"),
        ('{"type": 2, "param": "0"}', "param: '0' is no hex"),
        ('{"type": 2, "param": [1]}', "param: a number of 32 bits, not [1]"),
        ('{"type": 2, "addrNull": 1}', "addrNull: not 1"),
        ('{"type": 1, "fwkNull": 1}', "fwkNull: not 1"),
        ('{"op": "batch", "type": 2, "sos": "a"}', "sos: not 'a'"),
        ('{"op": "batch", "type": 2, "sos": [1]}', "sos: names, or null"),
        ('{"op": "clear", "custSd": "yes"}', "custSd: not 'yes'"),
        (b'{"op": "clear\xff"}', "'utf-8' codec can't decode"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"type": ' + "9" * 5000 + "}", "Exceeds the limit"),
    ],
    ids=lambda each: str(each)[:40],
)
def test_what_is_no_operation(line: str | bytes, why: str) -> None:
    assert why in refusal(line)


def test_the_line_is_brief_where_it_is_long() -> None:
    assert len(refusal('{"op": "' + "x" * 100_000 + '"}')) < 200


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text())
NAMES = sorted({key for keys in KEYS.values() for key in keys})


def parsed(raw: bytes) -> list[Step] | str:
    """The operations, or where there is none."""
    try:
        return parse_script(raw, "s")
    except InputError as error:
        return str(error.where)


@given(st.dictionaries(st.sampled_from(NAMES), VALUES), st.sampled_from(list(KEYS)))
def test_any_row(row: dict[str, Any], op: str) -> None:
    found = parsed(json.dumps({**row, "op": op}).encode())
    assert found == "s, line 1" or [each.op for each in found if isinstance(each, Step)] == [op]


@given(st.binary())
def test_any_bytes(raw: bytes) -> None:
    found = parsed(raw)
    assert isinstance(found, list) or found.startswith("s, line ")
