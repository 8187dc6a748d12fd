"""What odd sections hold, in a few words: the one door to pyelftools."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from cannkit.format.elf import ElfObject

LARGEST = 64 << 20
SHF_COMPRESSED = 0x800


def describe_sections(elf: ElfObject) -> dict[str, str]:
    """A note for each section whose content is worth one, by section name.

    Raises nothing: what pyelftools can not read is said in the note.
    """
    if len(elf.data) > LARGEST or any(s.flags & SHF_COMPRESSED for s in elf.sections):
        return {}  # a compressed section could grow a thousandfold
    from elftools.elf.elffile import ELFFile

    readers: dict[str, Callable[[Any], str]] = {
        ".debug_frame": _frames,
        ".debug_line": _lines,
        ".comment": _comment,
    }
    notes = {}
    try:
        file = ELFFile(io.BytesIO(elf.data[:]))
        present = [name for name in readers if file.get_section_by_name(name)]
    except Exception as error:  # pyelftools raises whatever its parsers meet in hostile bytes
        return {name: f"unreadable: {type(error).__name__}" for name in readers}
    for name in present:
        try:
            notes[name] = readers[name](file)
        except Exception as error:  # the same
            notes[name] = f"unreadable: {type(error).__name__}"
    return notes


def _frames(file: Any) -> str:
    from elftools.dwarf.callframe import CIE, FDE

    entries = file.get_dwarf_info(relocate_dwarf_sections=False).CFI_entries()
    cies = sum(isinstance(entry, CIE) for entry in entries)
    fdes = sum(isinstance(entry, FDE) for entry in entries)
    return f"{cies} CIE, {fdes} FDE"


def _lines(file: Any) -> str:
    dwarf = file.get_dwarf_info(relocate_dwarf_sections=False)
    units = list(dwarf.iter_CUs()) if dwarf.debug_info_sec else []
    programs = [p for p in map(dwarf.line_program_for_CU, units) if p is not None]
    rows = sum(entry.state is not None for p in programs for entry in p.get_entries())
    return f"{len(programs)} line programs, {rows} rows"


def _comment(file: Any) -> str:
    texts = file.get_section_by_name(".comment").data().split(b"\0")
    return "; ".join(text.decode("utf-8", "backslashreplace") for text in texts if text)[:256]
