"""AiCpu: how the AI CPU of a simulated device is set up. Spec 05."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from cannkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cannkit.ae.caller import Caller
    from cannkit.ae.context import AeContext
    from cannkit.device.executor import Executor
    from cannkit.device.hardware import Hardware
    from cannkit.inputs.files import PathView


class AiCpu(NamedTuple):
    """The processes of the AI CPU (`context`), where they look for libraries, and who calls functions.

    Without `files` tasks are not executed: only the search is told. `caller` is called once for each
    process. `context` is that of every device; without one a device has its own id, PCIe mode and the
    default HOME. `cust_sd` sends every task to one scheduler; as a rule custom types go to cust-sd.
    `extents` are the bytes in use of allocations that are larger, by address, and may grow: writing behind
    them is an overrun. `clock` times the calls, in seconds.
    """

    context: AeContext | None = None
    files: PathView | None = None
    caller: Callable[[], Caller] | None = None
    cust_sd: bool | None = None
    extents: Mapping[int, int] | None = None
    clock: Callable[[], float] | None = None

    @classmethod
    def below(
        cls,
        root: str,
        *,
        context: AeContext | None = None,
        timeout: float | None = None,
        memory: int | None = None,
        cust_sd: bool | None = None,
        extents: Mapping[int, int] | None = None,
    ) -> Self:
        """Libraries below a directory, as if it were `/`, really called in a process of their own.

        They run with the rights of the user, each call for `timeout` seconds at most (10) and a process in
        `memory` bytes (2 GiB), and it ends with the device (aclrtResetDevice). Raises InputError for what is
        no directory, UsageError for other limits and where nothing can be called.
        """
        from time import monotonic

        from cannkit.ae.host_caller import MEMORY, TIMEOUT, HostCaller
        from cannkit.inputs.rooted import RootedFiles

        files = RootedFiles(root)
        seconds = TIMEOUT if timeout is None else timeout
        limit = MEMORY if memory is None else memory

        def make() -> HostCaller:
            return HostCaller(files, seconds, limit)

        make()  # nothing is started, but what cannot work is told now
        return cls(context, files, make, cust_sd, extents, monotonic)


def ai_cpu_maker(ai_cpu: AiCpu) -> Callable[[Hardware], Executor]:
    """What makes the AI CPU of a device at its first task. Raises UsageError for files without a caller."""
    if ai_cpu.files is not None and ai_cpu.caller is None:
        raise UsageError("an AI CPU with files needs a caller", hint="AiCpu.below(root) has one")

    def make(hardware: Hardware) -> Executor:
        from cannkit.ae.callers import TableCaller
        from cannkit.ae.context import AeContext, unique_vf
        from cannkit.ae.executor import AeExecutor

        context = ai_cpu.context or AeContext(device=hardware.id, vf=unique_vf(hardware.id))
        return AeExecutor(
            hardware,
            context,
            ai_cpu.files,
            ai_cpu.caller or (lambda: TableCaller({})),
            is_cust_sd=ai_cpu.cust_sd,
            extents=ai_cpu.extents,
            clock=ai_cpu.clock,
        )

    return make
