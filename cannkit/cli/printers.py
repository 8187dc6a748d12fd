"""How documents leave: as one JSON document, or as text for people."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from cannkit.cli.driver import print_error, print_line, write_bytes

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from cannkit.inputs.contents import Input, Unreadable
    from cannkit.inputs.paths import Inputs
    from cannkit.report.base import Document

PROGRESS_AFTER = 1.0  # seconds


class Printer(Protocol):
    """Takes documents one by one; `many` says whether the answer is a list."""

    def start(self, *, many: bool) -> None:
        """Begin the answer."""

    def watch(self, inputs: Inputs) -> Iterator[Input | Unreadable]:
        """Hand on the inputs as they are taken."""

    def add(self, document: Document) -> None:
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

    def watch(self, inputs: Inputs) -> Iterator[Input | Unreadable]:
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


class ParseText:
    """`cannkit parse` for people: one object in full, many in a line each unless `full`."""

    def __init__(self, color: str, *, full: bool, raw: bool, quiet: bool) -> None:
        from cannkit.render.console import make_console
        from cannkit.render.listing import ParseListing

        if full:  # importing a module of render registers its documents with as_text
            import cannkit.render.parse_details
        else:
            import cannkit.render.parse  # noqa: F401

        self._console = make_console(color)
        self._full = full
        self._raw = raw
        self._quiet = quiet
        self._many = False
        self._listing = ParseListing()

    def start(self, *, many: bool) -> None:
        """Print the heading of a list, if there is one."""
        self._many = many
        if self._lists:
            self._line(self._listing.heading())

    @property
    def _lists(self) -> bool:
        return self._many and not self._full

    def watch(self, inputs: Inputs) -> Iterator[Input | Unreadable]:
        """The inputs, under a progress bar when they take their time and somebody watches."""
        if self._quiet or not self._many or not sys.stderr.isatty():
            yield from inputs
        else:
            yield from _with_progress(inputs, self._console)

    def add(self, document: Document) -> None:
        """Print a document: the answer to stdout, warnings and the error to stderr."""
        from cannkit.render.console import write
        from cannkit.render.text import as_text
        from cannkit.report.parse import ParseDocument

        assert isinstance(document, ParseDocument)
        line = self._listing.line(document)
        if self._lists:
            self._line(line)
        elif document.elf is not None:
            write(self._console, as_text(document, self._console, raw=self._raw))
        place = f"{document.place}: " if self._many else ""
        if not self._quiet:
            for warning in document.warnings:
                print_line(f"warning: {place}{warning.where}: {warning.message} [{warning.code}]")
        if document.error is not None:
            print_error(document.error)

    def finish(self) -> None:
        """Print the totals of a list."""
        if self._many:
            self._line(self._listing.totals())

    def _line(self, text: Text) -> None:
        from cannkit.render.console import write_line

        write_line(self._console, text)


def _with_progress(inputs: Inputs, stdout: Console) -> Iterator[Input | Unreadable]:
    """A bar on stderr from the second second on; above it go the lines of a terminal's stdout."""
    from cannkit.render.console import make_console

    begin, bar = time.monotonic(), None
    try:
        for item in inputs:
            if bar is None and time.monotonic() - begin > PROGRESS_AFTER:
                from rich.progress import Progress

                console = stdout if stdout.is_terminal else make_console(file=sys.stderr)
                bar = Progress(console=console, transient=True)
                bar.start()
                task = bar.add_task("Reading", total=inputs.total)
            if bar is not None:
                bar.advance(task)
            yield item
    finally:
        if bar is not None:
            bar.stop()
