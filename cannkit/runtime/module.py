"""Module: a program of the old flow on one device. Spec 02, section 10; spec 03, section 2.8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cannkit.device.device import Device
from cannkit.device.trace import MemoryType
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.addresses import FunctionAddresses
from cannkit.runtime.cpu_load import name_bytes
from cannkit.runtime.device_image import image_offset
from cannkit.runtime.kernel import AttrType, Kernel, MixType
from cannkit.runtime.kernel_facts import module_prefetch
from cannkit.runtime.load import Loader, current
from cannkit.runtime.placed_image import PlacedImage, place_image, publish_code
from cannkit.runtime.program_base import Program

PAIRED: Final = (MixType.MIX_AIC_AIV_MAIN_AIC, MixType.MIX_AIC_AIV_MAIN_AIV)  # MOD-3


class Module:
    """A program's image on one device, and for an AI CPU program its names there. Changes.

    `references` counts who holds it; `names_address` and `so_address` are 0 where nothing is.
    """

    def __init__(self, program: Program, device: Device) -> None:
        self.program = program
        self.device = device
        self.references = 0
        self.image: PlacedImage | None = None
        self.names_address = 0
        self.so_address = 0
        self._names: list[int] = []

    def load(self, kernel_names: bytes) -> PlacedImage:
        """MOD-2: copy names and image to the device. `kernel_names`: each with a NUL, joined.

        Raises RtError: PROGRAM_SIZE for an empty image, else that of the driver; nothing is left on
        the device then.
        """
        device, program = self.device, self.program
        is_cpu = program.default_attr is AttrType.AICPU
        contents = memoryview(program.data[0:]) if is_cpu else program.image()
        if not len(contents):
            raise RtError(RtStatus.PROGRAM_SIZE, "nothing to load", why="the image is empty")
        try:
            if is_cpu and kernel_names:
                self.names_address = self._put(kernel_names, spare=1)
                self.so_address = self._put(name_bytes(program.so_name))
            self.image = place_image(
                device,
                contents,
                read_only=is_cpu or program.read_only,
                file_offset=0 if is_cpu else image_offset(program),
            )
            if not is_cpu:
                publish_code(device, self.image, program)
        except RtError:
            self.close()
            raise
        return self.image

    def function(self, kernel: Kernel) -> FunctionAddresses:
        """MOD-3: where the halves of a kernel start; the second by mix type alone."""
        aligned = self.image.aligned if self.image else 0
        second = aligned + kernel.part2.offset if kernel.mix in PAIRED else None
        return FunctionAddresses(aligned + kernel.part1.offset, second)

    def prefetch(self, kernel: Kernel) -> tuple[int, int] | None:
        """MOD-4: the two counts, up to the end of the image with its padding."""
        size = self.image.size if self.image else 0
        return module_prefetch(kernel, size, self.device.soc)

    def close(self) -> list[RtError]:
        """Give the memory back: image, kernel names, so name; the errors met."""
        errors = []
        if self.image:
            try:
                self.device.release_image(self.image.base, self.image.size)
                self.device.code.withdraw(self.image.aligned)
            except RtError as error:
                errors.append(error)
        for address in self._names:
            try:
                self.device.free(address)
            except RtError as error:
                errors.append(error)
        self.forget()
        return errors

    def forget(self) -> None:
        """Drop every address: the memory is gone."""
        self.image = None
        self.names_address = self.so_address = 0
        self._names.clear()

    def _put(self, raw: bytes, spare: int = 0) -> int:
        address = self.device.allocate(len(raw) + spare, memory_type=MemoryType.HBM)
        self._names.append(address)
        self.device.copy_to_device(address, raw)
        return address


class Modules:
    """The modules of the process, one for each program and device. MOD-1. Changes.

    A module holds a reference on its program, and publishes its image in `loader` where the program
    has none on that device; both end with it (QK-31). `get` and `put` count the references of a
    program by its id, as `ProgramPool` does.
    """

    def __init__(
        self, loader: Loader, get: Callable[[int], object], put: Callable[[int], object]
    ) -> None:
        self._loader = loader
        self._get = get
        self._put = put
        self._modules: dict[tuple[Program, int], Module] = {}

    def take(self, program: Program, device: Device | None, kernel_names: bytes = b"") -> Module:
        """The module of a program on the current device, made at first need, one reference more.

        Raises RtError as `Module.load` does, and CONTEXT_NULL (107002) without a context.
        """
        device = current(device)
        with device.lock:
            module = self._modules.get((program, device.id))
            if module is None:
                module = Module(program, device)
                image = module.load(kernel_names)
                self._get(program.id)
                loaded = self._loader.on(program, device)
                if loaded.image is None:
                    loaded.image, loaded.owned = image, False
                self._modules[program, device.id] = module
            module.references += 1
            return module

    def release(self, module: Module) -> bool:
        """Give a reference back; whether that was the last one and the memory is free.

        QK-31: also when the program is gone. Raises RtError of the driver, after all was tried.
        """
        with module.device.lock:
            module.references -= 1
            if module.references > 0:
                return False
            image, key = module.image, (module.program, module.device.id)
            if self._modules.get(key) is not module:  # a reset has taken it
                return True
            del self._modules[key]
            loaded = self._loader.find(module.program, module.device)
            if loaded and loaded.image is image and not loaded.owned:
                loaded.release_image()
            self._put(module.program.id)
            errors = module.close()
        if errors:
            raise errors[0]
        return True

    def reset(self, device: Device) -> None:
        """The modules of a device die with its memory."""
        with device.lock:
            for key in [key for key in self._modules if key[1] == device.id]:
                module = self._modules.pop(key)
                module.forget()
                self._put(module.program.id)
