"""cannkit sqe decode, cannkit sqe encode."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from cannkit.cli.driver import print_error, print_line, print_warnings, say, write_bytes
from cannkit.cli.options import Color, ColorWhen, Json, Quiet, complete_soc
from cannkit.soc import DEFAULT_SOC, find_soc

if TYPE_CHECKING:
    from cannkit.errors import CannkitError, ReadWarning
    from cannkit.format.sqe import Family
    from cannkit.format.sqe.dump import Dump
    from cannkit.report.sqe import SqeEntry

CHUNK = 1 << 20
HELD = 64  # entries that are kept for one indented document; more are written as they come
STDIN = "-"


class RecordName(StrEnum):
    """Values of --record."""

    KERNEL = "kernel"
    MIX = "mix"
    AICPU = "aicpu"
    HEADER = "header"
    CONTEXT = "context"


sqe = typer.Typer(
    name="sqe",
    help="Read and make the entries of hardware queues.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Pasted = Annotated[
    list[str],
    typer.Argument(
        metavar="HEX|@FILE|-",
        help="Bytes in hex, or the lines of a log; from a file, or from stdin.",
        show_default=False,
    ),
]
SocChoice = Annotated[
    str | None,
    typer.Option(
        "--soc",
        metavar="NAME",
        envvar="CANNKIT_SOC",
        help="SoC version or family whose entries they are.",
        autocompletion=complete_soc,
        show_default=False,
    ),
]
Record = Annotated[
    RecordName | None, typer.Option("--record", help="The layout; else what the fields tell.")
]
Type = Annotated[
    str | None,
    typer.Option("--type", metavar="TYPE", help="Type of the entry: a name or a number."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="FIELD=VALUE", help="A field by its name in Python or C; repeatable."
    ),
]
Base = Annotated[
    str | None,
    typer.Option("--base", metavar="HEX|@FILE|-", help="Bytes to begin with; all others stay."),
]


@sqe.command()
def decode(
    text: Pasted,
    soc: SocChoice = None,
    json: Json = False,
    quiet: Quiet = False,
    color: Color = ColorWhen.AUTO,
) -> int:
    """Show the fields of queue entries in pasted hex or in a log."""
    from cannkit.errors import CannkitError, ExitCode
    from cannkit.format.sqe.dump import DumpReader
    from cannkit.format.sqe.printed import lines_of
    from cannkit.report.sqe import SqeEntry

    reader, source = DumpReader(_family(soc)), _Source(text)
    answer = _Document() if json else _Text(color, quiet=quiet)
    failure = None
    try:
        for dump in reader.read(lines_of(source)):
            answer.add(SqeEntry.of_dump(dump))
    except CannkitError as error:  # what came before it is told
        failure = error
    if not answer.begun:
        raise failure or reader.nothing(source.place, source.hint)
    answer.finish(reader.warnings, failure)
    return failure.exit_code if failure else ExitCode.OK


@sqe.command()
def encode(
    soc: SocChoice = None,
    record: Record = None,
    kind: Type = None,
    settings: Settings = None,
    base: Base = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make the bytes of a queue entry from its fields."""
    from cannkit.errors import UsageError
    from cannkit.format.sqe.edit import make_sqe

    pairs = [] if kind is None else [("sqe_type", kind)]
    for text in settings or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text}: it takes FIELD=VALUE")
        pairs.append((name, value))
    begin = None if base is None else _base(base, soc, quiet=quiet)
    family = begin.family if begin else _family(soc or DEFAULT_SOC)
    if family is None:
        raise UsageError("--base does not tell its family", hint="--soc NAME does")
    made = make_sqe(family, pairs, record=record, base=begin and begin.raw)
    if json:
        from cannkit.report.sqe import SqeEntry

        answer = _Document()
        answer.add(SqeEntry.of(made))
        answer.finish((), None)
    else:
        say(f"{made.encode().hex()}\n")


def _family(soc: str | None) -> Family | None:
    from cannkit.format.sqe import family_of

    return None if soc is None else family_of(find_soc(soc))


