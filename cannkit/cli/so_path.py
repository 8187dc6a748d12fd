"""cannkit so-path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from cannkit.cli.ae_options import (
    CustSd,
    DeviceId,
    Env,
    Home,
    InheritEnv,
    KernelTypeName,
    NoHome,
    Pid,
    Root,
    RunModeName,
    Vf,
    environment,
    make_context,
    open_root,
)
from cannkit.cli.ae_options import (
    kernel_type as type_number,
)
from cannkit.cli.options import Color, ColorWhen, Json, Quiet, Verbose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cannkit.ae.context import AeContext
    from cannkit.ae.survey import Answer
    from cannkit.inputs.files import PathView
    from cannkit.inputs.rooted_writer import RootedWriter
    from cannkit.inputs.writable import Overlay
    from cannkit.report.so_path import InstallEntry

SoName = Annotated[
    str | None,
    typer.Argument(
        metavar="[SO_NAME]",
        help="File name of the library, as a task names it; without it every directory.",
        show_default=False,
    ),
]
Require = Annotated[bool, typer.Option("--require", help="Exit 1 unless a library is found.")]
Install = Annotated[
    str | None,
    typer.Option(
        "--install",
        metavar="FILE.so",
        help="Store this custom library first: with --root it is written, else only shown.",
        show_default=False,
    ),
]
RIGHT = ("--vf", "--device")
DEFAULT_TYPES = ("aicpu", "custom", "fwk")


def so_path(
    so_name: SoName = None,
    vf: Vf = None,
    pid: Pid = 0,
    device: DeviceId = 0,
    kernel_type: KernelTypeName = None,
    run_mode: RunModeName = None,
    cust_sd: CustSd = None,
    root: Root = None,
    home: Home = None,
    no_home: NoHome = False,
    env: Env = None,
    inherit_env: InheritEnv = False,
    require: Require = False,
    install: Install = None,
    json: Json = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Show where the AI CPU engine looks for a library, and why.

    Limits, in bytes: the name of a library has 100 in a call (more are cut), 128 when it is stored, 95 for
    cust-sd to be told of it; the name of a function 200, of a logic kernel 30; a path, and a variable of
    the engine 4,095, a variable of the write side 1,023.
    """
    from cannkit.cli.ae_calls import trace_search
    from cannkit.cli.printers import print_document
    from cannkit.errors import ExitCode
    from cannkit.report.base import printable
    from cannkit.report.so_path import ContextEntry, SearchEntry, SoPathDocument

    variables = environment(home, no_home, env, inherit_env)
    context = make_context(
        vf=vf, pid=pid, device=device, mode=run_mode, is_cust_sd=False, env=variables
    )
    if not quiet:
        _remark(context, is_blind=require and root is None and install is None)
    named = None if kernel_type is None else (type_number(kernel_type),)
    files: PathView | None = open_root(root)
    if so_name is None and run_mode is None and install is None and not json:
        _print_table(context, named, color)
        return ExitCode.NEGATIVE if require else ExitCode.OK
    entry = None
    if install is not None:
        so_name = os.path.basename(install) if so_name is None else so_name
        named = named or (type_number("custom"),)
        entry, files = _install(install, so_name, context, root)
    types = named or tuple(map(type_number, DEFAULT_TYPES))
    answers = _ask(types, so_name, context, files, cust_sd)
    document = SoPathDocument(
        None if so_name is None else printable(so_name),
        ContextEntry.of(context),
        tuple(map(SearchEntry.of, answers)),
        entry,
    )
    for result in document.results if verbose else ():
        trace_search(result)
    if not json:
        import cannkit.render.so_path  # noqa: F401  (it registers with as_text)
    print_document(document, json=json, color=color)
    if require and not document.is_found:
        return document.exit_code or ExitCode.NEGATIVE
    return document.exit_code


def _ask(
    types: Sequence[int],
    so_name: str | None,
    context: AeContext,
    files: PathView | None,
    cust_sd: bool | None,
) -> list[Answer]:
    """One search for each kernel type; custom types are those of cust-sd unless told otherwise."""
    from cannkit.ae.survey import ask, not_asked, prober
    from cannkit.format.cpu_kernel import CUST_TYPES, CpuKernelType

    probe = prober(files) if files is not None else not_asked
    answers = []
    for number in types:
        is_cust_sd = number in CUST_TYPES if cust_sd is None else cust_sd
        process = context._replace(is_cust_sd=is_cust_sd)
        answers.append(ask(CpuKernelType(number), so_name, process, files, probe))
    return answers


def _install(
    file: str, so_name: str, context: AeContext, root: str | None
) -> tuple[InstallEntry, PathView]:
    """What the write side does with a library, below `root` or in a tree of its own; that tree."""
    from cannkit.ae.install import CustSoWriter, fresh_tree, prepare
    from cannkit.ae.write_checks import disagreements
    from cannkit.inputs.files import WHOLE_LIMIT, open_window, too_large
    from cannkit.inputs.rooted_writer import RootedWriter
    from cannkit.report.so_path import InstallEntry

    window = open_window(file)
    if len(window) > WHOLE_LIMIT:
        raise too_large(file, WHOLE_LIMIT)
    made: tuple[str, ...] = ()
    if root is None:
        tree: Overlay | RootedWriter = fresh_tree(context)
    else:
        tree = RootedWriter(root)
        made = prepare(context, tree)
    writer = CustSoWriter(context, tree)
    written = writer.create(so_name, bytes(window[0 : len(window)]))
    entry = InstallEntry.of(
        file,
        so_name,
        (writer.root, writer.folder),
        written,
        disagreements(context, so_name, tree),
        dry=root is None,
        made=made,
    )
    return entry, tree


def _print_table(context: AeContext, types: Sequence[int] | None, color: ColorWhen) -> None:
    from cannkit.ae.survey import table
    from cannkit.render.console import make_console, write
    from cannkit.render.so_path import table_text

    console = make_console(color)
    write(console, table_text(context, table(context, types), console))


def _remark(context: AeContext, *, is_blind: bool) -> None:
    """What the context should perhaps be."""
    from cannkit.ae.context import VIRTUAL_DEVICES
    from cannkit.cli.driver import print_line

    device, vf = context.device, context.vf
    if device != vf and (device in VIRTUAL_DEVICES or vf in VIRTUAL_DEVICES):  # AE-309
        right = device if device in VIRTUAL_DEVICES else vf
        print_line(
            f"vf {right} is that of virtual device {right}, as a rule: {RIGHT[right == vf]} {right}",
            "hint",
        )
    if is_blind:
        print_line("warning: --require finds nothing without --root")
