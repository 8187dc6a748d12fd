"""ae-call for people: the stages of a call in their order, in a pipe and on screens of any width."""

from __future__ import annotations

from io import StringIO
from typing import Any, Final

import pytest

from cannkit.ae.call import AeCall
from cannkit.ae.caller import Returned, Stage, Verdict
from cannkit.ae.callers import Table, TableCaller
from cannkit.ae.context import AeContext
from cannkit.ae.engine import AeEngine
from cannkit.ae.operations import Ended, Step, run_step, run_task
from cannkit.ae.task import Parts, Task, make_task
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.render.ae_call import OUTPUT_LINES, SHOWN, step_lines
from cannkit.render.console import make_console
from cannkit.render.text import as_text
from cannkit.report.ae_call import AeCallDocument
from tests.render.screen import Make, pipe, screen, shown

K: Final = "/usr/lib64/aicpu_kernels"
AICPU, CUST, KFC = 2, 4, 5
TABLE: Final[Table] = {
    ("libmy.so", "good"): lambda argument, block: 0,
    ("libmy.so", "special"): lambda argument, block: 201,
    ("libmy.so", "bad"): lambda argument, block: 501,
    ("libmy.so", "RunCpuKernelWithBlock"): lambda argument, block: 0,
}
FILES: Final = MemoryTree({f"{K}/libmy.so": b""})
WIDTHS: Final = [20, 40, 60, 80, 100, 200]


def ended(
    func: str | None = "good",
    so: str | None = "libmy.so",
    kind: int = AICPU,
    param: bytes | None = b"\7",
) -> tuple[Task, Ended]:
    task = make_task(Parts(kind, so, func, param))
    engine = AeEngine(AeContext(is_cust_sd=kind == CUST), FILES, TableCaller(TABLE))
    return task, run_task(task, engine, by_scheduler=True)


def document(*args: Any, **options: Any) -> AeCallDocument:
    task, end = ended(*args, **options)
    return AeCallDocument.of(task, AeContext(), end)


def text_of(found: AeCallDocument) -> Make:
    return lambda console: as_text(found, console, raw=True)


def story(found: AeCallDocument) -> list[str]:
    """What follows the union."""
    lines = shown(text_of(found), pipe())
    return lines[lines.index("") + 1 :]


def crashed(output: str = "") -> AeCallDocument:
    """A call whose process died."""
    task, end = ended()
    assert end.scheduled is not None
    assert end.scheduled.call is not None
    call = end.scheduled.call._replace(status=None, returned=None)
    scheduled = end.scheduled._replace(call=call, code=None, response=None)
    verdict = Verdict(
        "crashed in stage call with SIGSEGV", Stage.CALL, None, 11, 0.25, output=output
    )
    return AeCallDocument.of(task, AeContext(), Ended(scheduled, call, verdict))


def test_a_call() -> None:
    assert story(document()) == [
        "scheduler  ExecuteTsKernelTask (aicpusd), AE-303.4: to the engine",
        "lib        aicpu",
        "libmy.so for aicpu in pcie mode, aicpusd",
        "  rule  AE-604.5 otherwise: below the system root, by vf",
        f"    1 \u2717 {K}/0/aicpu_kernels_device/libmy.so  no such file",
        f"    2 \u2713 {K}/libmy.so  guard: below its directory",
        "  load  AE_STATUS_SUCCESS (0)",
        "function   good(param): returned 0",
        "op name    good",
        "param      07",
        "status     AE_STATUS_SUCCESS (0), ok",
        "response   TASK_SUCC (0), result 0",
    ]


def test_two_arguments() -> None:
    assert "function   RunCpuKernelWithBlock(param, blkinfo): returned 0" in story(
        document("RunCpuKernelWithBlock")
    )


def test_gates() -> None:
    refused = story(document(kind=KFC, so=None))
    assert not any(line.startswith("function") for line in refused)
    assert "note       Q-1: original crashes: null kernelSo for KFC" in refused
    logic = story(document("endGraph", None, param=bytes(4)))
    assert logic[0] == "scheduler  ExecuteTsKernelTask (aicpusd), AE-303.1: a logic kernel"
    assert "           modelId = 0" in logic
    assert not any(line.startswith("status") for line in logic)


def test_what_was_not_found() -> None:
    """A function is not there where its library is; without that it was not looked for."""
    assert "function   no: not found" in story(document("no"))
    assert not any("not found" in line for line in story(document("good", "libno.so")))
    assert "function   good: not found" in story(document("good", "libno.so", KFC))


