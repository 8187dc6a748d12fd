"""Members of `ar` archives. Spec 01, CON-07."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import CannkitError, FormatError
from cannkit.format.container import archive_members

if TYPE_CHECKING:
    from pathlib import Path


def ar_member(name: bytes, body: bytes, size: int | None = None) -> bytes:
    length = len(body) if size is None else size
    head = b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name, 0, 0, 0, 0o644, length)
    return head + body + b"\n" * (len(body) % 2)


MAGIC = b"!<arch>\n"
KERNEL = b"\x7fELF" + bytes(60)


def members(raw: bytes) -> dict[str, bytes]:
    return {
        each.member: raw[each.offset : each.offset + each.size]
        for each in archive_members(memoryview(raw))
    }


class TestArchive:
    NAMES = ("a.o", "b b.o", "a_name_much_longer_than_sixteen.o", "\udcff.o")

    @pytest.mark.parametrize("flags", ["rcD", "rcSD"])
    def test_ar_agrees(self, tmp_path: Path, flags: str) -> None:
        """CON-07, judged by binutils: long names, odd sizes, a symbol table."""
        if not (shutil.which("ar") and shutil.which("objcopy")):
            pytest.skip("no binutils")
        bodies: dict[str, bytes] = {}
        for name in self.NAMES:  # real objects have symbols, and so a symbol table is made of them
            (tmp_path / "raw").write_bytes(b"x" * (1 + len(bodies)))
            command = ["objcopy", "-I", "binary", "-O", "elf64-x86-64", "raw", name]
            subprocess.run(command, cwd=tmp_path, check=True)
            with (tmp_path / name).open("ab") as out:
                out.write(b"!" * len(bodies))  # some sizes are odd
            bodies[name] = (tmp_path / name).read_bytes()
        subprocess.run(["ar", flags, "x.a", *self.NAMES], cwd=tmp_path, check=True)
        assert members((tmp_path / "x.a").read_bytes()) == bodies

    def test_bsd_names_and_symbol_tables(self) -> None:
        long = b"a_name_much_longer_than_sixteen.o\0\0\0"
        raw = MAGIC + b"".join(
            [
                ar_member(b"__.SYMDEF SORTED", b"1234"),
                ar_member(b"#1/12", b"__.SYMDEF\0\0\0" + b"1234"),
                ar_member(b"#1/36", long + KERNEL),
                ar_member(b"short.o", b"odd"),
                ar_member(b"/SYM64/", b"1234"),
                ar_member(b"last.o/", b""),
            ]
        )
        expected = {"a_name_much_longer_than_sixteen.o": KERNEL, "short.o": b"odd", "last.o": b""}
        assert members(raw) == expected

    def test_empty_archive(self) -> None:
        assert members(MAGIC) == {}

    def test_padding_of_the_last_member_may_be_missing(self) -> None:
        assert members(MAGIC + ar_member(b"a.o/", b"odd")[:-1]) == {"a.o": b"odd"}

    @pytest.mark.parametrize(
        ("tail", "where", "what"),
        [
            (ar_member(b"b.o/", b"xy", size=3), "offset 0x46", "archive member leaves the file"),
            (ar_member(b"b.o/", b"", size=10**10 - 1), "offset 0x46", "archive member leaves the file"),
            (ar_member(b"b.o/", b"")[:59], "offset 0x46", "archive is cut off"),
            (ar_member(b"b.o/", b"").replace(b"`", b"'"), "offset 0x46", "not a member header"),
            (ar_member(b"b.o/", b"").replace(b"0         `", b"-1        `"), "offset 0x46",
             "not a member header"),
            (ar_member(b"b.o/", b"").replace(b"0         `", b"1_0       `"), "offset 0x46",
             "not a member header"),
            (ar_member(b"/7", b""), "offset 0x46", "archive member has no name"),
            (ar_member(b"/x", b""), "offset 0x46", "not a member header"),
            (ar_member(b"#1/9", b"name"), "offset 0x46", "archive member has no name"),
            (ar_member(b"//", b"endless") + ar_member(b"/0", b""), "offset 0x8a",
             "archive member has no name"),
        ],
    )  # fmt: skip
    def test_lies_are_refused_where_they_stand(self, tail: bytes, where: str, what: str) -> None:
        """CON-07: what came before is read."""
        found = archive_members(memoryview(MAGIC + ar_member(b"a.o/", b"ab") + tail))
        assert next(found).member == "a.o"
        with pytest.raises(FormatError) as caught:
            list(found)
        error = caught.value
        assert (error.where, error.what, error.rule) == (where, what, "CON-07")

    def test_thin_archive_is_refused_with_a_hint(self) -> None:
        with pytest.raises(FormatError, match="thin archive") as caught:
            list(archive_members(memoryview(b"!<thin>\n")))
        assert caught.value.hint

    @pytest.mark.parametrize("raw", [b"", b"!<arch>", b"PK\3\4...."])
    def test_not_an_archive(self, raw: bytes) -> None:
        with pytest.raises(FormatError, match="not an archive"):
            list(archive_members(memoryview(raw)))


def cannkit_error_or_nothing(raw: bytes) -> None:
    try:
        for each in archive_members(memoryview(raw)):
            assert each.offset + each.size <= len(raw)
    except CannkitError:
        pass


@given(st.binary(max_size=300))
def test_any_bytes(raw: bytes) -> None:
    cannkit_error_or_nothing(raw)
    cannkit_error_or_nothing(MAGIC + raw)


@given(st.data())
def test_any_damage(data: st.DataObject) -> None:
    """Bytes changed in a good file: more of the code is reached than by noise."""
    parts = [
        ar_member(b"//", b"long_name.o/\n"),
        ar_member(b"/0", KERNEL),
        ar_member(b"#1/4", KERNEL),
    ]
    raw = bytearray(MAGIC + b"".join(parts))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.sampled_from(b"\0 /19#\n\xff"))
    cannkit_error_or_nothing(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    cannkit_error_or_nothing(bytes(raw))
