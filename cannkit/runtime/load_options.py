"""Load options and magic numbers. Spec 02, section 4: LDR-1 to LDR-4, LDR-8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Self

from cannkit.format.bits import OpenEnum
from cannkit.format.elf_types import ByteView
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.kernel import U32, AttrType
from cannkit.runtime.so_name import SoNames, file_name, with_extension
from cannkit.soc import Soc


class Magic(OpenEnum):
    """What a caller says a binary is."""

    ELF = 0x43554245
    ELF_AICPU = 0x41415243
    ELF_AIVEC = 0x41415246
    ELF_AICUBE = 0x41494343
    PLAIN = 0xABCEED50
    PLAIN_AICPU = 0xABCEED51
    PLAIN_AIVEC = 0xABCEED52


KERNEL_MAGICS: Final = frozenset({Magic.ELF, Magic.ELF_AICUBE, Magic.ELF_AIVEC})
PLAIN_MAGICS: Final = frozenset({Magic.PLAIN, Magic.PLAIN_AICPU, Magic.PLAIN_AIVEC})

# LDR-8; the attr type of ELF depends on the chip.
MAGIC_ATTR: Final[Mapping[int, AttrType]] = {
    Magic.PLAIN: AttrType.AICORE,
    Magic.ELF_AICUBE: AttrType.CUBE,
    Magic.ELF_AIVEC: AttrType.VECTOR,
    Magic.PLAIN_AIVEC: AttrType.VECTOR,
    Magic.ELF_AICPU: AttrType.AICPU,
    Magic.PLAIN_AICPU: AttrType.AICPU,
}


def magic_attr(magic: int, soc: Soc) -> AttrType:
    """LDR-8: the default attr type of the kernels of a binary of this magic."""
    if magic == Magic.ELF:
        return AttrType.MIX if soc.is_separated else AttrType.AICORE
    return MAGIC_ATTR.get(magic, AttrType.INVALID)


class OptionId(OpenEnum):
    """rtLoadBinaryOption: which option an entry of the array is."""

    LAZY_LOAD = 1
    MAGIC = 2
    CPU_KERNEL_MODE = 3


class LoadOption(NamedTuple):
    """rtLoadBinaryOption_t: an option and its 32-bit value."""

    id: int
    value: int


class LoadOptions(NamedTuple):
    """rtLoadBinaryConfig_t: the options in order; None stands for a null array."""

    options: tuple[LoadOption, ...] | None = ()

    @classmethod
    def of(
        cls, *, lazy: bool | None = None, magic: int | None = None, cpu_mode: int | None = None
    ) -> Self:
        """The options that are given."""
        given = zip(OptionId, (lazy, magic, cpu_mode), strict=True)
        return cls(tuple(LoadOption(each, int(v)) for each, v in given if v is not None))


class LoadSettings(NamedTuple):
    """What the options come to. CPU-1: a CPU mode makes up the path and name of a library, too."""

    lazy: bool = False
    magic: int = 0
    cpu_mode: int | None = None
    so_path: str = ""
    so_name: str = ""


def read_options(
    options: LoadOptions | None, source: str | ByteView, names: SoNames
) -> LoadSettings:
    """LDR-3, LDR-4: the settings for a load from a path, or from bytes.

    A mode-2 option uses up a name of `names`, even if a later one is refused (CPU-3). Raises RtError
    (107000) for the first option that is not allowed.
    """
    settings = LoadSettings()
    if options is None:
        return settings
    if options.options is None:
        raise RtError(RtStatus.INVALID_VALUE, "load options without an array")
    for option in options.options:
        settings = _apply(settings, option, source, names)
    return settings


def _apply(
    settings: LoadSettings, option: LoadOption, source: str | ByteView, names: SoNames
) -> LoadSettings:
    value = option.value & U32
    if option.id == OptionId.LAZY_LOAD:
        if value > 1:
            raise _refusal(f"LAZY_LOAD is {value}, not 0 or 1")
        return settings._replace(lazy=value == 1)
    if option.id == OptionId.MAGIC:
        if isinstance(source, str):
            raise _refusal("MAGIC goes with a load from data; a file has a sidecar for that")
        if value not in KERNEL_MAGICS:
            raise _refusal(f"MAGIC is {value:#x}, not that of an ELF kernel object")
        return settings._replace(magic=value)
    if option.id == OptionId.CPU_KERNEL_MODE:
        return _apply_cpu_mode(settings, value, source, names)
    raise _refusal(f"there is no load option {option.id}")


def _apply_cpu_mode(
    settings: LoadSettings, mode: int, source: str | ByteView, names: SoNames
) -> LoadSettings:
    if isinstance(source, str):
        if mode > 1:
            raise _refusal(f"CPU_KERNEL_MODE {mode} does not go with a file, 0 and 1 do")
        path = with_extension(settings.so_path or source, ".so")
        return settings._replace(cpu_mode=mode, so_path=path, so_name=file_name(path))
    if mode != 2:
        raise _refusal(f"CPU_KERNEL_MODE {mode} does not go with data, 2 does")
    return settings._replace(cpu_mode=mode, so_name=names.name_for(source))


def _refusal(why: str) -> RtError:
    return RtError(RtStatus.INVALID_VALUE, "load option refused", why=why)
