"""cannkit lookup."""

from __future__ import annotations

from typing import Annotated

import typer

from cannkit.cli.options import (
    Color,
    ColorWhen,
    Files,
    FromData,
    Json,
    Quiet,
    SocName,
    Verbose,
    number,
)
from cannkit.soc import DEFAULT_SOC

Name = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="As aclrtBinaryGetFunction.")
]
EntryKey = Annotated[
    str | None,
    typer.Option("--entry", metavar="KEY", help="As aclrtBinaryGetFunctionByEntry; 64 bits."),
]
Pc = Annotated[
    str | None,
    typer.Option(
        "--pc",
        metavar="ADDR",
        help="Kernel at an address: an offset, or with --base a device address, else a guess.",
    ),
]
Base = Annotated[
    str | None,
    typer.Option("--base", metavar="ADDR", help="Where the image of the binary begins."),
]
LOW_BITS = (
    "a guess by the low 12 bits, as if the address were the start of a kernel in a log: "
    "--base ADDR, where the image begins, makes it exact"
)
All = Annotated[bool, typer.Option("--all", help="Every hit, not the first alone.")]


def lookup(
    files: Files,
    name: Name = None,
    entry: EntryKey = None,
    pc: Pc = None,
    base: Base = None,
    every: All = False,
    from_data: FromData = False,
    soc: SocName = DEFAULT_SOC,
    json: Json = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Find a kernel by name, entry or address, as the runtime would."""
    from cannkit.api.registration import Registration
    from cannkit.api.runtime import Runtime
    from cannkit.cli.driver import collect, print_warnings
    from cannkit.cli.printers import print_document
    from cannkit.errors import ExitCode, UsageError, worst
    from cannkit.inputs.contents import Input
    from cannkit.inputs.paths import open_inputs
    from cannkit.report.lookup import Hit, LookupDocument
    from cannkit.runtime.search import Query, by_low_bits, explain_miss, search

    query = Query(name, number(entry, "--entry"), number(pc, "--pc"), number(base, "--base"))
    if sum(value is not None for value in query[:3]) != 1:
        raise UsageError("ask for one of --name, --entry and --pc")
    if base is not None and pc is None:
        raise UsageError("--base goes with --pc")
    process = Registration(Runtime(soc), from_data=from_data)
    programs = []
    hits: list[Hit] = []
    note = None

    def one(item: Input) -> bool:
        nonlocal note
        taken = process.take(item)
        if verbose and not quiet:
            print_warnings(f"{taken.file}: ", (*taken.warnings, *taken.program.warnings))
        for found in search(taken.program, query):
            start = process.image_base(taken) if found.base is None else found.base
            address = None if start is None else start + found.part.offset
            hits.append(Hit.of(taken.file, found, address))
            note = LOW_BITS if by_low_bits(query, found) else note
        programs.append(taken.program)  # what is found but cannot be loaded is an error
        return bool(hits) and not every and note is None  # guesses are told all

    errors = collect(open_inputs(files), one)
    miss = None if hits else explain_miss(programs, query)
    if not json:
        import cannkit.render.lookup  # noqa: F401  (it registers with as_text)
    document = LookupDocument.of(query, hits, miss, errors, note)
    print_document(document, json=json, color=color)
    return worst(
        [ExitCode.OK if hits else ExitCode.NEGATIVE, *(error.exit_code for _, error in errors)]
    )
