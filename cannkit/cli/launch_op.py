"""`cannkit launch --op`: an operator of an AI CPU package is found, its call prepared, made and told of. cli.md, section 6."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cannkit.cli.op_arg_spec import parse_op_spec
from cannkit.cli.op_request import (
    OpRequest,
    library_of,
    machine_of,
    package_of,
    prepared,
    registered,
    runner_entry,
    session_of,
)
from cannkit.errors import CannkitError, ExitCode, ReadWarning, UsageError

if TYPE_CHECKING:
    from cannkit.ops.call import Prepared
    from cannkit.ops.describe import Package
    from cannkit.ops.description import Description
    from cannkit.ops.result import OpResult
    from cannkit.ops.session import OpSession
    from cannkit.report.launch import LaunchDocument
    from cannkit.report.launch_op import LaunchOpDocument, RepeatEntry


def run_operators(request: OpRequest) -> int:
    """List, describe or run operators. Raises CannkitError for what is wrong before a call."""
    from cannkit.cli.stopping import stopped_by_signals

    wanted = [
        name
        for name, is_there in (
            ("--op", request.op is not None and request.cases is None),
            ("--list-ops", request.list_ops),
            ("--describe", request.describe is not None),
            ("--cases", request.cases is not None),
        )
        if is_there
    ]
    if len(wanted) != 1:
        raise UsageError(f"ask for one of {' and '.join(wanted)}")
    with stopped_by_signals():
        package = package_of(request)
        if request.list_ops:
            return _list(package, request)
        if request.describe is not None:
            return _describe(package, request, request.describe)
        if request.cases is not None:
            from cannkit.cli.op_cases import run_cases

            return run_cases(package, request)
        return _one(package, request)


def _registered_or_told(
    package: Package, request: OpRequest, *, else_known: bool
) -> frozenset[str] | None:
    """The kernels of the library, or a line why nobody knows them; raises where nothing `else` is known."""
    from cannkit.cli.driver import print_line

    try:
        return registered(package, request)
    except CannkitError as error:
        if not else_known:
            raise
        if not request.quiet:
            print_line(f"warning: the library was not asked for its kernels: {error}")
        return None


def _list(package: Package, request: OpRequest) -> int:
    import cannkit.render.operators  # noqa: F401  (it registers with as_text)
    from cannkit.cli.driver import print_warnings
    from cannkit.cli.printers import print_document
    from cannkit.report.operators import OperatorsDocument

    known = _registered_or_told(package, request, else_known=bool(package.ops))
    document = OperatorsDocument.of(request.file, package, (), known)
    print_document(document, json=request.json, color=request.color, raw=request.verbose)
    if not request.quiet and not request.json:
        print_warnings("", document.warnings)
    return document.exit_code


def _describe(package: Package, request: OpRequest, name: str) -> int:
    import cannkit.render.operators  # noqa: F401  (it registers with as_text)
    from cannkit.cli.printers import print_document
    from cannkit.report.operators import OperatorDocument

    is_known = bool(package.ops) or package.prototype_of(name) is not None
    known = _registered_or_told(package, request, else_known=is_known)
    document = OperatorDocument.of(package, package.describe(name, known))
    print_document(document, json=request.json, color=request.color, raw=request.verbose)
    return document.exit_code


def _one(package: Package, request: OpRequest) -> int:
    """One operator, once or several times."""
    from cannkit.cli.driver import debug, print_error
    from cannkit.report.launch_op import LaunchOpDocument

    try:
        document, code = _called(package, request)
    except CannkitError as error:
        if not request.json:
            raise
        debug(error)
        document = LaunchOpDocument.failed(request.op, package.library, error)
        code = error.exit_code
    _print(document, request)
    if document.error is not None:
        print_error(document.error)
    return code


def _called(package: Package, request: OpRequest) -> tuple[LaunchOpDocument, ExitCode]:
    from cannkit.cli.op_outputs import OutputFiles
    from cannkit.report.launch_op import LaunchOpDocument, Ran

    library = library_of(package, request)
    arch = machine_of(library)
    spelled = [parse_op_spec(text) for text in request.args]
    files = OutputFiles.of(spelled, [library, *filter(None, (package.json,))])
    description, call = prepared(package, request, spelled)
    session = session_of(library, request)
    repeat = trace = None
    if request.trace:
        result, trace = _traced(package, description, call, session, request)
    else:
        result, repeat = _repeated(session, call, request.repeat)
    ran = Ran(
        library,
        arch,
        runner_entry(arch, emulated=result.emulated),
        files.names,
        request.verbose,
        repeat,
        trace,
        request.strict is True,
        findings=() if package.json or request.args_hex else (_not_described(library),),
    )
    document = LaunchOpDocument.of(result, ran)
    if document.error is None:
        files.write(result.outputs)
    return document, document.exit_code


def _not_described(library: str) -> ReadWarning:
    return ReadWarning("not-described", library, "no JSON beside it tells what the operator takes")


def _traced(
    package: Package,
    description: Description,
    call: Prepared,
    session: OpSession,
    request: OpRequest,
) -> tuple[OpResult, LaunchDocument]:
    """The same call through the simulated runtime, device and engine; for people its story on stderr.

    Raises CannotRunError where it was not called in the end.
    """
    from cannkit.api.op_trace import trace_call
    from cannkit.cli.launch_print import print_trace
    from cannkit.ops.errors import CannotRunError
    from cannkit.report.op_trace import trace_document

    story = trace_call(package, description, call, session)
    document = trace_document(story, len(call.calls))
    if not request.json:
        print_trace(story, document, call, request)
    if story.result is None:
        why = story.run.text if story.run else str(story.error or "")
        raise CannotRunError("the engine called nothing", where=story.so_path, why=why)
    return story.result, document


def _repeated(
    session: OpSession, call: Prepared, count: int
) -> tuple[OpResult, RepeatEntry | None]:
    """The last of `count` calls in one process, and whether all left the same (Q-24)."""
    from cannkit.report.launch_op import RepeatEntry

    if count == 1:
        return session.run(call), None
    first: list[str] = []
    differing: set[int] = set()
    runs = 0
    for result in _until_failed(session.run_many([call] * count)):
        runs += 1
        marks = list(_marks(result))
        first = first or marks
        differing |= {index for index, mark in enumerate(marks) if mark != first[index]}
    return result, RepeatEntry(runs, not differing, tuple(sorted(differing)))


def _until_failed(results: Iterator[OpResult]) -> Iterator[OpResult]:
    for result in results:
        yield result
        if not result.is_good:
            return


def _marks(result: OpResult) -> Iterator[str]:
    """What is to be equal of outputs: their shapes and the bytes that these take."""
    import hashlib

    for output in result.outputs:
        yield f"{output.shape} {hashlib.sha256(output.filled).hexdigest()}"


def _print(document: LaunchOpDocument, request: OpRequest) -> None:
    from cannkit.cli.printers import print_document

    if not request.json:
        import cannkit.render.launch_op  # noqa: F401  (it registers with as_text)
    print_document(document, json=request.json, color=request.color, raw=request.verbose)
