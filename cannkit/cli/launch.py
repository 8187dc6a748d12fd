"""cannkit launch."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import typer

from cannkit.cli.ae_options import (
    CustSd,
    DeviceId,
    Env,
    Home,
    InheritEnv,
    NoHome,
    Pid,
    RunModeName,
    Vf,
)
from cannkit.cli.launch_op_options import (
    ALONE,
    CHOOSERS,
    Align,
    Cases,
    DataFormatName,
    Describe,
    Dynamic,
    EmulateName,
    EmulateWhen,
    ExtHex,
    Force,
    ListOps,
    OpAttrs,
    OpJson,
    OpLibrary,
    OpName,
    Session,
    Sysroot,
    Trace,
    option_given,
)
from cannkit.cli.launch_options import (
    AeRoot,
    Args,
    ArgsHex,
    Blocks,
    CallMemory,
    CallTimeout,
    EntryKey,
    File,
    Grid,
    KernelName,
    LocalMemory,
    ModelName,
    ModelTimeout,
    NoCpuHead,
    Repeat,
    SchedMode,
    Sqe,
    SqeView,
    StreamNumber,
    Strict,
    Threads,
    Timeout,
)
from cannkit.cli.options import (
    Color,
    ColorWhen,
    CpuMode,
    FromData,
    Json,
    Quiet,
    SocName,
    Verbose,
    number,
)
from cannkit.soc import DEFAULT_SOC

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cannkit.device.trace import Event
    from cannkit.runtime.arg_values import UserArg
    from cannkit.runtime.launched import Launched


def launch(
    context: typer.Context,
    file: File,
    kernel: KernelName = None,
    entry: EntryKey = None,
    blocks: Blocks = None,
    arg: Args = None,
    args_hex: ArgsHex = None,
    no_cpu_head: NoCpuHead = False,
    grid: Grid = None,
    threads: Threads = None,
    stream: StreamNumber = 0,
    repeat: Repeat = 1,
    sched_mode: SchedMode = None,
    local_memory: LocalMemory = None,
    timeout_us: Timeout = None,
    strict: Strict = None,
    model: ModelName = None,
    model_timeout: ModelTimeout = 60,
    sqe: Sqe = SqeView.TABLE,
    cpu_mode: CpuMode = None,
    vf: Vf = None,
    pid: Pid = 0,
    device: DeviceId = 0,
    run_mode: RunModeName = None,
    cust_sd: CustSd = None,
    root: AeRoot = None,
    timeout: CallTimeout = None,
    memory: CallMemory = None,
    home: Home = None,
    no_home: NoHome = False,
    env: Env = None,
    inherit_env: InheritEnv = False,
    from_data: FromData = False,
    op: OpName = None,
    list_ops: ListOps = False,
    describe: Describe = None,
    cases: Cases = None,
    attr: OpAttrs = None,
    ext_hex: ExtHex = None,
    op_json: OpJson = None,
    library: OpLibrary = None,
    emulate: EmulateName = EmulateWhen.AUTO,
    sysroot: Sysroot = None,
    dynamic: Dynamic = None,
    session: Session = None,
    data_format: DataFormatName = None,
    align: Align = None,
    trace: Trace = False,
    force: Force = False,
    soc: SocName = DEFAULT_SOC,
    json: Json = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Rehearse a launch, or really run an AI CPU operator (--op)."""
    if option_given(context, CHOOSERS):
        from cannkit.cli.launch_op import run_operators
        from cannkit.cli.op_request import request_of

        return run_operators(request_of(context))
    from cannkit.api.registration import Registration
    from cannkit.api.runtime import Runtime
    from cannkit.cli.driver import print_line, print_warnings
    from cannkit.cli.foreign import ForeignCode
    from cannkit.cli.host_model import ModelName as HostModelName
    from cannkit.cli.launch_cpu import (
        JSON_HINT,
        AeOptions,
        add_hint,
        is_json,
        overruns_of,
        with_head,
    )
    from cannkit.cli.launch_input import (
        GRID_HINT,
        LIBRARY_HINT,
        launch_config,
        launch_shape,
        read_arguments,
    )
    from cannkit.cli.launch_listener import Listener
    from cannkit.cli.launch_print import print_launch, trace_line
    from cannkit.cli.launch_steps import (
        Repeats,
        choose_kernel,
        open_stream,
        rehearse,
        run_model,
    )
    from cannkit.cli.stopping import stopped_by_signals
    from cannkit.device.device import DeviceConfig
    from cannkit.errors import UsageError
    from cannkit.inputs.paths import NamedFiles, open_inputs
    from cannkit.report.launch import LaunchDocument, Story
    from cannkit.runtime.load_options import LoadOptions
    from cannkit.runtime.search import Query
    from cannkit.runtime.so_name import with_extension

    if (alone := option_given(context, ALONE)) is not None:
        raise UsageError(f"{alone} goes with --op")
    query = Query(kernel, number(entry, "--entry"))
    if kernel is not None and entry is not None:
        raise UsageError("ask for one of --kernel and --entry")
    json_hint = JSON_HINT if cpu_mode is None and is_json(file) else None
    is_program = cpu_mode is not None or json_hint is not None
    hint = LIBRARY_HINT if file.endswith(".so") else GRID_HINT
    shape = launch_shape(blocks, grid, threads, json_hint if is_program else hint)
    buffer = number(local_memory, "--local-memory")
    config = launch_config(sched_mode, None if shape.grid else buffer, timeout_us)
    model_name = None if model is None else HostModelName.of(model)
    named = [file]
    if cpu_mode is not None:
        named.append(with_extension(file, ".so"))
    if model_name is not None and model_name.is_file:
        named.append(model_name.module)
    given = read_arguments(named, arg or (), args_hex)
    foreign = ForeignCode(model_timeout)

    def tell(event: Event) -> None:
        with foreign.paused():
            trace_line(event)

    listener = Listener(tell if verbose else None)
    device_config = DeviceConfig(strict=strict is True, lenient=strict is False)
    ae = AeOptions(
        vf=vf,
        pid=pid,
        device=device,
        run_mode=run_mode,
        cust_sd=cust_sd,
        root=root,
        timeout=timeout,
        memory=memory,
        home=home,
        no_home=no_home,
        env=tuple(env or ()),
        inherit_env=inherit_env,
    )
    extents: dict[int, int] = {}
    ai_cpu = ae.ai_cpu(extents) if ae != AeOptions() else None
    runtime = Runtime(soc, config=device_config, trace=listener, ai_cpu=ai_cpu)
    options, from_data = LoadOptions.of(cpu_mode=cpu_mode), from_data or cpu_mode == 2
    process = Registration(runtime, options, from_data=from_data, alone=True)
    inputs = open_inputs([file]) if cpu_mode is None else NamedFiles([file], read=cpu_mode == 2)
    chosen = choose_kernel(process, inputs, query, file, json_hint)
    ae.check_kernel(chosen.name, is_cpu=chosen.is_cpu, no_head=no_cpu_head)
    if not quiet:
        print_warnings(f"{chosen.taken.file}: ", chosen.warnings)
    given.check_targets(chosen.files)
    if model_name is not None:
        given.check_targets(run_model(runtime, chosen, model_name, foreign))
    queue = open_stream(runtime, stream)
    args: Sequence[UserArg] = given.place(runtime)
    extents |= {arg.address: max(arg.size, 1) for arg in args if arg.address}
    told = with_head(args) if chosen.takes_head and not no_cpu_head else args
    values = told if given.block is None else given.block

    def once() -> Launched:
        return runtime.launch(
            chosen.function,
            shape.blocks,
            values,
            stream=queue,
            config=config,
            grid=shape.grid,
            threads=shape.threads,
            dynamic_ubuf=buffer or 0,
        )

    def again() -> Callable[[], object]:
        if shape.grid or chosen.is_cpu:
            return once
        return runtime.prepare(
            chosen.function, shape.blocks, values, stream=queue, config=config
        ).launch

    story = Story(chosen.name, runtime.devices[0], shape.blocks, args=told)
    around = foreign if model_name else None
    repeats = Repeats(once, again, runtime, queue, told=verbose, around=around)
    with stopped_by_signals() if root is not None else nullcontext():
        story = rehearse(story, repeats, repeat, listener, quiet=quiet)
    if chosen.is_cpu and not quiet:
        for overrun in overruns_of(story.ai_cpu):
            print_line(f"warning: {overrun}, where the device may keep something else")
    if chosen.is_cpu and story.error is not None:
        uploaded = with_extension(file, ".so") if cpu_mode and root is not None else None
        add_hint(story.error, story.ai_cpu, uploaded, has_args=bool(arg or args_hex))
    if story.error is None:
        story = story._replace(outputs=given.outputs(runtime, args))
        given.write(story.outputs)
        code = "--root" if chosen.is_cpu else "--model"
        if given.targets and model is None and root is None and not quiet:
            print_line(f"warning: without {code} no code ran: outputs are as they were before")
    print_launch(LaunchDocument.of(story), sqe, json=json, color=color)
    return story.exit_code
