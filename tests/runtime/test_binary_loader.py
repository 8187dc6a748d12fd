"""BinaryLoader: options, sidecars, AI CPU modes, what is left after a refusal. Spec 02, 4 and 5."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.format.elf_types import Machine
from cannkit.format.status import RtError, RtStatus
from cannkit.inputs.files import HostFiles, MemoryFiles, link_target
from cannkit.inputs.rooted import RootedFiles
from cannkit.runtime.binary_loader import BinaryLoader
from cannkit.runtime.cpu_ops import read_cpu_ops
from cannkit.runtime.kernel import AttrType, CpuKernelType
from cannkit.runtime.load_options import (
    LoadOption,
    LoadOptions,
    Magic,
    OptionId,
    magic_attr,
    read_options,
)
from cannkit.runtime.pool import ProgramPool
from cannkit.runtime.program import ElfProgram, PlainProgram
from cannkit.runtime.program_base import NO_ID, Flow, Program
from cannkit.runtime.so_name import SoNames, file_name, fnv1a, with_extension
from cannkit.soc import find_soc
from tests.facts import A2_SOC, A5_SOC, SOC_OF_PROFILE, rows
from tests.runtime.programs import Function, builder

OBJECT: Final = builder(Function("s_1", sync=1), Function("s_2")).build()
PATTERN: Final = bytes(i % 256 for i in range(2048))
A2: Final = find_soc(A2_SOC)

Row = dict[str, Any]


def _loader(
    files: dict[str, bytes] | None = None, soc: str = A2_SOC, *, lenient: bool = False
) -> BinaryLoader:
    views = {path: memoryview(data) for path, data in (files or {}).items()}
    return BinaryLoader(find_soc(soc), files=MemoryFiles(views), lenient=lenient)


def _elf(program: Program) -> ElfProgram:
    assert isinstance(program, ElfProgram)
    return program


def _cpu(program: Program) -> PlainProgram:
    assert isinstance(program, PlainProgram)
    return program


def _refusal(call: Callable[[], object], match: str | None = None, acl: int = 107000) -> RtError:
    with pytest.raises(RtError, match=match) as caught:
        call()
    assert caught.value.acl == acl
    return caught.value


def _options(*pairs: tuple[int, int]) -> LoadOptions:
    return LoadOptions(tuple(LoadOption(*pair) for pair in pairs))


# Options


@pytest.mark.parametrize(
    "pairs",
    [
        [(2, Magic.ELF)],
        [(2, 0)],
        [(3, 2)],
        [(3, 0xFFFF_FFFF)],
        [(1, 2)],
        [(4, 0)],
        [(0, 0)],
        [(1, 1), (99, 1), (1, 0)],
    ],
)
def test_options_refused_with_a_file(pairs: list[tuple[int, int]]) -> None:
    """WE-8."""
    loader = _loader({"/k.o": OBJECT})
    _refusal(lambda: loader.load_from_file("/k.o", _options(*pairs)), "load option refused")
    assert len(loader.pool) == 0


@pytest.mark.parametrize(
    "pairs",
    [[(2, 0x41415243)], [(2, Magic.PLAIN)], [(3, 0)], [(3, 1)], [(1, 2)], [(0, 0)], [(4, 1)]],
)
def test_options_refused_with_data(pairs: list[tuple[int, int]]) -> None:
    """WE-8."""
    loader = _loader()
    _refusal(lambda: loader.load_from_data(memoryview(OBJECT), _options(*pairs)), "load option")


def test_options_in_order() -> None:
    """LDR-3, LDR-4: a later duplicate counts; a null array is refused, no options are not."""
    loader = _loader({"/k.o": OBJECT})
    for options, lazy in (
        (_options((1, 1), (1, 0)), False),
        (_options((1, 0), (1, 1)), True),
        (LoadOptions.of(lazy=True), True),
        (LoadOptions(()), False),
        (None, False),
    ):
        assert loader.load_from_file("/k.o", options).is_lazy is lazy
    _refusal(lambda: loader.load_from_file("/k.o", LoadOptions(None)), "without an array")
    assert LoadOptions.of(magic=Magic.ELF, cpu_mode=2) == _options((2, Magic.ELF), (3, 2))


def test_a_refused_option_uses_up_the_names_before_it() -> None:
    """CPU-3."""
    names, data = SoNames(), memoryview(PATTERN)
    _refusal(lambda: read_options(_options((3, 2), (0, 0)), data, names))
    settings = read_options(_options((3, 2)), data, names)
    assert settings.so_name == "176705864268954405_2048.so"
    twice = read_options(_options((3, 2), (3, 2)), memoryview(bytes(2048)), names)
    assert twice.so_name == "2937223237197546277_2048.so"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1 << 32)), max_size=5), st.booleans())
def test_any_options(pairs: list[tuple[int, int]], from_file: bool) -> None:
    source = "/a.o" if from_file else memoryview(b"data")
    try:
        settings = read_options(_options(*pairs), source, SoNames())
    except RtError as error:
        assert (error.rt, error.acl) == (RtStatus.INVALID_VALUE, 107000)  # noqa: PT017
        return
    assert {number for number, _ in pairs} <= set(OptionId)
    assert (settings.cpu_mode is None) == (not settings.so_name)


@pytest.mark.parametrize(
    ("magic", "separated", "together"),
    [
        (0x43554245, AttrType.MIX, AttrType.AICORE),
        (0xABCEED50, AttrType.AICORE, AttrType.AICORE),
        (0x41494343, AttrType.CUBE, AttrType.CUBE),
        (0x41415246, AttrType.VECTOR, AttrType.VECTOR),
        (0xABCEED52, AttrType.VECTOR, AttrType.VECTOR),
        (0x41415243, AttrType.AICPU, AttrType.AICPU),
        (0xABCEED51, AttrType.AICPU, AttrType.AICPU),
        (1, AttrType.INVALID, AttrType.INVALID),
    ],
)
def test_magic_to_attr(magic: int, separated: AttrType, together: AttrType) -> None:
    """LDR-8."""
    assert magic_attr(magic, A2) is separated
    assert magic_attr(magic, find_soc("Ascend310P3")) is together


# Paths and so names


@pytest.mark.parametrize(
    ("path", "so_path", "so_name", "json_path"),
    [
        ("/a/libx.json", "/a/libx.so", "libx.so", "/a/libx.json"),
        ("/opt/v1.2/libx", "/opt/v1.so", "v1.so", "/opt/v1.json"),
        ("libx", ".so", ".so", ".json"),
        ("./libx", ".so", ".so", ".json"),
        ("C:\\a\\libx.o", "C:\\a\\libx.so", "libx.so", "C:\\a\\libx.json"),
    ],
)
def test_paths(path: str, so_path: str, so_name: str, json_path: str) -> None:
    """WE-7, QK-22."""
    settings = read_options(LoadOptions.of(cpu_mode=1), path, SoNames())
    assert (settings.so_path, settings.so_name) == (so_path, so_name)
    assert with_extension(settings.so_path, ".json") == json_path
    assert with_extension("/k/add.v2.o", ".json") == "/k/add.v2.json"
    assert file_name("plain") == "plain"


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"", 14695981039346656037),
        (b"a", 12638187200555641996),
        (b"abc", 16654208175385433931),
        (b"foobar", 9625390261332436968),
    ],
)
def test_hash(data: bytes, value: int) -> None:
    """WE-5."""
    assert fnv1a(memoryview(data)) == value


@pytest.mark.parametrize("row", rows("hashes"), ids=lambda row: row["in"][:16])
def test_recorded_hashes(row: Row) -> None:
    assert fnv1a(memoryview(bytes.fromhex(row["in"]))) == row["quick"]


def test_so_names() -> None:
    """WE-5, QK-24."""
    names = SoNames()
    for data, expected in (
        (PATTERN, "2186102867946794789_2048.so"),
        (PATTERN, "176705864268954405_2048.so"),
        (PATTERN, "176705864268954405_2048.so"),
        (b"abc", "16654208175385433931_3.so"),
        (b"abc", "16654208175385433931_3.so"),
        (bytes(2048), "5897611217847481125_2048.so"),
        (bytes(2048), "2937223237197546277_2048.so"),
    ):
        assert names.name_for(memoryview(data)) == expected


# Kernel objects and their sidecars


def _with_sidecar(sidecar: object, soc: str = A2_SOC, data: bytes = OBJECT) -> ElfProgram:
    text = sidecar if isinstance(sidecar, bytes) else json.dumps(sidecar).encode()
    loader = _loader({"/k/add.v2.o": data, "/k/add.v2.json": text}, soc)
    return _elf(loader.load_from_file("/k/add.v2.o"))


@pytest.mark.parametrize(
    ("sync", "ffts"),
    [
        (0, [True, False]),
        (1, [True, True]),
        (1.0, [True, True]),
        (True, [True, False]),
        ("1", [True, False]),
        (None, [True, False]),
    ],
)
def test_core_sync_of_the_sidecar(sync: object, ffts: list[bool]) -> None:
    """WE-4, LDR-7."""
    program = _with_sidecar({"intercoreSync": sync, "magic": "RT_DEV_BINARY_MAGIC_ELF"})
    assert [kernel.ffts_in_args for kernel in program.kernels] == ffts
    assert program.core_sync is (ffts == [True, True])


@pytest.mark.parametrize(
    ("magic", "number", "attr"),
    [
        ("RT_DEV_BINARY_MAGIC_ELF", 0x43554245, AttrType.MIX),
        ("RT_DEV_BINARY_MAGIC_ELF_AICUBE", 0x41494343, AttrType.CUBE),
        ("RT_DEV_BINARY_MAGIC_ELF_AIVEC", 0x41415246, AttrType.VECTOR),
        ("FFTS_BINARY_MAGIC_ELF_MIX_AIC", 0x41415246, AttrType.VECTOR),
        ("FFTS_BINARY_MAGIC_ELF_MIX_AIV", 0x41415246, AttrType.VECTOR),
        ("RT_DEV_BINARY_MAGIC_ELF_AICPU", 0, AttrType.CUBE),
        (7, 0, AttrType.CUBE),
    ],
)
def test_magic_of_the_sidecar(magic: object, number: int, attr: AttrType) -> None:
    """LDR-7: what says nothing of its cores takes the default."""
    data = builder(Function("k", None)).build()
    program = _with_sidecar({"magic": magic}, data=data)
    assert (program.magic, program.default_attr, program.kernels[0].attr) == (number, attr, attr)


@pytest.mark.parametrize("root", [[], 7, "text", None])
def test_a_sidecar_that_is_no_object(root: object) -> None:
    """LDR-7: as an object without keys."""
    program = _with_sidecar(root)
    assert (program.default_attr, program.warnings) == (AttrType.CUBE, [])


def test_a_sidecar_discards_the_machine() -> None:
    """QK-5."""
    data = builder(Function("k", None), machine=Machine.EM_AARCH64).build()
    program = _with_sidecar({}, "Ascend910A", data)
    assert program.default_attr is AttrType.AICORE
    assert [warning.code for warning in program.warnings] == ["sidecar-magic"]
    kept = _with_sidecar({"magic": "RT_DEV_BINARY_MAGIC_ELF"}, "Ascend910A", data)
    assert (kept.default_attr, kept.warnings) == (AttrType.AICORE, [])


@pytest.mark.parametrize(
    ("options", "rt"),
    [
        ("printf", RtStatus.FEATURE_NOT_SUPPORT),
        ("assert,printf", RtStatus.FEATURE_NOT_SUPPORT),
        (7, RtStatus.INVALID_VALUE),
    ],
)
def test_debug_options_refuse_the_file(options: object, rt: RtStatus) -> None:
    """QK-4: the caller sees 107000, the cause is told; from data it loads."""
    text = json.dumps({"debugOptions": options}).encode()
    files = {"/k.o": OBJECT, "/k.json": text}
    loader = _loader(files)
    error = _refusal(lambda: loader.load_from_file("/k.o"), "debugOptions")
    assert (error.rt, error.where, len(loader.pool)) == (rt, "/k.o", 0)
    assert loader.load_from_data(memoryview(OBJECT)).kernels
    lenient = _loader(files, lenient=True)
    if rt is RtStatus.FEATURE_NOT_SUPPORT:
        assert lenient.load_from_file("/k.o").kernels
    else:
        _refusal(lambda: lenient.load_from_file("/k.o"))


def test_without_a_sidecar() -> None:
    """LDR-7: a warning, and the load goes on."""
    program = _elf(_loader({"/k.o": OBJECT}).load_from_file("/k.o"))
    assert [warning.code for warning in program.warnings] == ["no-sidecar"]
    assert program.default_attr is AttrType.CUBE
    bad = _loader({"/k.o": OBJECT, "/k.json": b"{,}"}).load_from_file("/k.o")
    assert [warning.code for warning in bad.warnings] == ["sidecar-unreadable"]


def test_the_runtime_looks_for_the_sidecar_elsewhere() -> None:
    """QK-22: the path is cut at its last dot, wherever that is."""
    sidecar = b'{"intercoreSync": 1}'
    there = _loader({"/v1.2/add": OBJECT, "/v1.json": sidecar}).load_from_file("/v1.2/add")
    assert _elf(there).core_sync
    beside = _loader({"/v1.2/add": OBJECT, "/v1.2/add.json": sidecar}).load_from_file("/v1.2/add")
    assert not _elf(beside).core_sync
    (warning,) = beside.warnings
    assert (warning.code, warning.where) == ("no-sidecar", "/v1.json")
    assert "not at /v1.2/add.json" in warning.message


def test_the_sidecar_of_a_symlink_lies_beside_its_target(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "k.o").write_bytes(OBJECT)
    (tmp_path / "real" / "k.json").write_text('{"intercoreSync": 1}')
    (tmp_path / "link.o").symlink_to("real/k.o")
    loader = BinaryLoader(A2, files=HostFiles(), resolve=link_target)
    assert _elf(loader.load_from_file(str(tmp_path / "link.o"))).core_sync


@pytest.mark.parametrize("path", ["", "/nope.o", "/empty.o", "/text.o", "/" + "a" * 4096, "/dir"])
def test_files_that_are_no_kernel_object(path: str, tmp_path: Path) -> None:
    """LDR-5, QK-25; every failure is 107000."""
    (tmp_path / "empty.o").touch()
    (tmp_path / "text.o").write_text("text")
    (tmp_path / "dir").mkdir()
    loader = BinaryLoader(A2, files=RootedFiles(str(tmp_path)))
    error = _refusal(lambda: loader.load_from_file(path), "cannot")
    assert error.rt == RtStatus.INVALID_VALUE
    assert len(loader.pool) == 0


def test_from_data() -> None:
    """LDR-6."""
    loader = _loader()
    data = memoryview(builder(Function("k", None)).build())
    assert _elf(loader.load_from_data(data)).default_attr is AttrType.CUBE
    program = loader.load_from_data(data, LoadOptions.of(magic=Magic.ELF_AIVEC, lazy=True))
    assert (program.default_attr, program.magic) == (AttrType.VECTOR, Magic.ELF_AIVEC)
    assert (program.is_lazy, program.id, program.is_new_flow) == (True, 1, True)
    _refusal(lambda: loader.load_from_data(memoryview(b"")), "no bytes")
    _refusal(lambda: loader.load_from_data(memoryview(b"text")), "ELF header")


def test_a_refused_program_leaves_the_pool() -> None:
    """QK-20: also where it had entered already."""
    loader = _loader({"/k.o": builder(Function("k_1", 4)).build(), "/l.o": OBJECT})
    _refusal(lambda: loader.load_from_file("/k.o"), "not named as one half")
    _refusal(lambda: loader.load_old(memoryview(builder(Function("k", 4)).build())), "one half")
    assert len(loader.pool) == 0
    assert loader.load_from_file("/l.o").id == 2  # ids went on


def test_a_full_pool() -> None:
    """LDR-5: 107000 in the new flow, 507032 in the old one."""
    data = memoryview(OBJECT)
    loader = BinaryLoader(A2, ProgramPool(0), files=MemoryFiles({"/k.o": data, "/c.json": data}))
    for new in (
        lambda: loader.load_from_data(data),
        lambda: loader.load_from_file("/k.o"),
    ):
        assert _refusal(new, "no program id").rt == RtStatus.PROGRAM_USEOUT
    for old in (
        lambda: loader.load_without_tiling(data),
        lambda: loader.load_old(data),
        lambda: loader.register_binary(data),
        lambda: loader.register_binary(data, Magic.PLAIN),
    ):
        _refusal(old, "no program id", 507032)


def test_an_object_read_already() -> None:
    """As from a file, its sidecar included."""
    from cannkit.format.sidecar import read_sidecar
    from cannkit.image.kernel_object import SidecarFile
    from tests.facts import read

    obj = read(OBJECT)
    assert not _loader().load_object(obj).core_sync
    sidecar = SidecarFile("k.json", read_sidecar(b'{"intercoreSync": 1}'))
    program = _loader().load_object(obj._replace(sidecar=sidecar), lazy=True)
    assert (program.core_sync, program.is_lazy, program.id) == (True, True, 0)
    printf = SidecarFile("k.json", read_sidecar(b'{"debugOptions": "printf"}'))
    _refusal(lambda: _loader().load_object(obj._replace(sidecar=printf)), "printf")


# The old flow


def test_old_flow() -> None:
    """POL-4."""
    loader, data = _loader(), memoryview(OBJECT)
    without = loader.load_without_tiling(data)
    assert (without.flow, len(without.table), len(without.kernels)) == (Flow.WITHOUT_TILING, 0, 2)
    old = loader.load_old(data, Magic.ELF_AIVEC)
    assert (old.flow, old.default_attr, len(old.table)) == (Flow.OLD, AttrType.VECTOR, 2)
    stubs = _elf(loader.register_binary(data, Magic.ELF_AICPU))
    assert (stubs.flow, stubs.kernels, stubs.default_attr) == (Flow.STUBS, (), AttrType.AICPU)
    plain = _cpu(loader.register_binary(memoryview(b"any"), Magic.PLAIN_AIVEC))
    assert (plain.default_attr, plain.is_cpu, plain.load_size) == (AttrType.VECTOR, False, 3)
    assert [program.id for program in loader.pool.programs()] == [0, 1, 2, 3]
    assert not any(program.is_new_flow for program in loader.pool.programs())


def test_old_flow_refusals() -> None:
    loader, data, nothing = _loader(), memoryview(OBJECT), memoryview(b"")
    _refusal(lambda: loader.load_old(data, Magic.ELF_AICPU), "magic")
    _refusal(lambda: loader.register_binary(data, 7), "magic 0x7 is unknown")
    _refusal(lambda: loader.register_binary(data[:64], Magic.ELF), "cannot register")
    for call in (loader.load_without_tiling, loader.load_old, loader.register_binary):
        _refusal(lambda call=call: call(nothing), "no bytes")  # type: ignore[misc]
    _refusal(lambda: loader.register_binary(nothing, Magic.PLAIN), "no bytes")
    _refusal(lambda: _loader(soc="CHIP_MC62CM12A").load_without_tiling(data), acl=207000)


# AI CPU programs

WE_6: Final = {
    "AddCust": {
        "opInfo": {
            "functionName": "RunCpuKernelWithBlock",
            "kernelSo": "libcust.so",
            "opKernelLib": "CUSTAICPUKernel",
            "userDefined": "True",
        }
    },
    "Re": {
        "opInfo": {
            "functionName": "RunCpuKernel",
            "kernelSo": "libcust.so",
            "opKernelLib": "AICPUKernel",
            "userDefined": "False",
        }
    },
    "Tf": {"opInfo": {"opKernelLib": "TFKernel"}},
    "Bad": {"opInfo": {"opKernelLib": "AICPUKernel", "userDefined": True}},
    "Skip": {"opInfo1": {}},
    "NoLib": {"opInfo": {}},
}


def test_cpu_json() -> None:
    """WE-6, QK-23."""
    loader = _loader({"/libx.json": json.dumps(WE_6).encode()})
    program = _cpu(loader.load_from_file("/libx.o", LoadOptions.of(cpu_mode=0, lazy=True)))
    cpus = [kernel.cpu for kernel in program.kernels if kernel.cpu]
    assert [(cpu.op_type, cpu.kernel_type.value) for cpu in cpus] == [
        ("AddCust", 4),
        ("NoLib", 99),
        ("Re", 2),
        ("Tf", 1),
    ]
    assert [(cpu.kernel_so, cpu.function) for cpu in cpus] == [
        ("libcust.so", "RunCpuKernelWithBlock"),
        ("", ""),
        ("libcust.so", "RunCpuKernel"),
        ("", ""),
    ]
    told = {warning.where: warning.code for warning in program.warnings}
    assert told == {"op Bad": "op-dropped", "op Skip": "op-skipped", "op NoLib": "op-kernel-lib"}
    assert (program.id, program.is_lazy, program.so_name) == (0, False, "libx.so")
    _refusal(lambda: program.by_entry(0), "no entries")


@pytest.mark.parametrize(
    ("lib", "user_defined", "kind"),
    [
        ("AICPUKernel", "True", CpuKernelType.AICPU_CUSTOM),
        ("AICPUKernel", "true", CpuKernelType.AICPU),
        ("AICPUKernel", None, CpuKernelType.AICPU),
        ("KFCKernel", "True", CpuKernelType.AICPU_KFC),
        ("CUSTKFCKernel", None, CpuKernelType.CUSTOM_KFC),
        ("aicpukernel", None, CpuKernelType.RESERVED),
    ],
)
def test_cpu_kernel_types(lib: str, user_defined: str | None, kind: CpuKernelType) -> None:
    """CPU-5."""
    info = {"opKernelLib": lib} | ({"userDefined": user_defined} if user_defined else {})
    (op,) = read_cpu_ops(json.dumps({"Op": {"opInfo": info}}).encode()).ops
    assert op.kernel_type is kind


def test_duplicate_operators() -> None:
    """CPU-4: the last value of a key counts."""
    raw = b'{"Op": {"opInfo": {"kernelSo": "a"}}, "Op": {"opInfo": {"kernelSo": "b"}}}'
    assert [op.kernel_so for op in read_cpu_ops(raw).ops] == ["b"]


@pytest.mark.parametrize("raw", [b"7", b"null", b"{}", b'"text"'])
def test_no_operators(raw: bytes) -> None:
    """CPU-4."""
    assert read_cpu_ops(raw) == ((), ())


def test_cpu_mode_2() -> None:
    """CPU-2: no pool, no JSON, whatever the bytes are."""
    loader = _loader()
    program = _cpu(loader.load_from_data(memoryview(b"abc"), LoadOptions.of(cpu_mode=2)))
    assert (program.so_name, program.cpu_mode) == ("16654208175385433931_3.so", 2)
    assert (program.id, len(loader.pool), program.kernels) == (NO_ID, 0, ())
    assert bytes(program.image()) == b"abc"


def test_a_library_that_is_not_there() -> None:
    """CPU-2: mode 1 needs it, mode 0 does not."""
    loader = _loader({"/libx.json": b"{}"})
    error = _refusal(lambda: loader.load_from_file("/libx.so", LoadOptions.of(cpu_mode=1)))
    assert "cannot read the library (/libx.so): no such file" in str(error)
    assert loader.load_from_file("/libx.so", LoadOptions.of(cpu_mode=0)).kernels == ()


@pytest.mark.parametrize("row", rows("cpuload"), ids=lambda row: f"{row['id']}-{row['style']}")
def test_recorded_cpu_loads(row: Row) -> None:
    """Every step as recorded, but for a JSON whose root is an array (CPU-4)."""
    files = {
        path: memoryview(bytes.fromhex(f["hex"]) if "hex" in f else f["text"].encode())
        for path, f in row["files"].items()
    }
    loader = BinaryLoader(find_soc(SOC_OF_PROFILE[row["profile"]]), files=MemoryFiles(files))
    for op, recorded in zip(row["ops"], row["out"], strict=True):
        null = op.get("nullArray", False)
        options = LoadOptions(None) if null else _options(*op.get("opts", ()))
        if "hex" in op or "pattern" in op:
            data = bytes.fromhex(op["hex"]) if "hex" in op else bytes(_pattern(op["pattern"]))
            source: str | memoryview = memoryview(data)
        else:
            source = op["file"]
        mine = _recorded_load(loader, source, options)
        root_is_array = any(bytes(data).lstrip().startswith(b"[") for data in files.values())
        if root_is_array and not recorded["ret"]:
            assert mine == {"ret": RtStatus.INVALID_VALUE, "acl": 107000}
        else:
            assert mine == recorded


def _pattern(size: int) -> list[int]:
    return [i % 256 for i in range(size)]


def _recorded_load(
    loader: BinaryLoader, source: str | memoryview, options: LoadOptions
) -> dict[str, Any]:
    try:
        if isinstance(source, str):
            program = _cpu(loader.load_from_file(source, options))
        else:
            program = _cpu(loader.load_from_data(source, options))
    except RtError as error:
        return {"ret": error.rt, "acl": error.acl}
    return {
        "ret": 0,
        "acl": 0,
        "id": program.id,
        "soName": program.so_name,
        "loadSize": program.load_size,
        "binSize": len(program.data),
        "binPath": program.path,
        "cpuMode": -1 if program.cpu_mode is None else program.cpu_mode,
        "regType": 0 if program.is_cpu else 1,
        "defAttr": program.default_attr,
        "kernels": [
            {
                "name": kernel.name,
                "opType": kernel.cpu.op_type,
                "so": kernel.cpu.kernel_so,
                "function": kernel.cpu.function,
                "type": kernel.cpu.kernel_type,
                "attr": kernel.attr,
                "user": kernel.user_args,
                "sys": kernel.system_args,
                "ffts": kernel.ffts_in_args,
                "overflow": kernel.supports_overflow,
                "key": kernel.tiling_key,
                "mix": kernel.mix,
                "regType": 0,
            }
            for kernel in program.kernels
            if kernel.cpu
        ],
    }


# Many at once


def test_threads_share_a_loader() -> None:
    loader, programs = _loader(soc=A5_SOC), list[Program]()

    def work(number: int) -> None:
        for _ in range(50):
            if number % 2:
                options = LoadOptions.of(cpu_mode=2)
                programs.append(loader.load_from_data(memoryview(PATTERN), options))
            else:
                program = loader.load_from_data(memoryview(OBJECT))
                programs.append(program)
                if number % 4:
                    loader.pool.remove(program.id)

    threads = [Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loader.pool) == 100
    assert sum(program.so_name == "2186102867946794789_2048.so" for program in programs) == 1
    kept = [program.id for program in loader.pool.programs()]
    assert len(set(kept)) == 100
