"""The packages of `fixtures/packages`: one that nothing is wrong with, and what became of it.

`python -m tests.demo` writes them afresh.
"""

from __future__ import annotations

from shutil import rmtree
from typing import Final

from tests.build import OBJECTS
from tests.compiled import a2_object
from tests.objects import ADD
from tests.packages import HASH, KERNEL, folder, vendor
from tests.shapes import Kernel, Operator, Tensor

PACKAGES: Final = OBJECTS.parent / "packages"
OPS: Final = ("AddCustom", "MulCustom")
SOCS: Final = ("ascend910b", "ascend950")
OBJECT: Final = f"{KERNEL}ascend910b/addcustom/AddCustom_{HASH}.o"


def packages() -> dict[str, dict[str, bytes]]:
    """The files of each package by their paths."""
    return {"v1": vendor(OPS, SOCS), "v2": next_version()}


def next_version() -> dict[str, bytes]:
    """An object that was built again without its sidecar, an operator that one chip lost."""
    files = vendor(OPS, SOCS[:1]) | vendor(OPS[:1], SOCS[1:])
    files |= {name: data for name, data in vendor(OPS).items() if name.startswith("op_")}
    operator = Operator(
        f"AddCustom_{HASH}",
        SOCS[0],
        (Kernel(0, code=96),),
        inputs=(Tensor("x"), Tensor("y"), Tensor("bias", "float32")),
        tiling=48,
        flags=ADD.flags,
    )
    return files | {OBJECT: a2_object(operator)}


def main() -> None:
    """Write them."""
    rmtree(PACKAGES, ignore_errors=True)
    for name, files in packages().items():
        folder(PACKAGES / name, files)


if __name__ == "__main__":
    main()
