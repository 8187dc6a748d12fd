"""The command line: every command, and the options of cannkit itself."""

from __future__ import annotations

from typing import Annotated

import typer

from cannkit import __version__
from cannkit.cli.ae_call import ae_call
from cannkit.cli.check import check
from cannkit.cli.completion import completion
from cannkit.cli.diff import diff
from cannkit.cli.doctor import doctor
from cannkit.cli.extract import extract
from cannkit.cli.launch import launch
from cannkit.cli.load import load
from cannkit.cli.lookup import lookup
from cannkit.cli.parse import parse
from cannkit.cli.register import register
from cannkit.cli.schema import schema
from cannkit.cli.so_path import so_path
from cannkit.cli.soc import soc
from cannkit.cli.sqe import sqe

app = typer.Typer(
    name="cannkit",
    help="Read Ascend (CANN) kernel binaries as the runtime does, without an NPU.",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"cannkit {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True),
]


@app.callback()
def root(version: Version = False) -> None:
    """Read Ascend (CANN) kernel binaries as the runtime does, without an NPU."""


app.command()(parse)
app.command()(register)
app.command()(lookup)
app.command()(load)
app.command()(launch)
app.add_typer(sqe)
app.command("so-path")(so_path)
app.command("ae-call")(ae_call)
app.command()(check)
app.command()(extract)
app.command()(diff)
app.command()(doctor)
app.command()(soc)
app.command()(schema)
app.command()(completion)
