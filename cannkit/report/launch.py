"""The document of `cannkit launch`: one launch from its arguments to its completion. cli.md, 6."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self

from cannkit.api.values import find_dtype, unpack
from cannkit.device.device import Device
from cannkit.device.trace import AiCpuEvent, Finding, TaskEvent
from cannkit.errors import CannkitError, ExitCode
from cannkit.format.sqe import Family, decode_sqe, family_of
from cannkit.format.status import RtError
from cannkit.report.base import Address, CodeEntry, Document, ErrorEntry, document, printable
from cannkit.report.device import DeviceEntry
from cannkit.report.outputs import Output, OutputEntry
from cannkit.report.sqe_fields import FieldEntry
from cannkit.runtime.arg_values import ArgKind, Slot, UserArg
from cannkit.runtime.args import WORD
from cannkit.runtime.args_pool import ArgsMemoryKind
from cannkit.runtime.launched import Launched

FAULT: Final = "device-fault"
SHOWN: Final = 512  # bytes of a slot that are told one by one
NO_POOL: Final = (ArgsMemoryKind.CALLER, ArgsMemoryKind.DYNAMIC)
ADDRESSES: Final = ("args", "so_name", "func_name")  # of a task
WIDE: Final = ("timeout",)  # numbers of 64 bits


class Story(NamedTuple):
    """A launch as far as it came: `blocks` were asked for of `kernel`.

    `content` is what the argument block held, `args` what the user gave, `ring` head and tail at
    submission, `event` what the device told of the last task and `ai_cpu` of its blocks on the AI CPU,
    `error` how it ended if it did not well, on the device where `is_fault`, and `message` the end in words.
    """

    kernel: str
    device: Device
    blocks: int
    launched: Launched | None = None
    args: Sequence[UserArg] = ()
    content: bytes = b""
    ring: tuple[int, int] = (0, 0)
    event: TaskEvent | None = None
    ai_cpu: Sequence[AiCpuEvent] = ()
    message: str = ""
    error: CannkitError | None = None
    is_fault: bool = False
    outputs: Sequence[Output] = ()

    @property
    def exit_code(self) -> ExitCode:
        """What the process answers."""
        if self.error is None:
            return ExitCode.OK
        return ExitCode.FAULT if self.is_fault else self.error.exit_code

    @property
    def error_entry(self) -> ErrorEntry | None:
        """Its error, if it has one."""
        if self.error is None:
            return None
        entry = ErrorEntry.of(self.error)
        return replace(entry, kind=FAULT) if self.is_fault else entry

    @property
    def findings(self) -> Iterator[Finding]:
        """What runtime and device have to say."""
        if self.launched is not None:
            if self.launched.target is not None:
                yield from self.launched.target.plan.remarks
            yield from self.launched.findings
        if self.event is not None:
            yield from self.event.findings


@document
class BlocksEntry:
    """Blocks as asked for, and what the device makes of them on its cores (LCH-50)."""

    requested: int
    aic: int
    aiv: int


@document
class SlotEntry:
    """Bytes of the argument block, and what they hold: an address, a number, or bytes in hex.

    `origin` tells who fills them: user, ffts, overflow, tiling, placeholder, simt, head. Of more than 512
    bytes `value` is null.
    """

    offset: int
    size: int
    kind: str
    origin: str
    value: str | None


@document
class ArgsEntry:
    """The argument block of `size` bytes, and how it got to `address` (LCH-36 to LCH-41).

    `pool`: in memory that the runtime keeps for this; not in the caller's nor allocated for it alone.
    """

    size: int
    policy: str
    pool: bool
    address: Address
    hex: str
    slots: tuple[SlotEntry, ...]

    @classmethod
    def of(cls, launched: Launched, args: Sequence[UserArg], content: bytes) -> Self:
        """The entry of a block that holds `content`."""
        place = launched.placement
        shift = launched.args_address - place.address
        slots = []
        if shift:  # LCH-34
            slots.append(SlotEntry(0, shift, "dimensions", "simt", _hex(content[:shift])))
        for slot in launched.slots:
            at = slot.offset + shift
            value = _slot_value(slot, args, content[at : at + slot.size])
            slots.append(SlotEntry(at, slot.size, slot.kind, slot.origin.value, value))
        return cls(
            size=launched.task.args_size,
            policy=place.policy.value,
            pool=place.memory not in NO_POOL,
            address=hex(place.address),
            hex=content.hex(),
            slots=tuple(slots),
        )


@document
class LaunchSqe:
    """The entry that went into the ring, and on A2 and A3 the context of a mix."""

    arch: str
    size: int
    hex: str
    context_hex: str | None
    fields: tuple[FieldEntry, ...]

    @classmethod
    def of(cls, raw: bytes, context: bytes | None, family: Family) -> Self:
        """The entry of the bytes of a generation."""
        fields = FieldEntry.all_of(decode_sqe(raw, family))
        return cls(family.value, len(raw), raw.hex(), context.hex() if context else None, fields)


@document
class SubmissionEntry:
    """The ring right after the entry was put into it: where the device reads, and we write next."""

    sq_head: int
    sq_tail: int


@document
class ResultEntry:
    """What synchronise answers; codes where it is an error."""

    status: Literal["ok", "error"]
    acl: CodeEntry | None
    rt: CodeEntry | None
    message: str

    @classmethod
    def of(cls, error: CannkitError | None, message: str) -> Self:
        """The entry of an end."""
        acl, rt = (error.acl, error.rt) if isinstance(error, RtError) else (None, None)
        status: Literal["ok", "error"] = "ok" if error is None else "error"
        return cls(status, CodeEntry.of(acl), CodeEntry.of(rt), printable(message))


@document
class FindingEntry:
    """What a rule of the runtime or of the simulated hardware says of the launch."""

    rule: str
    severity: str
    message: str

    @classmethod
    def of(cls, finding: Finding) -> Self:
        """The entry of a finding."""
        return cls(finding.rule, finding.severity.value, printable(finding.message))


class AeSchema:
    """Says that `ae` is a LaunchAeEntry: what it takes is loaded where there is an AI CPU kernel."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from cannkit.report.launch_ae import LaunchAeEntry

        return handler.generate_schema(LaunchAeEntry)


