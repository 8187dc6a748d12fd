"""Why a library was not called: its file is cut or no library, it is not loaded, it has no such function. OPR-701.

What is known before is told before, for a loader says little, or crashes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from cannkit.ae.static_check import missing_export, nearest_exports
from cannkit.errors import CannkitError, FormatError, brief
from cannkit.format.code_place import WHOLE, is_defined, load_segments
from cannkit.format.elf import read_header
from cannkit.format.elf_types import HEADER_SIZE, ElfType
from cannkit.format.host_library import read_host_library
from cannkit.inputs.files import open_window
from cannkit.ops.errors import CannotRunError
from cannkit.ops.job import Job, RunStage
from cannkit.ops.needs import load_failure
from cannkit.ops.toolchain import SYSROOT_HINT

LOAD_FAILED, NO_FUNCTION, NO_PLACE = 10, 11, 66
MOST_PRINTED: Final = 200
EXPORTED: Final = 'extern "C" __attribute__((visibility("default")))'


class Started(NamedTuple):
    """How far the runner came, the code that it ended with, its words, and what is on its stderr."""

    stage: RunStage
    code: int
    error: str | None
    stderr: bytes


def check_file(path: str) -> None:
    """Raise FormatError for a file that is cut, or not linked. A loader maps what is not there, and dies of it."""
    data = open_window(path)
    try:
        if read_header(data[0:HEADER_SIZE]).type == ElfType.REL:
            why = "it is a relocatable object (ET_REL)"
            raise FormatError("not a shared library", why=why, hint="link it with -shared")
        for segment in load_segments(data):
            if segment.size and segment.end > len(data):
                why = (
                    f"segment {segment.number} ends at byte {segment.end}, the file has {len(data)}"
                )
                raise FormatError("the file is cut", why=why, hint=WHOLE)
    except FormatError as error:
        raise FormatError(error.what, where=path, why=error.why, hint=error.hint) from error


def check_start(job: Job, started: Started, root: str, program: str, *, emulated: bool) -> None:
    """Raise CannotRunError for a process that ended before it called anything, by what it told."""
    stage, code, error, stderr = started
    if stage is RunStage.MAPPED and code == LOAD_FAILED and error:
        raise load_failure(job.library, error, root, program)
    if stage is RunStage.LOADED and code == NO_FUNCTION and error:
        what = f"the library has no function {brief(job.function)}"
        raise CannotRunError(what, where=job.library, hint=how_to_export(job.library, job.function))
    if stage is RunStage.STARTED:
        hint = "raise --memory" if code == NO_PLACE else None
        why = error or f"it ended with code {code}"
        raise CannotRunError("cannot place the tensors", why=why, hint=hint)
    if stage is RunStage.NONE:
        lines = stderr[:MOST_PRINTED].decode("utf-8", "replace").strip().splitlines()
        why = lines[-1] if lines else f"it ended with code {code}"
        hint = f"is {root} a sysroot for AArch64? {SYSROOT_HINT}" if emulated else None
        raise CannotRunError("the process for operators did not start", why=why, hint=hint)


def how_to_export(path: str, name: str) -> str | None:
    """What to do about a function that a library does not export."""
    try:
        data = open_window(path)
        library = read_host_library(data)
        if near := nearest_exports(library, name):
            return f"did you mean {' or '.join(map(brief, near))}?"
        why = missing_export(library, name)
        if is_defined(data, name):
            why = "it is in the library, but static or hidden"
    except CannkitError:
        return None
    return f"{why}; a function is found that is declared {EXPORTED}"
