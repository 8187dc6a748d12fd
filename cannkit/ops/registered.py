"""The kernels that an operator library registers, as it tells while it is loaded. Spec 07, OPR-212."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from cannkit.errors import UsageError
from cannkit.ops.describe import Package
from cannkit.ops.description import Description, describe
from cannkit.ops.errors import CannotRunError
from cannkit.ops.job import Job
from cannkit.ops.package_paths import library_machine
from cannkit.ops.runner import MEMORY, TIMEOUT, Emulate, Runner, decide

AICPU: Final = 36  # module of the log
MODULE_BITS: Final = 0xFFFF  # OPR-720: the rest says which log
DEBUG: Final = 0
_names = re.compile(
    r"Kernel\[([^\]]{1,256})\] register successfully"
    r"|op type \[([^\]]{1,256})\] register success in v1"
).search


def registered_names(
    library: str,
    *,
    emulate: Emulate = Emulate.AUTO,
    sysroot: str | None = None,
    timeout: float = TIMEOUT,
    memory: int = MEMORY,
    runner: Runner | None = None,
) -> frozenset[str] | None:
    """The names of the kernels in a library, None for one that does not tell; its constructors run for it.

    Raises CannotRunError where it cannot be loaded here, InputError or FormatError for what is no library.
    """
    machine = library_machine(library)
    outcome = (runner or Runner()).run(
        Job(library, log_level=DEBUG, bind_now=False),
        emulate=decide(machine, emulate),
        sysroot=sysroot,
        timeout=timeout,
        memory=memory,
    )
    if verdict := outcome.verdict(timeout):
        raise CannotRunError(
            "cannot load the library", where=library, why=verdict.what + outcome.said
        )
    found = (_names(line.text) for line in outcome.logs if line.module & MODULE_BITS == AICPU)
    names = frozenset(each[1] or each[2] for each in found if each)
    return names or None


def described_with(
    package: Package, name: str, ask: Callable[[], frozenset[str] | None]
) -> Description:
    """The description of an operator; `ask` gives the kernels of the library where no other source has it.

    Raises UsageError with the nearest names, and what `ask` raises where nothing else knows any name.
    """
    try:
        return package.describe(name)
    except UsageError as error:
        if package.library is None:
            raise
        unknown = error
    try:
        known = ask()
    except CannotRunError:
        if package.ops:
            raise unknown from None
        raise
    if known is None and not package.ops:  # nobody knows the names: the library may
        return describe(name, None, None, package.why_no_prototypes)
    return package.describe(name, known or frozenset())
