"""The bytes of a program as one device gets them: symbols refreshed. Spec 03, section 2.5."""

from __future__ import annotations

from contextlib import suppress
from typing import Final, NamedTuple

from cannkit.device.allocation import Bytes
from cannkit.device.device import Device
from cannkit.device.trace import PrintKind
from cannkit.format.status import RtError, RtStatus
from cannkit.image.layout import WRAP
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program
from cannkit.runtime.symbol_refresh import ADDRESS_SIZE, Refresh

PRINT_BUFFER: Final = {  # DEV-19: which buffer, and whether its reader is started
    Refresh.PRINT: (PrintKind.SIMD, True),
    Refresh.SIMT_PRINT: (PrintKind.SIMT, True),
    Refresh.ASSERT: (PrintKind.SIMD, False),
}


RUN_CFG: Final = "g_opSystemRunCfg"


class Refreshed(NamedTuple):
    """A variable that holds a device address now: its name, offset in the image, and value."""

    name: str
    image_offset: int
    value: int


class DeviceImage(NamedTuple):
    """What is copied to a device, and where in the file it starts.

    DEV-21: it is a copy of the program's bytes where something is patched.
    """

    contents: Bytes
    file_offset: int
    refreshed: tuple[Refreshed, ...]


def device_image(
    program: Program, device: Device, *, lenient: bool = False, fills_run_cfg: bool = False
) -> DeviceImage:
    """The image of `program` for `device`. DEV-14 steps 2 to 4, DEV-19.

    `fills_run_cfg`: `aclInit` has registered its callback for `g_opSystemRunCfg` (DEV-20). Raises
    RtError: PROGRAM_DATA when the device has no address to write (whatever the cause), PROGRAM_NULL
    without bytes, PROGRAM_SIZE for an empty image or one of 2 GiB (Q-1), INVALID_VALUE for one that
    leaves the file unless `lenient` (Q-3).
    """
    image = program.image(lenient=lenient)
    filled = _fill_run_cfg(program, device) if fills_run_cfg else ()
    refreshed = filled + _refresh(program, device)
    if not program.has_data:
        raise RtError(RtStatus.PROGRAM_NULL, "no bytes to load")
    if not program.load_size:
        raise RtError(RtStatus.PROGRAM_SIZE, "nothing to load", why="the device image is empty")
    if not refreshed:
        return DeviceImage(image, image_offset(program), ())
    contents = bytearray(image)
    for patch in refreshed:
        _write(contents, patch)
    return DeviceImage(contents, image_offset(program), refreshed)


def image_offset(program: Program) -> int:
    """DEV-4: where in its file the image of a program starts."""
    return program.obj.text_offset if isinstance(program, ElfProgram) else 0


def _fill_run_cfg(program: Program, device: Device) -> tuple[Refreshed, ...]:
    """DEV-20: the L2 cache offset goes to a variable of 8 bytes or more, if the driver has one."""
    if not isinstance(program, ElfProgram) or not program.soc.has_fill_callback:
        return ()
    for variable in program.obj.variables:
        file_offset = (variable.offset + program.obj.text_offset) % WRAP
        fits = variable.size >= ADDRESS_SIZE and file_offset + ADDRESS_SIZE <= program.obj.size
        if variable.name == RUN_CFG and fits:
            with suppress(RtError):  # the callback's result is ignored
                value = device.driver.l2_cache_offset()
                return (Refreshed(RUN_CFG, variable.offset, value),)
    return ()


def _refresh(program: Program, device: Device) -> tuple[Refreshed, ...]:
    refreshed = []
    for patch in program.refresh_symbols:
        try:
            value = _value(patch.refresh, device)
        except RtError as error:
            if patch.refresh is Refresh.L2_CACHE and error.rt == RtStatus.DRV_NOT_SUPPORT:
                break  # DEV-19, row 3: success, and the rows behind it are skipped
            what = f"cannot refresh {patch.name}"
            raise RtError(RtStatus.PROGRAM_DATA, what, why=str(error)) from error
        refreshed.append(Refreshed(patch.name, patch.image_offset, value))
    return tuple(refreshed)


def _value(refresh: Refresh, device: Device) -> int:
    if refresh in PRINT_BUFFER:
        kind, reader = PRINT_BUFFER[refresh]
        return device.print_buffer(kind, reader=reader)
    if refresh is Refresh.FFTS:
        return device.driver.c2c_address()
    return device.driver.l2_cache_offset()


def _write(contents: bytearray, patch: Refreshed) -> None:
    """A patch is made to the file, so it may lie beside the image, or across one of its ends."""
    raw = patch.value.to_bytes(ADDRESS_SIZE, "little")
    start = patch.image_offset - (WRAP if patch.image_offset >= WRAP >> 1 else 0)
    low, high = max(start, 0), min(start + ADDRESS_SIZE, len(contents))
    if low < high:
        contents[low:high] = raw[low - start : high - start]
