"""`cannkit check` as SARIF 2.1.0, which code scanning services take."""

from __future__ import annotations

import json
import posixpath
from typing import Any, Final
from urllib.parse import quote

import cannkit
from cannkit.check.baseline import digest_of, split_place
from cannkit.render.check import said
from cannkit.report.base import safe
from cannkit.report.check import CheckDocument, FindingEntry, RuleDocument

VERSION: Final = "2.1.0"
SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
FINGERPRINT: Final = "cannkitFinding/v1"
COLUMNS: Final = "unicodeCodePoints"


def sarif_text(document: CheckDocument) -> str:
    """One run: the rules that found something, and a result for each finding."""
    numbers = {rule.code: number for number, rule in enumerate(document.rules)}
    driver = {
        "name": "cannkit",
        "version": cannkit.__version__,
        "semanticVersion": cannkit.__version__,
        "rules": list(map(_rule, document.rules)),
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": COLUMNS,
        "results": [_result(finding, numbers) for finding in document.findings],
    }
    log = {"$schema": SCHEMA, "version": VERSION, "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def uri_of(file: str) -> str:
    """A path as a reference to a file: relative as it is, absolute with a scheme, percent-encoded."""
    path = quote(posixpath.normpath(file))
    return f"file:///{path.lstrip('/')}" if path.startswith("/") else path


def _rule(rule: RuleDocument) -> dict[str, Any]:
    spec = f"\n\nSpecification: {', '.join(rule.spec)}" if rule.spec else ""
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why}\n\nFix: {rule.fix}{spec}"},
        "defaultConfiguration": {"level": rule.level},
    }


def _result(finding: FindingEntry, numbers: dict[str, int]) -> dict[str, Any]:
    file, member = split_place(finding.file)
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": uri_of(file)}}}
    logical = [
        {"fullyQualifiedName": safe(name), "kind": kind}
        for name, kind in ((member, "member"), (finding.where, "element"))
        if name
    ]
    if logical:
        location["logicalLocations"] = logical
    return {
        "ruleId": finding.code,
        "ruleIndex": numbers[finding.code],
        "level": finding.level,
        "message": {"text": safe(f"{member}: {said(finding)}" if member else said(finding))},
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: _fingerprint(finding)},
    }


def _fingerprint(finding: FindingEntry) -> str:
    """What services know a finding again by, as a baseline does."""
    return digest_of(f"{finding.code}\0{finding.file}\0{finding.where or ''}", finding.message)
