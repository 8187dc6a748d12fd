"""Queue entries for people: on screens of any width, and in a pipe."""

from __future__ import annotations

import pytest

from cannkit.format.sqe import decode_sqe, v100
from cannkit.format.sqe.dump import DumpReader
from cannkit.render.sqe import entry_text, sqe_table
from cannkit.render.text import as_text
from cannkit.report.sqe import SqeDocument, SqeEntry
from tests.render.screen import Make, pipe, screen, shown
from tests.sqe import context, context_line, examples, sqe, word_lines


def entry_of(name: str) -> SqeEntry:
    return SqeEntry.of(decode_sqe(sqe(name), examples()[name]["family"]))


def mix() -> SqeEntry:
    return SqeEntry.of(v100.MixSqe.decode(sqe("W-3")), v100.MixContext.decode(context("W-3")))


def text_of(entry: SqeEntry) -> Make:
    return lambda console: entry_text(entry, console)


def test_table_of_bits() -> None:
    """Each word once in hex, and beside it what lies in it; a long field in each of its words."""
    lines = shown(lambda console: sqe_table(entry_of("W-2"), console), pipe())
    assert lines[0] == "Word  Hex       Bits   Field           Value           Meaning"
    assert lines[1] == "w0    00181000  0-5    sqe_type        0               FFTS"
    assert lines[2] == "                6      l1_lock         0               no"
    assert "w4    d0000000  0-31   stack_base      0x1240d0000000  stacks of all cores" in lines
    assert "w5    00001240  0-31   stack_base                      upper bits" in lines
    assert "w11   00201240  0-19   args_addr                       upper bits" in lines
    assert "                20-31  stack_level     2               stack of 65,536 B" in lines
    assert [line.split()[0] for line in lines if line.startswith("w")] == [
        f"w{at}" for at in (0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13)
    ]


def test_fields_in_two_places_stand_in_both() -> None:
    lines = shown(lambda console: sqe_table(entry_of("W-7"), console), pipe())
    at = next(at for at, line in enumerate(lines) if line.startswith("w8"))
    assert [" ".join(line.split()) for line in lines[at : at + 4]] == [
        "w8 41400000 0-31 aic_pc 0x12c041400000 first instruction on AIC",
        "w9 41401c00 0-31 aiv_pc 0x12c041401c00 first instruction on AIV",
        "w10 12c012c0 0-15 aic_pc upper bits",
        "16-31 aiv_pc upper bits",
    ]


def test_entry_with_its_context() -> None:
    lines = shown(text_of(mix()), pipe())
    assert lines[0] == "v100, mix, rtFftsPlusSqe_t, type FFTS (0)"
    assert lines[1:3] == ["stream  3", "task    18"]
    assert lines.count("context") == 1
    assert lines[lines.index("context") + 2].split() == [
        "w0", "00000006", "0-15", "context_type", "6", "MIX_AIC",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
def test_nothing_is_cut_on_a_screen(width: int) -> None:
    """What does not fit goes on in the next line."""
    for entry in (mix(), entry_of("W-7"), entry_of("W-9")):
        lines = shown(text_of(entry), screen(width))
        assert max(map(len, lines)) <= width
        text = "".join("".join(lines).split())
        assert "\u2026" not in text
        for each in entry.fields:
            assert each.name in text
            assert str(each.value) in text


def test_how_the_family_is_known() -> None:
    """A guess is told as one; what no log line says is not made up."""

    def facts(*lines: str) -> list[str]:
        (dump,) = DumpReader().read(lines)
        entry = SqeEntry.of_dump(dump)
        text = shown(text_of(entry), pipe())
        return text[1 : next(at for at, line in enumerate(text) if line.startswith("Word"))]

    assert facts(sqe("W-4").hex()) == [
        "family  a guess by its bytes: --soc NAME makes it sure",
        "stream  unknown: the entry names none",
        "task    4660",
    ]
    assert facts("", *word_lines("AIV Task", sqe("W-4")))[:2] == [
        "from    AIV Task, line 2",
        "family  by its log line",
    ]
    assert facts("", "", bytes(64).hex()) == [
        "from    line 3",
        "family  its bytes do not tell it: --soc NAME makes it sure",
    ]
    assert facts(context_line(context("W-3")))[0] == "from    Mix context-buf, line 1"
    swapped = facts(*word_lines("AIV Task", sqe("W-4"), ">"))
    assert swapped[-1] == "note    read as bytes: as 32-bit words it would be byte-swapped"


def test_document() -> None:
    document = SqeDocument.of([entry_of("W-1"), entry_of("W-4")])
    lines = shown(lambda console: as_text(document, console), pipe())
    assert [line for line in lines if line.startswith("v")] == [
        "v100, kernel, RtFftsPlusKernelSqe, type FFTS (0)",
        "v200, kernel, RtDavidStarsAicAivKernelSqe, type AIV (1)",
    ]
    assert lines.count("") == 1


def test_text_of_a_log_is_safe() -> None:
    """Nothing in an entry is markup, nothing drives a terminal."""
    (dump,) = DumpReader().read([sqe("W-1").hex()])
    odd = dump._replace(label="[bold]\x1b[31m", notes=("\x1b]0;title",))
    for console in (pipe(), screen(80)):
        text = "\n".join(shown(text_of(SqeEntry.of_dump(odd)), console))
        assert "\x1b" not in text
        assert r"[bold]\x1b[31m, line 1" in text
