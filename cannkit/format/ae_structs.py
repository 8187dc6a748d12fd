"""What tasks of the AI CPU point to and travel in: operate blocks, heads, messages. Spec 05, section 1."""

from __future__ import annotations

from typing import Final

from cannkit.format.ae_event import AeRecord, TsMessage
from cannkit.format.ae_status import FwkKernelType, FwkOperateType
from cannkit.format.bits import bits, record

# AE-104: packed, and of these only the size is known
SESSION_INFO: Final = 17
RESULT_SUMMARY: Final = 32
ASYNC_WAIT: Final = 17
WORKSPACE_INFO: Final = 16

TOPIC_KERNEL: Final = 3  # AE-106: topicId of a kernel
NO_KERNEL: Final = 127  # kernelType of a topic that is none


# fmt: off
@record(size=108, c_name="FWKOperateParam")
class FwkOperateParam(AeRecord):
    """AE-104: what a framework function gets the address of. Packed; kernel + 4 is not aligned."""

    SIGNED = frozenset({"operate_type"})

    #                              word lo width  C name
    operate_type:     FwkOperateType = bits(0, 0, 32, "opType", doc="what to do")
    session_id:       int = bits( 1, 0, 64, "sessionID")
    step_id_addr:     int = bits( 3, 0, 64, "stepIDAddr", address=True)
    kernel_id:        int = bits( 5, 0, 64, "kernelID")
    node_def_len:     int = bits( 7, 0, 64, "nodeDefLen")
    node_def_addr:    int = bits( 9, 0, 64, "nodeDefBuf", address=True)
    fun_def_lib_len:  int = bits(11, 0, 64, "funDefLibLen")
    fun_def_lib_addr: int = bits(13, 0, 64, "funDefLibBuf", address=True)
    io_len:           int = bits(15, 0, 64, "inputOutputLen")
    io_buf_addr:      int = bits(17, 0, 64, "inputOutputBuf", address=True)
    workspace_addr:   int = bits(19, 0, 64, "workspaceBaseAddr", address=True)
    io_addr:          int = bits(21, 0, 64, "inputOutputAddr", address=True)
    ext_info_len:     int = bits(23, 0, 64, "extInfoLen")
    ext_info_addr:    int = bits(25, 0, 64, "extInfoAddr", address=True)


@record(size=112, c_name="STR_FWK_OP_KERNEL")
class StrFwkOpKernel(AeRecord):
    """AE-101: what `kernel` of a framework task points to. Packed."""

    fwk_kernel_type: FwkKernelType = bits(0, 0, 32, "fwkKernelType", doc="only TF, 0, is served")
    fwk_kernel:      int = bits(1, 0, 864, "fwk_kernel", doc="the operate block")

    @property
    def operate(self) -> FwkOperateParam:
        """The operate block."""
        return FwkOperateParam.decode(self.fwk_kernel.to_bytes(FwkOperateParam.SIZE, "little"))


@record(size=68, c_name="ShapeAndType")
class ShapeAndType(AeRecord):
    """AE-104: type and dimensions of a tensor. Packed."""

    SIGNED = frozenset({"data_type"})

    data_type: int = bits(0, 0, 32, "type")
    dims:      int = bits(1, 0, 512, "dims", doc="8 numbers of 64 bits with sign")


@record(size=8, c_name="ExtInfo")
class ExtInfoHead(AeRecord):
    """AE-104: head of an extension, its data come behind it. Packed."""

    SIGNED = frozenset({"info_type"})

    info_type: int = bits(0, 0, 32, "infoType")
    info_len:  int = bits(1, 0, 32, "infoLen", doc="bytes behind the head")


@record(size=20, c_name="AicpuParamHead")
class AicpuParamHead(AeRecord):
    """AE-105: head of parameters, addresses come behind it. Packed."""

    length:          int = bits(0, 0, 32, "length", doc="bytes with the head")
    io_addr_num:     int = bits(1, 0, 32, "ioAddrNum", doc="addresses behind the head")
    ext_info_length: int = bits(2, 0, 32, "extInfoLength")
    ext_info_addr:   int = bits(3, 0, 64, "extInfoAddr", address=True)


@record(size=16, c_name="aicpuContext_t")
class AicpuContext(AeRecord):
    """AE-101: what a thread knows of the process it works for."""

    SIGNED = frozenset({"host_pid"})

    device_id: int = bits(0, 0, 32, "deviceId")
    ts_id:     int = bits(1, 0, 32, "tsId")
    host_pid:  int = bits(2, 0, 32, "hostPid")
    vf_id:     int = bits(3, 0, 32, "vfId")


