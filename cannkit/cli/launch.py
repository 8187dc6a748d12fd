"""cannkit launch."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

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
    from collections.abc import Callable

    from cannkit.device.trace import Event
    from cannkit.report.launch import LaunchDocument
    from cannkit.runtime.launched import Launched

MOST_STREAMS = 1024


class SqeView(StrEnum):
    """Values of --sqe."""

    TABLE = "table"
    HEX = "hex"
    NONE = "none"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A kernel object, or what holds some; - is stdin.",
        show_default=False,
    ),
]
KernelName = Annotated[
    str | None, typer.Option("--kernel", metavar="NAME", help="The kernel, by its name.")
]
EntryKey = Annotated[
    str | None,
    typer.Option("--entry", metavar="KEY", help="The kernel by its function entry or tiling key."),
]
Blocks = Annotated[
    int | None,
    typer.Option("--blocks", metavar="N", help="Blocks of the main side.", show_default=False),
]
Args = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        metavar="SPEC",
        help="An argument, in order; repeatable. 'in:f32[4]=1,2,3,4', 'in:f32:2x3@FILE', "
        "'in:f32[4]=zeros' (or ones, arange, random:SEED), 'out:f32[4]' or 'out:f32[4]@FILE', "
        "'inout:...', ws:BYTES, tiling:@FILE, tiling:=HEX, null, u64:N, f32:X.",
    ),
]
ArgsHex = Annotated[
    str | None,
    typer.Option("--args-hex", metavar="HEX|@FILE", help="The whole argument block, as it is."),
]
Grid = Annotated[
    str | None, typer.Option("--grid", metavar="X[,Y,Z]", help="The grid of a SIMT kernel.")
]
Threads = Annotated[
    str | None, typer.Option("--threads", metavar="X[,Y,Z]", help="Threads of a SIMT block.")
]
StreamNumber = Annotated[
    int,
    typer.Option(
        "--stream", metavar="N", min=0, max=MOST_STREAMS - 1, help="Number of the stream."
    ),
]
Repeat = Annotated[
    int, typer.Option("--repeat", metavar="N", min=1, help="Launch N times, show the last.")
]
SchedMode = Annotated[
    str | None,
    typer.Option("--sched-mode", metavar="normal|batch", help="Schedule mode, or its number."),
]
LocalMemory = Annotated[
    str | None,
    typer.Option("--local-memory", metavar="BYTES", help="Dynamic unified buffer of a block."),
]
Timeout = Annotated[
    str | None, typer.Option("--timeout-us", metavar="US", help="Timeout of the task; 0 is never.")
]
Strict = Annotated[
    bool | None,
    typer.Option(
        "--strict/--lenient",
        help="Warnings of the device fail the task; or a batch may be larger than the device.",
        show_default=False,
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODULE:FUNCTION",
        help="Python that runs for each block; MODULE is a file or importable.",
    ),
]
ModelTimeout = Annotated[
    float,
    typer.Option(
        "--model-timeout",
        metavar="SECONDS",
        help="Its time: for the module and for all blocks together.",
    ),
]
Sqe = Annotated[SqeView, typer.Option("--sqe", help="The queue entry; hex: nothing else.")]


def launch(
    file: File,
    kernel: KernelName = None,
    entry: EntryKey = None,
    blocks: Blocks = None,
    arg: Args = None,
    args_hex: ArgsHex = None,
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
    from_data: FromData = False,
    soc: SocName = DEFAULT_SOC,
    json: Json = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Rehearse a launch: arguments, queue entry, device, outputs."""
    from cannkit.api.registration import Registration
    from cannkit.api.runtime import Runtime
    from cannkit.cli.driver import print_line, print_warnings
    from cannkit.cli.foreign import ForeignCode
    from cannkit.cli.host_model import ModelName
    from cannkit.cli.launch_input import launch_config, launch_shape, read_arguments
    from cannkit.cli.launch_steps import (
        Listener,
        Repeats,
        choose_kernel,
        open_stream,
        rehearse,
        run_model,
    )
    from cannkit.device.device import DeviceConfig
    from cannkit.errors import UsageError
    from cannkit.inputs.paths import NamedFiles, open_inputs
    from cannkit.report.launch import LaunchDocument, Story
    from cannkit.runtime.load_options import LoadOptions
    from cannkit.runtime.search import Query
    from cannkit.runtime.so_name import with_extension

    query = Query(kernel, number(entry, "--entry"))
    if kernel is not None and entry is not None:
        raise UsageError("ask for one of --kernel and --entry")
    shape = launch_shape(blocks, grid, threads)
    memory = number(local_memory, "--local-memory")
    config = launch_config(sched_mode, None if shape.grid else memory, timeout_us)
    model_name = None if model is None else ModelName.of(model)
    named = [file]
    if cpu_mode is not None:
        named.append(with_extension(file, ".so"))
    if model_name is not None and model_name.is_file:
        named.append(model_name.module)
    given = read_arguments(named, arg or (), args_hex)
    foreign = ForeignCode(model_timeout)

    def tell(event: Event) -> None:
        with foreign.paused():
            _trace_line(event)

    listener = Listener(tell if verbose else None)
    device_config = DeviceConfig(strict=strict is True, lenient=strict is False)
    runtime = Runtime(soc, config=device_config, trace=listener)
    options, from_data = LoadOptions.of(cpu_mode=cpu_mode), from_data or cpu_mode == 2
    process = Registration(runtime, options, from_data=from_data, alone=True)
    inputs = open_inputs([file]) if cpu_mode is None else NamedFiles([file], read=cpu_mode == 2)
    chosen = choose_kernel(process, inputs, query, file)
    if not quiet:
        print_warnings(f"{chosen.taken.file}: ", chosen.warnings)
    given.check_targets(chosen.files)
    if model_name is not None:
        given.check_targets(run_model(runtime, chosen, model_name, foreign))
    queue = open_stream(runtime, stream)
    args = given.place(runtime)
    values = args if given.block is None else given.block

    def once() -> Launched:
        return runtime.launch(
            chosen.function,
            shape.blocks,
            values,
            stream=queue,
            config=config,
            grid=shape.grid,
            threads=shape.threads,
            dynamic_ubuf=memory or 0,
        )

    def again() -> Callable[[], object]:
        if shape.grid or chosen.is_cpu:
            return once
        return runtime.prepare(
            chosen.function, shape.blocks, values, stream=queue, config=config
        ).launch

    story = Story(chosen.name, runtime.devices[0], shape.blocks, args=args)
    around = foreign if model_name else None
    repeats = Repeats(once, again, runtime, queue, told=verbose, around=around)
    story = rehearse(story, repeats, repeat, listener, quiet=quiet)
    if story.error is None:
        story = story._replace(outputs=given.outputs(runtime, args))
        given.write(story.outputs)
        if given.targets and model is None and not quiet:
            print_line("warning: without --model no code ran: outputs are as they were before")
    _print(LaunchDocument.of(story), sqe, json=json, color=color)
    return story.exit_code


def _trace_line(event: Event) -> None:
    from cannkit.cli.driver import print_line
    from cannkit.render.events import event_text

    print_line(event_text(event), "trace")


def _print(document: LaunchDocument, sqe: SqeView, *, json: bool, color: ColorWhen) -> None:
    """The answer; of a launch that was refused or interrupted nothing but the error for people."""
    from dataclasses import replace

    from cannkit.cli.driver import print_error, say
    from cannkit.cli.printers import print_document

    if json:
        print_document(document, json=True, color=color)
    elif document.is_complete and sqe is SqeView.HEX:
        lines = [line for each in document.sqe for line in (each.hex, each.context_hex) if line]
        say("".join(f"{line}\n" for line in lines))
    elif document.is_complete:
        import cannkit.render.launch  # noqa: F401  (it registers with as_text)

        shown = document if sqe is SqeView.TABLE else replace(document, sqe=())
        print_document(shown, json=False, color=color)
    if document.error is not None:
        print_error(document.error)
