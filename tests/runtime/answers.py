"""Steps and answers of recorded sessions: the binaries they load, and programs in their words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cannkit.format.status import RtError
from cannkit.runtime.program import ElfProgram, PlainProgram
from cannkit.runtime.program_base import Program

Answer = dict[str, Any]
OK: Final = {"ret": 0, "acl": 0}
SKIP: Final = {"skip": True}


def recorded_bytes(op: Mapping[str, Any], corpus: Path) -> bytes:
    """The binary of a `load` step."""
    if "hex" in op:
        return bytes.fromhex(op["hex"])
    if "pattern" in op:
        return bytes(at % 256 for at in range(op["pattern"]))
    made = op["bin"]
    data = bytearray((corpus.parent / made["base"]).read_bytes())
    for offset, patch in made.get("patches", ()):
        raw = bytes.fromhex(patch)
        data[offset : offset + len(raw)] = raw
    return bytes(data) + bytes(made.get("zeros", 0))


def failure(error: RtError) -> Answer:
    return {"ret": int(error.rt or 0), "acl": int(error.acl)}


def described_program(program: Program) -> Answer:
    told: Answer = {"id": program.id, "loadSize": program.load_size}
    if isinstance(program, ElfProgram):
        return told | {
            "metaFlag": program.obj.implicit_flags,
            "ro": program.read_only,
            "textOffset": program.obj.text_offset,
        }
    assert isinstance(program, PlainProgram)
    return told | {
        "binPath": program.path,
        "binSize": len(program.data),
        "cpuMode": -1 if program.cpu_mode is None else program.cpu_mode,
        "defAttr": program.default_attr,
        "regType": 0 if program.is_cpu else 1,
        "soName": program.so_name,
    }
