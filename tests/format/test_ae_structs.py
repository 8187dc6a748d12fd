"""Structures around tasks of the AI CPU: golden facts, a C compiler as judge. Spec 05, AE-101 to AE-106."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.errors import FormatError
from cannkit.format import ae_event, ae_structs
from cannkit.format.ae_event import AeRecord, BlkDimInfo, CceKernel, FwkKernel, TsMessage
from cannkit.format.ae_status import FwkKernelType, FwkOperateType
from cannkit.format.ae_structs import (
    AicpuContext,
    AicpuParamHead,
    BatchLoadOpFromBufArgs,
    ExtInfoHead,
    FwkOperateParam,
    LoadOpFromBufArgs,
    ShapeAndType,
    StrFwkOpKernel,
    TopicKernel,
    TopicMailbox,
    TsResponse,
    TsTask,
)
from tests.ae.structs import ALL_RECORDS, EXAMPLE, FACTS, known_places, places, records

OURS = {kind.C_NAME or kind.__name__: kind for kind in records(ae_event, ae_structs)}
each_record = pytest.mark.parametrize("kind", ALL_RECORDS, ids=lambda kind: kind.__name__)


@pytest.mark.parametrize("name", FACTS["records"])
def test_layouts(name: str) -> None:
    """AE-101 to AE-106: each field, where it lies, its name in C."""
    known, kind = FACTS["records"][name], OURS[name]
    assert known["size"] == kind.SIZE
    assert places(kind) == known_places(known["fields"])
    signed = {kind.SPANS[field].c_name for field in kind.SIGNED}
    assert signed == set(known.get("signed", ()))


def test_no_record_without_a_golden_fact() -> None:
    assert OURS.keys() == FACTS["records"].keys()


def test_sizes_of_what_is_not_known_closer() -> None:
    """AE-104."""
    ours = ae_structs.SESSION_INFO, ae_structs.RESULT_SUMMARY, ae_structs.ASYNC_WAIT
    assert (*ours, ae_structs.WORKSPACE_INFO) == tuple(FACTS["sizes"].values())


@each_record
@given(data=st.data())
def test_bytes_come_back(kind: type[AeRecord], data: st.DataObject) -> None:
    raw = data.draw(st.binary(min_size=kind.SIZE, max_size=kind.SIZE))
    entry = kind.decode(raw)
    assert entry.encode() == raw
    for name, span in kind.SPANS.items():
        value = getattr(entry, name)
        assert value == int.from_bytes(raw, "little") >> span.lo & (1 << span.width) - 1
        if span.width > 64:
            assert entry.value_of(name) == raw[span.lo // 8 :][: span.width // 8]


@each_record
@given(data=st.data())
def test_values_come_back(kind: type[AeRecord], data: st.DataObject) -> None:
    values = {
        name: data.draw(st.integers(0, (1 << span.width) - 1)) for name, span in kind.SPANS.items()
    }
    made: Any = kind
    entry = made(**values)
    assert kind.decode(entry.encode()) == entry
    for name in kind.SIGNED:
        width = kind.SPANS[name].width
        shown = entry.value_of(name)
        assert isinstance(shown, int)
        assert shown % (1 << width) == values[name]
        assert -(1 << width - 1) <= shown < 1 << width - 1


@each_record
def test_other_lengths(kind: type[AeRecord]) -> None:
    for size in (0, kind.SIZE - 1, kind.SIZE + 1):
        with pytest.raises(FormatError, match=f"{size} bytes: it has {kind.SIZE} bytes"):
            kind.decode(bytes(size))


def test_operate_block() -> None:
    """AE-104: 4 bytes behind the type, and so not aligned."""
    operate = FwkOperateParam(
        operate_type=FwkOperateType.KERNEL_RUN, session_id=9, ext_info_addr=64
    )
    raw = FwkKernelType.TF.to_bytes(4, "little") + operate.encode()
    block = StrFwkOpKernel.decode(raw)
    assert block.fwk_kernel_type is FwkKernelType.TF
    assert block.operate == operate
    assert block.operate.operate_type is FwkOperateType.KERNEL_RUN
    assert raw[8:16] == (9).to_bytes(8, "little")
    assert block.encode() == raw


def test_task_of_the_driver() -> None:
    """AE-101."""
    message = TsMessage.decode(EXAMPLE[8:])
    raw = (5).to_bytes(8, "little") + (6).to_bytes(8, "little") + message.encode()
    task = TsTask.decode(raw)
    assert (task.mailbox_id, task.serial_no, task.message) == (5, 6, message)


def test_mailbox() -> None:
    """AE-106: five u64 of a kernel; nothing of the kind in other topics."""
    addresses = (0x1000, 0x2000, 0x3000, 1 << 49, 77)
    data = b"".join(word.to_bytes(8, "little") for word in addresses)
    box = TopicMailbox(topic_id=3, kernel_type=2, user_data=int.from_bytes(data, "little"))
    assert box.value_of("user_data") == box.encode()[16:56] == data
    kernel = box.kernel
    assert kernel is not None
    assert tuple(value for _, _, value in kernel.rows()) == addresses
    assert (kernel.so_name_addr, kernel.args_addr, kernel.func_name_addr) == addresses[:3]
    assert box.replace(kernel_type=127).kernel is None
    assert box.replace(topic_id=4).kernel is None
    assert TopicMailbox(topic_id=3).kernel == TopicKernel()


# What AE-101 to AE-106 say of the structures, in C; a compiler tells where it puts the fields.
STRUCTS = """
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct { uint64_t kernelName, kernelSo, paramBase, l2VaddrBase;
    uint32_t blockId, blockNum, l2Size, l2InMain; } HwtsCceKernel;
