"""Entries of STARS v2 (A5). Spec 04, sections 4.5 to 4.7."""

from __future__ import annotations

from cannkit.format.bits import OpenEnum, Record, bits, record
from cannkit.format.cpu_kernel import CpuKernelType


class SqeType(OpenEnum):
    """What an entry is for. 04, 4.5."""

    AIC = 0
    AIV = 1
    FUSION = 2
    PLACE_HOLDER = 3
    AICPU_H = 4
    AICPU_D = 5
    NOTIFY_RECORD = 6
    NOTIFY_WAIT = 7
    WRITE_VALUE = 8
    UBDMA = 9
    ASYNCDMA = 10
    SDMA = 11
    VPC = 12
    JPEGE = 13
    JPEGD = 14
    CMO = 15
    CCU = 16
    NSC = 18
    DSS = 19
    COND = 20
    END = 21
    INVALID = 63


class CpuTopic(OpenEnum):
    """Where an AI CPU kernel runs. 04, 4.7."""

    DEVICE_ONLY = 0
    DEVICE_FIRST = 1
    HOST_ONLY = 2
    HOST_FIRST = 3
    HOST_CONTROL = 4
    DATA_CPU = 5
    DEVICE_CONTROL = 6
    TS_CPU = 7
    DVPP = 8
    DEVICE_WITH_PID = 10


# fmt: off
@record(size=64, c_name="RtDavidStarsSqeHeader")
class Header(Record):
    """What every entry starts with. It names no stream (Q-18)."""

    #                          word lo width  C name
    sqe_type:    SqeType = bits(0,  0,  6, "type", doc="what the entry is for")
    lock:        bool    = bits(0,  6,  1, "lock")
    unlock:      bool    = bits(0,  7,  1, "unlock")
    ie:          bool    = bits(0,  8,  1, "ie", doc="interrupt enable")
    pre_p:       bool    = bits(0,  9,  1, "preP", doc="call the scheduler before")
    post_p:      bool    = bits(0, 10,  1, "postP", doc="call the scheduler after")
    wr_cqe:      bool    = bits(0, 11,  1, "wrCqe", doc="write a completion entry on success too")
    ptr_mode:    bool    = bits(0, 12,  1, "ptrMode")
    rtt_mode:    bool    = bits(0, 13,  1, "rttMode")
    head_update: bool    = bits(0, 14,  1, "headUpdate", doc="report the queue head")
    block_dim:   int     = bits(0, 16, 16, "blockDim", doc="blocks of the main side")
    task_sn:     int     = bits(1,  0, 32, "taskId", doc="serial number of the task, over all streams")


