"""Golden facts and recorded answers, as the tests ask for them; and a reader in one step."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from cannkit.format.elf import open_elf
from cannkit.image.kernel_object import KernelImage, KernelObject, read_object
from cannkit.soc import find_soc
from tests.build import OBJECTS

FIXTURES: Final = Path(__file__).parent.parent / "fixtures"
GOLDEN: Final = FIXTURES / "golden"
A2_SOC: Final = "Ascend910B1"
A5_SOC: Final = "Ascend950PR_9599"
SOC_OF_PROFILE: Final = {
    "910B": A2_SOC,
    "950": A5_SOC,
    "910": "Ascend910A",
    "310P": "Ascend310P3",
}


@cache
def golden(name: str) -> Any:
    """`fixtures/golden/<name>.json`."""
    return json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))


@cache
def rows(name: str) -> tuple[dict[str, Any], ...]:
    """The recorded answers in `fixtures/golden/<name>.jsonl.gz`."""
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return tuple(map(json.loads, lines))


def read(data: bytes, soc: str = A2_SOC) -> KernelObject:
    """An object from its bytes; raises FormatError like `open_elf`."""
    return read_object(open_elf(memoryview(data)), find_soc(soc))


def read_fixture(stem: str, soc: str = A2_SOC) -> KernelObject:
    """An object of `fixtures/objects/`."""
    return read((OBJECTS / f"{stem}.o").read_bytes(), soc)


def only_kernel(obj: KernelObject) -> KernelImage:
    """The kernel of an object that has just one."""
    (kernel,) = obj.kernels
    return kernel


def rules(obj: KernelObject) -> list[str]:
    """The rules by which an object is refused."""
    return [refusal.rule for refusal in obj.refusals]


def codes(obj: KernelObject) -> list[str]:
    """The codes of the warnings of an object."""
    return [warning.code for warning in obj.warnings]
