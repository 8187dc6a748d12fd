"""cannkit schema."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Command(StrEnum):
    """Commands that answer in JSON."""

    PARSE = "parse"
    SOC = "soc"


Name = Annotated[Command, typer.Argument(metavar="COMMAND", show_default=False)]


def schema(command: Name) -> None:
    """Print the JSON Schema of a command's answer."""
    from cannkit.cli.driver import say
    from cannkit.report.json import schema_json
    from cannkit.report.parse import ParseDocument
    from cannkit.report.soc import SocDocument

    documents = {Command.PARSE: ParseDocument, Command.SOC: SocDocument}
    say(schema_json(documents[command]))