typedef struct { uint64_t kernel; uint32_t size; } HwtsFwkKernel;
typedef struct { int32_t pid; uint8_t kernel_type; uint8_t batchMode:1, satMode:1, rspMode:1, resv:5;
    uint16_t streamID; uint64_t kernelName, kernelSo, paramBase, l2VaddrBase, l2Ctrl;
    uint16_t blockId, blockNum; uint32_t l2InMain; uint64_t taskID; } hwts_ts_kernel;
typedef struct { uint32_t kernelType;
    union { HwtsCceKernel cceKernel; HwtsFwkKernel fwkKernel; hwts_ts_kernel hwtsKernel; } kernelBase;
} HwtsTsKernel;
typedef struct { uint32_t kernelType;
    union { HwtsCceKernel cceKernel; HwtsFwkKernel fwkKernel; } kernelBase; } CloudTsKernel;
typedef struct { uint32_t blockNum, blockId; } BlkDimInfo;
typedef struct { uint32_t deviceId, tsId; int32_t hostPid; uint32_t vfId; } aicpuContext_t;
typedef struct { uint32_t mailbox_id; uint64_t serial_no; hwts_ts_kernel kernel_info; } hwts_ts_task;
typedef struct { uint32_t result, mailbox_id; uint64_t serial_no; uint32_t status; int32_t rsv[3];
    void *msg; int32_t len; } hwts_response_t;
typedef struct { uint8_t mailboxId, vfid:6, rspMode:1, satMode:1; uint16_t blkDim, streamId, taskId, blkId;
    uint8_t kernelType:7, batchMode:1, topicType:4, qos:3, rest:1; uint32_t pid, userData[10];
    uint32_t subtopicId:12, topicId:6, gid:6, userDataLen:8;
    uint8_t hacSn:5; uint16_t tqId; } AicpuTopicMailbox;
#pragma pack(push, 1)
typedef struct { int32_t opType; uint64_t sessionID, stepIDAddr, kernelID, nodeDefLen, nodeDefBuf,
    funDefLibLen, funDefLibBuf, inputOutputLen, inputOutputBuf, workspaceBaseAddr, inputOutputAddr,
    extInfoLen, extInfoAddr; } FWKOperateParam;
typedef struct { uint32_t fwkKernelType; FWKOperateParam fwk_kernel; } STR_FWK_OP_KERNEL;
typedef struct { int32_t type; int64_t dims[8]; } ShapeAndType;
typedef struct { int32_t infoType; uint32_t infoLen; } ExtInfo;
typedef struct { uint32_t length, ioAddrNum, extInfoLength; uint64_t extInfoAddr; } AicpuParamHead;
typedef struct { uint64_t kernelSoBuf; uint32_t kernelSoBufLen; uint64_t kernelSoName;
    uint32_t kernelSoNameLen; } LoadOpFromBufArgs;
