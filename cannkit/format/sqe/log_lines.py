"""Log lines that show entries, cut into the words of one entry each. Spec 04: LCH-80 to LCH-82."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from string import ascii_letters
from typing import Final

from cannkit.format.sqe import SQE_SIZE, Family, is_plausible, v100
from cannkit.format.sqe.printed import LINE_LIMIT, Found, HexReader, Warn, hex_tokens

WORD_SIZE: Final = 4
HALF: Final = 8  # words in a log line
MOST_LABELS: Final = 16  # labels of which a first half is kept
MARGIN: Final = 256  # characters at the end of a line that has words
LONG: Final = 4096  # characters of a line that introduces an entry

LABELS: Final = {  # LCH-80: how a label ends, and what it tells
    "FFTSPlusAICore": Family.V100,
    "MixTask": Family.V100,
    "AICore Task": Family.V200,
    "AIV Task": Family.V200,
    "MIX Task": Family.V200,
    "AICpuTask": None,
}
ID_NAMES: Final = {"task_id": Family.V100, "task_pos": Family.V200}  # LCH-81
CONTEXT: Final = "Mix context-buf"
ERROR: Final = "sqe error"

LABEL: Final = f"{ascii_letters} "
END: Final = " .\t\r\n"
WORD: Final = re.compile("[0-9a-fA-F]{1,8}")
SEPARATOR: Final = re.compile(r"[,.\s]+")
NUMBERED: Final = re.compile(r"(sqe|context-buf)\[(\d{1,2})\] ?= ?(?:0x)?([0-9a-fA-F]{8}|0)\b")
IDS: Final = re.compile(r"\b(stream_id|task_id|task_pos|sq_id|sq_head)\s*[=:]\s*(\d{1,10})\b")


class LogReader:
    """Takes lines one by one; keeps what is not complete yet."""

    def __init__(self, warn: Warn) -> None:
        self._warn = warn
        self._halves = _Halves(warn)
        self._numbered = {
            "sqe": _Numbered("sqe", SQE_SIZE // WORD_SIZE, warn),
            "context-buf": _Numbered(CONTEXT, v100.MixContext.SIZE // WORD_SIZE, warn),
        }
        self._hex = HexReader(warn)

    def take(self, line: int, text: str | None) -> Iterator[Found]:
        """What is complete with this line; None is one that was too long to keep."""
        if text is None:
            self._warn(line, f"more than {LINE_LIMIT:,} bytes without a line end: passed over")
            return
        if (tokens := hex_tokens(text)) is not None:
            yield from self._hex.take(line, tokens)
            return
        yield from self._hex.end()
        if f"{CONTEXT}:" in text:
            yield from self._context(line, text.partition(f"{CONTEXT}:")[2])
        elif ("sqe[" in text or f"{CONTEXT}[" in text) and (numbered := NUMBERED.findall(text)):
            for name, at, digits in numbered:
                yield from self._numbered[name].take(line, int(at), int(digits, 16))
        elif ERROR in text:
            self._numbered["sqe"].introduce(text)
        else:
            yield from self._halves.take(line, text)

    def end(self) -> Iterator[Found]:
        """What is left."""
        yield from self._hex.end()
        yield from self._halves.end()
        for each in self._numbered.values():
            each.end()

    def _context(self, line: int, text: str) -> Iterator[Found]:
        """LCH-82, info level: a zero word has ten digits and no `0x`."""
        size = v100.MixContext.SIZE // WORD_SIZE
        words = SEPARATOR.split(text.lstrip(), size)[:size]
        values = [int(word, 16) for word in words if re.fullmatch("(?:0x)?[0-9a-fA-F]{8,10}", word)]
        if len(values) == size and max(values) < 1 << 32:
            yield Found(_printed(values), WORD_SIZE, CONTEXT, line, Family.V100)
        else:
            self._warn(line, f"{CONTEXT}: {len(values)} of {size} words")


class _Halves:
    """LCH-80: two lines of eight words under one label."""

    def __init__(self, warn: Warn) -> None:
        self._warn = warn
        self._kept: dict[str, list[tuple[int, bytes]]] = {}

    def take(self, line: int, text: str) -> Iterator[Found]:
        """The entry whose second half this line is."""
        head, colon, tail = text[-MARGIN:].rstrip(END).rpartition(": ")
        words = tail.split(" ")
        if not colon or not all(map(WORD.fullmatch, words)):
            return
        label = head[len(head.rstrip(LABEL)) :].strip()
        count = sum(len(word) == 2 * WORD_SIZE for word in words)
        if count == len(words) == 2 * HALF:
            yield self._found(label, (line, bytes.fromhex(tail)))
        elif count == len(words) == HALF:
            yield from self._pair(label, line, bytes.fromhex(tail))
        elif label in self._kept or (count and any(map(label.endswith, LABELS))):
            if label in self._kept:  # not the half that comes next
                yield from self._drop(label)
            self._warn(line, f"{label}: {count} of {HALF} words")

    def _pair(self, label: str, line: int, half: bytes) -> Iterator[Found]:
        """Where the first of three halves belongs to none, the other two do: a log may begin there."""
        kept = self._kept.setdefault(label, [])
        kept.append((line, half))
        if len(kept) == 3 and self._is_entry(label, kept[1:]):
            self._lone(label, kept.pop(0)[0])
        if len(kept) == 3 or (len(kept) == 2 and self._is_entry(label, kept)):
            yield self._found(label, *kept[:2])
            del kept[:2]
        if not kept:
            del self._kept[label]
        elif len(self._kept) > MOST_LABELS:
            yield from self._drop(next(iter(self._kept)))

    def end(self) -> Iterator[Found]:
        """Entries that look like none, and complaints about what has no second half."""
        for label in tuple(self._kept):
            yield from self._drop(label)

    def _drop(self, label: str) -> Iterator[Found]:
        kept = self._kept.pop(label)
        if len(kept) == 2:
            yield self._found(label, *kept)
        else:
            self._lone(label, kept[0][0])

    def _lone(self, label: str, line: int) -> None:
        self._warn(line, f"{label}: {HALF} of {2 * HALF} words, the other line is missing")

    def _is_entry(self, label: str, halves: list[tuple[int, bytes]]) -> bool:
        found = self._found(label, *halves)
        return any(is_plausible(found.in_order(unit), found.family) for unit in (WORD_SIZE, 1))

    def _found(self, label: str, *halves: tuple[int, bytes]) -> Found:
        family = next((told for known, told in LABELS.items() if label.endswith(known)), None)
        printed = b"".join(half for _, half in halves)
        return Found(printed, WORD_SIZE, label, halves[0][0], family)


class _Numbered:
    """LCH-81 and LCH-82, error level: a line for each word."""

    def __init__(self, label: str, count: int, warn: Warn) -> None:
        self._label = label
        self._count = count
        self._warn = warn
        self._words: dict[int, int] = {}
        self._line = 0
        self._ids: dict[str, str] = {}

    def introduce(self, text: str) -> None:
        """The line before: ids as the device reports them."""
        self.end()
        self._ids = dict(IDS.findall(text[:LONG]))

    def take(self, line: int, at: int, word: int) -> Iterator[Found]:
        """The entry whose last word this is."""
        if at >= self._count:
            self._warn(line, f"{self._label}[{at}]: there are {self._count} words")
            return
        if at in self._words:
            self.end()
        if not self._words:
            self._line = line
        self._words[at] = word
        if len(self._words) == self._count:
            printed = _printed(self._words[each] for each in range(self._count))
            yield self._found(printed)

    def _found(self, printed: bytes) -> Found:
        families = (told for name, told in ID_NAMES.items() if name in self._ids)
        family = Family.V100 if self._label == CONTEXT else next(families, None)
        said = ", ".join(f"{name} {value}" for name, value in self._ids.items())
        notes = (f"the log says {said}",) if said else ()
        found = Found(printed, WORD_SIZE, self._label, self._line, family, notes)
        self._words, self._ids = {}, {}
        return found

    def end(self) -> None:
        """Complain about what is not complete."""
        if self._words:
            missing = sorted(set(range(self._count)) - self._words.keys())
            names = ", ".join(map(str, missing))
            self._warn(
                self._line,
                f"{self._label}[]: {len(self._words)} of {self._count} words, without {names}",
            )
        self._words, self._ids = {}, {}


def _printed(words: Iterable[int]) -> bytes:
    return b"".join(word.to_bytes(WORD_SIZE, "big") for word in words)
