"""so-path for people: the story of each search and the table, in a pipe and on screens of any width."""

from __future__ import annotations

from io import StringIO
from typing import Final

import pytest

from cannkit.ae.context import CUST_PATH, HOME, INNER_PATH, AeContext
from cannkit.ae.install import CustSoWriter, fresh_tree
from cannkit.ae.survey import ask, not_asked, prober, table
from cannkit.ae.write_checks import disagreements
from cannkit.format.ae_status import RunMode
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.inputs.files import PathView
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.inputs.real_path import Link
from cannkit.render.console import make_console
from cannkit.render.so_path import table_text
from cannkit.render.text import as_text
from cannkit.report.so_path import ContextEntry, InstallEntry, SearchEntry, SoPathDocument
from tests.render.screen import Make, pipe, screen, shown

K: Final = "/usr/lib64/aicpu_kernels"
K0: Final = f"{K}/0/aicpu_kernels_device"
NO_ELF: Final = "not a shared library: starts with 74657874, not with the ELF magic 7f454c46"
WIDTHS: Final = [20, 40, 60, 80, 100, 200]
LINKED: Final = MemoryTree({f"{K0}/libmy.so": Link("/opt/libmy.so"), "/opt/libmy.so": b"",
                            f"{K}/libmy.so": b"text"})  # fmt: skip


def document(
    name: str | None,
    context: AeContext | None = None,
    files: PathView | None = None,
    kinds: tuple[int, ...] = (2,),
) -> SoPathDocument:
    process = context or AeContext()
    answers = [
        ask(
            CpuKernelType(kind),
            name,
            process,
            files,
            prober(files) if files is not None else not_asked,
        )
        for kind in kinds
    ]
    searches = tuple(map(SearchEntry.of, answers))
    return SoPathDocument(name, ContextEntry.of(process), searches, None)


def text_of(found: SoPathDocument) -> Make:
    return lambda console: as_text(found, console)


def joined(lines: list[str]) -> str:
    """All of it without blanks, branches and the ends of lines."""
    return "".join("".join(lines).translate({ord(each): None for each in " │├└─"}).split())


def test_story_in_a_pipe() -> None:
    """Which rule chose the directory, where each path leads, the guard, the status and what to look at."""
    lines = shown(text_of(document("libmy.so", files=LINKED)), pipe())
    assert lines[:7] == [
        "device 0, vf 0, host process 0, HOME=/home/HwHiAiUser",
        "",
        "libmy.so for aicpu in pcie mode, aicpusd",
        "  rule  AE-604.5 otherwise: below the system root, by vf",
        f"    1 \u2717 {K0}/libmy.so \u2192 /opt/libmy.so  guard: refused; it leads out of its directory",
        f"    2 \u2717 {K}/libmy.so  guard: below its directory; {NO_ELF}",
        f"    3 \u2717 {K0}/0_0/libmy.so  no such file",
    ]
    assert lines[7:] == ["  load  AE_STATUS_OPEN_SO_FAILED (11002)"]  # the reasons stand above


def test_unknown_without_files() -> None:
    lines = shown(text_of(document("libmy.so")), pipe())
    assert lines[4:] == [
        f"    1 ? {K0}/libmy.so", f"    2 ? {K}/libmy.so", f"    3 ? {K0}/0_0/libmy.so",
    ]  # fmt: skip


def test_what_the_caller_sees_where_it_differs() -> None:
    """AE-609."""
    lines = shown(text_of(document("a/b.so", kinds=(2, 5))), pipe())
    call = [line for line in lines if line.startswith("  call")]
    assert call == [
        "  call  AE_STATUS_OPEN_SO_FAILED (11002): what the caller of the engine sees",
        "  call  AE_STATUS_INNER_ERROR (11006): what the caller of the engine sees",
    ]
    assert not any(
        "AE_STATUS_BAD_PARAM (11001): a library" in line for line in lines
    )  # said by the rule


@pytest.mark.parametrize(
    ("name", "kind", "mode", "title"),
    [
        ("libmy.so", 2, RunMode.PCIE, "libmy.so for aicpu in pcie mode, aicpusd"),
        ("", 5, RunMode.SOCKET, "an empty name for kfc in socket mode, aicpusd"),
        (None, 6, RunMode.THREAD, "the directories for custom-kfc in thread mode, aicpusd"),
        ("libmy.so", 1, RunMode.PCIE, "libtf_kernels.so for fwk in pcie mode, aicpusd"),
        ("libmy.so", 7, RunMode(9), "libmy.so for type 7 in mode 9, aicpusd"),
    ],
)
def test_title(name: str | None, kind: int, mode: RunMode, title: str) -> None:
    lines = shown(text_of(document(name, AeContext(mode), kinds=(kind,))), pipe())
    assert lines[2] == title


def test_variables() -> None:
    context = AeContext(env={INNER_PATH: "/i", CUST_PATH: ""})
    lines = shown(text_of(document("libmy.so", context)), pipe())
    assert lines[0].endswith(f"HOME is not set, {INNER_PATH}=/i, {CUST_PATH}=")
    assert lines[3] == f"  init  AE_STATUS_INNER_ERROR (11006): {CUST_PATH} is set, but empty"