@record(size=64, c_name="RtDavidStarsAicAivKernelSqe")
class KernelSqe(Header):
    """A kernel on cube cores, vector cores or both."""

    group_dim:       int  = bits( 2,  0, 16, "groupDim", doc="groups of blocks")
    group_block_dim: int  = bits( 2, 16, 16, "groupBlockdim", doc="blocks of a group")
    feature_flag:    int  = bits( 3,  0,  8, "featureFlag", doc="1 dump, 2 BIU perf, 4 L2 profiling, 8 data cache lock")
    kernel_credit:   int  = bits( 3, 16,  8, "kernelCredit", doc="timeout in units of 2^32 ns less one, 255: never")
    die_friendly:    bool = bits( 3, 24,  1, "dieFriendly", doc="blocks of a group on one die")
    mix:             bool = bits( 3, 25,  1, "mix", doc="cube and vector")
    loose:           bool = bits( 3, 26,  1, "loose", doc="both sides need not start together")
    stl:             bool = bits( 3, 27,  1, "stl")
    sqe_length:      int  = bits( 3, 29,  3, "sqeLength")
    stack_base:      int  = bits( 4,  0, 64, "stackPhyBaseLow/High", address=True, doc="stacks of all cores")
    aic_pmg:         int  = bits( 6,  0,  2, "aicPmg")
    aic_ns:          bool = bits( 6,  2,  1, "aicNs")
    aic_part_id:     int  = bits( 6,  3,  8, "aicPartId", doc="memory partition, AIC")
    pi_mix:          bool = bits( 6, 11,  1, "piMix", doc="cube and vector")
    aic_qos:         int  = bits( 6, 12,  4, "aicQos", doc="quality of service, AIC")
    aic_wrr_rd:      int  = bits( 6, 16,  3, "aicWrrRd")
    aic_wrr_wr:      int  = bits( 6, 19,  3, "aicWrrWr")
    aic_prefetch_count: int = bits(6, 22, 5, "aicIcachePrefetchCnt", doc="units of 2048 bytes")
    aiv_prefetch_count: int = bits(6, 27, 5, "aivIcachePrefetchCnt", doc="units of 2048 bytes")
    aiv_pmg:         int  = bits( 7,  0,  2, "aivPmg")
    aiv_ns:          bool = bits( 7,  2,  1, "aivNs")
    aiv_part_id:     int  = bits( 7,  3,  8, "aivPartId", doc="memory partition, AIV")
    aiv_qos:         int  = bits( 7, 12,  4, "aivQos", doc="quality of service, AIV")
    aiv_wrr_rd:      int  = bits( 7, 16,  3, "aivWrrRd")
    aiv_wrr_wr:      int  = bits( 7, 19,  3, "aivWrrWr")
    schem:           int  = bits( 7, 22,  2, "schem", doc="1: batch, all blocks at once")
    ratio:           int  = bits( 7, 24,  8, "ratio", doc="blocks of the other side for each")
    aic_pc:          int  = bits( 8,  0, 32, "aicStartPcLow", high=(10,  0, 16, "aicStartPcHigh"), address=True, doc="first instruction on AIC")
    aiv_pc:          int  = bits( 9,  0, 32, "aivStartPcLow", high=(10, 16, 16, "aivStartPcHigh"), address=True, doc="first instruction on AIV")
    dcu_size:        int  = bits(11,  0, 32, "aivSimtDcuSmSize", doc="unified buffer of a SIMT block, bytes")
    aic_args_addr:   int  = bits(12,  0, 52, "aicTaskParamPtrLow/High", address=True, doc="argument block, AIC")
    aic_stack_level: int  = bits(13, 20, 12, "aicTaskParamPtrHigh", doc="stack of (level + 2) x 16 KiB")
    aiv_args_addr:   int  = bits(14,  0, 52, "aivTaskParamPtrLow/High", address=True, doc="argument block, AIV")
    aiv_stack_level: int  = bits(15, 20, 12, "aivTaskParamPtrHigh", doc="stack of (level + 2) x 16 KiB")


@record(size=64, c_name="RtDavidStarsAicpuKernelSqe")
class AicpuSqe(Header):
    """A kernel of the AI CPU; type FUSION for KFC with a sub type."""

    sqe_type:        SqeType = bits(0, 0, 6, "type", default=SqeType.AICPU_D, doc="what the entry is for")
    sub_type:        int  = bits( 2, 11,  5, "subType", doc="1: KFC under a fusion")
    kernel_type:     CpuKernelType = bits(2, 16, 7, "kernel_type", doc="handler in the AI CPU engine")
    batch_mode:      bool = bits( 2, 23,  1, "batch_mode")
    topic_type:      CpuTopic = bits(2, 24, 4, "topic_type", doc="where it runs")
    qos:             int  = bits( 2, 28,  3, "qos", doc="quality of service")
    sqe_index:       int  = bits( 3,  0, 16, "sqe_index")
    kernel_credit:   int  = bits( 3, 16,  8, "kernel_credit", doc="timeout in units of 2^32 ns less one, 255: never")
    sqe_length:      int  = bits( 3, 29,  3, "sqeLength")
    so_name_addr:    int  = bits( 4,  0, 48, "taskSoAddrLow/High", address=True, doc="name of the library")
    args_addr:       int  = bits( 6,  0, 48, "paramAddrLow/High", address=True, doc="parameter head")
    kfc_args_offset: int  = bits( 7, 16, 16, "kfcArgsFmtOffset", default=0xFFFF)
    func_name_addr:  int  = bits( 8,  0, 48, "task_name_str_ptr_low/high", address=True, doc="name of the function")
    l2_ctrl_addr:    int  = bits(10,  0, 48, "pL2CtrlLow/High", address=True)
    overflow_en:     bool = bits(11, 16,  1, "overflow_en", doc="overflow detection")
    dump_en:         bool = bits(11, 17,  1, "dump_en", doc="data dump")
    debug_dump_en:   bool = bits(11, 18,  1, "debug_dump_en", doc="dump for a debug register")
    extra_field:     int  = bits(12,  0, 64, "extraFieldLow/High", doc="serial number of the task")
    sub_topic_id:    int  = bits(14,  0, 12, "subTopicId")
    topic_id:        int  = bits(14, 12,  6, "topicId", default=3)
    group_id:        int  = bits(14, 18,  6, "group_id")
    user_data_len:   int  = bits(14, 24,  8, "usr_data_len", default=40, doc="bytes of words 4 to 13")
    dest_pid:        int  = bits(15,  0, 32, "dest_pid")
# fmt: on
