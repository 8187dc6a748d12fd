"""What wants to take all time and memory: findings in bounded work, or an error. HAZ-14, HAZ-15."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Final

import pytest

from cannkit.api.check import check_many
from cannkit.check.finding import Finding
from cannkit.check.matrix import Coverage
from cannkit.check.rules_package import K306
from cannkit.check.rules_record import K323
from cannkit.check.run import OBJECT_RULES
from cannkit.check.tally import MOST_COVERED, MOST_OF_A_RULE, Checked, Tally
from cannkit.format.elf import open_elf
from cannkit.format.elf_types import SectionType
from tests.build import SHF_ALLOC, SHF_EXEC, ObjectBuilder
from tests.check.subjects import subject
from tests.cli.runner import ADD, cannkit
from tests.packages import TBE, below, cpu_info, cpu_vendor, to_json, vendor, wheel

SECONDS: Final = 10
TABLES: Final = 60_000


def test_symbol_tables_that_overlap() -> None:
    """The runtime reads the first one: so do all rules."""
    builder = ObjectBuilder().section(".text", bytes(4096), flags=SHF_ALLOC | SHF_EXEC, at=64)
    for number in range(4000):
        builder.symbol(f"k_{number}", value=number, size=1)
    header = open_elf(memoryview(builder.build())).symbol_tables[0]
    for _ in range(TABLES):
        builder.section(
            "", kind=SectionType.SYMTAB, entsize=24, offset=header.offset, size=header.size
        )
    raw = builder.build()
    assert len(open_elf(memoryview(raw)).symbol_tables) == TABLES + 1
    begin = time.monotonic()
    judged = subject(raw)
    found = [finding for apply in OBJECT_RULES for finding in apply(judged)]
    assert time.monotonic() - begin < SECONDS
    assert found


def test_many_configurations_and_long_headers(tmp_path: Path) -> None:
    """Headers and libraries are read once, not once for each JSON."""
    noise = Random(1).randbytes(1 << 20).hex()
    names = ["AddCpu", *(f"Op{noise[at : at + 16]}" for at in range(0, len(noise), 16))]
    files = cpu_vendor() | {
        f"op_impl/cpu/config/{number}.json": to_json({"AddCpu": cpu_info()})
        for number in range(5000)
    }
    files["op_proto/inc/a.h"] = "".join(f"REG_OP({name})\n" for name in names).encode()
    path = wheel(tmp_path / "demo.whl", below("v", files))
    begin = time.monotonic()
    found = check_many([path])
    assert time.monotonic() - begin < SECONDS
    assert found.findings == ()


def test_a_rule_that_finds_too_much(tmp_path: Path) -> None:
    """Of all packages together so many are told, and that there are more."""
    info = to_json({f"Op{number}": {} for number in range(1000)})
    files = {
        f"v{number}/{TBE}config/s/aic-s-ops-info.json": info
        for number in range(MOST_OF_A_RULE // 1000 + 2)
    }
    files |= {f"{name.partition('/')[0]}/{TBE}kernel/s/x.json": b"" for name in files}
    path = wheel(tmp_path / "demo.whl", files)
    found = check_many([path]).findings
    assert Counter(finding.rule.code for finding in found) == {"K306": MOST_OF_A_RULE, "K049": 1}
    last = found[-1]
    assert last.message == f"K306: only the first {MOST_OF_A_RULE} are told"
    assert last.file.startswith(f"{path}!v")


def test_a_sum_of_parts_that_were_cut() -> None:
    """A part that was cut in a worker stays so, and each rule has its own limit."""
    many = tuple(Finding(K306, "a", None, str(number)) for number in range(MOST_OF_A_RULE + 1))
    part = Tally()
    part.add(Checked(many))
    assert part.checked.cut == ((K306, "a"),)
    whole = Tally()
    whole.add(part.checked)
    whole.add(Checked((many[0]._replace(file="b"), Finding(K323, "c", None, ""))))
    assert len(whole.findings) == MOST_OF_A_RULE + 1
    assert whole.findings[-1].rule is K323
    assert whole.cut == {K306: "a"}


def test_a_sum_of_very_many_operators() -> None:
    tally = Tally()
    size = MOST_COVERED // 8
    for number in range(12):
        ops = frozenset(f"{number}_{each}" for each in range(size))
        pairs = frozenset((op, "s") for op in ops)
        tally.add(Checked(packages=1, coverage=Coverage(ops, frozenset("s"), pairs, frozenset())))
    found = tally.coverage
    assert tally.packages == 12
    assert MOST_COVERED <= len(found.ops) + len(found.declared) < MOST_COVERED + 2 * size


def test_packages_of_a_wheel_are_added_up(tmp_path: Path) -> None:
    files = below("a", vendor()) | below("b", vendor(("MulCustom",)))
    found = check_many([wheel(tmp_path / "demo.whl", files)])
    assert found.packages == 3  # with the wheel itself
    assert found.matrix is not None
    assert found.matrix.ops == ("AddCustom", "MulCustom")


@pytest.mark.parametrize("option", [(), ("--jobs", "1")])
def test_it_imports_what_it_uses(option: tuple[str, ...]) -> None:
    """cli.md, section 1: speed."""
    found = cannkit("check", ADD, *option, python=["-X", "importtime"])
    loaded = {line.rpartition("|")[2].strip() for line in found.errors}
    assert "cannkit.check.run" in loaded
    assert not loaded & {
        *("pydantic", "pydantic_core", "lief", "junitparser", "elftools", "zipfile"),
        *("concurrent.futures", "multiprocessing", "cannkit.device.device"),
    }
