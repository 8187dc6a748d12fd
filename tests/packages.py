"""Operator packages as the build writes them: vendor trees, AI CPU libraries, wheels. Spec 01, section 11."""

from __future__ import annotations

import base64
import json
import struct
import zipfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cannkit.format.elf_types import HEADER_STRUCT, MAGIC, SECTION_STRUCT, ElfHeader, Section
from tests.compiled import a2_object, a5_object
from tests.objects import ADD
from tests.shapes import Operator
from tests.sidecars import sidecar

X86_64: Final = 62
AARCH64: Final = 183
TBE: Final = "op_impl/ai_core/tbe/"
KERNEL: Final = f"{TBE}kernel/"
CPU_CONFIG: Final = "op_impl/cpu/config/cust_aicpu_kernel.json"
CPU_LIBS: Final = "op_impl/cpu/aicpu_kernel/impl/"
API_LIBRARY: Final = "op_api/lib/libcust_opapi.so"
DIST_INFO: Final = "demo-1.0.dist-info/"
HASH: Final = "0123456789abcdef0123456789abcdef"


def library(
    *exports: str,
    machine: int = AARCH64,
    soname: str | None = None,
    needed: Sequence[str] = (),
    undefined: Sequence[str] = (),
    versioned: Mapping[str, tuple[str, str]] | None = None,
) -> bytes:
    """A shared library; `versioned` are names it misses with the (library, version) that had them."""
    versioned = versioned or {}
    strings = bytearray(1)
    at: dict[str, int] = {}
    every = (
        *exports,
        *needed,
        *undefined,
        *versioned,
        *(x for pair in versioned.values() for x in pair),
    )
    for text in (*every, soname or ""):
        at.setdefault(text, len(strings))
        strings += text.encode() + b"\0"
    symbols, versions = [(0, 0)], [0]
    symbols += [(at[name], 1) for name in exports]
    versions += [1] * len(exports)
    symbols += [(at[name], 0) for name in undefined]
    versions += [1] * len(undefined)
    symbols += [(at[name], 0) for name in versioned]
    versions += [2 + number for number in range(len(versioned))]
    table = b"".join(struct.pack("<IBBHQQ", n, 0x12 if n else 0, 0, s, 0, 0) for n, s in symbols)
    needs = b""
    for number, pair in enumerate(versioned.values()):
        after = 0 if number == len(versioned) - 1 else 32
        needs += struct.pack("<HHIII", 1, 1, at[pair[0]], 16, after)
        needs += struct.pack("<IHHII", 0, 0, 2 + number, at[pair[1]], 0)
    chain = struct.pack("<II", 1, len(symbols)) + bytes(4 + 4 * len(symbols))  # DT_HASH
    parts = {"dynsym": table, "dynstr": bytes(strings), "hash": chain, "need": needs}
    parts["versym"] = struct.pack(f"<{len(versions)}H", *versions)
    places, image = {}, bytearray(64 + 2 * 56)
    for name, content in parts.items():
        image += bytes(-len(image) % 8)
        places[name] = len(image)
        image += content
    image += bytes(-len(image) % 8)
    entries = [(1, at[name]) for name in needed]
    entries += [(14, at[soname])] if soname else []
    entries += [
        (4, places["hash"]),
        (5, places["dynstr"]),
        (6, places["dynsym"]),
        (10, len(strings)),
    ]
    if versioned:
        entries += [(0x6FFF_FFFE, places["need"]), (0x6FFF_FFFF, len(versioned))]
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in (*entries, (0, 0)))
    start = len(image)
    image += dynamic
    names = b"\0.shstrtab\0"
    names_at = len(image)
    image += names + bytes(-len(names) % 8)
    headers = [
        Section(*[0] * 10),
        Section(0, 11, 2, places["dynsym"], places["dynsym"], len(table), 2, 1, 8, 24),
        Section(0, 3, 2, places["dynstr"], places["dynstr"], len(strings), 0, 0, 1, 0),
        Section(
            0, 0x6FFF_FFFF, 2, places["versym"], places["versym"], len(parts["versym"]), 1, 0, 2, 2
        ),
        Section(1, 3, 0, 0, names_at, len(names), 0, 0, 1, 0),
    ]
    shoff = len(image)
    image += b"".join(SECTION_STRUCT["little"].pack(*header) for header in headers)
    head = ElfHeader(2, 1, 3, machine, 1, 0, 64, shoff, 0, 64, 56, 2, 64, len(headers), 4)
    raw = HEADER_STRUCT["little"].pack(*head)
    image[:64] = MAGIC + raw[4:6] + b"\1" + raw[7:]
    image[64:120] = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, len(image), len(image), 0x1000)
    image[120:176] = struct.pack(
        "<IIQQQQQQ", 2, 6, start, start, start, len(dynamic), len(dynamic), 8
    )
    return bytes(image)


