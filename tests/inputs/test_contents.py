"""Archives and wheels as inputs: CON-07, HAZ-14, HAZ-15."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cannkit.inputs.contents import Input
from cannkit.inputs.paths import open_inputs
from tests.raw import FATBIN, HOST, JSON, KERNEL, archive, fatbin_library, told, wheel

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestArchiveAndWheel:
    def test_archive(self, here: Path) -> None:
        """CON-07: host objects are what archives are made of."""
        raw = archive(
            **{"k.o": KERNEL, "h.o": HOST, "f.o": fatbin_library(), "x.o": b"?", "t": b"?"}
        )
        (here / "lib.a").write_bytes(raw)
        expected = ["archive k.o", f"fatbin f.o!{FATBIN}[0] aiv", "archive x.o"]
        inputs = open_inputs(["lib.a"])
        assert (told(inputs), inputs.plural, inputs.total) == (expected, True, None)

    def test_archive_that_is_cut_off(self, here: Path) -> None:
        (here / "lib.a").write_bytes(archive(**{"k.o": KERNEL, "l.o": KERNEL})[:-9])
        why = f"lib.a: its size is {len(KERNEL)}, {len(KERNEL) - 9} bytes are left"
        assert told(open_inputs(["lib.a"])) == ["archive k.o", why]

    def test_wheel(self, here: Path) -> None:
        """Central directory order; by name or by content; two deep and no deeper."""
        members = {
            "z/k.o": KERNEL,
            "z/k.json": JSON,
            "a.bin": KERNEL,
            "py.so": HOST,
            "lib.so": fatbin_library(fatbin_library()),
            "lib.a": archive(**{"m.o": KERNEL}),
            "in.whl": wheel(**{"k.o": KERNEL}),
            "junk.o": b"?",
            "host.o": HOST,
            "../k.o": KERNEL,
        }
        (here / "x.whl").write_bytes(wheel(**members))
        inputs = open_inputs(["x.whl"])
        assert told(inputs) == [
            "wheel z/k.o",
            "wheel a.bin",
            f"fatbin lib.so!{FATBIN}[0] aiv",
            "archive lib.a!m.o",
            "wheel junk.o",
            "wheel host.o: a host library for x86-64",
            "wheel ../k.o: its name is absolute, or has `..` or NUL in it",
        ]
        assert (inputs.plural, inputs.total) == (True, None)
        first = next(iter(inputs))
        assert isinstance(first, Input)
        assert (first.file, first.path) == ("x.whl", "z/k.o")
        assert first.files.read("z/k.json", 99) == JSON

    def test_member_larger_than_the_limit(self, here: Path) -> None:
        """HAZ-14."""
        (here / "x.zip").write_bytes(wheel(**{"a.o": bytes((64 << 20) + 1), "b.o": KERNEL}))
        expected = ["wheel a.o: it has more than 67108864 bytes", "wheel b.o"]
        assert told(open_inputs(["x.zip"])) == expected

    @pytest.mark.parametrize(
        ("raw", "why"),
        [
            (archive(**{"h.o": HOST}), "an archive without kernel objects"),
            (wheel(**{"py.so": HOST}), "a zip without kernel objects"),
            (b"!<thin>\n", "it names its members and does not hold them"),
            (b"PK\3\4", "File is not a zip file"),
        ],
    )
    def test_nothing_inside(self, here: Path, raw: bytes, why: str) -> None:
        (here / "x").write_bytes(raw)
        inputs = open_inputs(["x"])
        assert (told(inputs), inputs.plural) == ([f"x: {why}"], True)
