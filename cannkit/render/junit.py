"""`cannkit check` as JUnit XML, which every CI service shows as tests (the only junitparser import)."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from junitparser import Failure, JUnitXml, TestCase, TestSuite

from cannkit.render.check import said, totals_text
from cannkit.report.base import safe
from cannkit.report.check import CheckDocument, FindingEntry

NAME: Final = "cannkit check"
DECLARATION: Final = '<?xml version="1.0" encoding="utf-8"?>'


def junit_text(document: CheckDocument) -> str:
    """A suite for each file, a test for each finding: it fails where the finding does.

    What is below the fail level passes and has its text as output. A suite of totals makes sure that
    there is one test at least.
    """
    titles = {rule.code: rule.title for rule in document.rules}
    report = JUnitXml(NAME)
    for file, findings in groupby(document.findings, lambda finding: finding.file):
        suite = TestSuite(safe(file))
        suite.add_testcases([_case(each, titles[each.code], document) for each in findings])
        report.append(suite)
    totals = TestCase("totals", NAME)
    totals.system_out = totals_text(document)
    suite = TestSuite(NAME)
    suite.add_testcase(totals)
    report.append(suite)
    report.update_statistics()
    text = bytes(report.tostring()).decode()
    return (
        f"{DECLARATION}\n{text[text.index('<testsuites') :]}\n"  # lxml, if there, writes one, too
    )


def _case(finding: FindingEntry, title: str, document: CheckDocument) -> TestCase:
    where = f" ({safe(finding.where)})" if finding.where else ""
    case = TestCase(f"{finding.code} {title}{where}", safe(finding.file))
    text = f"{finding.level}: {safe(said(finding))}\nfix: {finding.fix}"
    if document.fails(finding):
        failure = Failure(safe(finding.message), finding.level)
        failure.text = text
        case.result = [failure]
    else:
        case.system_out = text
    return case
