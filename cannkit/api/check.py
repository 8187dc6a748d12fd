"""The rules of `cannkit check` over many files: `cannkit.check_many`."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from os import fspath

from cannkit.api.parse import Path, many
from cannkit.check.run import CheckOptions, CheckResult, check_paths


def check_many(
    paths: Iterable[Path],
    *,
    soc: str | None = None,
    device_glibc: str | None = None,
    executor: Executor | None = None,
) -> CheckResult:
    """Every rule over the objects and packages of `paths`: what `cannkit check` finds, before `--select`.

    `soc` is the chip that all objects are judged for, None for that of the folder an object lies in.
    `device_glibc` is the version of the C library of the device, as 2.28. `executor` is any of
    `concurrent.futures`, or one that speaks its language: the work goes to it in parts of some files, so
    its workers must see the same files by the same names. What comes back does not depend on it.

    A file that cannot be read is a finding; a path that is not there stands in `failures`. Raises UsageError
    for an unknown `soc`, a `device_glibc` that is no version or a text in place of `paths`, InputError
    when a worker dies.
    """
    options = CheckOptions.of(soc, device_glibc)
    return check_paths([fspath(path) for path in many(paths)], options, executor=executor)
