"""What odd sections hold, in a few words. Every byte is looked at once, whatever it claims."""

from __future__ import annotations

from collections.abc import Callable

from cannkit.errors import FormatError
from cannkit.format.elf import ElfObject
from cannkit.format.elf_types import ByteOrder

WIDE_LENGTH = 0xFFFF_FFFF  # of a 64-bit DWARF entry: the length follows in 8 bytes
CIE_IDS = (0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF)
COMMENT_LIMIT = 256


def describe_sections(elf: ElfObject) -> dict[int, str]:
    """A note for each section whose content is worth one, by section index. Raises nothing."""
    readers: dict[str, Callable[[bytes, ByteOrder], str]] = {
        ".debug_frame": _frames,
        ".comment": _comment,
    }
    notes: dict[int, str] = {}
    for index, section in enumerate(elf.sections):
        reader = readers.get(elf.section_name(section, len(".debug_frame") + 1))
        if reader is None or len(notes) == len(readers):
            continue
        try:
            notes[index] = reader(bytes(elf.contents(section)), elf.byte_order)
        except FormatError as error:
            notes[index] = f"unreadable: {error.why}"
    return notes


def _frames(section: bytes, order: ByteOrder) -> str:
    """How many common and frame description entries there are: a length and an id begin each."""
    cies = fdes = at = 0
    while at + 4 <= len(section):
        width = 4
        length = int.from_bytes(section[at : at + 4], order)
        at += 4
        if length == WIDE_LENGTH:
            width = 8
            length = int.from_bytes(section[at : at + 8], order)
            at += 8
        if at + length > len(section):
            return f"{cies} CIE, {fdes} FDE, then a broken length"
        if length >= width:
            is_cie = int.from_bytes(section[at : at + width], order) in CIE_IDS
            cies, fdes = cies + is_cie, fdes + (not is_cie)
        at += length
    return f"{cies} CIE, {fdes} FDE"


def _comment(section: bytes, order: ByteOrder) -> str:
    texts = section[: 4 * COMMENT_LIMIT].split(b"\0")
    shown = "; ".join(text.decode("utf-8", "backslashreplace") for text in texts if text)
    return shown[:COMMENT_LIMIT]