def aclnn_library(*ops: str) -> bytes:
    """The op_api library of some operators."""
    names = [f"aclnn{op}{end}" for op in ops for end in ("GetWorkspaceSize", "")]
    return library(*names, machine=X86_64, soname="libcust_opapi.so")


def aclnn_header(*ops: str) -> bytes:
    """Its header: both functions of each operator."""
    lines = "".join(
        f"/* aclnnNothing(x) */\naclnnStatus aclnn{op}GetWorkspaceSize(\n    uint64_t *size);\n"
        f"aclnnStatus aclnn{op}(void *workspace); // aclnnLess(x)\n"
        for op in ops
    )
    return lines.encode()


def vendor(
    ops: Sequence[str] = ("AddCustom",), socs: Sequence[str] = ("ascend910b",)
) -> dict[str, bytes]:
    """The tree of a vendor whose operators have one binary for each SoC, and nothing is wrong with."""
    files = {
        "version.info": b"custom_opp_compiler_version=9.0.0\n",
        API_LIBRARY: aclnn_library(*ops),
        "op_api/include/aclnn_demo.h": aclnn_header(*ops),
        "op_proto/inc/op_proto.h": "".join(f"REG_OP({op})\n" for op in ops).encode(),
    }
    for soc in socs:
        files[f"{TBE}config/{soc}/aic-{soc}-ops-info.json"] = to_json(
            {op: {"opFile": {"value": op.lower()}} for op in ops}
        )
        files |= _kernels(ops, soc)
    return files


def _kernels(ops: Sequence[str], soc: str) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    configured = {}
    for op in ops:
        stem = f"{op}_{HASH}"
        path = f"{soc}/{op.lower()}/{stem}"
        flags = 0x0099_0000 if soc == "ascend950" else ADD.flags
        operator = Operator(stem, soc, ADD.kernels, flags=flags)
        data = a5_object(operator) if operator.is_a5 else a2_object(operator)
        files[f"{KERNEL}{path}.o"] = data
        files[f"{KERNEL}{path}.json"] = sidecar(operator, data)
        binary = {"coreType": 2, "binPath": f"{path}.o", "jsonPath": f"{path}.json"}
        configured[op] = {"binaryList": [binary]}
        files[f"{KERNEL}config/{soc}/{op.lower()}.json"] = to_json(
            {"binList": [{"binInfo": {"jsonFilePath": f"{path}.json"}}]}
        )
    files[f"{KERNEL}config/{soc}/binary_info_config.json"] = to_json(configured)
    return files


def cpu_info(
    so: str = "libcust_cpu_kernels.so",
    function: str = "RunCpuKernel",
    lib: str = "CUSTAICPUKernel",
    **more: Any,
) -> dict[str, Any]:
    """An AI CPU operator of the JSON; None takes a field out."""
    info = {"kernelSo": so, "functionName": function, "opKernelLib": lib, **more}
    return {"opInfo": {key: value for key, value in info.items() if value is not None}}


def cpu_vendor(
    ops: Mapping[str, Any] | None = None, libraries: Mapping[str, bytes] | None = None
) -> dict[str, bytes]:
    """The tree of a vendor with AI CPU operators; by default one, and nothing is wrong with it."""
    if libraries is None:
        so = "libcust_cpu_kernels.so"
        versioned = {"memcpy": ("libc.so.6", "GLIBC_2.17")}
        libraries = {
            so: library("RunCpuKernel", soname=so, needed=["libc.so.6"], versioned=versioned)
        }
    files = {CPU_CONFIG: to_json({"AddCpu": cpu_info()} if ops is None else ops)}
    return files | {CPU_LIBS + name: data for name, data in libraries.items()}


def to_json(value: object) -> bytes:
    """As the build writes it."""
    return json.dumps(value, indent=2).encode()


def below(root: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same files in a folder."""
    return {f"{root}/{name}": data for name, data in files.items()}


def record_of(files: Mapping[str, bytes]) -> bytes:
    """RECORD of a wheel with some files."""
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(sha256(data).digest()).decode().rstrip("=")
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join([*rows, f"{DIST_INFO}RECORD,,\n"]).encode()


def wheel(path: Path, files: Mapping[str, bytes], record: bytes | None = None) -> str:
    """A wheel at `path`; its RECORD is right unless one is given."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
        raw = record_of(files) if record is None else record
        archive.writestr(zipfile.ZipInfo(f"{DIST_INFO}RECORD"), raw)
    return str(path)


def folder(path: Path, files: Mapping[str, bytes]) -> str:
    """The files in a folder."""
    for name, data in files.items():
        place = path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return str(path)
