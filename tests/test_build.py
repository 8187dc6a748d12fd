"""The fixtures are what the builder makes, and what the outside world takes for an ELF file."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from cannkit.format.sidecar import read_sidecar
from cannkit.image.sidecar_check import check_sidecar
from tests import build
from tests.build import OBJECTS
from tests.facts import A2_SOC, A5_SOC, read
from tests.objects import BUILDERS, PRINTF, fixtures

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 8 << 10  # house.md, section 9


def test_fixtures_are_what_the_builder_makes() -> None:
    committed = {path.name: path.read_bytes() for path in OBJECTS.iterdir()}
    assert committed == fixtures(), "run `python -m tests.build`"


def test_fixtures_are_small() -> None:
    assert {name for name, data in fixtures().items() if len(data) > LIMIT} == set()


def test_check_tells_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "OBJECTS", tmp_path / "objects")
    assert build.main([]) == 0
    assert build.main(["--check"]) == 0
    (tmp_path / "objects" / "AddCustom.o").write_bytes(b"")
    (tmp_path / "objects" / "old.o").write_bytes(b"")
    capsys.readouterr()
    assert build.main(["--check"]) == 1
    assert capsys.readouterr().out == "AddCustom.o: differs\nold.o: stale\n"
    assert build.main([]) == 0
    assert build.main(["--check"]) == 0


@pytest.mark.parametrize("stem", [operator.stem for operator, _ in BUILDERS])
def test_fixture_and_sidecar_agree(stem: str) -> None:
    """JSN-10 holds on every real object, so it does here."""
    path = OBJECTS / f"{stem}.o"
    data, raw = path.read_bytes(), path.with_suffix(".json").read_bytes()
    obj = read(data, A5_SOC if "A5" in obj_label(data) else A2_SOC)
    assert (obj.refusals, obj.warnings) == ((), ())
    sidecar = read_sidecar(raw)
    assert check_sidecar(obj, sidecar, sha256(data).hexdigest(), str(path), "") == []
    assert sidecar.kernel_list
    assert obj.text_size <= len(data)


def obj_label(data: bytes) -> str:
    tag = read(data).isa_tag
    return tag.label if tag else ""


def test_printf_fixture_loads_from_data_only() -> None:
    keys = json.loads((OBJECTS / f"{PRINTF.stem}.json").read_bytes())
    assert keys["debugOptions"] == "printf"
