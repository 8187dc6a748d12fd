"""cannkit check."""

from __future__ import annotations

import os
from contextlib import ExitStack
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cannkit.cli.options import Color, ColorWhen, Json, Quiet, Verbose, complete_soc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cannkit.check.config import Config
    from cannkit.check.finding import Rule
    from cannkit.check.run import CheckOptions, CheckResult
    from cannkit.report.base import Document
    from cannkit.report.check import CheckDocument


class Format(StrEnum):
    """Values of --format."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"
    JUNIT = "junit"


class FailOn(StrEnum):
    """Values of --fail-on."""

    ERROR = "error"
    WARNING = "warning"
    NEVER = "never"


def complete_code(incomplete: str) -> list[str]:
    """Codes of rules."""
    return [code for code in _rules() if code.startswith(incomplete.upper())]


Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH...",
        help="Kernel objects, directories, packages, archives, wheels or host libraries; - is stdin.",
        show_default=False,
    ),
]
ListRules = Annotated[bool, typer.Option("--list", help="List the rules.")]
Explain = Annotated[
    str | None,
    typer.Option(
        "--explain",
        metavar="CODE",
        help="Tell why a rule matters and what to do.",
        autocompletion=complete_code,
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="CODES",
        help="Only these rules: codes or their beginnings, as K0,K302; repeatable.",
        autocompletion=complete_code,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="CODES",
        help="Not these rules; repeatable.",
        autocompletion=complete_code,
    ),
]
FailOnLevel = Annotated[
    FailOn | None,
    typer.Option(
        "--fail-on", help="Exit 1 from this level on (default error).", show_default=False
    ),
]
FormatName = Annotated[
    Format | None,
    typer.Option("--format", help="How to tell it (default text).", show_default=False),
]
BaselineFile = Annotated[
    str | None,
    typer.Option("--baseline", metavar="FILE", help="Leave out the findings that FILE knows."),
]
WriteBaseline = Annotated[
    str | None,
    typer.Option(
        "--write-baseline",
        metavar="FILE",
        help="Write what is found to FILE, as known from now on.",
    ),
]
DeviceGlibc = Annotated[
    str | None,
    typer.Option(
        "--device-glibc",
        metavar="VERSION",
        help="glibc of the device, as 2.28, for AI CPU libraries.",
    ),
]
FolderSoc = Annotated[
    str | None,
    typer.Option(
        "--soc",
        metavar="NAME",
        envvar="CANNKIT_SOC",
        help="SoC version or family that all must suit (default: that of the folder).",
        autocompletion=complete_soc,
        show_default=False,
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "-j", "--jobs", metavar="N", min=0, max=256, help="Processes; 0: one for each core."
    ),
]


def check(
    paths: Paths = None,
    list_: ListRules = False,
    explain: Explain = None,
    select: Select = None,
    ignore: Ignore = None,
    fail_on: FailOnLevel = None,
    format_: FormatName = None,
    baseline: BaselineFile = None,
    write_baseline: WriteBaseline = None,
    device_glibc: DeviceGlibc = None,
    soc: FolderSoc = None,
    jobs: Jobs = 1,
    json: Json = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Find what is wrong with kernel objects and packages, for CI.

    Settings stand in [tool.cannkit.check] of pyproject.toml, or in cannkit.toml.
    """
    from cannkit.check.baseline import baseline_json, read_baseline
    from cannkit.check.config import select_rules
    from cannkit.check.finding import Level
    from cannkit.check.run import CheckOptions
    from cannkit.cli.driver import debug, print_line
    from cannkit.cli.output import check_outputs, write_file
    from cannkit.errors import ExitCode, UsageError, worst
    from cannkit.report.check import CheckDocument

    if json and format_ not in (None, Format.JSON):
        raise UsageError(f"--json and --format {format_} exclude each other")
    form = Format.JSON if json else format_ or Format.TEXT
    if list_ or explain is not None:
        _print_rules(None if list_ else explain, form, color)
        return ExitCode.OK
    if not paths:
        raise UsageError("PATH is missing", hint="`cannkit check --list` lists the rules")
    if baseline is not None and write_baseline is not None:
        raise UsageError("--baseline and --write-baseline exclude each other")
    config = _config(paths)
    if verbose and config.file is not None:
        print_line(f"settings: {config.file}")
    selection = select_rules(config, _rules(), select=select or (), ignore=ignore or ())
    options = CheckOptions.of(soc or config.soc, device_glibc or config.device_glibc)
    known = None if baseline is None else read_baseline(baseline)
    if write_baseline is not None:
        check_outputs({"--write-baseline": write_baseline}, paths)
        _check_replaceable(write_baseline)
    result = _run(paths, options, jobs, quiet=quiet)
    findings, count = [each for each in result.findings if selection.takes(each)], 0
    if write_baseline is not None:
        write_file(write_baseline, baseline_json(findings, write_baseline))
        findings, count = [], len(findings)
    elif known is not None:
        findings, count = known.split(findings)
    word = fail_on or config.fail_on or FailOn.ERROR
    document = CheckDocument.of(
        findings,
        files=result.objects + result.libraries,
        matrix=result.matrix,
        failures=result.failures,
        baseline=count,
        fail_on=None if word == FailOn.NEVER else Level[word.upper()],
    )
    for failure in result.failures:
        debug(failure.error)
    _print(document, form, color, raw=verbose)
    return worst((document.exit_code, *(each.error.exit_code for each in result.failures)))


