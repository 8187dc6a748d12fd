"""Prototypes out of an op_proto library, which is run for them in a child process. Spec 07, OPR-507.

It is foreign code with the rights of the user (AE-1209): nobody reads prototypes unasked.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from cannkit.ae.host_end import Cause
from cannkit.ae.static_check import host_machine
from cannkit.errors import FormatError, OutputError, brief
from cannkit.format.dynamic_types import machine_name
from cannkit.format.elf_types import HEADER_SIZE
from cannkit.inputs.contents import machine_of
from cannkit.inputs.files import open_window, reason, too_large
from cannkit.ops.build import built_proto_reader
from cannkit.ops.child import Ended, run_child
from cannkit.ops.errors import CannotRunError
from cannkit.ops.proto_records import Prototype, read_records
from cannkit.ops.toolchain import Toolchain

TIMEOUT: Final = 10.0
MEMORY: Final = 2 << 30
LARGEST: Final = 256 << 20  # a usual one has 5 MB
CHUNK: Final = 1 << 20
KEPT: Final = 512  # of what the library says
LOAD_FAILED: Final = 66  # kLoad of native/proto_reader.cc
WHAT: Final = "cannot read the prototypes"


def read_prototypes(
    path: str,
    timeout: float = TIMEOUT,
    memory: int = MEMORY,
    toolchain: Toolchain | None = None,
) -> Mapping[str, Prototype]:
    """The operators that the library at `path` registers, by name, with their attributes.

    Raises InputError when there is no such file or it is too large, CannotRunError when it cannot be run here, or does not
    end well within `timeout` seconds and `memory` bytes, FormatError for what is no list of prototypes, OutputError where
    its copy finds no memory.
    """
    window = open_window(path)
    machine, host = machine_of(bytes(window[0:HEADER_SIZE])), host_machine()
    if machine is None or machine != host:
        kind = (
            "it is no 64-bit library" if machine is None else f"it is for {machine_name(machine)}"
        )
        raise CannotRunError(WHAT, where=path, why=f"{kind}, which this machine does not open")
    if len(window) > LARGEST:
        raise too_large(path, LARGEST)
    program = built_proto_reader(toolchain)
    fd = os.memfd_create("op_proto")  # the reader changes its copy
    try:
        try:
            with open(fd, "wb", closefd=False) as copy:
                pieces = range(0, len(window), CHUNK)
                copy.writelines(window[start : start + CHUNK] for start in pieces)
        except OSError as error:
            raise OutputError("cannot hold a copy", where=path, why=reason(error)) from error
        ended = run_child(
            lambda records, go: [program, path, str(fd), str(records), str(go)],
            pass_fds=(fd,),
            env={"LC_ALL": "C"},
            timeout=timeout,
            memory=memory,
        )
    finally:
        os.close(fd)
    if why := _why(ended, timeout):
        raise CannotRunError(WHAT, where=path, why=why)
    try:
        return read_records(ended.log)
    except FormatError as error:
        raise FormatError(WHAT, where=path, why=error.why or error.what, rule=error.rule) from error


def _why(ended: Ended, timeout: float) -> str:
    """Why a process ended badly: a limit, a signal, what the loader says, or what it printed itself."""
    if ended.cause is Cause.TIMEOUT:
        return f"it did not end within {timeout:.3g} seconds"
    if ended.cause is Cause.OUTPUT:
        return "it writes without end"
    if ended.exit == 0:
        return ""
    last = ended.log.decode("ascii", "replace").rpartition("\nwhy ")[2].removeprefix("why ")
    if ended.exit == LOAD_FAILED:
        return brief(unquote(last.strip()), KEPT)
    names = {each.value: each.name for each in signal.Signals}
    how = f"exit code {ended.exit}" if ended.signal is None else names.get(ended.signal, "a signal")
    said = " ".join(ended.stderr[:KEPT].decode("utf-8", "replace").split())
    return f"loading it ended the process with {how}" + (f": {said}" if said else "")
