"""Objects that commands are tried on, beside those of `fixtures/objects`.

`python -m tests.cli.inputs` writes the `input.o` of each case afresh.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cannkit.format.ascend_meta import FunctionMeta, FuncType
from tests.build import OBJECTS, SHF_ALLOC, SHF_EXEC, ObjectBuilder
from tests.shapes import function_tlv, m0, with_meta

CASES: Final = OBJECTS.parent / "cases"
CODE: Final = 64

LONG: Final = "a" * 118 + "_0"  # 120 characters
CHINESE: Final = "\u52a0\u6cd5\u7b97\u5b50_1"
MARKUP: Final = "[bold]x[/bold]:smile:_2"
ESCAPES: Final = "\x1b[31mred\x1b[0m_3"
BREAKS: Final = "tab\tline\nreturn\r_4"
BIDI: Final = "left\u202eright\u2066_5"
BYTES: Final = "byte\udcff_6"
SPACES: Final = "a b_7"
ODD_NAMES: Final = (LONG, CHINESE, MARKUP, ESCAPES, BREAKS, BIDI, BYTES, SPACES)
SHOWN_NAMES: Final = (  # cli.md: nothing cut; HAZ-18: what is not printable is escaped
    LONG,
    CHINESE,
    MARKUP,
    r"\x1b[31mred\x1b[0m_3",
    r"tab\tline\nreturn\r_4",
    r"left\u202eright\u2066_5",
    r"byte\xff_6",
    SPACES,
)


def vector_object(*names: str) -> bytes:
    """An object with a vector kernel of each name."""
    builder = ObjectBuilder()
    builder.section(".text", bytes(CODE * len(names)), flags=SHF_ALLOC | SHF_EXEC, at=64)
    for at, name in enumerate(names):
        builder.symbol(name, value=CODE * at, size=CODE)
    for name in names:
        record = function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.AIV)
        with_meta(builder, record, kernel=name)
    return builder.build()


def entry_object(entry: int) -> bytes:
    """An object whose kernel is found by a function entry, and has two parameters."""
    return with_meta(
        m0(),
        function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.AIV),
        function_tlv(FunctionMeta.FUNCTION_ENTRY_INFO, function_entry=entry),
        function_tlv(FunctionMeta.PARAM_SUMMARY, param_count=2, param_total_size=16),
        *(
            function_tlv(FunctionMeta.PARAM_INFO, index=at, ordinal=at, offset=8 * at, size=8)
            for at in range(2)
        ),
    ).build()


def refused_object() -> bytes:
    """FUN-08: a ratio the runtime knows no value for; 2:2 is none of 1:2, 2:1, 1:1, 1:0, 0:1."""
    return with_meta(
        m0(),
        function_tlv(FunctionMeta.KERNEL_TYPE, func_type=FuncType.MIX_AIC_MAIN),
        function_tlv(FunctionMeta.MIX_TASK_RATION, ratio_aic=2, ratio_aiv=2),
    ).build()


def big_endian_object() -> bytes:
    """HAZ-02: readable, but of no use to the runtime."""
    record = function_tlv(FunctionMeta.KERNEL_TYPE, "big", func_type=FuncType.AIV)
    return with_meta(m0("big"), record).build()


def case_inputs() -> dict[str, bytes]:
    """The `input.o` of each case that has one."""
    whole = vector_object("add_0")
    return {
        "big-endian": big_endian_object(),
        "odd-names": vector_object(*ODD_NAMES),
        "params": entry_object((1 << 64) - 1),
        "refused-ratio": refused_object(),
        "truncated": whole[: len(whole) // 2],
        "wrong-magic": b"\x7fELK" + whole[4:],
    }


def main() -> None:
    """Write them."""
    for name, data in case_inputs().items():
        folder = CASES / name
        folder.mkdir(parents=True, exist_ok=True)
        Path(folder / "input.o").write_bytes(data)


if __name__ == "__main__":
    main()
