"""`cannkit parse -v` for people: the records of each kernel, the section and symbol tables."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType

from cannkit.render.parse import object_parts
from cannkit.render.text import as_text, columns, named, size
from cannkit.report.elf_tables import ParseDetails


@as_text.register(ParseDetails)
def details_text(document: ParseDetails, console: Console, *, raw: bool = False) -> RenderableType:
    """The same with each kernel's records and arguments, and the section and symbol tables."""
    parts = object_parts(document, console, raw=raw, verbose=True)
    return Group(*parts, _sections(document, console), _symbols(document, console))


def _sections(document: ParseDetails, console: Console) -> RenderableType:
    rows = [
        (f"{s.index} {s.name}", named(s.type, s.type_name), flag_letters(s.flags), f"{s.addr:#x}",
         f"{s.offset:#x}", size(s.size), str(s.link), str(s.info), str(s.addralign), s.note or "")
        for s in document.sections
    ]  # fmt: skip
    headings = ("Section", "Type", "Flags", "Address", "Offset", "Size", "Link", "Info", "Align",
                "Note")  # fmt: skip
    right = ("Address", "Offset", "Size", "Link", "Info", "Align")
    return columns(console, "Sections", headings, rows, right)


def flag_letters(flags: int) -> str:
    """sh_flags in the letters of readelf; bits without a letter stay hexadecimal."""
    letters = "".join(letter for bit, letter in enumerate("WAXxMSILOGTC") if flags >> bit & 1)
    rest = flags >> 12 << 12
    return letters + (f"+{rest:#x}" if rest else "")


def _symbols(document: ParseDetails, console: Console) -> RenderableType:
    rows = [
        (s.name or "-", s.type, s.binding, s.visibility, s.section, f"{s.value:#x}", size(s.size))
        for s in document.symbols
    ]
    headings = ("Symbol", "Type", "Binding", "Visibility", "Section", "Value", "Size")
    return columns(console, "Symbols", headings, rows, ("Value", "Size"))
