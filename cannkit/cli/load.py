"""cannkit load."""

from __future__ import annotations

from typing import Annotated

import typer

from cannkit.cli.options import (
    Color,
    ColorWhen,
    Files,
    FlowName,
    FlowOption,
    FromData,
    Json,
    Quiet,
    SocName,
    Verbose,
    number,
)
from cannkit.soc import DEFAULT_SOC

DeviceId = Annotated[int, typer.Option("--device", metavar="N", help="The device, 0 to 63.")]
Pool = Annotated[bool, typer.Option("--pool/--no-pool", help="Use the chip's kernel memory pool.")]
Base = Annotated[
    str | None, typer.Option("--base", metavar="ADDR", help="Where the device's memory begins.")
]
ImageOut = Annotated[
    str | None,
    typer.Option("--image", metavar="OUT", help="Write the device image of the last file."),
]
SvgOut = Annotated[
    str | None, typer.Option("--svg", metavar="OUT", help="Write the memory map as a picture.")
]


def load(
    files: Files,
    device: DeviceId = 0,
    pool: Pool = True,
    base: Base = None,
    flow: FlowOption = FlowName.NEW,
    from_data: FromData = False,
    image: ImageOut = None,
    svg: SvgOut = None,
    soc: SocName = DEFAULT_SOC,
    json: Json = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Load kernel objects into a simulated device; show its memory."""
    from cannkit.api.registration import MOST_DEVICES, Registration
    from cannkit.api.runtime import Runtime
    from cannkit.cli.driver import collect, print_warnings
    from cannkit.cli.output import check_outputs, write_file
    from cannkit.cli.printers import print_document
    from cannkit.device.device import DeviceConfig
    from cannkit.errors import ExitCode, worst
    from cannkit.inputs.contents import Input
    from cannkit.inputs.paths import open_inputs
    from cannkit.report.load import AllocationEntry, FunctionEntry, GlobalPlace, LoadDocument

    outputs = {"--image": image, "--svg": svg}
    check_outputs(outputs, files)
    config = DeviceConfig(use_pool=pool, base=number(base, "--base"))
    runtime = Runtime(soc, devices=MOST_DEVICES, device=device, config=config)
    inputs = open_inputs(files)
    process = Registration(
        runtime, from_data=from_data, old_flow=flow is FlowName.OLD, alone=not inputs.plural
    )
    allocations: list[AllocationEntry] = []
    functions: list[FunctionEntry] = []
    variables: list[GlobalPlace] = []
    code: dict[int, int] = {}
    last: tuple[int, int] | None = None  # where the image of the last file is, and its size

    def one(item: Input) -> bool:
        nonlocal last
        taken = process.take(item)
        if not quiet and (verbose or not inputs.plural):
            print_warnings(f"{taken.file}: ", (*taken.warnings, *taken.program.warnings))
        placed, refreshed, addresses = process.load(taken)
        allocations.append(AllocationEntry.of(taken.file, placed))
        for kernel, where in addresses:
            functions.append(FunctionEntry.of(taken.file, kernel, where))
            code[where.pc1] = kernel.part1.length
            if where.pc2 is not None:
                code[where.pc2] = kernel.part2.length
        variables.extend(GlobalPlace.all_of(taken.file, taken.program, placed.aligned, refreshed))
        last = placed.aligned, taken.program.load_size
        return False

    errors = collect(inputs, one)
    document = LoadDocument.of(runtime.devices[device], allocations, functions, variables, errors)
    read = [each.file for each in allocations] + [item.file for item, _ in errors]
    check_outputs(outputs, [*files, *read])
    if image is not None and last:  # else the errors say why nothing was loaded
        write_file(image, runtime.devices[device].copy_from_device(*last))
    if svg is not None:
        from cannkit.render.memory_map import memory_map

        write_file(svg, memory_map(document, code).encode())
    if not json:
        import cannkit.render.load  # noqa: F401  (it registers with as_text)
    print_document(document, json=json, color=color)
    return worst([ExitCode.OK, *(error.exit_code for _, error in errors)])
