"""Many objects, a line for each, then the totals."""

from __future__ import annotations

from typing import Final

import pytest

from cannkit.errors import CannkitError, InputError
from cannkit.image.reader import read_input
from cannkit.inputs.contents import Unreadable
from cannkit.inputs.paths import open_inputs
from cannkit.render.listing import ParseListing
from cannkit.report.parse import ParseDocument
from cannkit.soc import find_soc
from tests.build import OBJECTS
from tests.cli.inputs import CASES
from tests.facts import A2_SOC

STATES: Final = {
    "AddCustom.o": "accepts",
    "refused-ratio/input.o": "refuses",
    "truncated/input.o": "error",
    "wrong-magic/input.o": "error",
}


def documents(*paths: str) -> list[ParseDocument]:
    found = []
    for item in open_inputs(paths):
        try:
            if isinstance(item, Unreadable):
                raise item.error
            found.append(ParseDocument.of(read_input(item, find_soc(A2_SOC))))
        except CannkitError as error:
            found.append(ParseDocument.failed(item, error))
    return found


@pytest.mark.parametrize("path", STATES)
def test_state(path: str) -> None:
    """What the runtime says, in a word: its refusal is no error of ours."""
    folder = OBJECTS if path.startswith("Add") else CASES
    (document,) = documents(str(folder / path))
    words = ParseListing().line(document).plain.removesuffix(document.file).split()
    assert words[-1] == STATES[path]


def test_printf_loads_from_data_only() -> None:
    """JSN-05."""
    (document,) = documents(str(next(OBJECTS.glob("BoundsCheck*.o"))))
    assert " data only " in ParseListing().line(document).plain


def test_columns_stand_below_their_names() -> None:
    listing = ParseListing()
    heading = listing.heading().plain
    at = heading.index("FILE")
    for document in documents(str(OBJECTS)):
        line = listing.line(document).plain
        assert line[at:] == document.place
        assert line[at - 2 : at].isspace()
        assert line[: heading.index("KERNELS") + 7].split()[-1] == str(len(document.kernels))


def test_totals() -> None:
    listing = ParseListing()
    found = documents(str(OBJECTS), str(CASES / "refused-ratio"), str(CASES / "nothing.o"))
    for document in found:
        listing.line(document)
    totals = listing.totals().plain
    kernels = sum(len(document.kernels) for document in found)
    assert totals.startswith(f"{len(found)} objects, {kernels} kernels: ")
    assert totals.endswith("; 1 data only, 1 refuses, 1 error")


def test_totals_of_one() -> None:
    listing = ParseListing()
    listing.line(documents(str(OBJECTS / "AddCustom.o"))[0])
    assert listing.totals().plain.startswith("1 object, 1 kernel: 1 ")
    assert ";" not in listing.totals().plain


def test_totals_of_nothing() -> None:
    assert ParseListing().totals().plain.startswith("0 objects, 0 kernels")


def test_name_of_a_file_is_plain_text() -> None:
    """HAZ-18."""
    item = Unreadable("[red]\x1b[31m\udcff.o", None, InputError("cannot read the file"))
    line = ParseListing().line(ParseDocument.failed(item, item.error))
    assert line.plain.endswith(r"[red]\x1b[31m\xff.o")
    assert len(line.plain.splitlines()) == 1