def test_end_of_a_process() -> None:
    lines = story(crashed("one\ntwo\n"))
    assert "function   good(param): did not return" in lines
    assert "process    crashed in stage call with SIGSEGV (0.25 s)" in lines
    at = lines.index("output     one")
    assert lines[at + 1] == "output     two"
    assert not any(line.startswith(("status", "response", "param")) for line in lines)


def test_much_is_cut_with_a_word() -> None:
    """Output after some lines, parameters after some bytes; JSON has all of it."""
    lines = story(crashed("line\n" * (OUTPUT_LINES + 7)))
    assert lines.count("output     line") == OUTPUT_LINES
    assert "           and 7 more lines" in lines
    (param,) = [line for line in story(document(param=bytes(100))) if line.startswith("param")]
    assert param == f"param      {'00000000 ' * (SHOWN // 4)}and {100 - SHOWN} more bytes"


def test_overruns() -> None:
    task, end = ended()
    assert end.scheduled is not None
    call: AeCall | None = end.scheduled.call
    assert call is not None
    returned = Returned(0, (b"\7",), ("2 bytes behind the parameter block were written",))
    scheduled = end.scheduled._replace(call=call._replace(returned=returned))
    found = AeCallDocument.of(task, AeContext(), Ended(scheduled))
    assert "overrun    2 bytes behind the parameter block were written" in story(found)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_on_a_screen(width: int) -> None:
    for found in (document(), document("no"), document("endGraph", None), crashed("x" * 300)):
        lines = shown(text_of(found), screen(width))
        assert max(map(len, lines)) <= width
        text = "".join("".join(lines).split())
        assert "\u2026" not in text
        for note in found.notes:
            assert "".join(note.text.split()) in text
        for hint in found.hints:
            assert "".join(hint.split()) in text


@pytest.mark.parametrize(
    ("func", "colour", "text"),
    [
        ("good", 32, "AE_STATUS_SUCCESS (0), ok"),
        ("special", 33, "AE_STATUS_END_OF_SEQUENCE (6), special"),
        ("bad", 31, "AE_STATUS_SILENT_FAULT (7), error"),
    ],
)
def test_colours(func: str, colour: int, text: str) -> None:
    lines = shown(text_of(document(func)), make_console("always", StringIO()))
    assert any(f"\x1b[{colour}m{text}\x1b[0m" in line for line in lines)


def test_names_and_output_drive_no_terminal() -> None:
    for console in (pipe(), screen(120)):
        text = "\n".join(shown(text_of(document("\x1b]0;x\7", "libmy.so")), console))
        assert "\x1b" not in text
        text = "\n".join(shown(text_of(crashed("\x1b[2J[bold]\r\n")), console))
        assert "\x1b" not in text
        assert r"\x1b[2J[bold]" in text


def lines_of(*steps: Step) -> list[str]:
    engine = AeEngine(AeContext(), FILES, TableCaller(TABLE))
    found = []
    for at, step in enumerate(steps, 1):
        if step.task is not None:
            made = AeCallDocument.of(
                step.task, engine.context, run_task(step.task, engine, by_scheduler=False)
            )
        else:
            end = run_step(step, engine)
            made = AeCallDocument.of_step(step.op, step.kernel_type, engine.context, end)
        found += [str(line) for line in step_lines(at, made)]
    return found


def test_operations_of_a_script() -> None:
    """A line each, without blanks at its end, and below it why it failed."""
    assert lines_of(
        Step("batch", AICPU, ("libmy.so", "libno.so")),
        Step("call", AICPU, task=make_task(Parts(AICPU, "libmy.so", "special"))),
        Step("call", AICPU, task=make_task(Parts(AICPU, "libmy.so", "no"))),
        Step("call", AICPU, task=make_task(Parts(AICPU, None, "good"))),
        Step("close", 3, ("libmy.so",)),
        Step("delWhite", None, ("a.so",)),
        Step("clear"),
    ) == [
        "  1  batch    libmy.so loaded  libno.so not loaded  AE_STATUS_SUCCESS (0)",
        "  2  call     special of libmy.so  returned 201  AE_STATUS_END_OF_SEQUENCE (6)",
        "  3  call     no of libmy.so  AE_STATUS_GET_KERNEL_NAME_FAILED (11003)",
        "     no row of the table has no of this library",
        "  4  call     AE_STATUS_BAD_PARAM (11001)",
        "     kernelSo is a null pointer",
        "  5  close    AE_STATUS_BAD_PARAM (11001)",
        "  6  delWhite",
        "  7  clear",
    ]
