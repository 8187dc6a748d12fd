"""Loader: programs on devices, loaded, prepared and unloaded. Spec 03, sections 2.2 to 2.6."""

from __future__ import annotations

from contextlib import suppress

from cannkit.device.device import Device
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.cpu_load import DeviceNames, hand_over
from cannkit.runtime.device_image import Refreshed, device_image
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.placed_image import PlacedImage, place_image, publish_code
from cannkit.runtime.program import PlainProgram
from cannkit.runtime.program_base import Program


class LoadedProgram:
    """What one program has on one device. Changes.

    `image` is None until it is loaded; `refreshed` are the variables written to it. A Module of the
    old flow publishes its own image here, which then is not `owned`. `prepared` is CANN's devicePtr.
    """

    def __init__(self, program: Program, device: Device) -> None:
        self.program = program
        self.device = device
        self.image: PlacedImage | None = None
        self.owned = False
        self.prepared = False
        self.refreshed: tuple[Refreshed, ...] = ()
        self.names = DeviceNames(device)

    @property
    def base(self) -> int:
        """baseAddr: 0 where no image is."""
        return self.image.base if self.image else 0

    @property
    def aligned(self) -> int:
        """baseAddrAlign: where image byte 0 lies, 0 where no image is."""
        return self.image.aligned if self.image else 0

    def release_image(self) -> None:
        """DEV-23 (1): give the image back if it is owned. Raises RtError, the image stays then."""
        if self.image and self.owned:
            self.device.release_image(self.image.base, self.image.size)
            self.device.code.withdraw(self.image.aligned)
        self.image, self.owned, self.refreshed = None, False, ()


