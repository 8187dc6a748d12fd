"""An image in device memory: padding, alignment, advice and copy. Spec 03, section 2.3."""

from __future__ import annotations

from contextlib import suppress
from typing import Final, NamedTuple

from cannkit.device.allocation import Bytes
from cannkit.device.code_map import Functions
from cannkit.device.device import ALIGN, Device, Range, pool_size
from cannkit.device.memory import round_up
from cannkit.device.trace import Advice
from cannkit.errors import BugError
from cannkit.format.status import RtError
from cannkit.runtime.program_base import Program

PREFETCH_PAD: Final = 1280  # DEV-14 step 5: the prefetcher runs past the last instruction


class PlacedImage(NamedTuple):
    """Memory that holds an image: `size` bytes with the padding, image byte 0 at `aligned`."""

    base: int
    aligned: int
    size: int
    from_pool: bool
    read_only: bool


def padded_size(size: int, device: Device) -> int:
    """DEV-14 step 5: bytes an image of `size` takes, without what alignment may cost."""
    return size + PREFETCH_PAD if device.soc.has_simt else size


def place_image(
    device: Device, contents: Bytes, *, read_only: bool, file_offset: int
) -> PlacedImage:
    """Allocate, align and copy. DEV-14 steps 5 to 9; the padding is never written.

    Raises RtError of the driver, with nothing left on the device.
    """
    size = padded_size(len(contents), device)
    base, from_pool = device.allocate_image(size, read_only=read_only)
    placed = PlacedImage(base, round_up(base, ALIGN), size, from_pool, read_only)
    try:
        if read_only:
            _advise(device, placed, Advice.READWRITE, len(contents))
        device.copy_to_device(placed.aligned, contents, file_offset=file_offset)
        if read_only:
            _advise(device, placed, Advice.READONLY, len(contents))
    except RtError:
        with suppress(RtError):
            device.release_image(base, size)
        raise
    return placed


def publish_code(device: Device, placed: PlacedImage, program: Program) -> None:
    """Tell the device which functions an image has, at its first need of them."""

    def functions() -> Functions:
        from cannkit.runtime.function_facts import function_facts  # only a launch needs them

        return function_facts(program, placed.aligned)

    device.code.publish(placed.aligned, program.load_size, functions)


def _advise(device: Device, placed: PlacedImage, advice: Advice, image_size: int) -> None:
    """DEV-17, DEV-18. Q-4, Q-15: the block itself is advised, the trace tells what CANN asks for."""
    base, aligned, size, from_pool, _ = placed
    if from_pool:
        pool = device.pools.owner(base)
        if pool is None:
            raise BugError(f"no kernel pool has the block at {base:#x}")
        device.advise(Range(aligned, pool_size(size)), advice, Range(pool.base, image_size))
    else:
        block = Range(aligned, base + size + ALIGN - aligned)
        device.advise(block, advice, Range(aligned, size + ALIGN))