typedef struct { uint32_t soNum; uint64_t opInfoArgs; } BatchLoadOpFromBufArgs;
#pragma pack(pop)
"""
PROBE = """
#define PLACE(kind, field) printf(", [\\"%s\\", %zu, %zu]", #field, offsetof(kind, field), sizeof(((kind *)0)->field))
#define HEX(it) for (size_t i = 0; i < sizeof it; i++) printf("%02x", ((const unsigned char *)&it)[i])
int main(void) {
"""
IN_C: tuple[type[AeRecord], ...] = (
    CceKernel,
    FwkKernel,
    TsMessage,
    BlkDimInfo,
    AicpuContext,
    TsTask,
    TsResponse,
    TopicMailbox,
    FwkOperateParam,
    StrFwkOpKernel,
    ShapeAndType,
    ExtInfoHead,
    AicpuParamHead,
    LoadOpFromBufArgs,
    BatchLoadOpFromBufArgs,
)
BIT_FIELDS = {kind: [n for n, s in kind.SPANS.items() if s.lo % 8 or s.width % 8] for kind in IN_C}
BIT_FIELDS[TopicMailbox].append("user_data_len")  # a bit field, too, for the compiler


def compiled(body: str, folder: Path) -> str:
    """What a program prints that knows the structures."""
    gcc = shutil.which("gcc")
    if gcc is None:
        assert not os.environ.get("CI"), "CI must have gcc"
        pytest.skip("no gcc")
    source, program = folder / "probe.c", folder / "probe"
    source.write_text(f"{STRUCTS}{PROBE}{body}return 0;\n}}\n", "utf-8")
    subprocess.run([gcc, "-Wall", "-Werror", "-o", program, source], check=True, timeout=60)
    return subprocess.run([program], capture_output=True, text=True, check=True, timeout=10).stdout


def test_a_compiler_puts_the_fields_where_we_do(tmp_path: Path) -> None:
    """AE-101: natural and packed, sizeof and offsetof."""
    lines = []
    for kind in IN_C:
        lines.append(f'printf("[\\"{kind.C_NAME}\\", %zu", sizeof({kind.C_NAME}));')
        lines += [
            f"PLACE({kind.C_NAME}, {span.c_name});"
            for name, span in kind.SPANS.items()
            if name not in BIT_FIELDS[kind]
        ]
        lines.append('printf("]\\n");')
    for name in ("HwtsTsKernel", "CloudTsKernel"):
        lines.append(f'printf("[\\"{name}\\", %zu", sizeof({name}));')
        lines += [f"PLACE({name}, kernelType);", f"PLACE({name}, kernelBase);", 'printf("]\\n");']
    told = {
        name: (size, {field: place for field, *place in fields})
        for name, size, *fields in map(
            json.loads, compiled("\n".join(lines), tmp_path).splitlines()
        )
    }
    task = FACTS["task"]
    expected = {
        kind.C_NAME: (
            kind.SIZE,
            {
                span.c_name: [span.lo // 8, span.width // 8]
                for name, span in kind.SPANS.items()
                if name not in BIT_FIELDS[kind]
            },
        )
        for kind in IN_C
    }
    for name, lead in (("HwtsTsKernel", ""), ("CloudTsKernel", "cloud_")):
        fields = {"kernelType": task["kernelType"], "kernelBase": task[f"{lead}kernelBase"]}
        expected[name] = (task[f"{lead}size"], fields)
    assert told == expected


def test_a_compiler_puts_the_bits_where_we_do(tmp_path: Path) -> None:
    """AE-103, AE-106: one bit field after the other, all its bits set."""
    body, expected = [], []
    for kind in (TsMessage, TopicMailbox):
        for name in BIT_FIELDS[kind]:
            span = kind.SPANS[name]
            full = (1 << span.width) - 1
            body.append(
                f"{{ {kind.C_NAME} it; memset(&it, 0, sizeof it); it.{span.c_name} = {full};"
                ' HEX(it); puts(""); }'
            )
            expected.append(kind().replace(**{name: full}).encode().hex())
    assert len(expected) == 4 + 12
    assert compiled("\n".join(body), tmp_path).splitlines() == expected
