"""cannkit diff."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cannkit.cli.options import Color, ColorWhen, Json, Quiet, SocName
from cannkit.soc import DEFAULT_SOC

if TYPE_CHECKING:
    from cannkit.diff.side import Side
    from cannkit.errors import CannkitError

HELP = "A kernel object, directory, archive, wheel or host library; - is stdin."


class FailOn(StrEnum):
    """Values of --fail-on."""

    BREAKING = "breaking"
    ANY = "any"
    NEVER = "never"


First = Annotated[str, typer.Argument(metavar="A", help=HELP, show_default=False)]
Second = Annotated[str, typer.Argument(metavar="B", help="What it became.", show_default=False)]
FailOnOption = Annotated[FailOn, typer.Option("--fail-on", help="Which changes make exit code 1.")]


def diff(
    a: First,
    b: Second,
    fail_on: FailOnOption = FailOn.ANY,
    soc: SocName = DEFAULT_SOC,
    json: Json = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Show what changed between two kernel objects or packages.

    Breaking is what a host built against A trips over with B; behaviour and size are the rest.
    """
    from cannkit.cli.printers import TextPrinter, print_document
    from cannkit.diff.packages import compare_sides
    from cannkit.diff.side import read_side
    from cannkit.errors import ExitCode, UsageError, worst
    from cannkit.inputs.paths import STDIN, open_inputs
    from cannkit.report.diff import DiffDocument
    from cannkit.soc import find_soc

    if a == b == STDIN:
        raise UsageError("stdin has one object", hint="name a file for A or B")
    chip = find_soc(soc)
    progress = None if json else TextPrinter(color, quiet=quiet)
    single, sides = True, []
    for path in (a, b):
        inputs = open_inputs([path])
        single = single and not inputs.plural
        if progress is not None:
            progress.start(many=inputs.plural)
        items = inputs if progress is None else progress.watch(inputs)
        sides.append(read_side(path, items, chip))
        _check(sides[-1])
    if not json:
        import cannkit.render.diff  # noqa: F401  (it registers with as_text)
    found = compare_sides(sides[0], sides[1], single=single)
    document = DiffDocument.of((a, b), (sides[0], sides[1]), found)
    print_document(document, json=json, color=color)
    errors = [error.exit_code for side in sides for _, error in side.errors]
    return worst([ExitCode.NEGATIVE if document.fails(fail_on) else ExitCode.OK, *errors])


def _check(side: Side) -> None:
    """A side of which nothing can be read is no answer. Raises its first error."""
    if not any(member.summary for member in side.members):
        error: CannkitError = side.errors[0][1]
        raise error
