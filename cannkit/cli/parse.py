"""cannkit parse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cannkit.cli.options import Color, ColorWhen, Files, Json, Quiet, SocName, Verbose
from cannkit.soc import DEFAULT_SOC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cannkit.ops.describe import Package

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
    """Show what the runtime reads from objects, or AI CPU operators."""
    from cannkit.cli.driver import answer, print_line
    from cannkit.cli.printers import JsonPrinter, Printer, TextPrinter
    from cannkit.errors import ExitCode, UsageError
    from cannkit.image.reader import SidecarChoice, read_input
    from cannkit.inputs.contents import Input
    from cannkit.inputs.paths import open_inputs
    from cannkit.ops.operator_input import operator_package
    from cannkit.report.parse import ParseDocument
    from cannkit.soc import find_soc

    chip = find_soc(soc)
    inputs = open_inputs(files, recursive=recursive)
    found = operator_package(files[0], sidecar) if len(files) == 1 and not no_sidecar else None
    if found is not None:
        return _operators(files[0], found, kernel or (), json, verbose or raw, quiet, color)
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


def _operators(
    file: str,
    package: Package,
    patterns: Sequence[str],
    json: bool,
    types: bool,
    quiet: bool,
    color: str,
) -> int:
    """The operators of an AI CPU package; `types` shows those of each tensor, too."""
    from cannkit.cli.driver import print_line, print_warnings
    from cannkit.cli.printers import print_document
    from cannkit.errors import ExitCode
    from cannkit.report.operators import OperatorsDocument

    document = OperatorsDocument.of(file, package, patterns)
    if not json:
        import cannkit.render.operators  # noqa: F401  (registers the document with as_text)
    print_document(document, json=json, color=color, raw=types)
    if not json and not quiet:
        print_warnings("", document.warnings)
    if patterns and not document.operators:
        print_line(f"no operator matches {' or '.join(patterns)}")
        return ExitCode.NEGATIVE
    return ExitCode.OK
