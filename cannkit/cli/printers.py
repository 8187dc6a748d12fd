"""How documents leave: as one JSON document, or as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from cannkit.cli.driver import print_error, print_warnings, write_bytes
from cannkit.cli.progress import ProgressBar, is_watched

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from cannkit.inputs.contents import Input, Unreadable
    from cannkit.inputs.paths import Source
    from cannkit.report.base import Document, ResultDocument


class Printer(Protocol):
    """Takes documents one by one; `many` says whether the answer is a list."""

    def start(self, *, many: bool) -> None:
        """Begin the answer."""

    def watch(self, inputs: Source) -> Iterator[Input | Unreadable]:
        """Hand on the inputs as they are taken."""

    def add(self, document: ResultDocument) -> None:
        """Print a document."""

    def finish(self) -> None:
        """End the answer."""


class JsonPrinter:
    """One document, or a list that is written as it is made: one line for each result."""

    def __init__(self, schema: str) -> None:
        self._schema = schema
        self._many = False
        self._separator = b"\n"

    def start(self, *, many: bool) -> None:
        """Open the list, if there is one."""
        self._many = many
        if many:
            write_bytes(b'{"schema": "%s", "results": [' % self._schema.encode())

    def watch(self, inputs: Source) -> Iterator[Input | Unreadable]:
        """The inputs; JSON comes without a progress bar."""
        yield from inputs

    def add(self, document: Document) -> None:
        """Write a document."""
        from cannkit.report.json import document_json, entry_json

        if self._many:
            write_bytes(self._separator, entry_json(document))
            self._separator = b",\n"
        else:
            write_bytes(document_json(document))

    def finish(self) -> None:
        """Close the list, if there is one."""
        if self._many:
            write_bytes(b"\n]}\n")


class Listing(Protocol):
    """One line for each of many documents."""

    def heading(self) -> Text:
        """The names of the columns."""

    def line(self, document: Any) -> Text:
        """One document, counted."""

    def totals(self) -> Text:
        """What was counted."""


class TextPrinter:
    """Text for people: one document in full; of many a line each, where there is a listing."""

    def __init__(
        self, color: str, *, listing: Listing | None = None, raw: bool = False, quiet: bool = False
    ) -> None:
        from cannkit.render.console import make_console

        self._console = make_console(color)
        self._listing = listing
        self._raw = raw
        self._quiet = quiet
        self._many = False
        self._first = True

    def start(self, *, many: bool) -> None:
        """Print the heading of a list, if there is one."""
        self._many = many
        if many and self._listing:
            self._line(self._listing.heading())

    def watch(self, inputs: Source) -> Iterator[Input | Unreadable]:
        """The inputs, under a progress bar when they take their time and somebody watches."""
        if self._many and is_watched(quiet=self._quiet):
            yield from _with_progress(inputs, self._console)
        else:
            yield from inputs

    def add(self, document: ResultDocument) -> None:
        """Print a document: the answer to stdout, warnings and the error to stderr."""
        from cannkit.render.console import write
        from cannkit.render.text import as_text

        if self._many and self._listing:
            self._line(self._listing.line(document))
        elif document.has_content:
            if not self._first:
                write(self._console, "")
            write(self._console, as_text(document, self._console, raw=self._raw))
            self._first = False
        place = f"{document.place}: " if self._many else ""
        if not self._quiet:
            print_warnings(place, document.remarks)
        if document.problem is not None:
            print_error(document.problem)

    def finish(self) -> None:
        """Print the totals of a list."""
        if self._many and self._listing:
            self._line(self._listing.totals())

    def _line(self, text: Text) -> None:
        from cannkit.render.console import write_line

        write_line(self._console, text)


def print_document(document: Document, *, json: bool, color: str, raw: bool = False) -> None:
    """Print the one document of a command, its errors for files on stderr; `raw` shows bytes, too."""
    if json:
        printer = JsonPrinter(document.SCHEMA)
        printer.start(many=False)
        printer.add(document)
        return
    from cannkit.render.console import make_console, write
    from cannkit.render.text import as_text

    console = make_console(color)
    write(console, as_text(document, console, raw=raw))
    for failed in getattr(document, "errors", ()):
        print_error(failed.error)


def _with_progress(inputs: Source, stdout: Console) -> Iterator[Input | Unreadable]:
    with ProgressBar("Reading", lambda: inputs.total, stdout) as bar:
        for number, item in enumerate(inputs):
            bar.reach(number)
            yield item
