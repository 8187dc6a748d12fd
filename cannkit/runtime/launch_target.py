"""Targets: kernels where they can be launched, and what runs for them. Spec 04, LCH-8, LCH-47."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from cannkit.device.device import Device
from cannkit.device.executor import HostModel
from cannkit.device.memory import SystemSlot
from cannkit.device.stacks import LARGE_STACK
from cannkit.device.task_error import TaskCore
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.addresses import function_addresses
from cannkit.runtime.arg_layout import ArgPlan, plan_arguments
from cannkit.runtime.args_handle import SystemAddresses
from cannkit.runtime.kernel import AttrType, Kernel
from cannkit.runtime.launch_env import StackPlaces
from cannkit.runtime.load import Loader
from cannkit.runtime.placed_image import PlacedImage
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program
from cannkit.runtime.task import KernelPlace, place_kernel

SYSTEM_BYTES: Final = 4096
ANY_KERNEL: Final = "*"
LIBRARIES: Final = ("v100", "v200")


class ImageHolder(Protocol):
    """What keeps an image on a device: a LoadedProgram, or a Module of the old flow."""

    image: PlacedImage | None


class Target(NamedTuple):
    """A kernel that can be launched on one device, while `holder` keeps its image."""

    program: Program
    kernel: Kernel
    holder: ImageHolder
    image: PlacedImage
    place: KernelPlace
    plan: ArgPlan
    core: TaskCore

    @property
    def is_alive(self) -> bool:
        """Whether its code is still there."""
        return self.holder.image is self.image


class Targets:
    """The kernels that were launched, by device, and the host models that run for them. Changes."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._targets: dict[tuple[Kernel, Device], Target] = {}
        self._plans: dict[Kernel, ArgPlan] = {}
        self._models: dict[str, HostModel] = {}

    def find(self, program: Program, kernel: Kernel, device: Device) -> Target:
        """A kernel on a device. A lazy program is loaded now (DEV-11).

        Raises RtError: 107017 where its program is not prepared there, 107000 for a mix that is not
        whole, 207000 on a chip whose entries are not known, and that of a copy.
        """
        found = self._targets.get((kernel, device))
        if found is not None and found.holder.image is found.image:
            return found
        check_chip(device)
        loaded = self._loader.require_prepared(program, device)
        pc1, pc2 = function_addresses(self._loader, program, kernel, device)
        return self.place(program, kernel, device, loaded, (pc1, pc2))

    def place(
        self,
        program: Program,
        kernel: Kernel,
        device: Device,
        holder: ImageHolder,
        addresses: tuple[int, int | None],
        prefetch: tuple[int, int] | None = None,
    ) -> Target:
        """A kernel whose halves start at `addresses`, in the image of `holder`. LCH-47.

        `prefetch` are the counts where they are not those of LCH-47 (old flow). Raises RtError as
        `place_kernel` does.
        """
        assert holder.image is not None
        stack = program.stack_size if isinstance(program, ElfProgram) else 0
        place = place_kernel(kernel, *addresses, stack, device.soc)
        if prefetch is not None:
            place = place._replace(prefetch=prefetch)
        core = TaskCore.VECTOR if kernel.attr is AttrType.VECTOR else TaskCore.AI_CORE  # LCH-71
        plan = self.plan(program, kernel)
        found = Target(program, kernel, holder, holder.image, place, plan, core)
        self._targets[kernel, device] = found
        self._bind(found, device)
        return found

    def plan(self, program: Program, kernel: Kernel) -> ArgPlan:
        """What is known of the arguments of a kernel."""
        plan = self._plans.get(kernel)
        if plan is None:
            plan = self._plans[kernel] = plan_arguments(program, kernel)
        return plan

    def set_model(self, name: str, model: HostModel | None) -> None:
        """Run `model` for kernels called `name`, or for every other one (`*`); None: nothing."""
        if model is None:
            self._models.pop(name, None)
        else:
            self._models[name] = model
        for (_, device), target in self._targets.items():
            if target.is_alive:
                self._bind(target, device)

    def forget(self, program: Program) -> None:
        """A program is gone."""
        for key in [key for key, each in self._targets.items() if each.program is program]:
            del self._targets[key]
        for kernel in program.kernels:
            self._plans.pop(kernel, None)

    def reset(self, device: Device) -> None:
        """Nothing is on a device any more."""
        self._targets = {key: each for key, each in self._targets.items() if key[1] is not device}

    def _bind(self, target: Target, device: Device) -> None:
        """Memory of an image may be another's later: what has no model must not run an old one."""
        model = self._models.get(target.kernel.name) or self._models.get(ANY_KERNEL)
        for address in (target.place.func1, target.place.func2):
            if model is None:
                device.models.unbind(address)
            elif address:
                device.models.bind(address, model)


def check_chip(device: Device) -> None:
    """Raises RtError FEATURE_NOT_SUPPORT (207000) on a chip whose entries are not known. 04, 4.8."""
    soc = device.soc
    if soc.library not in LIBRARIES or not (soc.has_ffts_plus or soc.has_simt):
        why = f"launches are simulated for A2, A3 and A5, not for {soc.chip}"
        raise RtError(RtStatus.FEATURE_NOT_SUPPORT, "cannot launch", where=soc.name, why=why)


def system_addresses(device: Device) -> SystemAddresses:
    """What system slots of arguments hold: the C2C control address and the overflow buffer."""
    device.memory.place(SystemSlot.C2C_CONTROL, SYSTEM_BYTES)
    overflow = device.memory.place(SystemSlot.OVERFLOW, SYSTEM_BYTES)
    return SystemAddresses(device.driver.c2c_address(), overflow)


def stack_places(device: Device) -> StackPlaces:
    """Where the stacks of a started device lie. LCH-54, LCH-55."""
    large, small, custom = (
        device.stacks[slot].address if slot in device.stacks else 0
        for slot in (SystemSlot.STACK_32K, SystemSlot.STACK_16K, SystemSlot.STACK_CUSTOM)
    )
    return StackPlaces(large, small, custom, device.custom_stack or LARGE_STACK)
