"""docs/sqe.md: the layouts of queue entries as tables, written from the records themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.format.bits import WORD, OpenEnum, Record, Span
from cannkit.format.sqe import RECORDS, Family, v100, v200

CHIPS: Final = {Family.V100: "A2 and A3", Family.V200: "A5"}
MODULES: Final = {Family.V100: v100, Family.V200: v200}
INTRO: Final = """\
# Queue entries

What the host puts into a hardware queue: entries of 64 bytes (SQE), and for a mix kernel of A2 and A3 a context of 128 bytes
beside it. Generated from the records in `cannkit/format/sqe/`; `pytest --update-cases` writes it again.

    cannkit sqe decode 00003000030011000110000000...    # bytes, as hex of any shape
    cannkit sqe decode @plog.txt --soc Ascend910B1      # every entry that a log shows
    cannkit sqe encode --soc Ascend910B1 --set ffts_type=AIV --set block_dim=48 --set pc=0x12c041200400
    cannkit sqe encode --base 00003000... --set block_dim=24

An entry is a row of 32-bit little-endian words; bit 0 is the lowest. A field may be set by its name in Python or in C, but
for the halves of one that C splits; its value is a number or the name of a value. Bits without a name stay as they are.
An address of more than one word is one field. `encode` takes the record that `--record` names, else that of `--base`, else
the first one below that has all the fields and is what its own bytes are decoded to: `--type AICPU` makes an AI CPU entry,
`--set ffts_type=MIX` or `--set context_addr=...` a mix. It has the default values where nothing is set.

## Which record

The family decides: `--soc`, else the label of the log line, else a guess by the bytes, which `decode` tells. Type 0 is a kernel on
both, 1 an AI CPU kernel of A2 and a vector kernel of A5. An entry of a type that has no record here shows its header and words.

| bytes, the first match counts | family |
| --- | --- |
| byte 8, low 3 bits = 4, and bytes 24 to 27 = `01 00 01 00` | v100, `mix` |
| word 14 = `28003000`, and bytes 8, 9 = 0, or 0x0800 with type 2 | `aicpu`: type 1 v100; 2, 4, 5 v200 |
| word 2 = `00001000`, `00001001` or `00001005`, and byte 28 has bit 2 | v100, `kernel` |
| byte 15 has bit 1 or 2 | v200, `kernel` |

Hex may have blanks, line ends, commas, quotes, brackets, `0x` and `\\x`; numbers of 8 or 16 digits are words, lowest byte last. Dumps
of xxd, hexdump -C and gdb are read, too. Where only another byte order makes a kernel entry of it, it is read so, with a note.

| log lines | |
| --- | --- |
| `<label>: w0 ... w7`, then `<label>: w8 ... w15` | words; `FFTSPlusAICore`, `MixTask`: v100; `AICore Task`, `AIV Task`, `MIX Task`: v200 |
| `sqe[0]=0x00300000.` to `sqe[15]` | words; behind a line with `sqe error` and task_id (v100) or task_pos (v200) |
| `Mix context-buf:0x00000006,0x...` with 32 words on the line, commas or blanks between, or `Mix context-buf[0]=0x00000006.` to `[31]` | the context of a mix |

## Exchanged ids

A mix entry of A2 and A3 carries stream s and task t in word 1 as the capability of the scheduler wants it; a debug line shows it
before the exchange, an error record of the device after it. An A5 entry names no stream.

| mode | capability | stream_id | task_id |
| --- | --- | --- | --- |
| software_queue | 45 | t bits 0 to 14, bit 15 set | s bits 0 to 14, t bit 15 |
| same_task_id | 33 | t bits 0 to 11, bits 13, 12 = 10, s bits 14, 15 | s bits 0 to 11, t bits 12 to 15 |
| plain | neither | s | t |
"""


def page() -> str:
    """The whole text."""
    parts = [INTRO]
    for family, records in RECORDS.items():
        parts.append(f"\n## {family}: {CHIPS[family]}\n")
        for name, kind in records.items():
            parts += ["\n", *_record(name, kind)]
        for enum in vars(MODULES[family]).values():
            if isinstance(enum, type) and issubclass(enum, OpenEnum) and enum is not OpenEnum:
                parts += ["\n", *_enum(enum)]
    return "".join(parts)


def _record(name: str, kind: type[Record]) -> Iterator[str]:
    yield f"### {_family_name(kind)} `{name}`: {kind.C_NAME}, {kind.SIZE} bytes\n\n{kind.__doc__}\n\n"
    yield "| word | bits | field | in C | default | |\n| --- | --- | --- | --- | --- | --- |\n"
    for field, span in kind.SPANS.items():
        kind_name = f"`{span.kind.__name__}`" if issubclass(span.kind, OpenEnum) else ""
        doc = ", ".join(filter(None, (span.doc, kind_name)))
        cells = (*_place(span), f"`{field}`", f"`{span.c_name}`", _default(span), doc)
        yield " ".join(f"| {' | '.join(cells)} |".split()) + "\n"


def _family_name(kind: type[Record]) -> str:
    return kind.__module__.rpartition(".")[2]


def _place(span: Span) -> tuple[str, str]:
    words, bits = [], []
    for piece in span.pieces:
        first, last = piece.lo // WORD, (piece.lo + piece.width - 1) // WORD
        words.append(str(first) if first == last else f"{first}, {last}")
        lo, high = piece.lo % WORD, piece.lo % WORD + piece.width - 1
        bits.append(str(lo) if lo == high else f"{lo}-{high}")
    return "; ".join(words), "; ".join(bits)


def _default(span: Span) -> str:
    if not span.default:
        return ""
    return str(int(span.default)) if span.default < 0xFFFF else hex(span.default)


def _enum(enum: type[OpenEnum]) -> Iterator[str]:
    values = ", ".join(f"{member.value} {member.name}" for member in enum)
    yield f"**{enum.__name__}**: {values}.\n"