def test_paths_that_are_too_long() -> None:
    context = AeContext(RunMode.THREAD, env={INNER_PATH: "/" + "x" * 4094})
    lines = shown(text_of(document("libmy.so", context, MemoryTree({}))), pipe())
    assert lines[4].startswith("    1 \u2717 not asked for  the path has 4104 bytes")
    assert lines[5] == f"    2 \u2717 {K}/libmy.so  no such file"
    assert lines[6].startswith("    3 \u2717 not asked for")


def test_branches_on_a_screen() -> None:
    lines = [
        line.rstrip() for line in shown(text_of(document("libmy.so", files=LINKED)), screen(200))
    ]
    assert [line[:7] for line in lines[4:7]] == ["  ├─ 1 ", "  ├─ 2 ", "  └─ 3 "]
    assert lines[6] == f"  └─ 3 \u2717 {K0}/0_0/libmy.so  no such file"


def test_a_remark_that_does_not_fit_has_its_own_line() -> None:
    lines = [
        line.rstrip() for line in shown(text_of(document("libmy.so", files=LINKED)), screen(80))
    ]
    at = next(at for at, line in enumerate(lines) if line.startswith("  ├─ 2"))
    assert lines[at] == f"  ├─ 2 \u2717 {K}/libmy.so"
    assert lines[at + 1].startswith("  │       guard: below its directory; ")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_on_a_screen(width: int) -> None:
    long = "l" * 97 + ".so"
    for found in (
        document("libmy.so", files=LINKED, kinds=(2, 4, 5, 1)),
        document(long, AeContext(vf=40, is_cust_sd=True), MemoryTree({}), (2, 4)),
    ):
        lines = shown(text_of(found), screen(width))
        assert max(map(len, lines)) <= width
        text = joined(lines)
        assert "\u2026" not in text
        for search in found.results:
            for attempt in search.attempts:
                assert attempt.path in text
            for hint in search.hints:
                assert joined([hint]) in text


def test_colours() -> None:
    """Good is green, bad is red, unknown yellow."""

    def raw(found: SoPathDocument) -> str:
        return "\n".join(shown(text_of(found), make_console("always", StringIO())))

    files = MemoryTree({f"{K}/libmy.so": b"text"})
    assert "\x1b[31m\u2717\x1b[0m" in raw(document("libmy.so", files=files))
    assert "\x1b[33m?\x1b[0m" in raw(document("libmy.so"))
    assert "\x1b[1mlibmy.so\x1b[0m" in raw(document("libmy.so"))


def test_names_drive_no_terminal() -> None:
    name = "\x1b[31m[bold]\u202e.so"
    for console in (pipe(), screen(120)):
        text = "\n".join(shown(text_of(document(name)), console))
        assert "\x1b" not in text
        assert r"\x1b[31m[bold]\u202e.so" in text


def test_table() -> None:
    """05, 10.2, on one line each in a pipe; on a screen no path is cut."""
    context = AeContext(vf=40, pid=123)
    rows = table(context)
    lines = shown(lambda console: table_text(context, rows, console), pipe())
    assert len(lines) == len(rows) + 3
    assert lines[1].split() == ["Kernel", "types", "Mode", "Level", "1", "Level", "2", "Level", "3"]
    assert (
        lines[-1] == "in every row the guard takes what leads below /home/CustAiCpuUser5/lib/, too"
    )
    for width in WIDTHS:
        narrow = shown(lambda console: table_text(context, rows, console), screen(width))
        assert max(map(len, narrow)) <= width
        text = joined(narrow)
        assert "\u2026" not in text
        for row in rows if width == 200 else ():
            assert all(path in text for path in row.paths)


def test_table_of_a_type_without_a_lib() -> None:
    context = AeContext()
    lines = shown(lambda console: table_text(context, table(context, [3]), console), pipe())
    assert lines[2].split("  ")[0] == "type (3)"
    assert lines[2].endswith("refused: kernel type 3 has no kernel lib: 1, 2, 4, 5 and 6 have one")


def installed(context: AeContext, *, dry: bool) -> list[str]:
    tree = fresh_tree(context)
    writer = CustSoWriter(context, tree)
    writer.create("libmy.so", b"one")
    written = writer.create("libmy.so", b"two")
    told = disagreements(context, "libmy.so", tree)
    places = writer.root, writer.folder
    entry = InstallEntry.of("libmy.so", "libmy.so", places, written, told, dry=dry)
    found = SoPathDocument("libmy.so", ContextEntry.of(context), (), entry)
    return shown(text_of(found), pipe())


def test_write_side() -> None:
    """Steps, status, what may surprise, and where the read side looks elsewhere."""
    context = AeContext(env={HOME: "/h", CUST_PATH: "/c"}, pid=7)
    lines = installed(context, dry=True)
    assert lines[2] == "the write side would store libmy.so"
    assert lines[3].startswith("    lock  ")
    assert any(line.startswith("    keep  ") for line in lines)
    told = [" ".join(line.split()) for line in lines]
    assert "status AICPU_SCHEDULE_OK (0)" in told
    assert any(line.startswith("remark Q-20: ") for line in told)
    assert any(line.startswith(f"differs M3 {CUST_PATH} is set: ") for line in told)
    assert installed(context, dry=False)[2] == "the write side stores libmy.so"
