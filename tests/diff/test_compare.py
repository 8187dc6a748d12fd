"""Two objects: every field that is changed alone is told alone, with its class."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from cannkit.diff.change import FACTS, Effect
from cannkit.format.ascend_meta import (
    ARG_SIZE_SECTION,
    BINARY_SECTION,
    STACK_SECTION,
    BinaryMeta,
    FunctionMeta,
    FuncType,
    ImplicitFeature,
    VfType,
)
from cannkit.format.dfx import UNKNOWN_SIZE, PointerType, TensorType
from cannkit.format.elf_types import Binding, SectionType, SymbolType
from cannkit.format.tlv import encode_tlv
from tests.build import OBJECTS, SHF_ALLOC, SHF_EXEC, SHF_WRITE, ObjectBuilder
from tests.diff.sides import changes, summary, words
from tests.objects import MIX, SIMT_GATHER, TILING_KEYS
from tests.shapes import binary_tlv, dfx_tlv, function_tlv, with_meta, word
from tests.sidecars import sidecar_keys

ARGUMENTS: Final = (
    (word(TensorType.INPUT), UNKNOWN_SIZE),
    (word(TensorType.OUTPUT), UNKNOWN_SIZE),
    (word(TensorType.TILING), 40),
)
PARAM: Final = {"ordinal": 0, "offset": 0, "size": 8, "align": 8}
BASE: Final[dict[str, Any]] = {
    "func_type": FuncType.MIX_AIV_MAIN,
    "sync": 0,
    "ratio": (0, 1),
    "arguments": ARGUMENTS,
    "is_tik": 0,
    "vf_type": VfType.SIMT_VF,
    "ub_size": 8192,
    "stack": 280,
    "warp": 0,
    "dvg": 0,
    "early": 0,
    "deterministic": 1,
    "entry": 7,
    "flag": 0,
    "block_dim": 1,
    "param": PARAM,
    "param_total": 8,
    "sched": 0,
    "extra": b"",
    "names": ("k_7",),
    "code": 64,
    "text": bytes(range(128)),
    "data": b"constant",
    "flags": 0x0093_0000,
    "machine": 0x1029,
    "type": 2,
    "stack_record": 32768,
    "debug": (0, 0),
    "dynamic": 0,
    "optional": (1, 1),
    "version": 1,
    "feature": ImplicitFeature.SIMT_PRINTF,
    "arg_size": 24,
    "variable": 8,
    "comment": b"made",
}
BREAKING, BEHAVIOUR, SIZE = (effect.value for effect in Effect)


def built(**fields: Any) -> bytes:
    """An object with a record of each kind; `fields` are other than those of BASE."""
    f = BASE | fields
    builder = ObjectBuilder(flags=f["flags"], machine=f["machine"], type=f["type"])
    builder.section(".text", f["text"], flags=SHF_ALLOC | SHF_EXEC, at=64)
    builder.section(".rodata", f["data"], flags=SHF_ALLOC, addr=128)
    builder.section(".bss", bytes(8), flags=SHF_ALLOC | SHF_WRITE, addr=136)
    for name in f["names"]:
        builder.symbol(name, size=f["code"])
    size = f["variable"]
    builder.symbol("g_state", SymbolType.OBJECT, section=".bss", value=136, size=size)
    builder.symbol(
        f"{f['names'][0]}__",
        SymbolType.OBJECT,
        Binding.WEAK,
        section=ARG_SIZE_SECTION,
        size=4,
    )
    builder.section(ARG_SIZE_SECTION, f["arg_size"].to_bytes(4, "little"), align=4)
    builder.section(STACK_SECTION, f["stack_record"].to_bytes(8, "little"))
    builder.section(".comment", f["comment"])
    kinds, meta = FunctionMeta, function_tlv
    for name in f["names"]:
        with_meta(
            builder,
            meta(kinds.KERNEL_TYPE, func_type=f["func_type"]),
            meta(kinds.CROSS_CORE, cross_core_sync=f["sync"]),
            meta(kinds.MIX_TASK_RATION, ratio_aic=f["ratio"][0], ratio_aiv=f["ratio"][1]),
            dfx_tlv(*f["arguments"]),
            meta(kinds.L0_EXCEPTION_DFX_IS_TIK, is_tik=f["is_tik"]),
            meta(kinds.COMPILER_ALLOC_UB_SIZE, ub_size=f["ub_size"]),
            meta(kinds.SU_STACK_SIZE, min_stack_size=f["stack"]),
            meta(kinds.SIMT_WARP_STACK_SIZE, warp_stack_size=f["warp"]),
            meta(kinds.SIMT_DVG_WARP_STACK_SIZE, dvg_warp_stack_size=f["dvg"]),
            meta(kinds.EARLY_START_ENABLE, early_start=f["early"]),
            meta(kinds.AIV_TYPE_FLAG, vf_type=f["vf_type"]),
            meta(kinds.DETERMINISTIC_INFO, deterministic=f["deterministic"]),
            meta(kinds.FUNCTION_ENTRY_INFO, flag=f["flag"], function_entry=f["entry"]),
            meta(kinds.BLOCK_DIM_INFO, block_dim=f["block_dim"]),
            meta(kinds.PARAM_SUMMARY, param_count=1, param_total_size=f["param_total"]),
            meta(kinds.PARAM_INFO, **f["param"]),
            meta(kinds.SCHED_MODE_INFO, sched_mode=f["sched"]),
            f["extra"],
            kernel=name,
        )
    debug_size, debug_options = f["debug"]
    inputs, outputs = f["optional"]
    records = [
        binary_tlv(BinaryMeta.BIN_VERSION, version=f["version"]),
        binary_tlv(BinaryMeta.DEBUG_INFO, debug_buf_size=debug_size, debug_options=debug_options),
        binary_tlv(BinaryMeta.DYNAMIC_PARAM, mode=f["dynamic"]),
        binary_tlv(BinaryMeta.OPTIONAL_PARAM, input_mode=inputs, output_mode=outputs),
        binary_tlv(BinaryMeta.RUNTIME_IMPLICIT_INFO, feature=f["feature"]),
    ]
    return builder.section(BINARY_SECTION, b"".join(records), SectionType.NOTE, align=4).build()


def other_words(*records: tuple[int, ...]) -> dict[str, Any]:
    return {"arguments": records}


ONE: Final[list[tuple[dict[str, Any], str, str]]] = [
    ({"func_type": FuncType.AIV}, BREAKING, "func_type"),
    ({"ratio": (1, 2)}, BREAKING, "task_ratio"),
    (other_words(*ARGUMENTS[1:]), BREAKING, "arguments"),
    (other_words(ARGUMENTS[1], ARGUMENTS[0], ARGUMENTS[2]), BREAKING, "arguments"),
    (other_words((word(TensorType.INPUT), 8), *ARGUMENTS[1:]), BREAKING, "arguments"),
    (
        other_words((word(TensorType.INPUT, PointerType.LEVEL_2), UNKNOWN_SIZE), *ARGUMENTS[1:]),
        BREAKING,
        "arguments",
    ),
    (other_words((*ARGUMENTS[0], 9), *ARGUMENTS[1:]), BREAKING, "arguments"),
    (other_words(*ARGUMENTS[:2], (word(TensorType.TILING), 48)), BREAKING, "tiling_size"),
    ({"arg_size": 32}, BREAKING, "arg_size"),
    ({"entry": 8}, BREAKING, "key"),
    ({"flag": 0x80}, BREAKING, "key"),
    ({"param": PARAM | {"size": 4}}, BREAKING, "params"),
    ({"param": PARAM | {"type": 1}}, BREAKING, "params"),
    ({"param_total": 16}, BREAKING, "param_total_size"),
    ({"sync": 1}, BEHAVIOUR, "cross_core_sync"),
    ({"is_tik": 1}, BEHAVIOUR, "is_tik"),
    ({"vf_type": VfType.SIMD_VF}, BEHAVIOUR, "vf_type"),
    ({"early": 1}, BEHAVIOUR, "early_start"),
    ({"deterministic": 0}, BEHAVIOUR, "deterministic"),
    ({"block_dim": 20}, BEHAVIOUR, "block_dim"),
    ({"sched": 1}, BEHAVIOUR, "sched_mode"),
    ({"extra": encode_tlv(99, b"new!", "little")}, BEHAVIOUR, "meta.UNKNOWN_0x63"),
    ({"text": bytes([1, *range(1, 128)])}, BEHAVIOUR, "code"),
    ({"text": bytes([*range(127), 1])}, BEHAVIOUR, "section"),
    ({"data": b"Constant"}, BEHAVIOUR, "section"),
    ({"variable": 16}, BEHAVIOUR, "variable"),
    ({"debug": (0, 2)}, BEHAVIOUR, "debug_options"),
    ({"debug": (64, 0)}, BEHAVIOUR, "debug_buf_size"),
    ({"version": 2}, BEHAVIOUR, "bin_version"),
    ({"feature": ImplicitFeature.SIMD_PRINTF}, BEHAVIOUR, "implicit_feature"),
    ({"dynamic": 1}, BREAKING, "dynamic_param_mode"),
    ({"optional": (0, 1)}, BREAKING, "optional_input_mode"),
    ({"optional": (1, 0)}, BREAKING, "optional_output_mode"),
    ({"flags": 0x0094_0000}, BREAKING, "flags"),
    ({"machine": 0x1028}, BREAKING, "machine"),
    ({"type": 3}, BREAKING, "elf_type"),
    ({"ub_size": 4096}, SIZE, "ub_size"),
    ({"stack": 248}, SIZE, "min_stack_size"),
    ({"warp": 160}, SIZE, "warp_stack_size"),
    ({"dvg": 512}, SIZE, "dvg_warp_stack_size"),
    ({"stack_record": 16384}, SIZE, "stack_size"),
    ({"comment": b"MADE"}, SIZE, "file"),
]


@pytest.mark.parametrize(("fields", "effect", "kind"), ONE)
def test_one_field(fields: dict[str, Any], effect: str, kind: str) -> None:
    """A single field that is mutated is exactly that change, both ways round."""
    base, other = summary(built()), summary(built(**fields))
    found = changes(base, other)
    assert words(found) == [(effect, kind)]
    (back,) = changes(other, base)
    assert (back.effect, back.kind) == (found[0].effect, found[0].kind)
    assert (back.before, back.after) == (found[0].after, found[0].before)
    assert changes(other, other) == []


def test_every_fact_of_a_kernel_is_tried() -> None:
    tried = {kind for _, _, kind in ONE}
    untried = {
        "entry_kind",
        "param_count",
        "byte_order",
        "refused",
        "sidecar",
        "image_size",
        "code_size",
    }
    assert {kind for kind in FACTS if "." not in kind} - tried == untried


def test_values() -> None:
    """Numbers are numbers, keys are text, argument lists are words."""
    (change,) = changes(summary(built()), summary(built(func_type=FuncType.AIV)))
    assert (change.subject, change.kernel, change.file) == ("k_7", "k_7", None)
    assert (change.before, change.after) == (FuncType.MIX_AIV_MAIN, FuncType.AIV)
    (change,) = changes(summary(built()), summary(built(entry=(1 << 64) - 1)))
    assert (change.before, change.after) == ("7", "18446744073709551615")
    (change,) = changes(summary(built()), summary(built(**other_words(*ARGUMENTS[:2]))))[:1]
    assert change.before == (
        "input level_1 size unknown",
        "output level_1 size unknown",
        "tiling level_1",
    )


def test_kernels_come_and_go() -> None:
    one, two = summary(built()), summary(built(names=("k_7", "k_8"), entry=8))
    assert ("behaviour", "kernel") in words(changes(one, two))
    assert ("breaking", "kernel") in words(changes(two, one))
    (gone,) = (each for each in changes(two, one) if each.kind == "kernel")
    assert (gone.subject, gone.before, gone.after) == ("k_8", "8", None)


def test_a_tiling_key_in_the_name() -> None:
    """SYM-11: without an entry record the tail of the name is the key."""
    base, other = ObjectBuilder(), ObjectBuilder()
    for builder, name in ((base, "k_0"), (other, "k_1")):
        builder.section(".text", bytes(64), flags=SHF_ALLOC | SHF_EXEC, at=64)
        builder.symbol(name, size=32)
    found = changes(summary(base.build()), summary(other.build()))
    assert [(c.effect.value, c.kind, c.subject, c.before, c.after) for c in found] == [
        (BREAKING, "kernel", "k_0", "0", None),
        (BEHAVIOUR, "kernel", "k_1", None, "1"),
    ]


def test_kernels_of_another_name() -> None:
    """The key stays, hosts that ask by name fail; a hash in the name changes with each build."""
    found = changes(summary(built()), summary(built(names=("other_7",))))
    assert [(c.effect.value, c.kind, c.before, c.after) for c in found] == [
        (BREAKING, "name", "k", "other")
    ]
    old, new = (f"Add_{digit * 32}_7" for digit in "12")
    found = changes(summary(built(names=(old,))), summary(built(names=(new,))))
    assert words(found) == [(BEHAVIOUR, "name")]


def test_longer_code() -> None:
    """Other code, and more of it."""
    found = changes(summary(built()), summary(built(code=100)))
    assert words(found) == [(BEHAVIOUR, "code"), (SIZE, "code_size"), (BEHAVIOUR, "section")]
    found = changes(summary(built()), summary(built(text=bytes(range(128)) + bytes(64))))
    assert words(found) == [(SIZE, "image_size")]  # zeros in between align, they do nothing


def test_what_the_runtime_refuses() -> None:
    """FUN-08: there is no value for 2:2."""
    base, refused = summary(built()), summary(built(ratio=(2, 2)))
    found = changes(base, refused)
    assert words(found) == [(BREAKING, "refused"), (BREAKING, "task_ratio")]
    assert "FUN-08" in str(found[0].after)
    assert words(changes(refused, base)) == [(BEHAVIOUR, "refused"), (BREAKING, "task_ratio")]


Edit = Callable[[dict[str, Any]], None]
KEYS: Final[list[tuple[str, object, str]]] = [
    ("opParaSize", 48, BREAKING),
    ("coreType", "AiCore", BREAKING),
    ("magic", "RT_DEV_BINARY_MAGIC_ELF_AIVEC", BREAKING),
    ("intercoreSync", 0, BREAKING),
    ("taskRation", "1:1", BREAKING),
    ("dynamicParamMode", "folded_with_desc", BREAKING),
    ("optionalInputMode", "none", BREAKING),
    ("blockDim", 8, BEHAVIOUR),
    ("debugOptions", "assert", BEHAVIOUR),
    ("debugBufSize", 1, BEHAVIOUR),
    ("workspace", {"num": 2}, BEHAVIOUR),
    ("binFileName", "other", BEHAVIOUR),
    ("kernelName", "other", BEHAVIOUR),
    ("sha256", "0" * 64, BEHAVIOUR),
    ("kernelList", [], BEHAVIOUR),
    ("somethingNew", True, BEHAVIOUR),
]


@pytest.mark.parametrize(("key", "value", "effect"), KEYS)
def test_one_key_of_a_sidecar(key: str, value: object, effect: str) -> None:
    data = (OBJECTS / f"{MIX.stem}.o").read_bytes()
    keys = sidecar_keys(MIX, data)
    base = summary(data, json.dumps(keys).encode(), MIX.stem)
    other = summary(data, json.dumps(keys | {key: value}).encode(), MIX.stem)
    assert words(changes(base, other)) == [(effect, f"sidecar.{key}")]


@pytest.mark.parametrize("key", ["opParaSize", "binFileName", "kernelName"])
def test_a_key_that_is_gone(key: str) -> None:
    data = (OBJECTS / f"{MIX.stem}.o").read_bytes()
    keys = sidecar_keys(MIX, data)
    base = summary(data, json.dumps(keys).encode(), MIX.stem)
    del keys[key]
    (change,) = changes(base, summary(data, json.dumps(keys).encode(), MIX.stem))
    assert (change.kind, change.after) == (f"sidecar.{key}", None)


@pytest.mark.parametrize(
    ("edit", "effect", "kind"),
    [
        (lambda info: info["inputs"][1].update(name="q"), BREAKING, "inputs"),
        (lambda info: info["outputs"][0].update(dtype="int8"), BREAKING, "outputs"),
        (lambda info: info["inputs"].pop(), BREAKING, "inputs"),
        (lambda info: info["simplifiedKey"].pop(), BREAKING, "simplifiedKey"),
        (lambda info: info["simplifiedKey"].append("Op/more"), BEHAVIOUR, "simplifiedKey"),
        (lambda info: info.update(deterministic="true"), BEHAVIOUR, "deterministic"),
    ],
    ids=["name", "dtype", "fewer", "key-gone", "key-new", "other"],
)
def test_one_key_of_support_info(edit: Edit, effect: str, kind: str) -> None:
    """JSN-08: arguments by name and type."""
    data = (OBJECTS / f"{SIMT_GATHER.stem}.o").read_bytes()
    keys = sidecar_keys(SIMT_GATHER, data)
    base = summary(data, json.dumps(keys).encode(), SIMT_GATHER.stem)
    edit(keys["supportInfo"])
    other = summary(data, json.dumps(keys).encode(), SIMT_GATHER.stem)
    assert words(changes(base, other)) == [(effect, f"sidecar.supportInfo.{kind}")]


def test_an_entry_of_kernel_list() -> None:
    data = (OBJECTS / f"{TILING_KEYS.stem}.o").read_bytes()
    keys = sidecar_keys(TILING_KEYS, data)
    base = summary(data, json.dumps(keys).encode(), TILING_KEYS.stem)
    keys["kernelList"][0]["taskRation"] = "1:1"
    (change,) = changes(base, summary(data, json.dumps(keys).encode(), TILING_KEYS.stem))
    assert (change.effect.value, change.kind) == (BREAKING, "sidecar.kernelList.taskRation")
    assert change.kernel == f"{TILING_KEYS.stem}_1"


def test_a_sidecar_comes_and_goes() -> None:
    data = (OBJECTS / f"{MIX.stem}.o").read_bytes()
    with_it = summary(data, json.dumps(sidecar_keys(MIX, data)).encode(), MIX.stem)
    without = summary(data, None, MIX.stem)
    assert words(changes(with_it, without)) == [(BREAKING, "sidecar")]
    assert words(changes(without, with_it)) == [(BEHAVIOUR, "sidecar")]
    broken = summary(data, b"{", MIX.stem)  # JSN-02: as good as none
    assert changes(broken, without) == []


def test_where_it_was_built_does_not_matter() -> None:
    data = (OBJECTS / f"{MIX.stem}.o").read_bytes()
    keys = sidecar_keys(MIX, data)
    base = summary(data, json.dumps(keys).encode(), MIX.stem)
    turned = dict(reversed(keys.items())) | {"filePath": "/elsewhere/x.json"}
    assert changes(base, summary(data, json.dumps(turned).encode(), MIX.stem)) == []


@pytest.mark.parametrize("path", sorted(OBJECTS.glob("*.o")), ids=lambda path: path.stem)
def test_itself(path: Any) -> None:
    """Nothing differs from itself."""
    sidecar = path.with_suffix(".json").read_bytes()
    one = summary(path.read_bytes(), sidecar, path.stem)
    assert changes(one, summary(path.read_bytes(), sidecar, path.stem)) == []
