"""The one loop over inputs, the one `except CannkitError`, and the way out of the process."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, NoReturn

import typer
import typer.main

from cannkit.errors import (
    DEBUG_VAR,
    CannkitError,
    ExitCode,
    OutputError,
    UsageError,
    unexpected,
    worst,
)

if TYPE_CHECKING:
    from cannkit.cli.printers import Printer
    from cannkit.errors import ReadWarning
    from cannkit.inputs.contents import Input, Unreadable
    from cannkit.inputs.paths import Source
    from cannkit.report.base import ErrorEntry, ResultDocument, WarningEntry

PROG = "cannkit"
COMPLETE_VAR = "_CANNKIT_COMPLETE"

# typer 0.28 carries its own click, older ones import it: this is UsageError of either.
ClickUsageError: type[Exception] = typer.BadParameter.__bases__[0]


class StoppedError(CannkitError):
    """Somebody pressed Ctrl-C."""

    exit_code: ClassVar[ExitCode] = ExitCode.INTERRUPTED
    kind: ClassVar[str] = "interrupted"


class Answer:
    """Whether JSON was written to stdout: there is one document. Changes."""

    begun: ClassVar[bool] = False


def answer(
    inputs: Source,
    one: Callable[[Input], ResultDocument],
    failed: Callable[[Input | Unreadable, CannkitError], ResultDocument],
    printer: Printer,
    after: Sequence[Callable[[], ResultDocument]] = (),
) -> ExitCode:
    """Print the document of each input as soon as it is made; the worst of their exit codes.

    The steps `after` the inputs make documents too.
    """
    from cannkit.inputs.contents import Unreadable

    codes = []
    many = inputs.plural or bool(after)
    printer.start(many=many)
    # a file that becomes an archive meanwhile must not give a second document
    for item in islice(printer.watch(inputs), None if many else 1):
        try:
            if isinstance(item, Unreadable):
                raise item.error
            document = one(item)
            code = document.exit_code
        except CannkitError as error:
            debug(error)
            document, code = failed(item, error), error.exit_code
        except Exception as error:  # a bug of ours in one input must not hide the others
            debug(error)
            wrong = unexpected(error)
            document, code = failed(item, wrong), wrong.exit_code
        codes.append(code)
        printer.add(document)
    for step in after:
        document = step()
        codes.append(document.exit_code)
        printer.add(document)
    printer.finish()
    return worst(codes)


def collect(
    inputs: Source, one: Callable[[Input], bool]
) -> list[tuple[Input | Unreadable, CannkitError]]:
    """Do something with each input until it says that it has enough; the errors on the way."""
    from cannkit.inputs.contents import Unreadable

    errors: list[tuple[Input | Unreadable, CannkitError]] = []
    for item in inputs:
        try:
            if isinstance(item, Unreadable):
                raise item.error
            if one(item):
                break
        except CannkitError as error:
            debug(error)
            errors.append((item, error))
        except Exception as error:  # a bug of ours in one input must not hide the others
            debug(error)
            errors.append((item, unexpected(error)))
    return errors


def say(text: str) -> None:
    """Write text that a command made by itself to stdout."""
    sys.stdout.write(text)


def write_bytes(*parts: bytes) -> None:
    """Write JSON to stdout: UTF-8 whatever the locale.

    A terminal gets what is not ASCII escaped, for it could act on some of it.
    """
    Answer.begun = True
    sys.stdout.flush()
    for part in parts:
        if sys.stdout.isatty():
            text = part.decode("utf-8")
            part = "".join(c if c < "\x7f" else json_escape(c) for c in text).encode()
        sys.stdout.buffer.write(part)


def json_escape(character: str) -> str:
    r"""A character as JSON escapes it: `\u4e2d`, two of them beyond 16 bits."""
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def run(app: typer.Typer, args: list[str]) -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:  # closed before the process began
        print(f"{PROG}: error: cannot write the output: it is closed", file=sys.stderr)
        sys.exit(OutputError.exit_code)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name must not fail for its letters
    try:
        code = _run(app, args)
        _end_answer()
    except BrokenPipeError:  # whoever read stdout is gone
        code = ExitCode.PIPE_CLOSED
        _silence_stdout()
    except OSError as error:
        code = OutputError.exit_code
        _silence_stdout()
        print_error(OutputError("cannot write the output", why=error.strerror or ""))
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
        try:
            if "--json" in args and not Answer.begun:
                _tell(StoppedError("interrupted"), args, _commands(app))
            _end_answer()
        except (OSError, KeyboardInterrupt):
            _silence_stdout()
    sys.exit(code)


def _end_answer() -> None:
    """What threads and exit handlers of a host model still print is no part of the answer."""
    sys.stdout.flush()
    with suppress(OSError, ValueError):
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


def _silence_stdout() -> None:
    """Nothing more can be written: not at exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _commands(app: typer.Typer) -> Container[str]:
    """The names of all commands."""
    names: Container[str] = getattr(typer.main.get_command(app), "commands", ())
    return names


