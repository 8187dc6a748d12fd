"""EntryPattern: the entry of a launch as a number to which only ids and addresses are added.

The same kernel is launched with the same blocks again and again: then the entry is made once. The
benchmark of launches asked for it (tests/bench/test_launch.py).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from cannkit.format.bits import Record
from cannkit.format.sqe import IdMode, exchange_ids, v100
from cannkit.runtime.launch_config import TaskConfig
from cannkit.runtime.launch_env import LaunchEnv
from cannkit.runtime.task import UB, KernelPlace, make_task, simt_dcu_size
from cannkit.runtime.task_sqe import (
    HEAD_UPDATE_EVERY,
    core_sqe,
    kernel_sqe,
    mix_context,
    mix_sqe,
)

SOMEWHERE: Final = 1 << 12  # an address that is there, so that an entry shows where it keeps it
ARGS_FIELDS: Final = ("args_addr", "aic_args_addr", "aiv_args_addr")
KEY_FIELDS: Final = ("task_id", "task_sn")
CONTEXT_FIELD: Final = "context_addr"


class Pattern(NamedTuple):
    """A record as a number without what differs from launch to launch.

    The other fields are factors: of the number of a task, of the address of its arguments, of that of
    its context.
    """

    number: int
    key: int
    args: int
    context: int
    size: int

    @classmethod
    def of(cls, entry: Record) -> Pattern:
        """The pattern of a record whose arguments and context are SOMEWHERE."""
        places = {name: 1 << span.lo for name, span in entry.SPANS.items()}
        used = [name for name in ARGS_FIELDS if name in places and getattr(entry, name)]
        keys = [name for name in KEY_FIELDS if name in places]
        contexts = [name for name in (CONTEXT_FIELD,) if name in places]
        blank = entry.replace(**dict.fromkeys([*used, *keys, *contexts], 0))
        key, args, context = (
            sum(places[name] for name in names) for names in (keys, used, contexts)
        )
        number = int.from_bytes(blank.encode(), "little")
        return cls(number, key, args, context, entry.SIZE)

    def fill(self, key: int, args: int, context: int) -> bytes:
        """The bytes of one launch."""
        number = self.number + key * self.key + args * self.args + context * self.context
        return number.to_bytes(self.size, "little")


class EntryPattern:
    """The entry of launches that differ in task and addresses alone, with its context if it has one.

    Raises RtError (107000) as `simt_dcu_size` does. LCH-56 to LCH-59.
    """

    __slots__ = ("_context", "_entry", "_exchange", "_update", "dcu_size")

    def __init__(
        self,
        place: KernelPlace,
        blocks: int,
        config: TaskConfig,
        env: LaunchEnv,
        args_size: int,
        *,
        is_v200: bool,
    ) -> None:
        self.dcu_size = simt_dcu_size(place, config.local_memory) if is_v200 else UB
        task = make_task(
            place,
            blocks,
            config,
            env,
            args=SOMEWHERE,
            args_size=args_size,
            simt_dcu_size=self.dcu_size,
        )
        self._context: Pattern | None = None
        self._update = 0
        self._exchange = IdMode.PLAIN
        if is_v200:
            entry: Record = core_sqe(task, place, env, 0, count=1)
            if env.is_ub:
                self._update = 1 << entry.SPANS["head_update"].lo
        elif place.mix:
            entry = mix_sqe(task, place, env, 0, SOMEWHERE)
            self._context = Pattern.of(mix_context(task, place, env))
            self._exchange = env.id_mode
        else:
            entry = kernel_sqe(task, place, env, 0)
        self._entry = Pattern.of(entry)

    @property
    def has_context(self) -> bool:
        """Whether it is a mix of v100."""
        return self._context is not None

    def entry(self, key: int, args: int, context: int, count: int) -> bytes:
        """The 64 bytes of a launch: number of the task, addresses, tasks of the stream with this one."""
        raw = self._entry.fill(key, args, context)
        if self._exchange is not IdMode.PLAIN:  # LCH-73
            return exchange_ids(v100.MixSqe.decode(raw), self._exchange).encode()
        if self._update and count % HEAD_UPDATE_EVERY == 0:  # 04, 4.5
            return (int.from_bytes(raw, "little") | self._update).to_bytes(len(raw), "little")
        return raw

    def context(self, args: int) -> bytes:
        """The 128 bytes of its context."""
        assert self._context is not None
        return self._context.fill(0, args, 0)
