"""Runtime: one simulated host process with its devices. Spec 02 and 03."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING

from cannkit.api.ai_cpu import AiCpu, ai_cpu_maker
from cannkit.api.binary import BinaryHandle, hand
from cannkit.api.function import FunctionHandle
from cannkit.api.kernel_args import KernelArgsCalls
from cannkit.api.launch import LaunchCalls
from cannkit.api.launch_acl import AclLaunchCalls
from cannkit.api.launch_old import OldLaunchCalls
from cannkit.api.memory import MemoryCalls
from cannkit.api.session import Raw, Session, call, not_null
from cannkit.api.streams import StreamCalls
from cannkit.api.stubs import StubCalls
from cannkit.device.device import Device, DeviceConfig, simulated_driver
from cannkit.device.driver import Driver
from cannkit.device.memory import DeviceMemory
from cannkit.device.trace import Trace, no_trace
from cannkit.errors import UsageError
from cannkit.format.status import RtError, RtStatus
from cannkit.image.kernel_object import KernelObject
from cannkit.inputs.files import FileView, HostFiles, link_target
from cannkit.runtime.binary_loader import BinaryLoader
from cannkit.runtime.context import Contexts, visible_devices
from cannkit.runtime.handles import Handle
from cannkit.runtime.load_options import LoadOptions
from cannkit.runtime.pool import CAPACITY, ProgramPool
from cannkit.runtime.process import Process
from cannkit.soc import DEFAULT_SOC, Soc, find_soc

if TYPE_CHECKING:
    from cannkit.runtime.launch_env import LaunchEnv

DEVICES = 8  # as many as a server has


class BinaryDescriptor:
    """What aclrtCreateBinary makes (rtDevBinary_t): bytes of the caller, not copied, and a length."""

    __slots__ = ("data", "live", "size")

    def __init__(self, data: Raw, size: int) -> None:
        self.data = data
        self.size = size
        self.live = True


class Runtime(
    MemoryCalls,
    StubCalls,
    StreamCalls,
    KernelArgsCalls,
    AclLaunchCalls,
    LaunchCalls,
    OldLaunchCalls,
):
    """One simulated host process: what it loads, where, and what it asks. Changes.

    `soc` names the chip; `devices` is how many of it there are, of which `visible` lists those the
    process sees, as ASCEND_RT_VISIBLE_DEVICES would. `device` is made current in the thread that makes
    the Runtime, None for none. `files` is where paths are looked up, this machine unless given.
    `config` and `driver` make a device, `trace` is told what is asked of it. `lenient` loads what is
    refused for printf (QK-4) or for an image that leaves its file (Q-3); `max_programs` is the size
    of the program pool, `launch_env` what process and device add to every task, `ai_cpu` how their AI CPU
    is set up. Any thread may make any call; device and context are each thread's own.

    Raises UsageError for an unknown `soc`, an unusable list and an AI CPU with files that nobody calls,
    RtError as `set_device` does.
    """

    def __init__(
        self,
        soc: str | Soc = DEFAULT_SOC,
        *,
        devices: int = DEVICES,
        device: int | None = 0,
        visible: str | None = None,
        files: FileView | None = None,
        config: DeviceConfig | None = None,
        driver: Callable[[DeviceMemory, Soc], Driver] = simulated_driver,
        trace: Trace = no_trace,
        lenient: bool = False,
        max_programs: int = CAPACITY,
        launch_env: LaunchEnv | None = None,
        ai_cpu: AiCpu | None = None,
    ) -> None:
        self.soc = find_soc(soc) if isinstance(soc, str) else soc
        binaries = BinaryLoader(
            self.soc,
            ProgramPool(max_programs),
            files=HostFiles() if files is None else files,
            resolve=link_target if files is None else str,
            lenient=lenient,
        )

        make_ai_cpu = ai_cpu_maker(ai_cpu or AiCpu())

        def make(device_id: int) -> Device:
            return Device(
                device_id, self.soc, config, driver=driver, trace=trace, make_ai_cpu=make_ai_cpu
            )

        contexts = Contexts(visible_devices(visible, devices, self.soc), make)
        super().__init__(Session(binaries, contexts, lenient=lenient, launch_env=launch_env))
        if device is not None:
            self.set_device(device)

    @property
    def process(self) -> Process:
        """The tables behind the calls: programs, stubs, symbols, and what is where."""
        return self.session.process

    @property
    def devices(self) -> Mapping[int, Device]:
        """Every device that was ever used, by its id."""
        return self.session.contexts.devices

    @property
    def current_device(self) -> int | None:
        """The device that is current in this thread, by user id (aclrtGetDevice); None for none.

        Raises RtError (507007) where another thread has reset it.
        """
        device = self.session.contexts.device
        return None if device is None else self.session.contexts.user_id(device)

    @call
    def set_device(self, device: int) -> None:
        """Make a device current in this thread (aclrtSetDevice). DEV-2.

        Raises RtError: 107001 for an unknown id; when it starts, 207001 without memory for the first
        kernel pool, 107000 for stack sizes that the chip does not allow.
        """
        self.session.contexts.set_device(device)

    @call
    def reset_device(self, device: int) -> None:
        """Give one `set_device` back; the last one ends the device (aclrtResetDevice). DEV-25.

        Its memory is gone then, and binaries are copied anew at the next look-up. Raises RtError:
        107001 for an unknown id, 107002 for one that is not in use.
        """
        context = self.session.contexts.reset_device(device)
        if context is not None:
            for binary in self.session.binaries.values():
                binary.on_reset(context)
            self.process.reset(context.device)
            self.memory.reset(context.device)
            if self.session.has_launched:
                self.session.launcher.reset(context.device)

    @call
    def create_binary(self, data: Raw | None, size: int | None = None) -> BinaryDescriptor | None:
        """A descriptor of bytes (aclrtCreateBinary); None for null. `size` is not checked here."""
        return None if data is None else BinaryDescriptor(data, len(data) if size is None else size)

    @call
    def destroy_binary(self, descriptor: BinaryDescriptor | None) -> None:
        """Give a descriptor back, not what was loaded from it (aclrtDestroyBinary).

        Raises RtError: 100000 for null, 107017 for one that is destroyed.
        """
        _described(descriptor).live = False

    @call
    def binary_load(self, descriptor: BinaryDescriptor | None) -> BinaryHandle:
        """Load in the old flow, names only, and copy to the current device at once.

        Stands for aclrtBinaryLoad, rtBinaryLoadWithoutTilingKey. Raises RtError: 100000 for null,
        207000 on a chip without it, 107000 for no bytes, 107002, 107000 for a refused object, 507032,
        and that of the copy.
        """
        described = _described(descriptor)
        if described.size > len(described.data):
            why = f"it states {described.size} bytes, there are {len(described.data)}"
            raise RtError(RtStatus.INVALID_VALUE, "cannot load the binary", why=why)
        data = memoryview(bytes(described.data[: described.size]))
        device = self.session.contexts.device
        return hand(self.session, self.process.load_without_tiling(data, device))

    @call
    def unload(self, binary: Handle | None) -> tuple[int, ...]:
        """Take a binary off every device and forget it (aclrtBinaryUnLoad, rtBinaryUnLoad).

        Its handle, those of its functions, and its stubs and symbols go with it (QK-1, QK-2). Gives
        the devices where the original would leak its memory (Q-24, Q-25). Raises RtError: 100000 for
        null, 107017; for the old flow 107002 and that of a free, with the binary still there; for the
        new flow the first error of a device, when all is done (QK-9).
        """
        not_null(binary=(binary.id or None) if binary else None)
        assert binary is not None
        program = self.session.handles.find(binary.id, BinaryHandle).program
        device = None if program.is_new_flow else self.session.contexts.device
        return self.process.unload(program, device)

    @call
    def load_from_file(
        self,
        path: str | PathLike[str] | None,
        options: LoadOptions | None = None,
        *,
        lazy: bool | None = None,
        magic: int | None = None,
        cpu_mode: int | None = None,
    ) -> BinaryHandle:
        """Load a kernel object, or an AI CPU library (aclrtBinaryLoadFromFile, rtsBinaryLoadFromFile).

        `options` are given whole, or by name. Nothing is copied to a device yet. Raises RtError:
        100000 for null, 107000 whatever fails then.
        """
        not_null(path=path)
        assert path is not None
        chosen = _options(options, lazy, magic, cpu_mode)
        return hand(self.session, self.process.binaries.load_from_file(fspath(path), chosen))

    @call
    def load_from_data(
        self,
        data: Raw | None,
        options: LoadOptions | None = None,
        *,
        lazy: bool | None = None,
        magic: int | None = None,
        cpu_mode: int | None = None,
    ) -> BinaryHandle:
        """The same from bytes, without a sidecar (aclrtBinaryLoadFromData, rtsBinaryLoadFromData).

        The bytes are copied. Raises RtError as `load_from_file` does.
        """
        not_null(data=data)
        assert data is not None
        chosen = _options(options, lazy, magic, cpu_mode)
        program = self.process.binaries.load_from_data(memoryview(bytes(data)), chosen)
        return hand(self.session, program)

    @call
    def load_object(self, obj: KernelObject, *, lazy: bool = False) -> BinaryHandle:
        """As `load_from_file`, for an object that `cannkit.parse` has read for the same chip.

        Raises UsageError for one read for another chip, RtError (107000) whatever fails.
        """
        if obj.soc.name != self.soc.name:
            raise UsageError(f"the object was read for {obj.soc.name}, not {self.soc.name}")
        return hand(self.session, self.process.binaries.load_object(obj, lazy=lazy))

    @call
    def get_function_by_symbol(self, symbol: int | None) -> FunctionHandle:
        """The kernel of a host symbol (aclrtGetFuncBySymbol, rtGetFuncBySymbol).

        Raises RtError: 100000 for null, 107002, 107044 for an unknown one, and that of a copy.
        """
        not_null(symbol=symbol or None)
        assert symbol is not None
        found = self.process.function_by_symbol(symbol, self.session.contexts.device)
        return self.session.binaries[found.program].function_of(found.kernel)

    def binary(self, handle: int) -> BinaryHandle:
        """The handle of an id, whether or not there is such a binary."""
        found = self.session.handles.get(handle)
        return found if isinstance(found, BinaryHandle) else BinaryHandle(self.session, handle)

    def function(self, handle: int) -> FunctionHandle:
        """The handle of an id, whether or not there is such a function."""
        found = self.session.handles.get(handle)
        return found if isinstance(found, FunctionHandle) else FunctionHandle(self.session, handle)


def _described(descriptor: BinaryDescriptor | None) -> BinaryDescriptor:
    not_null(binary=descriptor)
    assert descriptor is not None
    if not descriptor.live:
        why = "it was destroyed (the original would read freed memory)"
        raise RtError(RtStatus.INVALID_HANDLE, "not a binary descriptor", why=why)
    return descriptor


def _options(
    options: LoadOptions | None, lazy: bool | None, magic: int | None, cpu_mode: int | None
) -> LoadOptions | None:
    named = LoadOptions.of(lazy=lazy, magic=magic, cpu_mode=cpu_mode)
    if not named.options:
        return options
    if options is not None:
        raise UsageError("load options both whole and by name")
    return named
