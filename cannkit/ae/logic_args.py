"""What logic kernels find at paramBase, as far as it is known. Spec 05, AE-402.

Where the chapter tells no name in C there is none. Addresses in them are shown, not followed.
"""

from __future__ import annotations

from cannkit.format.ae_event import AeRecord
from cannkit.format.ae_structs import AicpuParamHead
from cannkit.format.bits import bits, record


# fmt: off
@record(size=4)
class ModelArgs(AeRecord):
    """Of endGraph."""

    #                word lo width  C name
    model_id: int = bits(0, 0, 32, "modelId")


@record(size=8)
class NotifyArgs(AeRecord):
    """Of recordNotify."""

    notify_id: int = bits(0, 0, 32, "notify_id")
    ret_code:  int = bits(1, 0, 16, "ret_code")


@record(size=4)
class StreamArgs(AeRecord):
    """Of activeEntryStream."""

    stream_id: int = bits(0, 0, 32, "streamId")


@record(size=16, c_name="ReDeployConfig")
class ReDeployConfig(AeRecord):
    """Models to stop, or to clear and restart."""

    ids_addr: int = bits(0, 0, 64, "", address=True, doc="ids of models")
    count:    int = bits(2, 0, 32, "", doc="how many")


@record(size=64, c_name="AicpuExtendInfo")
class AicpuExtendInfo(AeRecord):
    """Which model of the graph engine a model of the runtime is."""

    msg_type:        int = bits(0, 0,  8, "msgType", doc="must be 0")
    version:         int = bits(0, 8,  8, "version")
    model_id:        int = bits(1, 0, 32, "modelId")
    extend_model_id: int = bits(2, 0, 32, "extendModelId")


@record(size=84)
class ModelConfigArgs(AicpuParamHead):
    """Of AicpuModelConfig and AicpuModelShapeConfig: a head, and 64 bytes that say how and what."""

    config: int = bits(5, 0, 512, "")


@record(size=30)
class PriorityArgs(AicpuParamHead):
    """Of AicpuModelEschedPriority: a head and AicpuPriInfo, packed."""

    SIGNED = frozenset({"pid_priority", "event_priority"})

    magic:          int = bits(5,  0, 16, "", doc="0xabcd")
    pid_priority:   int = bits(5, 16, 32, "")
    event_priority: int = bits(6, 16, 32, "")


@record(size=24, c_name="CheckKernelSupportedConfig")
class CheckKernelSupportedConfig(AeRecord):
    """The name of a kernel, and where the answer goes."""

    name_addr:   int = bits(0, 0, 64, "", address=True, doc="name of a kernel")
    name_len:    int = bits(2, 0, 32, "")
    result_addr: int = bits(3, 0, 64, "", address=True, doc="where 0 is written for yes")
    result_len:  int = bits(5, 0, 32, "")


@record(size=64, c_name="DataFlowExceptionNotify")
class DataFlowExceptionNotify(AeRecord):
    """An exception in the data of models."""

    trans_id:       int = bits(0, 0, 64, "transId")
    exception_type: int = bits(2, 0, 32, "type")
    count:          int = bits(3, 0, 32, "count", doc="models")
    ids_addr:       int = bits(4, 0, 64, "", address=True, doc="ids of models")


@record(size=24, c_name="AicpuConfigMsg")
class AicpuConfigMsg(AeRecord):
    """The buffer of the error log."""

    action:  int = bits(0,  0,  8, "type", doc="0 free, 1 reset, 2 set the address")
    buf_len: int = bits(0, 16, 16, "bufLen")
    offset:  int = bits(1,  0, 32, "offset")
    address: int = bits(2,  0, 64, "bufAddr", address=True)
    ts_id:   int = bits(4,  0, 32, "tsId", doc="0 or 1")


@record(size=36)
class DumpArgs(AicpuParamHead):
    """Of DumpDataInfo: a head and two addresses."""

    message_addr: int = bits(5, 0, 64, "", address=True, doc="what to dump, in protobuf")
    length_addr:  int = bits(7, 0, 64, "", address=True, doc="its length, 8 bytes")


@record(size=9, c_name="AicpuDfxInfo")
class AicpuDfxInfo(AeRecord):
    """Where tools keep what they know of operators. Packed."""

    target:    int = bits(0, 0,  8, "cpType", doc="0 this process, 1 cust-sd")
    info_addr: int = bits(0, 8, 64, "infoAddr", address=True)


@record(size=160)
class CreateQueueArgs(AicpuParamHead):
    """Of CreateQueue: a head, where the answer goes, name and depth."""

    result_addr: int = bits( 5, 0,   64, "", address=True, doc="where the id of the queue is written")
    name:        int = bits( 7, 0, 1024, "", doc="name of the queue")
    depth:       int = bits(39, 0,   32, "")


@record(size=24)
class DestroyQueueArgs(AicpuParamHead):
    """Of DestroyQueue: a head and the queue."""

    queue_id: int = bits(5, 0, 32, "")


@record(size=40, c_name="SomaMemMng")
class SomaMemMng(AeRecord):
    """Memory to take from a pool, or to give back."""

    SIGNED = frozenset({"operation", "sub_command"})

    size:        int = bits(0, 0, 64, "size")
    address:     int = bits(2, 0, 64, "va", address=True)
    pool_id:     int = bits(4, 0, 64, "mempoolId")
    device_id:   int = bits(6, 0, 32, "deviceId")
    operation:   int = bits(7, 0, 32, "op", doc="0 malloc, 1 free")
    sub_command: int = bits(8, 0, 32, "subcmd")


@record(size=4)
class MonitorArgs(AeRecord):
    """Of CloseAicpuMonitor."""

    close:    int = bits(0, 0, 8, "monitorEn", doc="1 closes the monitor")
    ret_code: int = bits(0, 8, 8, "retcode", doc="written: 0")
# fmt: on
