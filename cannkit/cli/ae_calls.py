"""Who makes the calls of `cannkit ae-call`, and a root of its own for a library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from cannkit.errors import FormatError, InputError, OutputError, UsageError, brief

if TYPE_CHECKING:
    from cannkit.ae.caller import Caller
    from cannkit.ae.callers import PretendFiles
    from cannkit.ae.context import AeContext
    from cannkit.ae.engine import AeEngine
    from cannkit.ae.operations import Step
    from cannkit.ae.task import Parts, Task
    from cannkit.inputs.files import FileWindow
    from cannkit.inputs.rooted import RootedFiles
    from cannkit.report.ae_call import AeCallDocument
    from cannkit.report.so_path import SearchEntry

LIBRARY_LIMIT: Final = 1 << 30
PARAM_LIMIT: Final = 64 << 20
EVENT_LIMIT: Final = 1 << 10  # no hex of a task is as long
SCRIPT_LIMIT: Final = 64 << 20
ANY_LIBRARY: Final = "libkernels.so"  # what --returns pretends to call
ANY_FUNCTION: Final = "RunCpuKernel"


class How(NamedTuple):
    """How calls are made: really, in a child with limits, or not at all; `returns` is then pretended."""

    dry: bool
    returns: int | None
    timeout: float
    memory: int  # bytes
    allow_global: bool
    by_scheduler: bool
    emulate: str
    sysroot: str | None


@contextmanager
def calling(files: RootedFiles | PretendFiles, how: How) -> Iterator[Caller]:
    """Who opens libraries and calls functions; its child ends with the block. Raises UsageError."""
    from cannkit.ae.callers import DryCaller, PretendCaller, PretendFiles

    if isinstance(files, PretendFiles):
        yield PretendCaller(how.returns or 0)
    elif how.dry or how.returns is not None:
        from cannkit.ae.static_check import host_machine

        machine = host_machine() if how.returns is None else None
        yield DryCaller(files, how.returns, machine)
    else:
        from cannkit.ae.host_caller import HostCaller

        with HostCaller(files, how.timeout, how.memory, allow_global=how.allow_global) as caller:
            yield caller if how.emulate == "never" else _emulating(files, how, caller)


def _emulating(files: RootedFiles, how: How, host: Caller) -> Caller:
    """A caller for libraries of AArch64, too."""
    from cannkit.ops.caller import RoutedCaller, RunnerCaller
    from cannkit.ops.runner import Emulate

    emulated = RunnerCaller(files, how.sysroot, how.timeout, how.memory)
    return RoutedCaller(files, host, emulated, Emulate(how.emulate))


def call_task(task: Task, engine: AeEngine, how: How) -> AeCallDocument:
    """One task to its end."""
    from cannkit.ae.operations import run_task
    from cannkit.report.ae_call import AeCallDocument

    context, begin = engine.context, monotonic()
    ended = run_task(task, engine, by_scheduler=how.by_scheduler)
    is_real = not how.dry and how.returns is None
    seconds = round(monotonic() - begin, 2) if is_real else None
    return AeCallDocument.of(task, context, ended._replace(seconds=seconds))


def call_step(step: Step, engine: AeEngine, how: How) -> AeCallDocument:
    """One operation of a script to its end."""
    from cannkit.ae.operations import run_step
    from cannkit.report.ae_call import AeCallDocument

    if step.is_cust_sd is not None:
        engine.context = engine.context._replace(is_cust_sd=step.is_cust_sd)
    if step.task is not None:
        return call_task(step.task, engine, how)
    end = run_step(step, engine)
    return AeCallDocument.of_step(step.op, step.kernel_type, engine.context, end)


def read_param(text: str) -> bytes:
    """The bytes of --param: hex, or `@FILE`. Raises UsageError for no hex, InputError for the file."""
    if text.startswith("@"):
        window = _window(text[1:], PARAM_LIMIT)
        return bytes(window[0 : len(window)])
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        hint = "digits in pairs, or @FILE"
        raise UsageError(f"--param {brief(text)!r}: not hex", hint=hint) from None


def read_event(text: str) -> bytes:
    """The bytes of --event: hex, or `@FILE` of raw bytes or of hex. Raises FormatError, InputError."""
    from cannkit.format.ae_event import SIZES

    if text.startswith("@"):
        window = _window(text[1:], EVENT_LIMIT)
        raw = bytes(window[0 : len(window)])
        if len(raw) in SIZES:
            return raw
        text = raw.decode("latin-1")
    try:
        return bytes.fromhex(text.strip().removeprefix("0x"))
    except ValueError:
        raise FormatError("cannot read the event", why="it is not hex") from None


def pretended_parts(parts: Parts, raw: bytes | None) -> Parts:
    """The parts with any name, and an empty operate block, for what nobody gave.

    What is null in the event `raw` stays null. Raises FormatError for bytes that are none.
    """
    from cannkit.ae.task import FWK_SIZE
    from cannkit.format.ae_event import TsKernel
    from cannkit.format.cpu_kernel import CpuKernelType

    kernel = None if raw is None else TsKernel.decode(raw)
    kind = parts.kernel_type if kernel is None else kernel.kernel_type
    if kind == CpuKernelType.FWK:
        is_given = parts.param is not None or (kernel is not None and parts.func_name is not None)
        if is_given or (kernel is not None and not kernel.fwk.operate_addr):
            return parts
        return parts._replace(param=bytes(FWK_SIZE))
    so, func = parts.so_name, parts.func_name
    if so is None and (kernel is None or kernel.cce.so_name_addr):
        so = ANY_LIBRARY
    if func is None and (kernel is None or kernel.cce.func_name_addr):
        func = ANY_FUNCTION
    return parts._replace(so_name=so, func_name=func)


def read_steps(path: str, *, is_cloud: bool) -> list[Step]:
    """The operations of a script, or of standard input. Raises InputError for a line that is none."""
    import sys

    from cannkit.ae.script import parse_script
    from cannkit.inputs.files import too_large

    if path == "-":
        raw = sys.stdin.buffer.read(SCRIPT_LIMIT + 1)
        if len(raw) > SCRIPT_LIMIT:
            raise too_large(path, SCRIPT_LIMIT)
    else:
        window = _window(path, SCRIPT_LIMIT)
        raw = bytes(window[0 : len(window)])
    return parse_script(raw, path, is_cloud=is_cloud)


def trace_search(search: SearchEntry) -> None:
    """A line on stderr for each rule that was asked, and each path."""
    from cannkit.cli.driver import print_line

    for decision in search.decision:
        taken = "yes" if decision.taken else "no"
        print_line(f"{search.kernel_type}: {decision.rule} {decision.condition}: {taken}", "trace")
    for each in search.attempts:
        real = "" if each.real_path is None else f" is {each.real_path}"
        end = each.status.name if each.status else "not known"
        print_line(f"{search.kernel_type}: {each.path}{real}, {each.guard}: {end}", "trace")


@contextmanager
def private_root(file: str, kernel_type: int, so_name: str, context: AeContext) -> Iterator[str]:
    """A root of its own in which the read side finds a copy of `file`, gone with the block.

    Raises InputError where the file cannot be read, OutputError where the copy cannot be made.
    """
    from cannkit.inputs.files import open_window
    from cannkit.inputs.private_folder import make_folder, remove_folder

    window = open_window(file)
    if len(window) > LIBRARY_LIMIT:
        raise InputError("cannot read the file", where=file, why="it has more than 1 GiB")
    root = make_folder()
    try:
        place = read_place(kernel_type, so_name, context)
        if place is not None:
            _put(window, root, *place)
        yield root
    finally:
        remove_folder(root)


def _put(window: FileWindow, root: str, directory: str, name: str) -> None:
    """Copy a file into a directory below `root`. Raises OutputError where it cannot be made."""
    from cannkit.inputs.files import CHUNK, reason

    target = os.path.normpath("/" + directory)  # `..` of the root is the root
    try:
        here = root
        for part in target.strip("/").split("/"):
            here = os.path.join(here, part)
            with suppress(FileExistsError):
                os.mkdir(here)
        with open(os.path.join(here, name), "xb") as copy:
            copy.writelines(window[at : at + CHUNK] for at in range(0, len(window), CHUNK))
    except (OSError, ValueError) as error:
        where = f"{directory}{name}"
        raise OutputError("cannot place the library", where=where, why=reason(error)) from error


def read_place(kernel_type: int, so_name: str, context: AeContext) -> tuple[str, str] | None:
    """Directory and name that the engine asks for first; None where it asks for nothing."""
    from cannkit.ae.context import cut_bytes
    from cannkit.ae.fwk_path import TF_KERNELS, unpacked_directory
    from cannkit.ae.so_path import SO_NAME_LIMIT, is_so_name, place, read_settings
    from cannkit.format.ae_status import AeStatus
    from cannkit.format.cpu_kernel import CpuKernelType

    if kernel_type == CpuKernelType.FWK:
        return unpacked_directory(context)[0], TF_KERNELS
    settings = read_settings(context)
    name = cut_bytes(so_name, SO_NAME_LIMIT)
    if settings.status != AeStatus.SUCCESS or not is_so_name(name) or name in (".", ".."):
        return None
    directory = place(kernel_type, name, settings, context).directory
    return None if directory is None else (directory, name)


def _window(path: str, limit: int) -> FileWindow:
    from cannkit.inputs.files import open_window

    window = open_window(path)
    if len(window) > limit:
        raise InputError("cannot read the file", where=path, why=f"it has more than {limit} bytes")
    return window
