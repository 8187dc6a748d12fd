"""Bytes of entries as text has them: lines, and hex in lines of its own.

Nothing raises: what is short is told by `warn` (spec 04, Q-28).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from cannkit.format.sqe import SQE_SIZE, Family, is_context, v100

LINE_LIMIT: Final = 1 << 20  # bytes of a line; no log has longer ones
UNITS: Final = (1, 4, 8, 2)  # sizes of the numbers in which bytes are printed
FLUSH: Final = 16 << 10  # digits of hex that are kept
STRAY_DIGITS: Final = 32
MARGIN: Final = 40
FEW: Final = 8  # one in so many

DIGITS: Final = re.compile("[0-9a-fA-F]+")
HEX_LINE: Final = re.compile(r"[0-9a-fA-FxX\\\s,;:'\"\[\](){}]+")
STRAY: Final = re.compile(r"[^0-9a-fA-FxX\\\s,;:'\"\[\](){}]")
SEPARATOR: Final = re.compile(r"[\s,;:'\"\[\](){}]+")
OFFSET: Final = re.compile(r"\s*(?:0x)?[0-9a-fA-F]{4,16}(?: <[^<>]{1,80}>)?:\s+")  # xxd, gdb
GUTTER: Final = re.compile(r"\|.{1,16}\|\s*$")  # hexdump -C


class Found(NamedTuple):
    """The bytes of an entry, 64, or of a context, 128, in the order in which they are printed.

    `unit` is the size of the numbers whose highest digits come first. `family`: what the log says.
    """

    printed: bytes
    unit: int
    label: str
    line: int
    family: Family | None = None
    notes: tuple[str, ...] = ()

    def in_order(self, unit: int) -> bytes:
        """The bytes as memory has them, if the numbers printed have `unit` bytes."""
        if unit == 1:
            return self.printed
        cuts = range(0, len(self.printed), unit)
        return b"".join(self.printed[at : at + unit][::-1] for at in cuts)


Warn = Callable[[int, str], None]  # line, from 1, and what is missing there


def lines_of(chunks: Iterable[bytes]) -> Iterator[str | None]:
    """Lines of a text in pieces; None for a line of more than LINE_LIMIT bytes."""
    rest, is_long = b"", False
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for raw in whole:
            yield None if is_long or len(raw) > LINE_LIMIT else raw.decode("utf-8", "replace")
            is_long = False
        if len(rest) > LINE_LIMIT:
            rest, is_long = b"", True
    if rest or is_long:
        yield None if is_long else rest.decode("utf-8", "replace")


class HexReader:
    """Digits in lines of their own: bytes, or numbers of some bytes each."""

    def __init__(self, warn: Warn) -> None:
        self._warn = warn
        self._tokens: list[str] = []
        self._count = 0  # digits of the tokens
        self._digits = ""
        self._unit = 1
        self._line = 0
        self._is_entry = False  # whether there was one in these lines

    def take(self, line: int, tokens: list[str]) -> Iterator[Found]:
        """Entries, where there are digits enough to begin."""
        if not (self._tokens or self._digits):
            self._line, self._is_entry = line, False
        self._tokens += tokens
        self._count += sum(map(len, tokens))
        if self._count >= FLUSH:
            yield from self._cut(SQE_SIZE + v100.MixContext.SIZE)

    def end(self) -> Iterator[Found]:
        """The last entries, and a complaint about digits that are left; a few may be anything."""
        yield from self._cut(SQE_SIZE)
        if self._digits and (self._is_entry or len(self._digits) > STRAY_DIGITS):
            count, odd = divmod(len(self._digits), 2)
            why = "an odd number of hex digits" if odd else f"an entry has {SQE_SIZE}"
            self._warn(self._line, f"{count} bytes of hex: {why}")
        self._digits, self._is_entry = "", False

    def _cut(self, enough: int) -> Iterator[Found]:
        """Entries off the front, while there are `enough` bytes."""
        if self._tokens:
            digits, self._unit = _joined(self._tokens)
            self._digits += digits
            self._tokens, self._count = [], 0
        at = 0
        while len(self._digits) - at >= 2 * enough:
            size = self._size(self._digits[at : at + 2 * v100.MixContext.SIZE])
            yield self._found(self._digits[at : at + 2 * size])
            at += 2 * size
            self._is_entry = True
        self._digits = self._digits[at:]

    def _size(self, digits: str) -> int:
        """That of a context, where the digits look like one, else that of an entry."""
        if len(digits) == 2 * v100.MixContext.SIZE:
            found = self._found(digits)
            if any(is_context(found.in_order(unit)) for unit in UNITS):
                return v100.MixContext.SIZE
        return SQE_SIZE

    def _found(self, digits: str) -> Found:
        return Found(bytes.fromhex(digits), self._unit, "", self._line)


def hex_tokens(text: str) -> list[str] | None:
    """The numbers in a line of nothing but hex, or of a dump by xxd, hexdump or gdb; else None."""
    if "|" in text and (gutter := GUTTER.search(text[-MARGIN:])):
        text = text[: max(len(text) - MARGIN, 0) + gutter.start()].strip().partition(" ")[2]
    elif offset := OFFSET.match(text):
        text = text[offset.end() :].partition("  ")[0]
    if not text.strip():
        return []
    if not HEX_LINE.fullmatch(text):
        return None
    tokens = [
        token[2:] if token[:2] in ("0x", "0X") else token
        for token in SEPARATOR.split(text.replace("\\x", " "))
        if token
    ]
    return tokens if all(map(DIGITS.fullmatch, tokens)) else None


def stray_digit(text: str) -> str:
    """What keeps a text from being hex, if it is little; else nothing."""
    strays = STRAY.findall(text)
    if not strays or len(strays) * FEW > len(text):
        return ""
    return f"{strays[0]!r} at {text.index(strays[0]) + 1} is no hex digit"


def _joined(tokens: list[str]) -> tuple[str, int]:
    """Numbers as one row of digits, and of how many bytes each is.

    One number, or long ones, are bytes in a row. Numbers of up to four digits are bytes, too: in
    pairs as xxd shows them.
    """
    *others, last = tokens
    if others and len(last) > 2 == max(map(len, others)):
        tokens = others  # hexdump ends with an offset
    longest = max(map(len, tokens))
    if len(tokens) > 1:
        for width, unit in ((2, 1), (4, 1), (8, 4), (16, 8)):
            if longest <= width:
                return "".join(token.zfill(width) for token in tokens), unit
    return "".join(tokens), 1
