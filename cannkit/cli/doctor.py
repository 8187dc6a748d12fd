"""cannkit doctor."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cannkit.cli.ae_call_options import Sysroot
from cannkit.cli.options import Color, ColorWhen, Json


class Need(StrEnum):
    """Values of --require."""

    NATIVE = "native"
    EMULATION = "emulation"
    PROTOTYPES = "prototypes"
    ARRAYS = "arrays"


Require = Annotated[
    list[Need] | None,
    typer.Option(
        "--require", help="Exit 1 when this does not work; repeatable.", show_default=False
    ),
]


def doctor(
    require: Require = None,
    sysroot: Sysroot = None,
    json: Json = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Tell what running AI CPU operators takes that is not here.

    It tries: programs of cannkit are compiled into the cache and run. Exit 1 when native calls do not work.
    """
    from cannkit.cli.printers import print_document
    from cannkit.cli.stopping import stopped_by_signals
    from cannkit.ops.checkup import What, cache_state, checkup
    from cannkit.ops.toolchain import Toolchain
    from cannkit.report.doctor import DoctorDocument

    toolchain = Toolchain()
    with stopped_by_signals():
        abilities = checkup(toolchain, sysroot)
        tools = toolchain.survey(sysroot)
    required = {What(each.value) for each in require or ()}
    document = DoctorDocument.of(
        toolchain.machine, abilities, tools, cache_state(toolchain), required
    )
    if not json:
        import cannkit.render.doctor  # noqa: F401  (it registers with as_text)
    print_document(document, json=json, color=color)
    return document.exit_code
