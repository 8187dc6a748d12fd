"""`cannkit launch --cases`: a call on each line of a file, a line of JSON out for each. cli.md, section 6."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from cannkit.cli.op_case import (
    FORM,
    LONGEST_LINE,
    attrs_of,
    id_of,
    options_of,
    read_case,
    spelled_args,
)
from cannkit.cli.op_outputs import OutputFiles
from cannkit.cli.op_request import (
    OpRequest,
    attr_of_text,
    call_options,
    described,
    library_of,
    machine_of,
    runner_entry,
    session_of,
)
from cannkit.errors import (
    CannkitError,
    ExitCode,
    InputError,
    ReadWarning,
    UsageError,
    brief,
    unexpected,
    worst,
)

if TYPE_CHECKING:
    from cannkit.ops.call import Prepared
    from cannkit.ops.describe import Package
    from cannkit.ops.description import Description
    from cannkit.ops.result import OpResult
    from cannkit.report.launch_op import LaunchOpDocument, RunnerEntry

CHUNK: Final = 1 << 20
MOST_DESCRIBED: Final = 4096  # descriptions that are kept


class Case(NamedTuple):
    """A line, and what it came to so far: a call that is being made, or an error."""

    line: int
    id: str | None
    op: str | None
    files: OutputFiles
    error: CannkitError | None
    findings: tuple[ReadWarning, ...] = ()


class Described(NamedTuple):
    """What an operator takes, and what is odd about its name."""

    description: Description
    findings: tuple[ReadWarning, ...] = ()


class CaseMaker:
    """Makes calls of lines. Changes: what an operator takes is found out once."""

    def __init__(self, package: Package, request: OpRequest, library: str) -> None:
        self._package = package
        self._request = request
        self._library = library
        self._options = call_options(request)
        self._described: dict[str, Described | CannkitError] = {}

    def make(self, raw: bytes | None, line: int) -> tuple[Case, Prepared | None]:
        """The call of a line, or a case with an error; it raises none."""
        name = op = None
        try:
            found = read_case(raw)
            name = id_of(found)
            op = found.get("op", self._request.op)
            if not isinstance(op, str):
                op = None
                raise UsageError("the case names no operator", hint=FORM)
            description, findings = self._description(op)
            call, files = self._prepared(description, found)
        except CannkitError as error:
            return Case(line, name, op, OutputFiles(()), error), None
        except (RecursionError, MemoryError, ValueError, TypeError, OverflowError) as error:
            wrong = UsageError("the case is no call", why=brief(str(error)))
            if isinstance(error, MemoryError):
                return Case(line, name, op, OutputFiles(()), unexpected(error)), None
            return Case(line, name, op, OutputFiles(()), wrong), None
        return Case(line, name, op, files, None, findings), call

    def _prepared(
        self, description: Description, case: Mapping[str, Any]
    ) -> tuple[Prepared, OutputFiles]:
        from cannkit.ops.call import prepare

        spelled = list(spelled_args(case))
        attrs = dict(attrs_of(case.get("attrs") or {}, description))
        for text in self._request.attrs:
            attrs |= dict([attr_of_text(text, description)])
        options = options_of(case, self._options)
        call = prepare(description, [each.arg for each in spelled], attrs, options)
        return call, OutputFiles.of(spelled, [self._library])

    def _description(self, op: str) -> Described:
        """What an operator takes; of one that nobody knows the library says what it thinks of it."""
        from cannkit.ops.description import describe

        found = self._described.get(op)
        if found is None:
            try:
                found = Described(described(self._package, op, self._request))
            except UsageError as error:
                told = "; ".join(filter(None, (error.what, error.hint)))
                finding = ReadWarning("unknown-op", brief(op), told)
                found = Described(describe(op, None, None), (finding,))
            except CannkitError as error:
                found = error
            if len(self._described) < MOST_DESCRIBED:
                self._described[op] = found
        if isinstance(found, CannkitError):
            raise found
        return found


def run_cases(package: Package, request: OpRequest) -> int:
    """Run all cases; the worst of their exit codes. Raises CannkitError where nothing can be run."""
    from cannkit.cli.driver import debug, print_line, write_bytes
    from cannkit.report.json import line_json
    from cannkit.report.launch_op import LaunchOpDocument, Ran

    if request.args or request.args_hex is not None or request.repeat != 1 or request.trace:
        raise UsageError(
            "--cases says what to call: no --arg, --args-hex, --repeat or --trace beside it"
        )
    library = library_of(package, request)
    arch, maker, session = (
        machine_of(library),
        CaseMaker(package, request, library),
        session_of(library, request),
    )
    waiting: deque[Case] = deque()
    codes: list[ExitCode] = []
    runner: RunnerEntry | None = None

    def calls() -> Iterator[Prepared]:
        for number, raw in _lines(request.cases or "-"):
            case, call = maker.make(raw, number)
            waiting.append(case)
            if call is not None:
                yield call

    def tell(document: LaunchOpDocument, code: ExitCode) -> None:
        write_bytes(line_json(document))
        codes.append(code)

    def tell_errors() -> None:
        while waiting and waiting[0].error is not None:
            tell_error(waiting.popleft())

    def tell_error(case: Case) -> None:
        assert case.error is not None
        debug(case.error)
        document = LaunchOpDocument.failed(case.op, library, case.error, case.line, case.id)
        tell(document, case.error.exit_code)

    def tell_result(result: OpResult) -> None:
        case = waiting.popleft()
        nonlocal runner
        if runner is None:
            runner = runner_entry(arch, emulated=result.emulated)
        ran = Ran(
            library,
            arch,
            runner,
            case.files.names,
            request.verbose,
            strict=request.strict is True,
            case=case.line,
            id=case.id,
            findings=case.findings,
        )
        document = LaunchOpDocument.of(result, ran)
        if document.error is None:
            try:
                case.files.write(result.outputs)
            except CannkitError as error:
                tell_error(case._replace(error=error))
                return
        tell(document, document.exit_code)

    for result in session.run_many(calls()):
        tell_errors()
        tell_result(result)
    tell_errors()
    failed = len(codes) - codes.count(ExitCode.OK)
    if not request.quiet:
        cases = f"{len(codes):,} case{'' if len(codes) == 1 else 's'}"
        print_line(f"{cases}: {f'{failed:,} failed' if failed else 'all good'}")
    return worst_of(codes)


def worst_of(codes: list[ExitCode]) -> ExitCode:
    """The gravest; a case that makes no sense counts as malformed input."""
    return worst(ExitCode.INPUT if code is ExitCode.USAGE else code for code in codes)


def _lines(path: str) -> Iterator[tuple[int, bytes | None]]:
    """The lines of a file that are not empty, with their numbers; None for one that is too long."""
    if path == "-":
        if sys.stdin is None:
            raise InputError("cannot read stdin", why="it is closed")
        yield from _split(sys.stdin.buffer)
        return
    try:
        with open(path, "rb") as file:
            yield from _split(file)
    except OSError as error:
        from cannkit.inputs.files import reason

        raise InputError("cannot read the file", where=path, why=reason(error)) from error


def _split(file: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    number = 0
    while raw := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(raw) > LONGEST_LINE:
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(CHUNK)
            yield number, None
        elif raw.strip():
            yield number, raw
