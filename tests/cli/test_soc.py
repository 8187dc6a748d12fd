"""cannkit soc. cli.md, section 9; spec 03, section 7.1."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Final

import cannkit.soc
from cannkit.errors import ExitCode
from tests.cli.runner import each, terminal

TABLE: Final = Path(cannkit.soc.__file__).parent / "data" / "soc-table.csv"
SPEC_ROWS: Final = 73  # spec 03, section 14: unique soc_version


def table() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_all_chips() -> None:
    text, answer = each([["soc"], ["soc", "--json"]])
    names = [row["soc_version"] for row in table()]
    assert len(names) == SPEC_ROWS
    heading, *lines = text.text.strip("\n").splitlines()
    assert heading.split()[0] == "SoC"
    assert [line.split()[0] for line in lines] == names
    found = answer.document
    assert list(found) == ["schema", "results"]
    assert found["schema"] == "cannkit.soc/1"
    assert [entry["name"] for entry in found["results"]] == names


def test_one_chip_has_every_column() -> None:
    text, answer = each([["soc", "Ascend910_9391"], ["soc", "Ascend910_9391", "--json"]])
    found = answer.document
    assert list(found)[:3] == ["schema", "name", "family"]
    (row,) = (row for row in table() if row["soc_version"] == "Ascend910_9391")
    assert list(found["columns"]) == list(row)
    for column, cell in row.items():
        value = found["columns"][column]
        if column.endswith("_list"):
            assert ",".join(value) == cell, column
        else:
            assert ("" if value is None else str(value)) == cell, column
    assert "68,719,476,736 B (64.0 GiB)" in text.text  # cli.md: a human unit beside the bytes


def test_names_of_chips() -> None:
    """CHP-4: a version comes first, then a family, in any case; SOC-2: an alias."""
    asked = ["ascend910b", "Ascend910B", "ASCEND310P3", "Ascend910"]
    found = [r.document["name"] for r in each([["soc", name, "--json"] for name in asked])]
    assert found == ["Ascend910B1", "Ascend910B", "Ascend310P3", "Ascend910A"]


def test_unknown_chip() -> None:
    """cli.md: unknown names get the nearest ones suggested; exit 2."""
    near, far, empty = each([["soc", "Ascend910B11"], ["soc", "nothing"], ["soc", "", "--json"]])
    assert (near.code, far.code, empty.code) == (ExitCode.USAGE,) * 3
    assert list(empty.document) == ["schema", "error"]
    assert near.errors[0] == "cannkit: error: unknown SoC 'Ascend910B11'"
    assert near.errors[1].startswith("hint: did you mean Ascend910B1")
    assert far.errors[1] == "hint: `cannkit soc` lists all names"


def test_one_chip_on_a_narrow_terminal() -> None:
    """Nothing is cut: what does not fit goes on in the next line."""
    screen = terminal("soc", "Ascend950PR_9599", width=40)
    assert screen.code == 0
    assert max(map(len, screen.lines)) <= 40
    assert "\u2026" not in screen.text
    joined = "".join(screen.text.split())
    assert "Ascend950PR_9599" in joined
    assert "CHIP_DAVID" in joined