def _base(text: str, soc: str | None, *, quiet: bool) -> Dump:
    """The one entry to begin with. Raises FormatError where there is none, or more than one."""
    from cannkit.errors import FormatError
    from cannkit.format.sqe.dump import DumpReader, Evidence
    from cannkit.format.sqe.printed import lines_of

    reader, source = DumpReader(_family(soc)), _Source([text])
    found = list(islice(reader.read(lines_of(source)), 2))
    if not found:
        raise reader.nothing(source.place, source.hint)
    if len(found) > 1:
        raise FormatError("--base takes one entry", where=source.place, why="there are more")
    if found[0].evidence is Evidence.BYTES and not quiet:
        print_line(
            f"--base is an entry of {found[0].family} by its bytes: --soc NAME makes it sure"
        )
    return found[0]


class _Source:
    """The text of an argument, of a file or of stdin, piece by piece. Raises InputError."""

    def __init__(self, words: list[str]) -> None:
        text = " ".join(words)
        self._path = text[1:] if len(words) == 1 and text.startswith("@") else None
        self._text = text
        self.place = self._path if self._path is not None else text if text == STDIN else "HEX"
        self.hint = (
            f"`@{text}` reads the file" if self.place == "HEX" and os.path.isfile(text) else None
        )

    def __iter__(self) -> Iterator[bytes]:
        """Its bytes."""
        from cannkit.inputs.files import open_window

        if self._path is not None:
            window = open_window(self._path)
            for at in range(0, len(window), CHUNK):
                yield bytes(window[at : at + CHUNK])
        elif self._text == STDIN:
            yield from _stdin()
        else:
            yield self._text.encode("utf-8", "surrogateescape")


def _stdin() -> Iterator[bytes]:
    """What arrives, as soon as it does."""
    from cannkit.errors import InputError
    from cannkit.inputs.files import reason

    if sys.stdin is None:  # closed before Python began
        raise InputError("cannot read the standard input", where=STDIN, why="it is closed")
    try:
        while part := os.read(sys.stdin.fileno(), CHUNK):
            yield part
    except (OSError, ValueError) as error:  # ValueError: closed
        why = reason(error)
        raise InputError("cannot read the standard input", where=STDIN, why=why) from error


class _Document:
    """JSON: one indented document, or where there are many entries a line each as they come."""

    def __init__(self) -> None:
        self._held: list[SqeEntry] = []
        self._written = False

    @property
    def begun(self) -> bool:
        """Whether there is an entry."""
        return self._written or bool(self._held)

    def add(self, entry: SqeEntry) -> None:
        """Keep an entry, or write it with those that were kept."""
        self._held.append(entry)
        if self._written or len(self._held) > HELD:
            self._write()

    def finish(self, warnings: Sequence[ReadWarning], failure: CannkitError | None) -> None:
        """Write the document, or the end of it."""
        from cannkit.report.json import document_json, entry_json
        from cannkit.report.sqe import SqeDocument

        if self._written:
            rest = SqeDocument.of((), warnings, failure)
            write_bytes(b"\n", entry_json(rest).removeprefix(b'{"sqes":['), b"\n")
        else:
            write_bytes(document_json(SqeDocument.of(self._held, warnings, failure)))

    def _write(self) -> None:
        from cannkit.report.json import entry_json
        from cannkit.report.sqe import SqeDocument

        for entry in self._held:
            head = b'{"schema": "%s", "sqes": [' % SqeDocument.SCHEMA.encode()
            write_bytes(b"," if self._written else head, b"\n", entry_json(entry))
            self._written = True
        self._held = []


class _Text:
    """Text for people: each entry as it comes, blank lines between."""

    def __init__(self, color: str, *, quiet: bool) -> None:
        from cannkit.render.console import make_console

        self._console = make_console(color)
        self._quiet = quiet
        self.begun = False

    def add(self, entry: SqeEntry) -> None:
        """Print an entry."""
        from cannkit.render.console import write
        from cannkit.render.sqe import entry_text

        if self.begun:
            write(self._console, "")
        write(self._console, entry_text(entry, self._console))
        self.begun = True

    def finish(self, warnings: Sequence[ReadWarning], failure: CannkitError | None) -> None:
        """Tell what is missing, and what ended the reading."""
        if not self._quiet:
            print_warnings("", warnings)
        if failure is not None:
            print_error(failure)