def _run(app: typer.Typer, args: list[str]) -> int:
    command = typer.main.get_command(app)
    names = getattr(command, "commands", ())
    if COMPLETE_VAR in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
        try:
            command.main(args, prog_name=PROG, complete_var=COMPLETE_VAR)
        except KeyError as error:  # the shell's own variables: nobody pressed a key
            return _tell(
                UsageError("not called by a shell", why=f"{error} is not set"), args, names
            )
    try:
        with command.make_context(PROG, list(args) or ["--help"]) as context:
            return int(command.invoke(context) or 0)
    except typer.Exit as stop:
        return stop.exit_code
    except ClickUsageError as error:
        return _tell(_usage(error), args, names)
    except CannkitError as error:
        return _tell(error, args, names)
    except (OSError, typer.Abort):
        raise
    except Exception as error:
        return _tell(unexpected(error), args, names)


def debug(error: BaseException) -> None:
    """Show the traceback of an error to whoever asked for it."""
    if os.environ.get(DEBUG_VAR) == "1":
        import traceback

        from cannkit.report.base import printable, safe

        for line in "".join(traceback.format_exception(error)).splitlines():
            print(safe(printable(line)), file=sys.stderr)


def _tell(error: CannkitError, args: list[str], commands: Container[str]) -> int:
    """Print an error that ends the command: one line, and one document where JSON was asked for."""
    from cannkit.report.base import ErrorEntry

    debug(error)
    entry = ErrorEntry.of(error)
    print_error(entry)
    if "--json" in args:
        import json
        from dataclasses import asdict

        named = next((arg for arg in args if not arg.startswith("-")), "")
        command = named if named in commands else "error"
        document = {"schema": f"cannkit.{command}/1", "error": asdict(entry)}
        text = json.dumps(document, indent=2, ensure_ascii=False)
        write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")
    return error.exit_code


def print_error(error: CannkitError | ErrorEntry) -> None:
    """One line on stderr, and the hint on another."""
    print_line(f"error: {error}")
    if error.hint:
        print_line(error.hint, "hint")


def print_warnings(place: str, warnings: Iterable[ReadWarning | WarningEntry]) -> None:
    """A line on stderr for each remark about a file."""
    for warning in warnings:
        print_line(f"warning: {place}{warning.where}: {warning.message} [{warning.code}]")


def print_line(text: str, who: str = PROG) -> None:
    """A line about the run on stderr, safe for a terminal."""
    from cannkit.report.base import printable, safe

    sys.stdout.flush()  # so that a terminal shows both streams in order
    print(f"{who}: {safe(printable(text))}", file=sys.stderr)


def _usage(error: Exception) -> UsageError:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else PROG
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    line = " ".join(message.split()).rstrip(".")
    return UsageError(line, hint=f"`{command} --help` shows the options")
