"""How `cannkit launch` answers: the document of a launch, and lines about it on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cannkit.cli.launch_options import SqeView

if TYPE_CHECKING:
    from cannkit.api.op_trace import OpTrace
    from cannkit.cli.op_request import OpRequest
    from cannkit.cli.options import ColorWhen
    from cannkit.device.trace import Event
    from cannkit.ops.call import Prepared
    from cannkit.report.launch import LaunchDocument


def trace_line(event: Event) -> None:
    """A line on stderr for an event of the device."""
    from cannkit.cli.driver import print_line
    from cannkit.render.events import event_text

    print_line(event_text(event), "trace")


def print_trace(
    story: OpTrace, document: LaunchDocument, call: Prepared, request: OpRequest
) -> None:
    """How a call of an operator goes through the stack, on stderr: its memory, then the launch."""
    import sys
    from dataclasses import replace

    from cannkit.cli.driver import print_line
    from cannkit.device.trace import AiCpuEvent, TaskEvent
    from cannkit.render.console import make_console, write
    from cannkit.render.launch import launch_text

    print_line(f"register {story.program}: {story.function.kernel.name}", "trace")
    if request.verbose:
        for event in story.events:
            if not isinstance(event, AiCpuEvent | TaskEvent):  # the launch has them
                trace_line(event)
    task = document.task or {}
    for key, what in (("so_name", "library"), ("func_name", "function")):
        if key in task:
            print_line(f"{task[key]}  the name of the {what}", "trace")
    for number, address in sorted(story.addresses.items(), key=lambda item: item[1]):
        size = f"{call.regions[number].size:,} bytes"
        print_line(f"{address:#x}  {call.region_name(number)}, {size}", "trace")
    shown = document if request.sqe == SqeView.TABLE else replace(document, sqe=())
    if shown.args is not None:  # its one slot is the block, of which -v shows the fields
        shown = replace(shown, args=replace(shown.args, slots=()))
    console = make_console(request.color, sys.stderr)
    write(console, launch_text(shown, console))
    write(console, "")


def print_launch(document: LaunchDocument, sqe: SqeView, *, json: bool, color: ColorWhen) -> None:
    """The answer; of a launch that was refused or interrupted nothing but the error for people."""
    from dataclasses import replace

    from cannkit.cli.driver import print_error, say
    from cannkit.cli.printers import print_document

    if json:
        print_document(document, json=True, color=color)
    elif document.is_complete and sqe is SqeView.HEX:
        lines = [line for each in document.sqe for line in (each.hex, each.context_hex) if line]
        say("".join(f"{line}\n" for line in lines))
    elif document.is_complete:
        import cannkit.render.launch  # noqa: F401  (it registers with as_text)

        shown = document if sqe is SqeView.TABLE else replace(document, sqe=())
        print_document(shown, json=False, color=color)
    if document.error is not None:
        print_error(document.error)
