"""`cannkit launch --op` for people: outputs, how it ended and why, its log; the bytes of the call with -v."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, prod
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from cannkit.api.values import SPELLINGS, Dtype, pack
from cannkit.errors import UsageError
from cannkit.format.ae_status import ResponseStatus
from cannkit.ops.result import OVERRUN
from cannkit.render.console import from_file
from cannkit.render.text import as_text, columns, facts, plural, size
from cannkit.report.launch_op import LaunchOpDocument
from cannkit.report.op_block import CallBytesEntry
from cannkit.report.op_output import OpOutputEntry
from cannkit.report.outputs import Number

CLASS_STYLES: Final = {"ok": "green", "special": "yellow", "error": "red"}
DIGITS: Final = {"float16": range(3, 6), "bfloat16": range(2, 5), "float32": range(6, 10)}
LOG_STYLES: Final = {"ERROR": "red", "WARNING": "yellow"}
OUTPUT_LINES: Final = 20
ROOM: Final = 60  # of a screen, for values
LOG_LINES: Final = 40
DIGEST: Final = 16

Pair = tuple[str, RenderableType]


@as_text.register(LaunchOpDocument)
def launch_op_text(
    document: LaunchOpDocument, console: Console, *, raw: bool = False
) -> RenderableType:
    """Outputs first; the call's bytes last, where they are wanted."""
    parts: list[RenderableType] = []
    if document.returned == 0:
        parts.append(facts(_outputs(document.outputs, console)))
    parts.append(facts(_end(document, every=raw)))
    if raw and document.call is not None:
        parts += _bytes(document.call, document, console)
    return Group(*parts)


def value_text(dtype: str, value: Number) -> str:
    """A value as short as it can be without becoming another one of its type."""
    if isinstance(value, tuple):
        real, imaginary = (value_text("float64", each) for each in value)
        return f"{real}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    if not isinstance(value, float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if dtype in DIGITS and isfinite(value):
        return _shortest(SPELLINGS[dtype], value, DIGITS[dtype])
    return repr(value).removesuffix(".0") if isfinite(value) else str(value)


def _shortest(dtype: Dtype, value: float, digits: range) -> str:
    """The fewest digits that make the same bytes."""
    raw = pack(dtype, (value,))
    texts = [f"{value:.{count}g}" for count in digits]
    return next((text for text in texts if _is(dtype, text, raw)), texts[-1])


def _is(dtype: Dtype, text: str, raw: bytes) -> bool:
    try:
        return pack(dtype, (float(text),)) == raw
    except UsageError:  # rounded up, out of range
        return False


def nested(texts: Sequence[str], shape: Sequence[int]) -> str:
    """Values in brackets, as deep as their shape."""
    if not shape:
        return texts[0] if texts else ""
    if len(shape) == 1:
        return f"[{', '.join(texts)}]"
    step = prod(shape[1:])
    rows = (nested(texts[at * step : (at + 1) * step], shape[1:]) for at in range(shape[0]))
    return f"[{', '.join(rows)}]"


def _outputs(outputs: Sequence[OpOutputEntry], console: Console) -> Iterator[Pair]:
    for each in outputs:
        yield from _output(each, console)


def _output(entry: OpOutputEntry, console: Console) -> Iterator[Pair]:
    head = f"{entry.dtype}[{','.join(map(str, entry.shape))}]"
    if entry.values is not None:
        texts = [value_text(entry.dtype, value) for value in entry.values]
        shown = nested(texts, entry.shape)
        if len(entry.shape) > 1 and console.is_terminal and len(shown) + len(head) > ROOM:
            step = prod(entry.shape[1:])
            yield _name(entry), Text(head, "dim")  # a row is not torn
            for at in range(0, len(texts), step):
                yield "", Text(nested(texts[at : at + step], entry.shape[1:]))
        else:
            yield _name(entry), Text.assemble((f"{head}  ", "dim"), shown)
    else:
        shown = ", ".join(value_text(entry.dtype, value) for value in entry.first or ())
        more = f"  [{shown}, ...]" if shown else ""
        text = f"{size(entry.size)}, sha256 {entry.sha256[:DIGEST]}...{more}"
        yield _name(entry), Text.assemble((f"{head}  ", "dim"), text)
    if entry.file is not None:
        yield "", from_file(f"written to {entry.file}", "dim")
    if entry.rest:
        yield "", Text(f"its buffer has {plural(entry.rest, 'byte')} more", "dim")
    if not entry.shape_known:
        yield "", Text("the shape that the operator wrote is in doubt, or too large", "yellow")