@record(size=80, c_name="hwts_ts_task")
class TsTask(AeRecord):
    """AE-101: event 3 as the driver brings it."""

    mailbox_id:  int = bits(0, 0, 32, "mailbox_id")
    serial_no:   int = bits(2, 0, 64, "serial_no")
    kernel_info: int = bits(4, 0, 512, "kernel_info", doc="hwts_ts_kernel")

    @property
    def message(self) -> TsMessage:
        """The kernel."""
        return TsMessage.decode(self.kernel_info.to_bytes(TsMessage.SIZE, "little"))


@record(size=48, c_name="hwts_response_t")
class TsResponse(AeRecord):
    """AE-101: what goes back to the task scheduler. AE-306 tells what is in it."""

    SIGNED = frozenset({"rsv0", "rsv1", "rsv2", "length"})

    result:     int = bits( 0, 0, 32, "result", doc="a code")
    mailbox_id: int = bits( 1, 0, 32, "mailbox_id")
    serial_no:  int = bits( 2, 0, 64, "serial_no")
    status:     int = bits( 4, 0, 32, "status", doc="0 well, 1 failed, 2 overflow")
    rsv0:       int = bits( 5, 0, 32, "rsv[0]")
    rsv1:       int = bits( 6, 0, 32, "rsv[1]")
    rsv2:       int = bits( 7, 0, 32, "rsv[2]")
    msg_addr:   int = bits( 8, 0, 64, "msg", address=True)
    length:     int = bits(10, 0, 32, "len", doc="bytes at msg")


@record(size=24, c_name="LoadOpFromBufArgs")
class LoadOpFromBufArgs(AeRecord):
    """AE-101: a custom library to write. Packed."""

    so_addr:     int = bits(0, 0, 64, "kernelSoBuf", address=True, doc="the library")
    so_len:      int = bits(2, 0, 32, "kernelSoBufLen")
    name_addr:   int = bits(3, 0, 64, "kernelSoName", address=True, doc="its name")
    name_len:    int = bits(5, 0, 32, "kernelSoNameLen")


@record(size=12, c_name="BatchLoadOpFromBufArgs")
class BatchLoadOpFromBufArgs(AeRecord):
    """AE-101: custom libraries. Packed."""

    so_num:    int = bits(0, 0, 32, "soNum", doc="libraries, 1 to 1024")
    args_addr: int = bits(1, 0, 64, "opInfoArgs", address=True, doc="LoadOpFromBufArgs of each")


@record(size=40)
class TopicKernel(AeRecord):
    """AE-106: what the user data of a topic are when they are a kernel."""

    so_name_addr:   int = bits(0, 0, 64, "", address=True, doc="name of the library")
    args_addr:      int = bits(2, 0, 64, "", address=True, doc="parameters")
    func_name_addr: int = bits(4, 0, 64, "", address=True, doc="name of the function")
    l2_ctrl:        int = bits(6, 0, 64, "")
    extra_field:    int = bits(8, 0, 64, "", doc="becomes taskID")


@record(size=64, c_name="AicpuTopicMailbox")
class TopicMailbox(AeRecord):
    """AE-106: event 3 in message-queue mode. A `pid` of 0 is answered, nothing runs."""

    mailbox_id:    int  = bits( 0,  0,  8, "mailboxId")
    vf_id:         int  = bits( 0,  8,  6, "vfid")
    rsp_mode:      bool = bits( 0, 14,  1, "rspMode")
    sat_mode:      bool = bits( 0, 15,  1, "satMode")
    block_num:     int  = bits( 0, 16, 16, "blkDim", doc="blocks of the kernel")
    stream_id:     int  = bits( 1,  0, 16, "streamId")
    task_id:       int  = bits( 1, 16, 16, "taskId")
    block_id:      int  = bits( 2,  0, 16, "blkId", doc="which block this is")
    kernel_type:   int  = bits( 2, 16,  7, "kernelType", doc="handler in the AI CPU engine")
    batch_mode:    bool = bits( 2, 23,  1, "batchMode")
    topic_type:    int  = bits( 2, 24,  4, "topicType")
    qos:           int  = bits( 2, 28,  3, "qos")
    pid:           int  = bits( 3,  0, 32, "pid", doc="host process")
    user_data:     int  = bits( 4,  0, 320, "userData")
    sub_topic_id:  int  = bits(14,  0, 12, "subtopicId")
    topic_id:      int  = bits(14, 12,  6, "topicId")
    group_id:      int  = bits(14, 18,  6, "gid")
    user_data_len: int  = bits(14, 24,  8, "userDataLen")
    hac_sn:        int  = bits(15,  0,  5, "hacSn")
    tq_id:         int  = bits(15, 16, 16, "tqId")

    @property
    def kernel(self) -> TopicKernel | None:
        """The kernel of a topic, None of one that is something else."""
        if self.topic_id != TOPIC_KERNEL or self.kernel_type == NO_KERNEL:
            return None
        return TopicKernel.decode(self.user_data.to_bytes(TopicKernel.SIZE, "little"))
# fmt: on
