"""What the command line asks of AI CPU operators, and the package, options and limits that it means. cli.md, section 6."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from cannkit.cli.arg_spec import BLOCK_LIMIT, hex_or_file
from cannkit.cli.launch_op_options import option_given
from cannkit.errors import InputError, UsageError, brief

if TYPE_CHECKING:
    import typer

    from cannkit.cli.op_arg_spec import Spelled
    from cannkit.format.node_attr import Attr
    from cannkit.ops.call import CallOptions, Prepared
    from cannkit.ops.describe import Package
    from cannkit.ops.description import Description
    from cannkit.ops.session import OpSession
    from cannkit.report.launch_op import RunnerEntry

MIB: Final = 1 << 20
TIMEOUT: Final = 10.0
MEMORY: Final = 2048  # MiB
ATTR: Final = re.compile(r"([^:=]{1,256})(?::([^=]*))?=(.*)", re.DOTALL)
SESSION: Final = re.compile(r"([0-9]{1,20})(?::([0-9]{1,20}))?(?::([01]))?")


class OpRequest(NamedTuple):
    """What the command line asks of operators."""

    file: str
    op: str | None = None
    list_ops: bool = False
    describe: str | None = None
    args: tuple[str, ...] = ()
    attrs: tuple[str, ...] = ()
    args_hex: str | None = None
    ext_hex: str | None = None
    op_json: str | None = None
    library: str | None = None
    emulate: str = "auto"
    sysroot: str | None = None
    blocks: int | None = None
    dynamic: bool | None = None
    session: str | None = None
    format: str | None = None
    cases: str | None = None
    trace: bool = False
    timeout: float | None = None
    memory: int | None = None
    threads: str | None = None
    align: int | None = None
    repeat: int = 1
    force: bool = False
    strict: bool | None = None
    sqe: str = "table"
    json: bool = False
    verbose: bool = False
    quiet: bool = False
    color: str = "auto"


OF_OPERATORS: Final = {
    **{name: name for name in OpRequest._fields if name not in ("args", "attrs", "color")},
    "arg": "args",
    "attr": "attrs",
    "data_format": "format",
    "color": "color",
}


def request_of(context: typer.Context) -> OpRequest:
    """What the command line asks. Raises UsageError for an option that no operator has."""
    others = {each.name or "" for each in context.command.params} - OF_OPERATORS.keys()
    option = option_given(context, others)
    if option is not None:
        raise UsageError(f"{option} is not for an operator", hint="leave it out, or --op")
    values = {
        OF_OPERATORS[name]: value for name, value in context.params.items() if name in OF_OPERATORS
    }
    for name in ("args", "attrs"):
        values[name] = tuple(values[name] or ())
    for name in ("emulate", "sqe", "color"):
        values[name] = str(values[name])
    request = OpRequest(**values)
    if request.sqe == "hex" or (request.sqe != "table" and not request.trace):
        raise UsageError(f"--sqe {request.sqe} is not for an operator", hint="--trace --sqe none")
    if request.trace and request.align is not None:
        raise UsageError("--align is not for --trace", why="tensors lie as device memory has them")
    return request


def package_of(request: OpRequest) -> Package:
    """The package of a file, with what the command line says of its parts. Raises InputError."""
    from cannkit.ops.describe import Package

    package = Package.of(request.file, request.op_json)
    if request.timeout is not None and 0 < request.timeout < package.timeout:
        package = replace(package, timeout=request.timeout)
    if request.memory is not None:
        package = replace(package, memory=request.memory * MIB)
    return package if request.library is None else replace(package, library=request.library)


def library_of(package: Package, request: OpRequest) -> str:
    """The library to run. Raises InputError for a JSON without one."""
    if package.library is not None:
        return package.library
    hint = (
        "name it with --library, or put it where the package has it: op_impl/cpu/aicpu_kernel/impl"
    )
    raise InputError("the package has no library", where=request.file, hint=hint)


def described(package: Package, name: str, request: OpRequest) -> Description:
    """The description of an operator; the library is asked for one that no other source has.

    Raises UsageError with the nearest names.
    """
    from cannkit.ops.description import describe
    from cannkit.ops.registered import described_with

    if request.force:
        try:
            return package.describe(name)
        except UsageError:
            return describe(name, None, None, package.why_no_prototypes)
    return described_with(package, name, lambda: registered(package, request))


def call_options(request: OpRequest) -> CallOptions:
    """How calls are made. Raises UsageError."""
    from cannkit.format.op_dtypes import DataFormat, find_format
    from cannkit.ops.call import CallOptions

    data_format = DataFormat.ND if request.format is None else find_format(request.format)
    session = None
    if request.session is not None:
        found = SESSION.fullmatch(request.session)
        if not found or any(int(part or 0) >> 64 for part in found.groups()):
            what = f"--session {brief(request.session)}"
            raise UsageError(what, hint="ID, ID:KERNEL or ID:KERNEL:FLAG; FLAG is 0 or 1")
        session = int(found[1]), int(found[2] or 1), int(found[3] or 1)
    return CallOptions(
        blocks=1 if request.blocks is None else request.blocks,
        data_format=data_format,
        is_dynamic=request.dynamic,
        align=64 if request.align is None else request.align,
        session=session,
        force=request.force,
    )


def attr_of_text(text: str, description: Description) -> tuple[str, Attr]:
    """The attribute that `NAME[:KIND]=VALUE` tells. Raises UsageError for one whose kind nobody knows."""
    from cannkit.ops.op_attrs import attr_from_text, find_kind, kind_of

    found = ATTR.fullmatch(text)
    if not found:
        raise UsageError(f"--attr {brief(text)!r} is no NAME=VALUE", hint="or NAME:KIND=VALUE")
    name = found[1].strip()
    kind = find_kind(found[2].strip()) if found[2] is not None else None
    return name, attr_from_text(name, found[3], kind or kind_of(name, description))


def session_of(library: str, request: OpRequest) -> OpSession:
    """Who makes calls. Raises UsageError for limits that are none."""
    from cannkit.cli.options import number
    from cannkit.ops.runner import Emulate, Runner
    from cannkit.ops.session import LOG_LEVEL, OpSession

    threads = number(request.threads, "--threads")
    try:
        return OpSession(
            library,
            Emulate(request.emulate),
            request.sysroot,
            TIMEOUT if request.timeout is None else request.timeout,
            (request.memory or MEMORY) * MIB,
            1 if threads is None else threads,
            1 if request.verbose else LOG_LEVEL,
            Runner(),
        )
    except UsageError as error:  # by the name of the option
        raise UsageError(f"--{error.what}", hint=error.hint) from None


def machine_of(library: str) -> str:
    """The machine that a library is for. Raises FormatError, InputError."""
    from cannkit.format.dynamic_types import machine_name
    from cannkit.ops.package_paths import library_machine

    return machine_name(library_machine(library))


def runner_entry(arch: str, *, emulated: bool) -> RunnerEntry:
    """What runs the library, by the names of the programs."""
    from pathlib import Path

    from cannkit.ops.toolchain import Tool, Toolchain
    from cannkit.report.launch_op import RunnerEntry

    tools = Toolchain()
    compiler = tools.cross_compiler() if emulated else tools.host_compiler()
    qemu = tools.emulator() if emulated else None
    names = [Path(each.path).name if isinstance(each, Tool) else None for each in (compiler, qemu)]
    return RunnerEntry(names[0], arch, names[1])


def registered(package: Package, request: OpRequest) -> frozenset[str] | None:
    """The kernels of the library, None where it does not tell. Raises CannotRunError, InputError."""
    from cannkit.ops.registered import registered_names
    from cannkit.ops.runner import Emulate

    if package.library is None:
        return None
    return registered_names(
        package.library,
        emulate=Emulate(request.emulate),
        sysroot=request.sysroot,
        timeout=TIMEOUT if request.timeout is None else request.timeout,
        memory=(request.memory or MEMORY) * MIB,
    )


def prepared(
    package: Package, request: OpRequest, spelled: Sequence[Spelled]
) -> tuple[Description, Prepared]:
    """The call that the command line tells. Raises UsageError, FormatError, InputError."""
    from cannkit.ops.call import prepare
    from cannkit.ops.description import describe
    from cannkit.ops.raw_call import prepare_raw

    options, args = call_options(request), [each.arg for each in spelled]
    assert request.op is not None
    if request.args_hex is not None:
        if request.attrs:
            raise UsageError("--args-hex has the attributes in its NodeDef: no --attr beside it")
        block = hex_or_file(request.args_hex, "--args-hex", BLOCK_LIMIT)
        ext = hex_or_file(request.ext_hex or "", "--ext-hex", BLOCK_LIMIT)
        call = prepare_raw(memoryview(block), memoryview(ext), args, options)
        if call.op != request.op:
            raise UsageError(
                f"--args-hex is a call of {brief(call.op)}, not of {brief(request.op)}"
            )
        return describe(call.op, package.ops.get(call.op), None), call
    if request.ext_hex is not None:
        raise UsageError("--ext-hex goes with --args-hex")
    description = described(package, request.op, request)
    attrs: dict[str, Attr] = {}
    for text in request.attrs:
        name, attr = attr_of_text(text, description)
        if name in attrs:
            raise UsageError(f"--attr {brief(name)} is there twice")
        attrs[name] = attr
    return description, prepare(description, args, attrs, options)
