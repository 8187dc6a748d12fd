"""Launched: a task on its way, and the arguments it was given. Spec 04, LCH-91."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from cannkit.device.trace import Finding
from cannkit.runtime.arg_layout import ArgPlan
from cannkit.runtime.arg_values import Slot, UserArg, is_block
from cannkit.runtime.args_pool import Placement
from cannkit.runtime.launch_target import Target
from cannkit.runtime.task import CpuTask, Task

REMEMBERED: Final = 4096  # more than a ring has entries


class Given(NamedTuple):
    """The arguments of a launch as a user gave them, and what is known of those of the kernel."""

    plan: ArgPlan
    values: object

    @property
    def args(self) -> Sequence[UserArg]:
        """One by one; none of a block."""
        return () if is_block(self.values) else self.plan.resolve(self.values)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What lies where in the arguments."""
        return self.plan.bind(self.values)[1]


class Launched(NamedTuple):
    """A task on its way: what was made of it, and where it lies.

    `key` is its id, on A5 its place in the ring. `sqe` has 64 bytes, `context` 128 where it is a mix
    of v100; `block` is the argument block as copied, None where the caller's own device memory is
    used. `target` is None for an AI CPU kernel.
    """

    target: Target | None
    task: Task | CpuTask
    key: int
    sqe: bytes
    context: bytes | None
    block: bytes | None
    placement: Placement
    position: int
    findings: tuple[Finding, ...] = ()
    given: Given | None = None

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What lies where in the arguments, where they were given to `Runtime.launch`."""
        return () if self.given is None else self.given.slots

    @property
    def args_address(self) -> int:
        """Where the arguments are that the kernel sees; those of SIMT come behind its own (LCH-34)."""
        offset = self.task.simt_offset if isinstance(self.task, Task) else 0
        return self.placement.address + offset


class GivenArguments:
    """What users gave their last launches, by the address of the arguments. Changes.

    A host model asks, for the bytes of a block do not say of which type they are.
    """

    def __init__(self) -> None:
        self._given: dict[int, Given] = {}
        self._older: dict[int, Given] = {}

    def keep(self, address: int, given: Given) -> None:
        """Remember what the arguments at an address are; the oldest go, REMEMBERED at once."""
        if len(self._given) >= REMEMBERED:
            self._older, self._given = self._given, {}
        self._given[address] = given

    def at(self, address: int) -> tuple[Sequence[UserArg], Sequence[Slot]]:
        """What was given at an address, and its slots; nothing where nothing was."""
        given = self._given.get(address) or self._older.get(address)
        return ((), ()) if given is None else (given.args, given.slots)