@document
class LaunchDocument(Document):
    """One launch. What a refused one did not come to is null or empty; `ae` is of an AI CPU kernel."""

    SCHEMA: ClassVar[str] = "cannkit.launch/1"
    kernel: str
    device: DeviceEntry
    blocks: BlocksEntry
    args: ArgsEntry | None
    task: Mapping[str, int | str | None] | None
    sqe: tuple[LaunchSqe, ...]
    submission: SubmissionEntry | None
    result: ResultEntry
    findings: tuple[FindingEntry, ...]
    outputs: tuple[OutputEntry, ...]
    error: ErrorEntry | None
    ae: Annotated[object, AeSchema()] | None

    @property
    def is_complete(self) -> bool:
        """Whether the device worked off the last launch, well or not."""
        return self.error is None or self.error.kind == FAULT

    @classmethod
    def of(cls, story: Story) -> Self:
        """The document of a launch."""
        launched, event = story.launched, story.event
        aic, aiv = (event.aic, event.aiv) if event else (0, 0)
        args, submission = None, None
        sqe: tuple[LaunchSqe, ...] = ()
        if launched is not None:
            args = ArgsEntry.of(launched, story.args, story.content)
            family = family_of(story.device.soc)
            sqe = (LaunchSqe.of(launched.sqe, launched.context, family),)
            submission = SubmissionEntry(*story.ring)
        return cls(
            kernel=printable(story.kernel),
            device=DeviceEntry.of(story.device),
            blocks=BlocksEntry(story.blocks, aic, aiv),
            args=args,
            task=None if launched is None else task_fields(launched),
            sqe=sqe,
            submission=submission,
            result=ResultEntry.of(story.error, story.message),
            findings=tuple(map(FindingEntry.of, story.findings)),
            outputs=tuple(map(OutputEntry.of, story.outputs)),
            error=story.error_entry,
            ae=_ae(story) if story.ai_cpu else None,
        )


def _ae(story: Story) -> object:
    from cannkit.report.launch_ae import LaunchAeEntry  # here, for most kernels need none of it

    return LaunchAeEntry.of(story.ai_cpu)


def task_fields(launched: Launched) -> Mapping[str, int | str | None]:
    """The record of a task: its id, its type, where its code starts, and every other field."""
    task, target = launched.task, launched.target
    fields: dict[str, int | str | None] = {"id": launched.key, "type": int(task.type)}
    fields["type_name"] = task.type.name
    if target is not None:
        fields |= {"pc1": hex(target.place.func1), "pc2": _address(target.place.func2)}
    for name, value in task._asdict().items():
        if name != "type":
            fields[name] = (
                hex(value) if name in ADDRESSES else str(value) if name in WIDE else int(value)
            )
    return fields


def _slot_value(slot: Slot, args: Sequence[UserArg], raw: bytes) -> str | None:
    """What a slot holds, in words: numbers that the user gave by value, addresses, other bytes."""
    arg = args[slot.index] if slot.index is not None and slot.index < len(args) else None
    if arg is not None and arg.kind is ArgKind.SCALAR and arg.dtype and arg.data == raw:
        return str(unpack(find_dtype(arg.dtype), raw)[0])
    if len(raw) == WORD and (arg is None or arg.kind is not ArgKind.SCALAR):
        return hex(int.from_bytes(raw, "little"))
    return _hex(raw)


def _address(address: int) -> str | None:
    return hex(address) if address else None


def _hex(raw: bytes) -> str | None:
    return raw.hex() if len(raw) <= SHOWN else None
