"""cannkit diff. cli.md, section 9."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZipFile

from cannkit.errors import ExitCode
from cannkit.format.ascend_meta import FunctionMeta, FuncType
from tests.build import SHF_ALLOC, SHF_EXEC, ObjectBuilder
from tests.cli.inputs import ESCAPES, SHOWN_NAMES, vector_object
from tests.cli.runner import ADD, OBJECTS, cannkit, each, terminal
from tests.shapes import function_tlv, with_meta

GATHER = f"{OBJECTS}/GatherCustom_62e2256eb32e173b8a30406905171ccc.o"


def kernel(
    func_type: FuncType = FuncType.AIV, ub: int = 0, name: str = "add_0", text: bytes = bytes(64)
) -> bytes:
    builder = ObjectBuilder()
    builder.section(".text", text, flags=SHF_ALLOC | SHF_EXEC, at=64)
    builder.symbol(name, size=64)
    records = [
        function_tlv(FunctionMeta.KERNEL_TYPE, func_type=func_type),
        function_tlv(FunctionMeta.COMPILER_ALLOC_UB_SIZE, ub_size=ub),
    ]
    return with_meta(builder, *records, kernel=name).build()


def files(folder: Path, **contents: bytes) -> list[str]:
    for name, data in contents.items():
        (folder / f"{name}.o").write_bytes(data)
    return [str(folder / f"{name}.o") for name in contents]


def test_nothing_differs() -> None:
    one, folder, library = each(
        [
            ["diff", ADD, ADD],
            ["diff", OBJECTS, OBJECTS],
            ["diff", f"{OBJECTS}/libadd_kernels.so", f"{OBJECTS}/libadd_kernels.so"],
        ]
    )
    assert (one.code, folder.code, library.code) == (0, 0, 0)
    assert one.text == "no difference, 1 object compared\n"
    assert folder.text == "no difference, 10 objects compared\n"
    assert library.text == "no difference, 3 objects compared\n"
    assert not one.err + folder.err + library.err


def test_text(tmp_path: Path) -> None:
    """Grouped by class, `before -> after`, and a line of totals."""
    a, b = files(tmp_path, a=kernel(), b=kernel(FuncType.AIC, 8192))
    found = cannkit("diff", a, b)
    assert found.code == ExitCode.NEGATIVE
    assert found.text == (
        "Breaking: a host built against A fails with B\n"
        "  add_0\n"
        "    func type: AIV (3) -> AIC (2)\n"
        "\n"
        "Size\n"
        "  add_0\n"
        "    ub size: 0 B -> 8,192 B (8.0 KiB) (+8,192)\n"
        "\n"
        "2 changes: 1 breaking, 0 behaviour, 1 size; 1 object compared\n"
    )


def test_text_of_lists_and_of_what_is_gone() -> None:
    found = cannkit("diff", ADD, GATHER)
    lines = found.text.splitlines()
    assert "    flags: 0x00930000 -> 0x00990000" in lines
    assert "    arguments:" in lines
    assert "      + 1 input level_2_with_shape size unknown dtype size 32" in lines
    assert not any(line.startswith("      - 1 input level") for line in lines)  # both have it
    assert "    kernel new, key 7" in lines


def test_text_of_code(tmp_path: Path) -> None:
    a, b = files(tmp_path, a=kernel(), b=kernel(text=bytes(63) + b"1"))
    (line,) = (each for each in cannkit("diff", a, b).text.splitlines() if "code" in each)
    assert re.fullmatch("    code bytes: sha256 [0-9a-f]{16} -> sha256 [0-9a-f]{16}", line)


def test_text_on_a_terminal(tmp_path: Path) -> None:
    """HAZ-18: names can neither drive a terminal nor be markup."""
    a, b = files(tmp_path, a=vector_object(*SHOWN_NAMES, ESCAPES), b=vector_object("add_99"))
    screen = terminal("diff", a, b, width=60)
    assert b"\x1b[31mred" not in screen.raw
    assert r"\x1b[31mred" in screen.text
    plain = cannkit("diff", a, b)
    assert all(name in plain.text for name in SHOWN_NAMES)
    assert "\x1b" not in plain.text


def test_json(tmp_path: Path) -> None:
    a, b = files(tmp_path, a=kernel(), b=kernel(ub=8192))
    found = cannkit("diff", a, b, "--json")
    assert found.code == ExitCode.NEGATIVE
    assert list(found.document)[:3] == ["schema", "changes", "error"]
    assert found.document["changes"] == [
        {
            "class": "size",
            "kind": "ub_size",
            "subject": "add_0",
            "before": 0,
            "after": 8192,
            "file": None,
            "kernel": "add_0",
        }
    ]
    assert not found.err


def test_fail_on(tmp_path: Path) -> None:
    a, grown, other = files(tmp_path, a=kernel(), b=kernel(ub=1), c=kernel(FuncType.AIC))
    lines = [
        ["diff", a, b, "--fail-on", when]
        for b in (grown, other)
        for when in ("breaking", "any", "never")
    ]
    assert [found.code for found in each(lines)] == [0, 1, 0, 1, 1, 0]
    (default,) = each([["diff", a, grown]])
    assert default.code == ExitCode.NEGATIVE
    assert cannkit("diff", a, grown, "--fail-on", "nothing").code == ExitCode.USAGE


def test_a_folder_and_its_wheel(tmp_path: Path) -> None:
    folder, wheel = tmp_path / "pkg", tmp_path / "pkg.whl"
    folder.mkdir()
    (one, _), data = files(folder, add=kernel(), sub=kernel(name="sub_0")), kernel(FuncType.AIC)
    with ZipFile(wheel, "w") as archive:
        archive.write(one, "add.o")
        archive.writestr("sub.o", kernel(FuncType.AIC, name="sub_0"))
    found = cannkit("diff", folder, wheel, "--json")
    (change,) = found.document["changes"]
    assert (change["kind"], change["file"], change["kernel"]) == ("func_type", "sub.o", "sub_0")
    assert "  sub.o: sub_0\n" in cannkit("diff", folder, wheel).text
    stdin = cannkit("diff", one, "-", stdin=data)
    assert stdin.code == ExitCode.NEGATIVE
    assert "func type" in stdin.text
    assert cannkit("diff", "-", "-").code == ExitCode.USAGE


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """One object that is broken is an error beside the changes; nothing to read is the answer."""
    whole, broken, empty = (tmp_path / name for name in ("whole", "broken", "empty"))
    for each_folder in (whole, broken, empty):
        each_folder.mkdir()
    files(whole, add=kernel(), sub=kernel(name="sub_0"))
    files(broken, add=kernel(FuncType.AIC), sub=b"\x7fELF")
    found = cannkit("diff", whole, broken)
    assert found.code == ExitCode.INPUT
    assert "func type: AIV (3) -> AIC (2)" in found.text
    assert "gone" not in found.text
    assert any("sub.o" in line for line in found.errors)
    document = cannkit("diff", whole, broken, "--json", "--fail-on", "never")
    assert document.code == ExitCode.INPUT
    assert [error["file"] for error in document.document["errors"]] == [f"{broken}/sub.o"]
    for a, b in ((whole, empty), (ADD, tmp_path / "nothing.o")):
        found = cannkit("diff", a, b, "--json")
        assert found.code == ExitCode.INPUT
        assert list(found.document) == ["schema", "error"]
        assert found.document["schema"] == "cannkit.diff/1"


def test_usage() -> None:
    one, three, unknown = each([["diff", ADD], ["diff", ADD, ADD, ADD], ["diff", ADD, ADD, "--x"]])
    assert (one.code, three.code, unknown.code) == (ExitCode.USAGE,) * 3


def test_it_imports_what_it_uses() -> None:
    """cli.md, section 1: speed."""
    found = cannkit("diff", ADD, ADD, python=["-X", "importtime"])
    loaded = {line.rpartition("|")[2].strip() for line in found.errors}
    assert not loaded & {
        "pydantic",
        "lief",
        "elftools",
        "cannkit.runtime.kernel",
        "cannkit.device.device",
    }