class Loader:
    """Which programs are on which devices. Changes.

    Every method that takes the current device takes None for "no current context", and raises
    RtError CONTEXT_NULL (107002) then. A device's lock is held while something happens to it. With
    `lenient` what is missing of an image that leaves its file is loaded as zeros (Q-3), with
    `fills_run_cfg` the variable `g_opSystemRunCfg` is filled as after `aclInit` (DEV-20).
    """

    def __init__(self, *, lenient: bool = False, fills_run_cfg: bool = False) -> None:
        self._lenient = lenient
        self._fills_run_cfg = fills_run_cfg
        self._loaded: dict[Program, dict[int, LoadedProgram]] = {}

    def on(self, program: Program, device: Device) -> LoadedProgram:
        """What a program has on a device, maybe nothing."""
        places = self._loaded.setdefault(program, {})
        return places.get(device.id) or places.setdefault(device.id, LoadedProgram(program, device))

    def find(self, program: Program, device: Device) -> LoadedProgram | None:
        """The same, None where nothing was ever asked for."""
        return self._loaded.get(program, {}).get(device.id)

    def load(self, program: Program, device: Device | None) -> LoadedProgram:
        """Load2Device: copy the image to the device, once. DEV-10, DEV-14.

        Raises RtError as `device_image` and `place_image` do, with nothing left on the device.
        """
        device = current(device)
        with device.lock:
            loaded = self.on(program, device)
            if loaded.image is None:
                image = device_image(
                    program, device, lenient=self._lenient, fills_run_cfg=self._fills_run_cfg
                )
                loaded.image = place_image(
                    device,
                    image.contents,
                    read_only=program.read_only,
                    file_offset=image.file_offset,
                )
                loaded.owned, loaded.refreshed = True, image.refreshed
                publish_code(device, loaded.image, program)
            return loaded

    def prepare(self, program: Program, device: Device | None) -> LoadedProgram:
        """CopySoAndNameToCurrentDevice: what a getter does before it looks a kernel up. DEV-9.

        Image (unless lazy), names and library, once for each device; nothing for the old flow.
        Raises RtError; what this call put on the device is taken back then (Q-23).
        """
        device = current(device)
        with device.lock:
            loaded = self.on(program, device)
            if program.is_new_flow and not loaded.prepared:
                had_image, names = loaded.image is not None, loaded.names.mark()
                try:
                    self._prepare(loaded)
                except RtError:
                    with suppress(RtError):
                        if not had_image:
                            loaded.release_image()
                    loaded.names.free(keep=names)
                    raise
                loaded.prepared = True
            return loaded

    def _prepare(self, loaded: LoadedProgram) -> None:
        program = loaded.program
        if isinstance(program, PlainProgram):
            for kernel in program.kernels:
                loaded.names.store(kernel)
            hand_over(program, loaded.device, load=True)
        elif not program.is_lazy:
            self.load(program, loaded.device)

    def require_prepared(self, program: Program, device: Device | None) -> LoadedProgram:
        """DEV-12: what a launch needs; raises RtError KERNEL_INVALID (107017) where it is not there."""
        device = current(device)
        loaded = self.on(program, device)
        if program.is_new_flow and not loaded.prepared:
            why = f"no function of it was looked up while device {device.id} was current"
            raise RtError(
                RtStatus.KERNEL_INVALID, "program is not prepared on this device", why=why
            )
        return loaded

    def store_names(self, program: PlainProgram, kernel: Kernel, device: Device | None) -> None:
        """CPU-3: the names of a kernel that is about to be registered, on the current device.

        Q-30: devices that were prepared before learn them too. Raises RtError of the driver; names
        already copied stay.
        """
        device = current(device)
        with device.lock:
            self.on(program, device).names.store(kernel)
        for loaded in self.places(program):
            if loaded.prepared and loaded.device is not device:
                with loaded.device.lock:
                    loaded.names.store(kernel)

    def places(self, program: Program) -> tuple[LoadedProgram, ...]:
        """Where something of a program is or was, by device id."""
        return tuple(place for _, place in sorted(self._loaded.get(program, {}).items()))

    def unload(self, program: Program, device: Device | None = None) -> tuple[int, ...]:
        """Take a program off every device; the devices where the original leaks its memory.

        DEV-22: the new flow needs no context. Raises RtError: CONTEXT_NULL for the old flow without
        one, else the first failure, after all was tried (Q-9). The program must be destroyed then,
        unless it is of the old flow: that one stays, and can be unloaded again.
        """
        if not program.is_new_flow:
            device = current(device)
        errors: list[RtError] = []
        leaks = []
        for loaded in self.places(program):
            with loaded.device.lock:
                seen = loaded.prepared if program.is_new_flow else loaded.device is device
                if loaded.image and loaded.owned and not seen:
                    leaks.append(loaded.device.id)
                errors += _take_off(loaded)
        if program.is_new_flow or not errors:
            self._loaded.pop(program, None)
        if errors:
            raise errors[0]
        return tuple(leaks)

    def reset(self, device: Device) -> None:
        """DEV-25: the memory dies with the device. Q-28: no program keeps an address on it."""
        with device.lock:
            for places in list(self._loaded.values()):
                gone = places.pop(device.id, None)
                if gone is not None:
                    gone.image = None
            device.reset()


def current(device: Device | None) -> Device:
    """The device of the current context; raises RtError CONTEXT_NULL (107002) without one."""
    if device is None:
        hint = "make a device current first (aclrtSetDevice)"
        raise RtError(RtStatus.CONTEXT_NULL, "no current context", hint=hint)
    return device


def _take_off(loaded: LoadedProgram) -> list[RtError]:
    """DEV-23, but a failure does not end it (Q-9)."""
    errors: list[RtError] = []
    try:
        loaded.release_image()
    except RtError as error:
        errors.append(error)
    errors += loaded.names.free()
    if loaded.prepared and isinstance(loaded.program, PlainProgram):
        try:
            hand_over(loaded.program, loaded.device, load=False)
        except RtError as error:
            errors.append(error)
    loaded.prepared = False
    return errors
