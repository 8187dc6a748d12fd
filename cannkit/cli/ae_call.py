"""cannkit ae-call."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from cannkit.cli.ae_call_options import (
    AllowGlobal,
    BlockId,
    BlockNum,
    Cloud,
    DryRun,
    EmulateName,
    EmulateWhen,
    Entry,
    EntryName,
    Event,
    Func,
    ListLogic,
    Memory,
    Param,
    Returns,
    Script,
    So,
    SoFile,
    Sysroot,
    Timeout,
)
from cannkit.cli.ae_options import (
    U32,
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
)
from cannkit.cli.ae_options import kernel_type as type_number
from cannkit.cli.options import Color, ColorWhen, Json, Quiet, Verbose, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cannkit.ae.engine import AeEngine
    from cannkit.ae.operations import Step
    from cannkit.ae.task import Parts, Task
    from cannkit.cli.ae_calls import How
    from cannkit.report.ae_call import AeCallDocument


def ae_call(
    so: So = None,
    so_file: SoFile = None,
    func: Func = None,
    kernel_type: KernelTypeName = None,
    param: Param = None,
    block_id: BlockId = 0,
    block_num: BlockNum = 1,
    event: Event = None,
    cloud: Cloud = False,
    entry: EntryName = Entry.SCHEDULER,
    vf: Vf = None,
    pid: Pid = 0,
    device: DeviceId = 0,
    run_mode: RunModeName = None,
    cust_sd: CustSd = None,
    root: Root = None,
    home: Home = None,
    no_home: NoHome = False,
    env: Env = None,
    inherit_env: InheritEnv = False,
    timeout: Timeout = 10,
    memory: Memory = 2048,
    dry_run: DryRun = False,
    returns: Returns = None,
    allow_global: AllowGlobal = False,
    emulate: EmulateName = EmulateWhen.AUTO,
    sysroot: Sysroot = None,
    script: Script = None,
    list_logic: ListLogic = False,
    json: Json = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Call a function of an AI CPU library as the engine does. RUNS ITS CODE.

    The library's code runs in a child process with your rights, limited in time and memory, but in no
    sandbox: do not use it on files that you do not trust. With --dry-run or --returns none of it runs.
    """
    from cannkit.ae.callers import PretendFiles
    from cannkit.ae.engine import AeEngine
    from cannkit.cli.ae_calls import (
        How,
        call_task,
        calling,
        private_root,
        read_steps,
        trace_search,
    )
    from cannkit.cli.stopping import stopped_by_signals
    from cannkit.errors import UsageError
    from cannkit.format.cpu_kernel import CUST_TYPES
    from cannkit.inputs.rooted import RootedFiles

    if list_logic:
        return _print_logic(json=json, color=color)
    pretended = number(returns, "--returns")
    if pretended is not None and pretended > U32:
        raise UsageError(f"--returns {returns}: a function returns 32 bits")
    if so_file is not None and root is not None:
        raise UsageError("ask for one of --so-file and --root")
    how = How(
        dry_run,
        pretended,
        timeout,
        memory << 20,
        allow_global,
        by_scheduler=entry is Entry.SCHEDULER,
        emulate=emulate.value,
        sysroot=sysroot,
    )
    said = (event, so, so_file, func, param, kernel_type)
    if script is not None and any(each is not None for each in said):
        others = "--so, --so-file, --func, --param, --kernel-type or --event"
        raise UsageError(f"--script says what to call: no {others} beside it")
    if event is not None and kernel_type is not None:
        raise UsageError("--event says the kernel type: no --kernel-type beside it")
    if script is None and returns is None and all(each is None for each in said):
        hint = "--so-file LIB.so --func NAME, --event HEX, --script FILE or --returns N"
        raise UsageError("nothing to call", hint=hint)
    parts = _parts(so, so_file, func, kernel_type, param, (block_id, block_num))
    steps = read_steps(script, is_cloud=cloud) if script is not None else []
    task = _task(parts, event, cloud, pretended is not None) if script is None else None
    kind = task.kernel.kernel_type if task else parts.kernel_type
    kinds = {kind} if task else {step.kernel_type for step in steps if step.task is not None}
    is_cust_sd = bool(kinds) and kinds <= {*CUST_TYPES} if cust_sd is None else cust_sd
    context = make_context(
        vf=vf,
        pid=pid,
        device=device,
        mode=run_mode,
        is_cust_sd=is_cust_sd,
        env=environment(home, no_home, env, inherit_env),
    )
    with stopped_by_signals(), ExitStack() as undo:
        if so_file is not None:
            root = undo.enter_context(private_root(so_file, kind, parts.so_name or "", context))
        is_blind = pretended is not None and root is None
        files = PretendFiles() if is_blind else RootedFiles(root or "/")
        engine = AeEngine(context, files, undo.enter_context(calling(files, how)))
        if task is not None:
            document = call_task(task, engine, how)
            if verbose and document.so is not None:
                trace_search(document.so)
            _print(document, json=json, quiet=quiet, color=color)
            return document.exit_code
        said_how = Told(json, verbose, quiet, color)
        return _run_script(steps, engine, how, said_how)


