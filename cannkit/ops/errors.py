"""CannotRunError: an operator library cannot be run on this machine, and how to change that. Spec 07."""

from __future__ import annotations

from typing import ClassVar

from cannkit.errors import CannkitError, ExitCode


class CannotRunError(CannkitError):
    """Nothing was run: no emulator, sysroot or compiler, another machine's code, missing symbols. OPR-1306."""

    exit_code: ClassVar[ExitCode] = ExitCode.FAULT
    kind: ClassVar[str] = "cannot-run"
