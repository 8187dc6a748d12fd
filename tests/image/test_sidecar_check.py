"""Where a sidecar and its object disagree. Spec 01, section 10.5: JSN-10 (a) to (j)."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from cannkit.format.sidecar import read_sidecar
from cannkit.image.sidecar_check import check_sidecar
from tests.compiled import a2_object, a5_object
from tests.facts import A2_SOC, A5_SOC, read
from tests.objects import ADD, CUBE_ONLY, MIX, PRINTF, SIMT_GATHER, TILING_KEYS
from tests.shapes import Operator
from tests.sidecars import sidecar, sidecar_keys


def told(operator: Operator, path: str | None = None, **changes: Any) -> list[str]:
    """Codes of what is wrong once keys of the right sidecar are changed."""
    data = (a5_object if operator.is_a5 else a2_object)(operator)
    found = check_sidecar(
        read(data, A5_SOC if operator.is_a5 else A2_SOC),
        read_sidecar(sidecar(operator, data, **changes)),
        sha256(data).hexdigest(),
        path or f"kernels/{operator.stem}.o",
        "k.json",
    )
    assert {warning.where for warning in found} <= {"k.json"}
    return [warning.code for warning in found]


def kernels(operator: Operator, at: int, **changes: Any) -> dict[str, Any]:
    """kernelList with one entry changed."""
    entries = sidecar_keys(operator, b"")["kernelList"]
    entries[at] |= changes
    return {"kernelList": entries}


@pytest.mark.parametrize("operator", [ADD, CUBE_ONLY, MIX, TILING_KEYS, SIMT_GATHER, PRINTF])
def test_a_right_sidecar_says_nothing(operator: Operator) -> None:
    assert told(operator) == []


@pytest.mark.parametrize(
    ("operator", "changes", "code"),
    [
        pytest.param(ADD, {"sha256": "0" * 64}, "sha256", id="a"),
        pytest.param(ADD, {"kernelList": []}, "kernel-list", id="b-extra"),
        pytest.param(MIX, {"kernelName": "Other"}, "kernel-name", id="c"),
        pytest.param(TILING_KEYS, kernels(TILING_KEYS, 0, tilingKey=9), "entry", id="d"),
        pytest.param(MIX, {"taskRation": "1:1"}, "task-ratio", id="e-common"),
        pytest.param(TILING_KEYS, kernels(TILING_KEYS, 0, taskRation="1:2"), "task-ratio", id="e"),
        pytest.param(ADD, {"opParaSize": 48}, "tiling-size", id="f"),
        pytest.param(PRINTF, {"debugBufSize": 1}, "debug", id="g-size"),
        pytest.param(PRINTF, {"debugOptions": "assert"}, "debug", id="g-mask"),
        pytest.param(PRINTF, {"debugOptions": "printf,oom"}, "debug", id="g-more"),
        pytest.param(SIMT_GATHER, {"dynamicParamMode": None}, "param-mode", id="h-dynamic"),
        pytest.param(SIMT_GATHER, {"optionalInputMode": None}, "param-mode", id="h-optional"),
        pytest.param(ADD, {"magic": "RT_DEV_BINARY_MAGIC_ELF"}, "core-type", id="i-magic"),
        pytest.param(MIX, {"intercoreSync": 0}, "core-type", id="i-sync"),
        pytest.param(MIX, {"intercoreSync": None}, "core-type", id="i-no-sync"),
        pytest.param(MIX, {"intercoreSync": "1"}, "core-type", id="i-text"),
        pytest.param(ADD, {"binFileName": "Add"}, "file-name", id="j"),
    ],
)
def test_a_wrong_key_is_told(operator: Operator, changes: dict[str, Any], code: str) -> None:
    found = told(operator, **changes)
    assert set(found) == {f"sidecar-{code}"}


def test_kernel_that_the_object_has_not() -> None:
    """(b)."""
    entries = [{"kernelName": f"AddCustom_{key}"} for key in (0, 1)]
    assert told(ADD, kernelList=entries) == ["sidecar-kernel-list"]


def test_file_of_another_name() -> None:
    """(j): the stem, whatever folder and suffix."""
    assert told(ADD, path="/a.b/AddCustom.elf") == []
    assert told(ADD, path="/AddCustom/add.o") == ["sidecar-file-name"]


def test_one_remark_for_the_same_record_of_many_units() -> None:
    """The binary records repeat for each compile unit, three times here."""
    assert told(SIMT_GATHER, dynamicParamMode=None) == ["sidecar-param-mode"]


def test_entry_of_the_object_against_its_name() -> None:
    """(d), FUN-11: the entry in the meta section is not the key of the name."""
    data = a5_object(SIMT_GATHER)
    record = bytes.fromhex("0e000c00 00000000 0700000000000000")
    at = data.index(record)
    broken = data[: at + 8] + b"\x08" + data[at + 9 :]
    found = check_sidecar(
        read(broken, A5_SOC),
        read_sidecar(sidecar(SIMT_GATHER, broken)),
        sha256(broken).hexdigest(),
        f"{SIMT_GATHER.stem}.o",
        "",
    )
    assert [warning.code for warning in found] == ["sidecar-entry"]


def test_digest_in_capitals_is_the_same() -> None:
    data = a2_object(ADD)
    assert told(ADD, sha256=sha256(data).hexdigest().upper()) == []


@pytest.mark.parametrize("key", sorted(sidecar_keys(ADD, b"")))
def test_a_missing_key_is_no_disagreement(key: str) -> None:
    """JSN-07: the runtime does not miss it either."""
    assert told(ADD, **{key: None}) == []