def _parts(
    so: str | None,
    so_file: str | None,
    func: str | None,
    kernel_type: str | None,
    param: str | None,
    block: tuple[int, int],
) -> Parts:
    """The parts of the task, or what lies at the addresses of an event. Raises UsageError, InputError."""
    from cannkit.ae.task import Parts
    from cannkit.cli.ae_calls import read_param

    kind = type_number("aicpu" if kernel_type is None else kernel_type)
    if so is None and so_file is not None:
        so = os.path.basename(so_file)
    return Parts(kind, so, func, None if param is None else read_param(param), *block)


def _task(parts: Parts, event: str | None, cloud: bool, pretends: bool) -> Task:
    """The task. With --returns the names that nobody gave are any."""
    from cannkit.ae.task import make_task, read_task
    from cannkit.cli.ae_calls import pretended_parts, read_event

    raw = None if event is None else read_event(event)
    if pretends:
        parts = pretended_parts(parts, raw)
    return make_task(parts, is_cloud=cloud) if raw is None else read_task(raw, parts)


class Told(NamedTuple):
    """What the user wants to be told, and how."""

    json: bool
    verbose: bool
    quiet: bool
    color: ColorWhen


def _run_script(steps: Sequence[Step], engine: AeEngine, how: How, told: Told) -> int:
    """One result a line, as it comes. What would follow the end of the process is not run."""
    from cannkit.cli.ae_calls import call_step, trace_search
    from cannkit.cli.driver import print_error, print_line
    from cannkit.errors import worst

    codes = []
    for at, step in enumerate(steps, 1):
        document = call_step(step, engine, how)
        codes.append(document.exit_code)
        if told.verbose and document.so is not None:
            trace_search(document.so)
        _print_step(at, document, told)
        if document.error is not None:
            if not told.json:
                print_error(document.error)
            if document.is_crash:
                if (left := len(steps) - at) and not told.quiet:
                    print_line(f"warning: {left} more operations are not run: the process is gone")
                break
    return worst(codes)


def _print_step(at: int, document: AeCallDocument, told: Told) -> None:
    if told.json:
        from cannkit.cli.driver import write_bytes
        from cannkit.report.json import line_json

        write_bytes(line_json(document))
        return
    from cannkit.render.ae_call import step_lines
    from cannkit.render.console import make_console, write_line

    console = make_console(told.color)
    for line in step_lines(at, document):
        write_line(console, line)


def _print_logic(*, json: bool, color: ColorWhen) -> int:
    from cannkit.cli.printers import print_document
    from cannkit.report.ae_logic import LogicListDocument

    if not json:
        import cannkit.render.ae_logic  # noqa: F401  (it registers with as_text)
    print_document(LogicListDocument.of(), json=json, color=color)
    return 0


def _print(document: AeCallDocument, *, json: bool, quiet: bool, color: ColorWhen) -> None:
    from cannkit.cli.driver import print_error
    from cannkit.cli.printers import print_document

    if not json:
        import cannkit.render.ae_call  # noqa: F401  (it registers with as_text)
    print_document(document, json=json, color=color, raw=not quiet)
    if document.error is not None and not json:
        print_error(document.error)
