"""cannkit schema."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Command(StrEnum):
    """Commands that answer in JSON."""

    PARSE = "parse"
    REGISTER = "register"
    LOOKUP = "lookup"
    LOAD = "load"
    LAUNCH = "launch"
    LAUNCH_OP = "launch-op"
    OPERATORS = "operators"
    OPERATOR = "operator"
    SQE = "sqe"
    SO_PATH = "so-path"
    AE_CALL = "ae-call"
    AE_CALL_LOGIC = "ae-call-logic"
    CHECK = "check"
    CHECK_RULE = "check-rule"
    CHECK_RULES = "check-rules"
    EXTRACT = "extract"
    DIFF = "diff"
    DOCTOR = "doctor"
    SOC = "soc"


Name = Annotated[Command, typer.Argument(metavar="COMMAND", show_default=False)]


def schema(command: Name) -> None:
    """Print the JSON Schema of a command's answer."""
    from cannkit.cli.driver import say
    from cannkit.report.ae_call import AeCallDocument
    from cannkit.report.ae_logic import LogicListDocument
    from cannkit.report.base import Document
    from cannkit.report.check import CheckDocument, RuleDocument, RuleListDocument
    from cannkit.report.diff import DiffDocument
    from cannkit.report.doctor import DoctorDocument
    from cannkit.report.extract import ExtractDocument
    from cannkit.report.json import schema_json
    from cannkit.report.launch import LaunchDocument
    from cannkit.report.launch_op import LaunchOpDocument
    from cannkit.report.load import LoadDocument
    from cannkit.report.lookup import LookupDocument
    from cannkit.report.operators import OperatorDocument, OperatorsDocument
    from cannkit.report.parse import ParseDocument
    from cannkit.report.register import RegisterDocument
    from cannkit.report.so_path import SoPathDocument
    from cannkit.report.soc import SocDocument
    from cannkit.report.sqe import SqeDocument

    documents: dict[Command, type[Document]] = {
        Command.PARSE: ParseDocument,
        Command.REGISTER: RegisterDocument,
        Command.LOOKUP: LookupDocument,
        Command.LOAD: LoadDocument,
        Command.LAUNCH: LaunchDocument,
        Command.LAUNCH_OP: LaunchOpDocument,
        Command.OPERATORS: OperatorsDocument,
        Command.OPERATOR: OperatorDocument,
        Command.SQE: SqeDocument,
        Command.SO_PATH: SoPathDocument,
        Command.AE_CALL: AeCallDocument,
        Command.AE_CALL_LOGIC: LogicListDocument,
        Command.CHECK: CheckDocument,
        Command.CHECK_RULE: RuleDocument,
        Command.CHECK_RULES: RuleListDocument,
        Command.EXTRACT: ExtractDocument,
        Command.DIFF: DiffDocument,
        Command.DOCTOR: DoctorDocument,
        Command.SOC: SocDocument,
    }
    say(schema_json(documents[command]))