def _name(entry: OpOutputEntry) -> str:
    return str(from_file(entry.name or f"output {entry.index}"))


def _end(document: LaunchOpDocument, *, every: bool) -> Iterator[Pair]:
    op = document.op or "?"
    seconds = document.seconds or 0.0
    how = "emulated" if document.emulated else "native"
    if document.returned is None:
        yield "operator", from_file(f"{op}: did not return ({document.arch}, {how})", "red")
    else:
        yield "operator", from_file(f"{op}: returned {document.returned} ({document.arch}, {how})")
        if every:
            took = f"{seconds * 1e3:.3f} ms" if seconds < 1 else f"{seconds:.2f} s"
            yield "time", Text(took)
    if len(document.returns) > 1:
        shown = ", ".join("none" if each is None else str(each) for each in document.returns)
        each_is_good = not any(document.returns) and None not in document.returns
        good = f"{len(document.returns)}, all returned 0"
        yield "blocks", Text(good if each_is_good else f"they returned {shown}")
    if document.status is not None:
        status = f"{document.status.name} ({document.status.code}), {document.class_}"
        yield "status", Text(status, CLASS_STYLES[document.class_])
    if document.response is not None and document.response.result:
        name = ResponseStatus(document.response.status).name
        answer = f"{name}, result {document.response.result} to the task scheduler"
        yield "response", Text(answer)
    if document.child is not None and document.returned is None and document.error is not None:
        yield "process", from_file(f"{document.error.what} ({document.child.seconds} s)", "red")
    if document.reason:
        yield "reason", from_file(document.reason, "red")
    if document.inputs_changed:
        names = ", ".join(map(str, document.inputs_changed))
        yield "changed", Text(f"input {names}: the operator wrote into it", "yellow")
    if document.repeat is not None:
        yield "repeat", _repeat(document)
    yield from _log(document, every=every)
    yield from _printed(document)
    for finding in document.findings:
        style = "bold red" if finding.code == OVERRUN else "yellow"
        yield "finding", from_file(f"{finding.where}: {finding.message} [{finding.code}]", style)


def _repeat(document: LaunchOpDocument) -> Text:
    repeat = document.repeat
    assert repeat is not None
    if repeat.reproducible:
        return Text(f"{repeat.runs} runs gave the same bytes")
    names = ", ".join(map(str, repeat.differing))
    return Text(f"not reproducible: {repeat.runs} runs differ in output {names}", "yellow")


def _log(document: LaunchOpDocument, *, every: bool) -> Iterator[Pair]:
    lines = document.log
    if document.returned == 0 and not every:
        lines = tuple(line for line in lines if line.startswith(tuple(LOG_STYLES)))
    shown = lines if every else lines[:LOG_LINES]
    for line in shown:
        yield "log", from_file(line.rstrip(), LOG_STYLES.get(line.partition(" ")[0], ""))
    if len(shown) < len(lines):
        yield "", Text(f"and {len(lines) - len(shown)} more lines: -v shows them", "dim")


def _printed(document: LaunchOpDocument) -> Iterator[Pair]:
    lines = document.child.output.splitlines() if document.child else []
    for line in lines[:OUTPUT_LINES]:
        yield "printed", from_file(line)
    if len(lines) > OUTPUT_LINES:
        yield "", Text(f"and {len(lines) - OUTPUT_LINES} more lines", "dim")


def _bytes(
    call: CallBytesEntry, document: LaunchOpDocument, console: Console
) -> Iterator[RenderableType]:
    """OPR-1305: the block, the NodeDef and the ext info."""
    rows = [[f"{each.offset:#06x}", str(each.size), each.name, each.value] for each in call.fields]
    title = f"Parameter block, {document.param_size} bytes"
    yield columns(console, title, ("Offset", "Size", "Field", "Value"), rows, ("Size",))
    tensors = [
        [what, each.name, f"{each.dtype}[{','.join(map(str, each.shape))}]", each.format]
        for what, side in (("input", call.inputs), ("output", call.outputs))
        for each in side
    ]
    tensors += [["attribute", each.name, each.value, each.kind] for each in call.attrs]
    yield columns(console, f"NodeDef of {document.op}", ("", "Name", "Value", "Kind"), tensors)
    entries = [[f"{each.name} ({each.number})", str(each.length), each.value] for each in call.ext]
    yield columns(console, "Ext info", ("Entry", "Bytes", "Value"), entries, ("Bytes",))
