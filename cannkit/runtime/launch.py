"""Launcher: from a kernel and its arguments to 64 bytes in a ring. Spec 04, sections 1.3, 3 and 5."""

from __future__ import annotations

from typing import Final

from cannkit.device.device import Device
from cannkit.device.trace import Finding
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.args import ArgsArray, ArgsBlock, ArgsEx, SimtArgs, block_of
from cannkit.runtime.args_check import check_address, check_args, remarks
from cannkit.runtime.args_handle import SystemAddresses
from cannkit.runtime.args_memory import ArgsKind, ArgsMemory
from cannkit.runtime.args_pool import Placement, Policy
from cannkit.runtime.capture import Capture
from cannkit.runtime.entry_pattern import EntryPattern
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.launch_config import DEFAULT_CONFIG, LaunchConfig, TaskConfig, check_legacy
from cannkit.runtime.launch_env import LaunchEnv
from cannkit.runtime.launch_remarks import LARGEST_SIZE, launch_remarks
from cannkit.runtime.launch_target import Target, Targets, stack_places, system_addresses
from cannkit.runtime.launched import Given, GivenArguments, Launched
from cannkit.runtime.load import current
from cannkit.runtime.process import Process
from cannkit.runtime.program_base import Program
from cannkit.runtime.stream import InFlight, Stream, check_stream
from cannkit.runtime.streams import Streams
from cannkit.runtime.task import check_blocks, make_task

PATTERNS: Final = 256  # kept for each stream
BLOCKERS: Final = 8  # LCH-15: NOP tasks before a kernel with prefetch

Args = ArgsEx | ArgsArray | SimtArgs


