"""Entries in pasted hex and in logs. Spec 04: LCH-80 to LCH-82, Q-28."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.format.sqe import Family, v100
from cannkit.format.sqe.dump import MOST_WARNINGS, WINDOW, Dump, DumpReader, Evidence
from cannkit.format.sqe.printed import LINE_LIMIT, lines_of
from tests.sqe import (
    PREFIX,
    context,
    context_line,
    error_line,
    examples,
    hex_lines,
    numbered_lines,
    recorded,
    sqe,
    word_lines,
    words,
)

W1, W2, W3, W4, W8 = (sqe(name) for name in ("W-1", "W-2", "W-3", "W-4", "W-8"))
CONTEXT3 = context("W-3")
OTHER_LINE = f"{PREFIX}kernel info : device_id=0, stream_id=3, coreDim: 48"


def read(text: str, family: Family | None = None) -> tuple[list[Dump], list[str]]:
    """The entries in a text, and what was missing."""
    reader = DumpReader(family)
    dumps = list(reader.read(lines_of([text.encode()])))
    return dumps, [f"{warning.where}: {warning.message}" for warning in reader.warnings]


def only(text: str, family: Family | None = None) -> Dump:
    """The one entry in a text, where nothing is missing."""
    (dump,), warnings = read(text, family)
    assert warnings == []
    return dump


def joined(*lines: str | Iterable[str]) -> str:
    return "\n".join(line if isinstance(line, str) else "\n".join(line) for line in lines)


AS_HEX = {
    "plain": W2.hex(),
    "upper case": W2.hex().upper(),
    "0x before all": f"0x{W2.hex()}",
    "blanks": W2.hex(" "),
    "lines": joined(hex_lines(W2)),
    "lines and blank ones": "\n\n" + "\r\n\n".join(hex_lines(W2)) + "\n\n",
    "lines of odd length": "\n".join(W2.hex()[at : at + 77] for at in range(0, 128, 77)),
    "commas": ", ".join(f"0x{byte:02x}" for byte in W2),
    "no zeros in front": ",".join(f"0X{byte:x}" for byte in W2),
    "an array in C": "{" + ", ".join(f"0x{byte:02X}" for byte in W2) + "};",
    "a string in C": '"' + "".join(f"\\x{byte:02x}" for byte in W2) + '";',
    "pairs as of xxd -p and xxd -g2": " ".join(W2.hex()[at : at + 4] for at in range(0, 128, 4)),
    "words": " ".join(f"{word:08x}" for word in words(W2)),
    "words with 0x": "\n".join(f"0x{word:08x}" for word in words(W2)),
    "words without zeros": " ".join(f"{word:x}" for word in words(W2)),
    "long words": " ".join(f"{word:016x}" for word in struct.unpack("<8Q", W2)),
    "xxd": joined(
        f"{16 * at:08x}: {' '.join(line.replace(' ', '')[n : n + 4] for n in range(0, 32, 4))}"
        "  ..0........a.0.."
        for at, line in enumerate(hex_lines(W2))
    ),
    "hexdump -C": joined(
        (
            f"{16 * at:08x}  {line[:23]}  {line[24:]}  |..0........a.0..|"
            for at, line in enumerate(hex_lines(W2))
        ),
        "00000040",
    ),
    "gdb": joined(
        f"0x7ffff7f0{16 * at:02x} <sqe+{16 * at}>:\t"
        + "\t".join(f"0x{w:08x}" for w in words(W2)[4 * at : 4 * at + 4])
        for at in range(4)
    ),
}


@pytest.mark.parametrize("text", AS_HEX.values(), ids=AS_HEX.keys())
def test_hex(text: str) -> None:
    """Bytes in a row; numbers of 8 digits and more are words (LCH-80)."""
    dump = only(text)
    assert dump.raw == W2
    assert (dump.family, dump.evidence) == (Family.V100, Evidence.BYTES)
    assert (dump.label, dump.notes, dump.context) == ("", (), None)


@pytest.mark.parametrize("name", examples())
@pytest.mark.parametrize("given_family", [False, True])
def test_examples_in_every_order(name: str, given_family: bool) -> None:
    """Q-28: bytes for words, words for bytes: the reading that makes sense is taken, and told."""
    raw, family = sqe(name), examples()[name]["family"]
    chosen = family if given_family else None
    swapped = b"".join(raw[at : at + 4][::-1] for at in range(0, 64, 4))
    assert only(swapped.hex(), chosen).raw == raw
    assert only(" ".join(f"{w:08x}" for w in words(raw, ">")), chosen).raw == raw
    dump = only(joined(word_lines("Some Label", raw, ">")), chosen)
    assert dump.raw == raw
    assert dump.family is family
    assert dump.notes == ("read as bytes: as 32-bit words it would be byte-swapped",)
    assert dump.evidence is (Evidence.SOC if given_family else Evidence.BYTES)
    pairs = b"".join(raw[at : at + 2][::-1] for at in range(0, 64, 2))
    assert only(pairs.hex(), chosen).notes == (
        "read as 16-bit words: as bytes it would be byte-swapped",
    )


def test_recorded_entries_are_not_swapped() -> None:
    """As they are they make sense, so nothing else is tried."""
    for family, raw, _ in recorded():
        dump = only(raw.hex())
        assert (dump.raw, dump.family, dump.notes) == (raw, family, ())


@pytest.mark.parametrize(
    ("label", "name", "family"),
    [
        ("FFTSPlusAICore", "W-1", Family.V100),
        ("MixTask", "W-3", Family.V100),
        ("AICpuTask", "W-8", Family.V100),
        ("AICpuTask", "W-9", Family.V200),
        ("AICore Task", "W-5", Family.V200),
        ("AIV Task", "W-4", Family.V200),
        ("MIX Task", "W-7", Family.V200),
    ],
)
def test_debug_lines(label: str, name: str, family: Family) -> None:
    """LCH-80: words are values, not bytes; the label tells the family but for the AI CPU."""
    first, second = word_lines(label, sqe(name))
    dump = only(joined(OTHER_LINE, first, OTHER_LINE, second, OTHER_LINE))
    assert (dump.raw, dump.family, dump.label, dump.line) == (sqe(name), family, label, 2)
    assert dump.evidence is (Evidence.BYTES if label == "AICpuTask" else Evidence.LABEL)


def test_the_label_counts_more_than_the_bytes() -> None:
    """An entry that looks like one of v200, in a line of v100: the label is evidence; it is told."""
    dump = only(joined(word_lines("FFTSPlusAICore", W4)))
    assert (dump.family, dump.evidence) == (Family.V100, Evidence.LABEL)
    assert dump.notes == ("by its bytes it looks like an entry of v200",)


def test_the_chip_counts_more_than_the_label() -> None:
    dump = only(joined(word_lines("AIV Task", W4)), Family.V100)
    assert (dump.family, dump.evidence) == (Family.V100, Evidence.SOC)
    assert dump.notes == (
        "by its bytes it looks like an entry of v200",
        "the label 'AIV Task' is one of v200",
    )


def test_a_wrong_chip_swaps_no_bytes() -> None:
    """An entry of A2 said to be one of A5 is read in its own order, and the doubt is told."""
    dump = only(W3.hex(), Family.V200)
    assert dump.raw == W3
    assert dump.notes == ("by its bytes it looks like an entry of v100",)


def test_other_labels() -> None:
    """LCH-80: the same layout is used elsewhere; what is no kernel has no family of its own."""
    event = v100.Header(sqe_type=v100.SqeType.EVENT_RECORD, stream_id=3).encode()
    dump = only(joined(word_lines("PrintSqe", event)))
    assert (dump.raw, dump.family, dump.evidence) == (event, None, Evidence.NONE)
    assert only(joined(word_lines("PrintSqe", event)), Family.V100).family is Family.V100


def test_threads_write_into_each_other() -> None:
    """Lines are paired by label."""
    a, b = word_lines("AIV Task", W4), word_lines("MIX Task", sqe("W-7"))
    dumps, warnings = read(joined(a[0], b[0], a[1], b[1]))
    assert [dump.raw for dump in dumps] == [W4, sqe("W-7")]
    assert warnings == []


def test_log_that_begins_in_the_middle() -> None:
    """Q-28: a second half first does not shift all that follows."""
    a, b = word_lines("FFTSPlusAICore", W1), word_lines("FFTSPlusAICore", W2)
    dumps, warnings = read(joined(a[1], a, b))
    assert [dump.raw for dump in dumps] == [W1, W2]
    assert warnings == ["line 1: FFTSPlusAICore: 8 of 16 words, the other line is missing"]


@pytest.mark.parametrize("name", ["W-1", "W-3", "W-4", "W-7", "W-8", "W-9"])
def test_second_line_that_is_missing(name: str) -> None:
    """Q-28: what follows is not taken for it, whatever it is."""
    first, second = word_lines("Some Task", sqe(name))
    dumps, warnings = read(joined(first, first, second))
    assert [dump.raw for dump in dumps] == [sqe(name)]
    assert warnings == ["line 1: Some Task: 8 of 16 words, the other line is missing"]


def test_lines_that_are_cut() -> None:
    """Q-28: what is short is told, what is whole is shown."""
    first, second = word_lines("MixTask", W3)
    dumps, warnings = read(joined(first, second[:-20], word_lines("AICpuTask", W8), first[:-3]))
    assert [dump.raw for dump in dumps] == [W8]
    assert warnings == [
        "line 1: MixTask: 8 of 16 words, the other line is missing",
        "line 2: MixTask: 5 of 8 words",
        "line 5: MixTask: 7 of 8 words",
    ]
    dumps, warnings = read(f"{PREFIX}MixTask: 12\n{PREFIX}AIV Task: dead beef")
    assert (dumps, warnings) == ([], [])  # prose


def test_sixteen_words_in_a_line() -> None:
    shown = " ".join(f"{word:08x}" for word in words(W4))
    assert only(f"{PREFIX}AIV Task: {shown}  \r").raw == W4


def test_many_first_halves() -> None:
    """As many labels as there are letters: no more are kept than a few."""
    lines = [f"{PREFIX}Task {chr(97 + at)}: {'0' * 8 + ' 00000000' * 7}" for at in range(26)]
    dumps, warnings = read(joined(lines))
    assert dumps == []
    assert len(warnings) == MOST_WARNINGS + 1
    assert warnings[-1] == "further on: 6 more of these"


@pytest.mark.parametrize(
    ("task", "family"), [("task_id=18", Family.V100), ("task_pos=5", Family.V200)]
)
def test_device_error_records(task: str, family: Family) -> None:
    """LCH-81: the line before tells the family, and on A5 alone which stream it was (Q-18)."""
    raw = W3 if family is Family.V100 else sqe("W-7")
    dump = only(joined(OTHER_LINE, error_line(task), numbered_lines(raw), OTHER_LINE))
    assert (dump.raw, dump.family, dump.evidence, dump.line) == (raw, family, Evidence.LABEL, 3)
    assert dump.notes == (f"the log says stream_id 3, {task.replace('=', ' ')}, sq_id 5",)


def test_numbered_words_alone() -> None:
    lines = numbered_lines(W1)
    assert only(joined(lines)).family is Family.V100
    assert only(joined(reversed(lines))).raw == W1
    assert only(" ".join(lines)).raw == W1
    many, warnings = read(joined(lines, numbered_lines(W2)))
    assert [dump.raw for dump in many] == [W1, W2]
    assert warnings == []


def test_numbered_words_that_are_missing() -> None:
    """Q-28: which ones is told; the next entry is not mixed with it."""
    lines = numbered_lines(W1)
    del lines[7:9]
    dumps, warnings = read(joined(lines, error_line(), numbered_lines(W2)))
    assert [dump.raw for dump in dumps] == [W2]
    assert warnings == ["line 1: sqe[]: 14 of 16 words, without 7, 8"]
    dumps, warnings = read(joined(lines, numbered_lines(W2)))
    assert [dump.raw for dump in dumps] == [W2]
    cut = [*numbered_lines(W1)[:-1], numbered_lines(W1)[-1][:-4]]
    assert read(joined(cut))[1] == ["line 1: sqe[]: 15 of 16 words, without 15"]
    assert read(f"{PREFIX}sqe[16]=0x00000000.")[1] == ["line 1: sqe[16]: there are 16 words"]


@pytest.mark.parametrize("form", ["info", "error", "hex"])
def test_contexts(form: str) -> None:
    """LCH-82: the context that belongs to an entry stands beside it, before or behind it."""
    shown: list[str] = {
        "info": [context_line(CONTEXT3)],
        "error": numbered_lines(CONTEXT3, "Mix context-buf"),
        "hex": [CONTEXT3.hex(" ")],
    }[form]
    entry = word_lines("MixTask", W3) if form != "hex" else [W3.hex(" ")]
    for lines in ((entry, shown), (shown, entry), (entry, OTHER_LINE, shown)):
        dump = only(joined(*lines))
        assert (dump.raw, dump.context) == (W3, CONTEXT3)


def test_contexts_among_other_entries() -> None:
    """By main side and blocks it is told which of two entries a context belongs to."""
    other, other_context = sqe("W-10"), context("W-10")
    entries = (word_lines("MixTask", W3), word_lines("MixTask", other), W1.hex())
    dumps, _ = read(joined(*entries, context_line(CONTEXT3), context_line(other_context)))
    assert [(dump.raw, dump.context) for dump in dumps] == [
        (W3, CONTEXT3),
        (other, other_context),
        (W1, None),
    ]


def test_context_alone() -> None:
    """It is shown by itself: whose it is nobody knows."""
    dump = only(context_line(CONTEXT3))
    assert dump.is_context
    assert (dump.raw, dump.family, dump.evidence) == (CONTEXT3, Family.V100, Evidence.LABEL)
    dumps, _ = read(joined(W1.hex(), context_line(CONTEXT3), W3.hex(), W3.hex()))
    assert [dump.context is not None for dump in dumps] == [False, True, False]
    far, _ = read(joined(W3.hex(), *[W1.hex()] * (WINDOW + 1), context_line(CONTEXT3)))
    assert [dump.context for dump in far] == [None] * (WINDOW + 3)


def test_context_of_a_cache_lock() -> None:
    """04, 4.3: sub type 0x0A says nothing of the main side."""
    locked = v100.MixSqe.decode(W3).replace(sub_type=v100.ContextType.DCACHE_LOCK).encode()
    assert only(joined(locked.hex(), context_line(CONTEXT3))).context == CONTEXT3


def test_contexts_that_are_cut() -> None:
    line = context_line(CONTEXT3)
    dumps, warnings = read(joined(word_lines("MixTask", W3), line[:-40]))
    assert [dump.context for dump in dumps] == [None]
    assert warnings == ["line 3: Mix context-buf: 28 of 32 words"]
    lines = numbered_lines(CONTEXT3, "Mix context-buf")[:-1]
    assert read(joined(lines))[1] == ["line 1: Mix context-buf[]: 31 of 32 words, without 31"]
    swapped = b"".join(CONTEXT3[at : at + 4][::-1] for at in range(0, 128, 4))
    assert only(context_line(swapped)).raw == CONTEXT3


def test_contexts_with_blanks() -> None:
    """As people paste them: blanks for commas, and no `0x`."""
    words = [CONTEXT3[at : at + 4][::-1].hex() for at in range(0, 128, 4)]
    for between in (" ", ", ", "\t"):
        assert only(f"Mix context-buf: {between.join(words)}.").raw == CONTEXT3
    assert only("Mix context-buf:" + " ".join(f"0x{word}" for word in words)).raw == CONTEXT3


def test_halves_that_are_cut() -> None:
    _, warnings = read("AICore Task: 00210001 00001234 ...")
    assert warnings == ["line 1: AICore Task: 2 of 8 words"]


def test_many_entries_in_hex() -> None:
    """Entries without anything between them, more than are kept at a time."""
    dumps, warnings = read("\n".join([W1.hex(), W2.hex(" "), W4.hex()] * 500))
    assert [dump.raw for dump in dumps] == [W1, W2, W4] * 500
    assert warnings == []


def test_hex_that_is_no_entry() -> None:
    short = "0102" * 16
    assert read(short) == ([], ["line 1: 32 bytes of hex: an entry has 64"])
    assert read(f"{short}1") == ([], ["line 1: 32 bytes of hex: an odd number of hex digits"])
    assert read("0102 dead beef\nprose\n17") == ([], [])  # numbers that may be anything
    dumps, warnings = read(W1.hex() + "00")
    assert [dump.raw for dump in dumps] == [W1]
    assert warnings == ["line 1: 1 bytes of hex: an entry has 64"]


def test_no_entry_at_all() -> None:
    """Nothing found is an error of the caller: it says why, as far as that can be told."""

    def error(text: str) -> str:
        reader = DumpReader()
        assert list(reader.read(lines_of([text.encode()]))) == []
        return str(reader.nothing("HEX"))

    assert error("") == (
        "no queue entry found (HEX): neither 64 bytes of hex nor log lines that show an entry"
    )
    assert error("Hello, world").endswith("nor log lines that show an entry")
    assert error(W1.hex()[:30] + "g0") == "no queue entry found (HEX): 'g' at 31 is no hex digit"
    assert error(W1.hex()[:40]) == (
        "no complete queue entry found (HEX, line 1): 20 bytes of hex: an entry has 64"
    )
    assert error("0102").endswith("nor log lines that show an entry")


def test_lines_of_pieces() -> None:
    text = b"one\ntwo\r\n\nfour"
    for size in (1, 2, 3, 100):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert list(lines_of(pieces)) == ["one", "two\r", "", "four"]
    assert list(lines_of([])) == list(lines_of([b""])) == []
    assert list(lines_of([b"\xff\n"])) == ["\ufffd"]


def test_long_lines_are_passed_over() -> None:
    """Nothing is kept of them, and what follows is read."""
    pieces = [b"x" * 65_536] * 40 + [b"\n" + W1.hex().encode() + b"\n"] + [b"0" * 65_536] * 17
    reader = DumpReader()
    (dump,) = reader.read(lines_of(pieces))
    assert (dump.raw, dump.line) == (W1, 2)
    assert [(w.code, w.where) for w in reader.warnings] == [
        ("incomplete", "line 1"),
        ("incomplete", "line 3"),
    ]
    assert all("1,048,576 bytes without a line end" in w.message for w in reader.warnings)
    assert list(lines_of([b"a" * (LINE_LIMIT + 1) + b"\nb"])) == [None, "b"]


HOSTILE = {
    "letters": "a b " * (LINE_LIMIT // 4),
    "one word": "x" * LINE_LIMIT,
    "blanks": " " * LINE_LIMIT + "|",
    "bars": "| " * (LINE_LIMIT // 2) + "x|",
    "colons": ": " * (LINE_LIMIT // 2),
    "labels": "MixTask: " * (LINE_LIMIT // 9),
    "brackets": "sqe[" * (LINE_LIMIT // 4),
    "words": f"sqe[0]=0x{'0' * 8} " * (LINE_LIMIT // 18),
    "contexts": "Mix context-buf: " + "0x," * (LINE_LIMIT // 4),
    "error": "sqe error " + "stream_id=1 " * (LINE_LIMIT // 16),
    "offsets": "00000000: " * (LINE_LIMIT // 10),
    "digits": "0" * LINE_LIMIT,
    "numbers": "0 " * (LINE_LIMIT // 2),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_cost_of_a_line_is_in_proportion(text: str) -> None:
    begin = time.perf_counter()
    read(text)
    assert time.perf_counter() - begin < 10


LINES = st.sampled_from(
    [
        *word_lines("MixTask", W3),
        *word_lines("AIV Task", W4),
        *numbered_lines(W1),
        *numbered_lines(CONTEXT3, "Mix context-buf"),
        context_line(CONTEXT3),
        error_line(),
        *hex_lines(W2),
        OTHER_LINE,
        "",
    ]
)
CUT = st.tuples(LINES, st.integers(0, 160)).map(lambda pair: pair[0][: pair[1]])


@given(st.lists(LINES | CUT | st.text(max_size=40), max_size=60), st.sampled_from([None, *Family]))
def test_any_lines(lines: list[str], family: Family | None) -> None:
    """Q-28: never raises; whole entries or nothing."""
    dumps, _ = read("\n".join(lines), family)
    for dump in dumps:
        assert len(dump.raw) in (64, 128)
        assert dump.context is None or dump.mix is not None


@given(st.binary(max_size=600), st.sampled_from([None, *Family]))
def test_any_bytes(data: bytes, family: Family | None) -> None:
    reader = DumpReader(family)
    list(reader.read(lines_of([data])))
    list(reader.read(lines_of([data.hex().encode()])))


@given(st.lists(st.binary(min_size=64, max_size=64), min_size=1, max_size=5))
def test_no_entry_is_lost(entries: list[bytes]) -> None:
    """Whatever they hold, in whatever order of bytes they are thought to be."""
    dumps, warnings = read("\n".join(entry.hex() for entry in entries))
    assert sum(len(dump.raw) + len(dump.context or b"") for dump in dumps) == 64 * len(entries)
    assert warnings == []
