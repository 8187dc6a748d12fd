"""The sidecar, read as strictly as the runtime does. Spec 01, sections 10.1 and 10.2."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from cannkit.errors import FormatError
from cannkit.format.sidecar import (
    MAGIC,
    MAX_DEPTH,
    MOST_BRACKETS,
    SidecarKernel,
    parse_json,
    read_sidecar,
)
from tests.build import OBJECTS
from tests.facts import golden
from tests.objects import MIX, TILING_KEYS

if TYPE_CHECKING:
    from pathlib import Path


def sidecar(**keys: Any) -> bytes:
    return json.dumps(keys).encode()


def test_magic_numbers_are_the_golden_ones() -> None:
    """JSN-06: the number is four letters of ASCII, the first in the highest byte."""
    letters = golden("kernel_meta")["magic"]
    numbers = {name: int.from_bytes(text.encode(), "big") for name, text in letters.items()}
    assert numbers == MAGIC


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),  # one BOM
        (b" \t\r\n[] \n", []),
        (b'{"a": 1, "a": 2}', {"a": 2}),  # last wins
        (b"5", 5),
        (b"{}\0 garbage {", {}),  # a NUL ends the text
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b"18446744073709551615", (1 << 64) - 1),
        (b"18446744073709551616", float(1 << 64)),  # outside 64 bits
        (b"-9223372036854775808", -(1 << 63)),
        (b"-9223372036854775809", -float((1 << 63) + 1)),
        (b"1e308", 1e308),
        (b"1" + b"0" * 300, 1e300),
    ],
)
def test_json_that_the_runtime_takes(raw: bytes, value: object) -> None:
    """JSN-02."""
    parsed = parse_json(raw)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"{",
        b'{"a": 1,}',
        b"[1,]",
        b"// comment\n{}",
        b'{"a": NaN}',
        b"[Infinity]",
        b"[-Infinity]",
        b"1e999",
        b"9" * 400,
        b"-" + b"9" * 5000,  # longer than int() takes
        b'"\xff"',
        b'"a\nb"',
        b'"\\ud800"',
        b'"\\udc00 \\ud800"',
        b"{} {}",
        b"{}x",
        b"'a'",
        b"\xff\xfe{\0}\0",
        b"\xef\xbb\xbf\xef\xbb\xbf{}",
        b"01",
        b"+1",
        b".5",
        "{}\u00a0".encode(),  # no white space of JSON
    ],
)
def test_json_that_the_runtime_refuses(raw: bytes) -> None:
    """JSN-02."""
    with pytest.raises(FormatError) as error:
        parse_json(raw)
    assert error.value.rule == "JSN-02"


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_is_limited(opening: bytes, closing: bytes) -> None:
    """HAZ-14: the original has no limit."""
    inner = b"1"
    assert parse_json(opening * MAX_DEPTH + inner + closing * MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(FormatError) as error:
            parse_json(opening * depth + inner + closing * depth)
        assert error.value.rule == "HAZ-14"


@pytest.mark.parametrize("one", [b"[]", b"{}"])
def test_parts_are_limited(one: bytes) -> None:
    """HAZ-14: small lists and objects take many times their text."""
    assert parse_json(b"[" + b",".join([one] * (MOST_BRACKETS - 1)) + b"]")
    with pytest.raises(FormatError, match="lists and objects, more than") as error:
        parse_json(b"[" + b",".join([one] * MOST_BRACKETS) + b"]")
    assert error.value.rule == "HAZ-14"


def test_many_brackets_are_no_depth() -> None:
    assert parse_json(b"[" + b"[]," * 5000 + b"[]]")


@pytest.mark.parametrize("root", [b"[]", b"null", b'"printf"', b"7"])
def test_root_that_is_no_object_has_no_keys(root: bytes) -> None:
    """JSN-02."""
    found = read_sidecar(root)
    assert found.keys == {}
    assert (found.magic, found.debug_options, found.intercore_sync) == (None, None, None)
    assert found.kernel_list == ()


@pytest.mark.parametrize(
    ("value", "sync"),
    [(1, 1), (1.0, 1), (0, 0), (2, 2), (True, None), ("1", None), (1.5, None), (None, None)],
)
def test_sync_is_numerically_1(value: object, sync: int | None) -> None:
    """JSN-04."""
    assert read_sidecar(sidecar(intercoreSync=value)).intercore_sync == sync


def test_keys_of_another_type_are_absent() -> None:
    found = read_sidecar(sidecar(magic=1, sha256=[], opParaSize="8", blockDim=True, kernelList={}))
    assert (found.magic, found.sha256, found.op_para_size, found.block_dim) == (None,) * 4
    assert found.kernel_list == ()
    assert found.keys["opParaSize"] == "8"  # JSN-07: nothing is lost


def test_entries_of_kernel_list_without_a_name_are_dropped() -> None:
    entries = [{"kernelName": "k_1", "tilingKey": 1, "taskRation": "1:2"}, {}, 5, {"kernelName": 7}]
    found = read_sidecar(sidecar(kernelList=entries)).kernel_list
    assert found == (SidecarKernel("k_1", 1, "1:2"),)


def test_keys_of_a_mix_object() -> None:
    path = OBJECTS / f"{MIX.stem}.json"
    found = read_sidecar(path.read_bytes())
    assert (found.bin_file_name, found.kernel_name) == (MIX.stem, MIX.stem)
    assert (found.magic, found.core_type) == ("RT_DEV_BINARY_MAGIC_ELF", "MIX")
    assert (found.intercore_sync, found.op_para_size, found.block_dim) == (1, 200, -1)
    assert found.task_ration == "1:2"
    assert found.kernel_list == (SidecarKernel(f"{MIX.stem}_0", None, None),)


def test_keys_of_an_object_with_tiling_keys() -> None:
    found = read_sidecar((OBJECTS / f"{TILING_KEYS.stem}.json").read_bytes())
    assert found.task_ration == "tilingKey"
    keys = [(kernel.tiling_key, kernel.task_ration) for kernel in found.kernel_list]
    assert keys == [(1, "0:1"), (2, "1:2"), (10000000000000001, "0:1")]


@pytest.mark.corpus
def test_real_sidecars_are_read(corpus: Path) -> None:
    paths = [path.with_suffix(".json") for path in corpus.rglob("*.o")]
    assert len(paths) == 630
    for path in paths:
        found = read_sidecar(path.read_bytes())
        assert found.kernel_list
        assert found.magic in MAGIC
        assert found.keys.get("binFileSuffix") == ".o"
