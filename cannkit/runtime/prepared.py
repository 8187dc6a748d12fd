"""PreparedLaunch: the same launch again and again, with new values. Spec 04, sections 2 and 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from cannkit.errors import UsageError
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.args import ArgsBlock
from cannkit.runtime.args_check import check_address
from cannkit.runtime.args_handle import SystemAddresses
from cannkit.runtime.args_memory import ArgsKind
from cannkit.runtime.launch import pattern_of
from cannkit.runtime.launch_config import TaskConfig
from cannkit.runtime.launch_target import Target
from cannkit.runtime.launched import Given, GivenArguments
from cannkit.runtime.stream import InFlight, Stream, check_stream

NUMBERS: Final = frozenset({int})


class PreparedLaunch:
    """A launch whose kernel, blocks, config and stream are settled. Changes nothing of itself.

    `given` are the arguments it was prepared with, `block` what they make, `system` what system slots
    hold; `known` remembers what is at an address. It is good until the binary leaves the device.
    """

    def __init__(
        self,
        target: Target,
        blocks: int,
        block: ArgsBlock,
        config: TaskConfig,
        stream: Stream,
        system: SystemAddresses,
        given: Given,
        known: GivenArguments,
    ) -> None:
        self.target = target
        self.stream = stream
        self._block = block
        self._system = system
        self._given = given
        self._known = known
        self._pattern = pattern_of(target, blocks, config, block.size, stream)
        if block.content is None and block.pointer:
            check_address(block.pointer)
        self._kind = ArgsKind.MIX if self._pattern.has_context else ArgsKind.PLAIN

    def launch(self, values: Sequence[Any] | None = None) -> int:
        """Launch with these arguments, or with those it was prepared with; the place in the ring.

        Raises RtError: 107017 where the binary is gone from the device, 107023, 507002, 207001;
        UsageError for arguments that the kernel does not take, or that take another number of bytes.
        """
        target, stream, block = self.target, self.stream, self._block
        if stream.failures or not (target.is_alive and stream.is_open):
            self._check()
        if values is not None:
            block = self._block_of(values)
        content = block.content
        # What place_block does, but straight: through it a launch takes a tenth longer.
        key, serial = stream.identify()
        placement = stream.args.place(
            stream.queue,
            self._kind,
            block.size,
            pointer=block.pointer if content is None else None,
            task_slot=key,
            captured=stream.capture is not None,
        )
        address = placement.address
        if content is not None:
            if block.patches:
                content = block.patched(address)
            if placement.view is None:
                stream.device.memory.write(address, content)
            else:
                placement.view[: len(content)] = content
        pattern = self._pattern
        if placement.context_view is not None:
            placement.context_view[:] = pattern.context(address)
        number = serial if stream.is_v200 else key
        raw = pattern.entry(number, address, placement.context, stream.count + 1)
        if stream.device.models.functions:
            given = self._given if values is None else Given(target.plan, values)
            self._known.keep(address, given)
        return stream.push(
            raw, InFlight(key, target.core, placement, target.program, target.kernel)
        )

    __call__ = launch

    def _check(self) -> None:
        """Raise RtError where kernel or stream are gone, or the stream stopped at a failure."""
        if not self.target.is_alive:
            why = "its binary left the device"
            what = "a prepared launch of a kernel that is gone"
            raise RtError(RtStatus.KERNEL_INVALID, what, why=why)
        check_stream(self.stream)
        self.stream.refuse_if_stopped()

    def _block_of(self, values: Sequence[Any]) -> ArgsBlock:
        """The block of other arguments. Raises UsageError, also where they are more or fewer bytes."""
        ffts, overflow = self._system
        if NUMBERS.issuperset(map(type, values)):
            content = self.target.plan.pack(values, ffts=ffts, overflow=overflow)
            block = ArgsBlock(content or None, 0, len(content))
        else:
            block = self.target.plan.block(values, ffts=ffts, overflow=overflow)
        if block.size != self._block.size:
            why = f"they take {block.size} bytes, it was prepared for {self._block.size}"
            raise UsageError("arguments of another size", why=why)
        return block
