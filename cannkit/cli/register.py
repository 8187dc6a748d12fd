"""cannkit register."""

from __future__ import annotations

from typing import Annotated

import typer

from cannkit.cli.options import (
    Color,
    ColorWhen,
    CpuMode,
    Files,
    FlowName,
    FlowOption,
    FromData,
    Json,
    Quiet,
    SocName,
    Verbose,
    magic_number,
)
from cannkit.soc import DEFAULT_SOC

MagicName = Annotated[
    str | None,
    typer.Option(
        "--magic",
        metavar="NAME|NUMBER",
        help="Load option MAGIC: elf, aivec, aicube or a number (only with --from-data).",
    ),
]
Lazy = Annotated[
    bool, typer.Option("--lazy/--eager", help="Load option LAZY_LOAD: copy at first use.")
]
Unload = Annotated[
    list[str] | None,
    typer.Option("--unload", metavar="FILE", help="Unload this FILE afterwards; repeatable."),
]
Tiling = Annotated[
    bool, typer.Option("--tiling-table", help="Show the tables that the device searches.")
]


def register(
    files: Files,
    magic: MagicName = None,
    from_data: FromData = False,
    lazy: Lazy = False,
    cpu_mode: CpuMode = None,
    flow: FlowOption = FlowName.NEW,
    unload: Unload = None,
    tiling_table: Tiling = False,
    soc: SocName = DEFAULT_SOC,
    json: Json = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Show what the runtime would find after registering objects."""
    from functools import partial

    from cannkit.api.registration import Registration
    from cannkit.api.runtime import Runtime
    from cannkit.cli.driver import answer
    from cannkit.cli.printers import JsonPrinter, Printer, TextPrinter
    from cannkit.errors import UsageError
    from cannkit.inputs.contents import Input
    from cannkit.inputs.paths import NamedFiles, open_inputs
    from cannkit.report.register import RegisterDocument
    from cannkit.runtime.load_options import LoadOptions

    strangers = set(unload or ()) - set(files)
    if strangers:
        raise UsageError(f"--unload {min(strangers)}: not among the files", hint="name a FILE")
    if flow is FlowName.OLD and (magic or from_data or lazy or cpu_mode is not None):
        what = "--flow old takes no load options: --magic, --from-data, --lazy, --cpu-mode"
        raise UsageError(what)
    options = LoadOptions.of(lazy=lazy or None, magic=magic_number(magic), cpu_mode=cpu_mode)
    inputs = open_inputs(files) if cpu_mode is None else NamedFiles(files, read=cpu_mode == 2)
    process = Registration(
        Runtime(soc),
        options,
        from_data=from_data or cpu_mode == 2,
        old_flow=flow is FlowName.OLD,
        alone=not inputs.plural,
    )

    def one(item: Input) -> RegisterDocument:
        file, binary, warnings = taken = process.take(item)
        base = process.image_base(taken) if tiling_table else None
        stubs = process.stubs(taken if inputs.plural else None)
        return RegisterDocument.of(file, binary.program, warnings, stubs=stubs, tiling_base=base)

    def unloaded(file: str) -> RegisterDocument:
        return RegisterDocument.of_unload(file, process.unload(file), process.stubs())

    if json:
        printer: Printer = JsonPrinter(RegisterDocument.SCHEMA)
    else:
        from cannkit.render.register import RegisterListing

        full = verbose or tiling_table or unload
        printer = TextPrinter(color, listing=None if full else RegisterListing(), quiet=quiet)
    steps = [partial(unloaded, file) for file in unload or ()]
    return answer(inputs, one, RegisterDocument.failed, printer, steps)
