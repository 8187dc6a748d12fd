"""What process, device and stream add to a task on its way to an entry. Spec 04, sections 3 and 4."""

from __future__ import annotations

from typing import Final, NamedTuple

from cannkit.format.sqe import IdMode

PICO: Final = 1_000_000  # picoseconds in a us
CREDIT_UNIT_US: Final = 4_294_967.296  # 2^32 ns
NOT_CONFIGURED: Final = None


class QosEntry(NamedTuple):
    """One of the four entries of the device's QoS config; without `mode` it says nothing. LCH-74."""

    mode: int = 0
    pmg: int = 0
    part_id: int = 0
    qos: int = 0


class QosConfig(NamedTuple):
    """LCH-74."""

    aic_data: QosEntry = QosEntry()
    aic_instruction: QosEntry = QosEntry()
    aiv_data: QosEntry = QosEntry()
    aiv_instruction: QosEntry = QosEntry()


class StackPlaces(NamedTuple):
    """Where the stack regions lie, and the bytes of a custom stack. LCH-54, LCH-55."""

    large: int = 0
    small: int = 0
    custom: int = 0
    custom_size: int = 32768


class LaunchEnv(NamedTuple):
    """Everything outside of kernel and arguments that an entry depends on.

    Of the stream: `stream_id` to `writes_cqe`. Of the process: profiling, and the operator timeout
    in us (None: not configured) with its mode. Of the device: the rest. `credit_unit_us` is what the
    device reports; `dies` matters on A5 only.
    """

    stacks: StackPlaces = StackPlaces()
    stream_id: int = 0
    overflow_switch: bool = False
    debug_register: bool = False
    bound: bool = False
    writes_cqe: bool = False
    biu_perf: bool = False
    l2_profiling: bool = False
    op_timeout: int | None = NOT_CONFIGURED
    op_timeout_in_ms: bool = False
    credit_unit_us: float = CREDIT_UNIT_US
    can_wait_forever: bool = True  # the scheduler has capability 44 or 46
    online: bool = True
    tsd_qos: int = 0
    has_mc2: bool = True
    scheduler_version: int = 36
    id_mode: IdMode = IdMode.PLAIN
    qos: QosConfig | None = None
    fails_context_copy: bool = False
    dies: int = 2
    has_hcom_cpu: bool = False
    is_ub: bool = False

    @property
    def overflow(self) -> bool:
        """LCH-75."""
        return self.overflow_switch or self.debug_register

    @property
    def unbound_debug(self) -> bool:
        """A debug register on a stream that belongs to no graph."""
        return self.debug_register and not self.bound
