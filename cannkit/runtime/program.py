"""ElfProgram and PlainProgram: a registered binary, and the kernels in it. Spec 02, sections 6, 7."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from threading import Lock
from typing import Final

from cannkit.format.ascend_meta import ImplicitFeature
from cannkit.format.elf_types import ByteView, Machine
from cannkit.format.status import RtError, RtStatus
from cannkit.image.kernel_object import KernelImage, KernelObject
from cannkit.image.symbols import GlobalSymbol
from cannkit.runtime.kernel import (
    AttrType,
    CpuFunction,
    CpuKernelType,
    Kernel,
    cpu_kernel,
    strip_mix,
)
from cannkit.runtime.kernel_build import BuildRules, build_kernel, merge_kernel
from cannkit.runtime.kernel_facts import count_prefetch
from cannkit.runtime.kernel_table import PcAnswer, TilingKeyTable, search_pc
from cannkit.runtime.program_base import Flow, Program, bytes_of
from cannkit.runtime.remarks import pair_remarks, program_remarks, wide_symbol
from cannkit.runtime.symbol_refresh import symbol_patches
from cannkit.soc import Soc

LARGEST_IMAGE: Final = (1 << 31) - 1


class ElfProgram(Program):
    """A kernel object taken in by the runtime. It has kernels only after `register_kernels`.

    Raises RtError (107000), when made, for an object that the runtime refuses (REG-1, REG-3) and for
    offsets and lengths that it would cut to 32 bits (QK-26).
    """

    def __init__(
        self,
        obj: KernelObject,
        flow: Flow = Flow.NEW,
        default_attr: AttrType | None = None,
    ) -> None:
        soc = obj.soc
        super().__init__(soc, flow, chip_default(soc) if default_attr is None else default_attr)
        self.obj = obj
        self.core_sync = False  # the sidecar's intercoreSync
        self.table = TilingKeyTable()
        self.names_size = 0  # bytes of the ELF names joined, each with a NUL
        _check_object(obj)
        if soc.has_aicpu_machine:  # REG-2
            aicpu = obj.elf.header.machine == Machine.EM_AARCH64
            self.default_attr = AttrType.AICPU if aicpu else AttrType.AICORE
        if obj.so_name is not None:
            self.so_name = obj.so_name
            self.metadata = f"{obj.so_name},0.1,,exclusive;"
        patches = tuple(symbol_patches(obj))
        self.refresh_symbols = tuple(patch for patch in patches if patch.fits(obj.size))
        for patch in patches:
            if not patch.fits(obj.size):
                message = (
                    f"the symbol is at {patch.file_offset:#x}, outside the file: not refreshed"
                )
                self.warn("symbol-refresh", f"symbol {patch.name}", message)

    @property
    def stack_size(self) -> int:
        """REG-2: bytes of stack its kernels are compiled for, 0 where the chip does not ask."""
        return self.obj.stack_size if self.soc.keeps_elf_stack else 0

    @property
    def load_size(self) -> int:
        """See Program."""
        return self.obj.text_size

    @property
    def read_only(self) -> bool:
        """See Program."""
        return not (self.soc.data_is_read_only or self.obj.writable_data)

    @property
    def data(self) -> ByteView:
        """See Program."""
        return self.obj.elf.data

    def images_of(self, names: Iterable[str]) -> list[KernelImage]:
        """The functions of these names, in file order."""
        found = [place for name in names for place in self._places.get(name, ())]
        return [self.obj.kernels[place] for place in sorted(found)]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, image in enumerate(self.obj.kernels):
            places.setdefault(image.name, []).append(place)
        return places

    def image(self, *, lenient: bool = False) -> memoryview:
        """DEV-4: the bytes that go to the device, not yet refreshed.

        Raises RtError: 507000 for 2 GiB or more (Q-1), 107000 for an image that leaves the file (Q-3);
        with `lenient` what is missing is zeros.
        """
        start, size = self.obj.text_offset, self.obj.text_size
        if size > LARGEST_IMAGE:
            why = f"{size} bytes, the loader counts in 32 bits"
            raise RtError(RtStatus.PROGRAM_SIZE, "device image too large", why=why)
        found = self.data[start : start + size]
        missing = size - len(found)
        if missing and not lenient:
            why = (
                f"the image at {start:#x} has {size} bytes, the last {missing} are not in the file"
            )
            raise RtError(RtStatus.INVALID_VALUE, "device image exceeds the file", why=why)
        return memoryview(bytes(found) + bytes(missing)) if missing else found

    def by_entry(self, key: int) -> Kernel:
        """See Program."""
        kernel = self.table.find(key)
        if kernel is None:
            why = "loaded without tiling keys" if self.flow is Flow.WITHOUT_TILING else ""  # QK-27
            raise RtError(
                RtStatus.INVALID_VALUE, "no kernel of this entry", where=f"{key}", why=why
            )
        return kernel

    def by_pc(self, pc: int, base: int) -> PcAnswer:
        """TBL-4: the kernel at the address `pc`, the image being at the aligned address `base`."""
        return search_pc(pc, base, self.kernels, self.table)

    def global_symbol(self, name: str) -> GlobalSymbol:
        """A global variable, its offset in the image; raises RtError (107042) for none."""
        for variable in self.obj.variables:
            if variable.is_global and variable.name == name:
                return variable
        raise RtError(
            RtStatus.SYMBOL_NOT_FOUND, "no global variable of this name", where=repr(name)
        )

    def global_offset(self, name: str) -> int:
        """Where a global variable is in the image, bytes; raises RtError (107042) for none."""
        return self.global_symbol(name).offset

    def build_rules(self) -> BuildRules:
        """What goes into every kernel of this program."""
        return BuildRules(
            self.soc,
            self.default_attr,
            self.core_sync,
            bool(self.obj.implicit_flags & ImplicitFeature.FFTS.mask),
            self.obj.elf.header.data_encoding,
        )

    def register_kernels(self) -> None:
        """REG-16: fill the name map and the tiling-key table as the flow asks (POL-4).

        Raises RtError (107000) for kernels that cannot be built or merged; the maps stay empty then.
        """
        if self.flow is Flow.STUBS:
            return
        rules, by_name, names_size = self.build_rules(), dict[str, Kernel](), 0
        for image in self.obj.kernels:  # REG-9
            name = strip_mix(image.name)
            old = by_name.get(name)
            if old is not None:
                self.warnings += pair_remarks(old, image)
                merge_kernel(old, image, rules)
                continue
            if not name:  # REG-5
                what = "kernel without a name"
                raise RtError(
                    RtStatus.INVALID_VALUE, what, why=f"{image.name!r} is a mix mark alone"
                )
            by_name[name] = build_kernel(image, name, names_size, rules)
            names_size += len(bytes_of(image.name)) + 1
        for kernel in by_name.values():
            count_prefetch(kernel, self.soc)
        self._publish(by_name)
        self.names_size = names_size
        if self.flow is not Flow.WITHOUT_TILING:
            with_disabled = self.flow is Flow.OLD
            self.table = TilingKeyTable.build(self.kernels, with_disabled=with_disabled)
        self.warnings += program_remarks(self.obj, self.kernels, self.table)


class PlainProgram(Program):
    """A binary that is no kernel object: an AI CPU library, or the names of its operators alone.

    Changes: the name map, when a function is registered (CPU-9). `cpu_mode` is None where no library
    is kept; `path` is where it was read from.
    """

    def __init__(
        self, soc: Soc, flow: Flow = Flow.NEW, default_attr: AttrType = AttrType.AICPU
    ) -> None:
        super().__init__(soc, flow, default_attr)
        self.cpu_mode: int | None = None
        self.path = ""
        self._lock = Lock()
        self._data: ByteView = memoryview(b"")

    @property
    def is_cpu(self) -> bool:
        """KernelRegisterType: whether its kernels are AI CPU functions, known by name."""
        return self.flow is Flow.NEW

    def keep(self, data: ByteView, mode: int | None = None, path: str = "") -> None:
        """CPU-2: the library that is sent to the device, or the image of the old flow."""
        self._data, self.cpu_mode, self.path = data, mode, path

    @property
    def data(self) -> ByteView:
        """See Program."""
        return self._data

    @property
    def load_size(self) -> int:
        """See Program."""
        return len(self._data)

    @property
    def read_only(self) -> bool:
        """See Program."""
        return False

    def image(self, *, lenient: bool = False) -> memoryview:
        """See Program."""
        return self._data[0 : len(self._data)]

    def by_entry(self, key: int) -> Kernel:
        """See Program."""
        why = "an AI CPU program has no entries"
        raise RtError(RtStatus.INVALID_VALUE, "no kernel of this entry", where=f"{key}", why=why)

    def make_function(self, function: str, kernel_name: str) -> Kernel:
        """CPU-9: the kernel of this name, made unless it is there; `enter` puts it into the map."""
        found = self.find_name(kernel_name)
        if found is not None:
            return found
        kind = CpuKernelType.AICPU_CUSTOM
        return cpu_kernel(CpuFunction(kernel_name, self.so_name, function, kind))

    def enter(self, kernels: Iterable[Kernel]) -> None:
        """Add kernels to the name map; CPU-8: a name that is there stays. Atomic among threads."""
        with self._lock:
            self._publish({kernel.name: kernel for kernel in kernels} | self._by_name)


def register(obj: KernelObject, flow: Flow = Flow.NEW) -> ElfProgram:
    """Register all kernels of an object, without a sidecar, as from data.

    Raises RtError (107000) as `ElfProgram` and `register_kernels` do.
    """
    program = ElfProgram(obj, flow)
    program.register_kernels()
    return program


def chip_default(soc: Soc) -> AttrType:
    """CHP-3: the attr type of a kernel that says nothing of its cores."""
    return AttrType.CUBE if soc.is_separated else AttrType.AICORE


def _check_object(obj: KernelObject) -> None:
    """REG-1, REG-3; QK-26: nothing is cut to 32 bits without a word."""
    if obj.refusals:
        refusal = obj.refusals[0]
        hint = None if refusal.rt else "the runtime would read out of bounds here"
        why = refusal.message
        raise RtError(RtStatus.INVALID_VALUE, "cannot register the object", why=why, hint=hint)
    wide = wide_symbol(obj)
    if wide is not None:
        why = f"a kernel has an offset or length of {wide:#x}, the runtime would cut it to 32 bits"
        raise RtError(RtStatus.INVALID_VALUE, "cannot register the object", why=why)
