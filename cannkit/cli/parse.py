"""cannkit parse."""

from __future__ import annotations

from typing import Annotated

import typer

from cannkit.cli.options import Color, ColorWhen, Files, Json, Quiet, SocName, Verbose
from cannkit.soc import DEFAULT_SOC

Recursive = Annotated[
    bool, typer.Option("-r", "--recursive", help="Walk directories (they always are).")
]
Kernels = Annotated[
    list[str] | None,
    typer.Option("--kernel", metavar="GLOB", help="Only kernels whose name matches; repeatable."),
]
NoSidecar = Annotated[bool, typer.Option("--no-sidecar", help="Ignore the JSON beside an object.")]
SidecarFile = Annotated[
    str | None, typer.Option("--sidecar", metavar="FILE", help="The JSON that belongs to FILE.")
]
Raw = Annotated[bool, typer.Option("--raw", help="Show the bytes of each TLV.")]


def parse(
    files: Files,
    recursive: Recursive = False,
    kernel: Kernels = None,
    no_sidecar: NoSidecar = False,
    sidecar: SidecarFile = None,
    raw: Raw = False,
    soc: SocName = DEFAULT_SOC,
    json: Json = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Show what the runtime would read from a kernel object."""
    from cannkit.cli.driver import answer, print_line
    from cannkit.cli.printers import JsonPrinter, Printer, TextPrinter
    from cannkit.errors import ExitCode, UsageError
    from cannkit.image.reader import SidecarChoice, read_input
    from cannkit.inputs.contents import Input
    from cannkit.inputs.paths import open_inputs
    from cannkit.report.parse import ParseDocument
    from cannkit.soc import find_soc

    chip = find_soc(soc)
    inputs = open_inputs(files, recursive=recursive)
    if sidecar is not None and inputs.plural:
        raise UsageError("--sidecar belongs to one object", hint="name a single FILE")
    if sidecar is not None and no_sidecar:
        raise UsageError("--sidecar and --no-sidecar exclude each other")
    choice = SidecarChoice(beside=not no_sidecar, file=sidecar)
    matches = 0

    def one(item: Input) -> ParseDocument:
        nonlocal matches
        obj = read_input(item, chip, choice)
        document = ParseDocument.of(obj, kernel or ())
        matches += len(document.kernels)
        if verbose:
            from cannkit.report.elf_tables import ParseDetails

            return ParseDetails.with_tables(document, obj)
        return document

    if json:
        printer: Printer = JsonPrinter(ParseDocument.SCHEMA)
    else:
        from cannkit.render.listing import ParseListing

        if verbose:  # importing a module of render registers its documents with as_text
            import cannkit.render.parse_details
        else:
            import cannkit.render.parse  # noqa: F401

        listing = None if verbose or raw else ParseListing()
        printer = TextPrinter(color, listing=listing, raw=raw, quiet=quiet)
    code = answer(inputs, one, ParseDocument.failed, printer)
    if kernel and not matches and code == ExitCode.OK:
        print_line(f"no kernel matches {' or '.join(kernel)}")
        return ExitCode.NEGATIVE
    return code