def _rules() -> Mapping[str, Rule]:
    """Every rule by its code."""
    import cannkit.check.run  # noqa: F401  (the rules stand in what it imports)
    from cannkit.check.finding import RULES

    return RULES


def _print_rules(code: str | None, form: Format, color: ColorWhen) -> None:
    """One rule, or all of them."""
    from cannkit.check.finding import find_rule
    from cannkit.cli.printers import print_document
    from cannkit.errors import UsageError
    from cannkit.report.check import RuleDocument, RuleListDocument

    if form not in (Format.TEXT, Format.JSON):
        raise UsageError(f"--format {form}: rules are told as text or json")
    rules = _rules()
    document: Document = (
        RuleListDocument.of(rules.values()) if code is None else RuleDocument.of(find_rule(code))
    )
    if form is Format.TEXT:
        import cannkit.render.check  # noqa: F401  (it registers with as_text)
    print_document(document, json=form is Format.JSON, color=color)


def _config(paths: Sequence[str]) -> Config:
    """The settings of the nearest folder above all paths."""
    from cannkit.check.config import find_config

    if len(paths) == 1:
        return find_config(paths[0], _rules())
    common = os.path.commonpath([os.path.abspath("" if path == "-" else path) for path in paths])
    is_absolute = all(map(os.path.isabs, paths))
    return find_config(common if is_absolute else os.path.relpath(common), _rules())


def _check_replaceable(file: str) -> None:
    """Only a baseline is written over."""
    from cannkit.check.baseline import read_baseline
    from cannkit.errors import InputError, UsageError
    from cannkit.inputs.files import NoSuchFileError

    try:
        read_baseline(file)
    except NoSuchFileError:
        return
    except InputError as error:
        why = f"it is there and no baseline: {error.why}"
        raise UsageError(f"--write-baseline {file}", why=why) from error


def _run(paths: Sequence[str], options: CheckOptions, jobs: int, *, quiet: bool) -> CheckResult:
    """The run, in this process or in some, under a progress bar."""
    from cannkit.check.run import check_paths
    from cannkit.cli.progress import ProgressBar, is_watched
    from cannkit.cli.workers import worker_pool
    from cannkit.inputs.paths import open_inputs

    with ExitStack() as stack:
        executor = None if jobs == 1 else stack.enter_context(worker_pool(jobs))
        if not is_watched(quiet=quiet):
            return check_paths(paths, options, executor=executor)
        bar = stack.enter_context(ProgressBar("Checking", lambda: open_inputs(paths).total))
        return check_paths(paths, options, executor=executor, watch=bar.reach)


def _print(document: CheckDocument, form: Format, color: ColorWhen, *, raw: bool) -> None:
    from cannkit.cli.driver import print_error, say
    from cannkit.cli.printers import print_document

    if form is Format.JSON:
        print_document(document, json=True, color=color)
        return
    if form is Format.TEXT:
        import cannkit.render.check  # noqa: F401  (it registers with as_text)

        print_document(document, json=False, color=color, raw=raw)
        return
    say(_text_of(document, form))
    for failed in document.errors:
        print_error(failed.error)


def _text_of(document: CheckDocument, form: Format) -> str:
    """The document for other programs."""
    if form is Format.GITHUB:
        from cannkit.render.github import github_text

        return github_text(document)
    if form is Format.SARIF:
        from cannkit.render.sarif import sarif_text

        return sarif_text(document)
    from cannkit.render.junit import junit_text

    return junit_text(document)