class Launcher:
    """What launches need beside programs: the streams of every device, kernels in place. Changes.

    `env` is what process and device add to a task; stacks and stream are filled in.
    """

    def __init__(self, process: Process, env: LaunchEnv) -> None:
        self.process = process
        self.targets = Targets(process.loader)
        self.given = GivenArguments()
        self._env = env
        self._streams: dict[Device, Streams] = {}
        self._system: dict[Device, SystemAddresses] = {}

    def streams(self, device: Device) -> Streams:
        """The streams of a device, its default stream at first need."""
        found = self._streams.get(device)
        if found is None:
            env = self._env._replace(stacks=stack_places(device))
            found = self._streams[device] = Streams(device, env, ArgsMemory(device))
        return found

    def system(self, device: Device) -> SystemAddresses:
        """What system slots of arguments hold on a device."""
        found = self._system.get(device)
        if found is None:
            found = self._system[device] = system_addresses(device)
        return found

    def reset(self, device: Device) -> None:
        """The streams of a device end with it."""
        streams = self._streams.pop(device, None)
        for stream in streams or ():
            stream.is_open = False
        self._system.pop(device, None)
        self.targets.reset(device)

    def launch(
        self,
        program: Program,
        kernel: Kernel,
        blocks: int,
        args: Args,
        config: LaunchConfig | None,
        device: Device | None,
        stream: Stream | None = None,
    ) -> Launched:
        """LaunchKernelV2, for AI Core kernels. LCH-6, LCH-8.

        Raises RtError in this order: that of `check_args`, 107000 for the block count and the config,
        107002, 107003 for a stream of another device, that of `Targets.find`, and as `submit` does.
        """
        check_args(kernel, args)
        check_blocks(blocks)
        task_config = DEFAULT_CONFIG if config is None else config.to_task()
        if isinstance(args, SimtArgs):
            if not self.process.soc.has_simt:  # LCH-4
                why = f"{self.process.soc.chip} has no SIMT threads"
                raise RtError(RtStatus.INVALID_VALUE, "cannot launch a grid", why=why)
            task_config = task_config._replace(local_memory=args.dynamic_ubuf)  # LCH-35
        target, stream = self.aim(program, kernel, device, stream, task_config)
        block = block_of(kernel, args)
        launched = self.submit(target, blocks, block, task_config, stream, config)
        if not block.patches:
            return launched
        return launched._replace(findings=(*launched.findings, *remarks(args)))

    def launch_legacy(
        self,
        program: Program,
        kernel: Kernel,
        blocks: int,
        args: ArgsEx,
        config: TaskConfig,
        device: Device | None,
        stream: Stream | None = None,
    ) -> Launched:
        """LaunchKernel: with the record of the runtime instead of a config. LCH-7, LCH-16.

        Raises RtError: 107000 for the block count, that of `check_args`, 107000 for the config, then
        as `launch` does.
        """
        check_blocks(blocks)
        check_args(kernel, args)
        check_legacy(config)
        target, stream = self.aim(program, kernel, device, stream, config)
        return self.submit(target, blocks, block_of(kernel, args), config, stream)

    def aim(
        self,
        program: Program,
        kernel: Kernel,
        device: Device | None,
        stream: Stream | None,
        config: TaskConfig,
    ) -> tuple[Target, Stream]:
        """LCH-8: context, stream, program, and what goes before a launch (LCH-15).

        Raises RtError: 107002, 107003, that of `Targets.find`, 507002.
        """
        device = current(device)
        stream = self.stream_for(device, stream)
        target = self.targets.find(program, kernel, device)
        if config.prefetch:
            for _ in range(BLOCKERS):
                stream.push_nop(*stream.identify())
        return target, stream

    def stream_for(self, device: Device, stream: Stream | None) -> Stream:
        """LCH-8: the stream of a launch.

        Raises RtError: 107017 for one that is destroyed, 107003 for one of another device.
        """
        if stream is None:
            return self.streams(device).default
        check_stream(stream)
        if stream.device is not device:
            why = f"it belongs to device {stream.device.id}, device {device.id} is current"
            raise RtError(RtStatus.STREAM_CONTEXT, "stream of another context", why=why)
        return stream

    def submit(
        self,
        target: Target,
        blocks: int,
        block: ArgsBlock,
        config: TaskConfig,
        stream: Stream,
        asked: LaunchConfig | None = None,
        given: Given | None = None,
    ) -> Launched:
        """LCH-62, LCH-64: place the arguments, make the task and its entry, put that into the ring.

        `asked` is what `config` was made of, `given` what `block` was. Raises RtError: 107023 for a
        stream that stopped, 507002 for a full one, 107000 for unified buffer (LCH-48) and for an
        address of more than 48 bits (Q-12), 207001 without memory for the arguments.
        """
        stream.refuse_if_stopped()
        place, env = target.place, stream.env
        pattern = pattern_of(target, blocks, config, block.size, stream)
        key, serial = stream.identify()
        kind = ArgsKind.MIX if pattern.has_context else ArgsKind.PLAIN
        placement, content = place_block(stream, kind, block, key)
        task = make_task(
            place,
            blocks,
            config,
            env,
            args=placement.address,
            args_size=block.size,
            simt_offset=block.simt_offset,
            simt_dcu_size=pattern.dcu_size,
            mix_opt=int(placement.policy is Policy.MIX and not env.bound),
        )
        context = None
        if placement.context_view is not None:
            context = pattern.context(placement.address)
            placement.context_view[:] = context
        number = serial if stream.is_v200 else key
        args = placement.address + block.simt_offset
        raw = pattern.entry(number, args, placement.context, stream.count + 1)
        position = stream.push(
            raw, InFlight(key, target.core, placement, target.program, target.kernel)
        )
        findings: tuple[Finding, ...] = ()
        if config is not DEFAULT_CONFIG or block.size > LARGEST_SIZE:
            findings = launch_remarks(place, task, config, asked, stream.device.soc)
        return Launched(
            target, task, key, raw, context, content, placement, position, findings, given
        )

    def execute(self, capture: Capture, stream: Stream) -> None:
        """Submit what was captured, as often as one likes. LCH-66.

        Raises RtError: 107000 for a capture that was released, 107023, 507002.
        """
        stream.refuse_if_stopped()
        if not capture.entries:
            raise RtError(RtStatus.INVALID_VALUE, "nothing was captured, or it was released")
        for raw, task in zip(capture.entries, capture.tasks, strict=True):
            key = stream.identify()[0] if stream.is_v200 else task.key
            stream.push(raw, task._replace(key=key, placement=None))  # the capture holds them


def pattern_of(
    target: Target, blocks: int, config: TaskConfig, args_size: int, stream: Stream
) -> EntryPattern:
    """The entry of a launch but for ids and addresses, made once for each stream. LCH-48.

    Raises RtError (107000) for too much unified buffer.
    """
    key = target.kernel, target.image, blocks, config, args_size
    found = stream.patterns.get(key)
    if found is None:
        if len(stream.patterns) >= PATTERNS:
            stream.patterns.clear()
        found = stream.patterns[key] = EntryPattern(
            target.place, blocks, config, stream.env, args_size, is_v200=stream.is_v200
        )
    return found


def place_block(
    stream: Stream, kind: ArgsKind, block: ArgsBlock, key: int
) -> tuple[Placement, bytes | None]:
    """LCH-36 to LCH-40: where a block goes, and its bytes as they are copied there.

    Raises RtError: 107000 for an address of more than 48 bits (Q-12), 207001.
    """
    pointer = block.pointer if block.content is None else None
    if pointer:
        check_address(pointer)
    captured = stream.capture is not None
    placement = stream.args.place(
        stream.queue, kind, block.size, pointer=pointer, task_slot=key, captured=captured
    )
    if block.content is None:
        return placement, None
    content = block.patched(placement.address)
    if placement.view is None:
        stream.device.memory.write(placement.address, content)
    else:
        placement.view[: len(content)] = content
    return placement, content
