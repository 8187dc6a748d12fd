"""Entries of STARS v1 (A2, A3). Spec 04, sections 4.1 to 4.4."""

from __future__ import annotations

from cannkit.format.bits import OpenEnum, Record, bits, record
from cannkit.format.cpu_kernel import CpuKernelType


class SqeType(OpenEnum):
    """What an entry is for. 04, 4.1."""

    FFTS = 0
    AICPU = 1
    PLACE_HOLDER = 3
    EVENT_RECORD = 4
    EVENT_WAIT = 5
    NOTIFY_RECORD = 6
    NOTIFY_WAIT = 7
    WRITE_VALUE = 8
    SDMA = 11
    VPC = 12
    JPEGE = 13
    JPEGD = 14
    DSA = 15
    ROCCE = 16
    PCIE_DMA = 17
    RESERVED = 18
    CDQM = 19
    COND = 20
    END = 21
    INVALID = 63


class FftsType(OpenEnum):
    """How the cores of an entry are used. 04, 4.2."""

    AIC = 0
    AIV = 1
    MIX = 4
    AICORE = 5


class ContextType(OpenEnum):
    """The main side of a mix: of a context, and as subType of its entry. 04, 4.3."""

    MIX_AIC = 6
    MIX_AIV = 7
    DCACHE_LOCK = 0x0A


class CpuTopic(OpenEnum):
    """Where an AI CPU kernel runs. 04, 4.4."""

    DEVICE_ONLY = 0
    DEVICE_FIRST = 1
    HOST_ONLY = 2
    HOST_FIRST = 3


# fmt: off
@record(size=64, c_name="rtStarsSqeHeader_t")
class Header(Record):
    """What every entry starts with."""

    #                        word lo width  C name
    sqe_type:  SqeType = bits(0,  0,  6, "type", doc="what the entry is for")
    l1_lock:   bool    = bits(0,  6,  1, "l1_lock")
    l1_unlock: bool    = bits(0,  7,  1, "l1_unlock")
    ie:        int     = bits(0,  8,  2, "ie", doc="interrupt enable")
    pre_p:     int     = bits(0, 10,  2, "pre_p", doc="call the scheduler before")
    post_p:    int     = bits(0, 12,  2, "post_p", doc="call the scheduler after")
    wr_cqe:    bool    = bits(0, 14,  1, "wr_cqe", doc="write a completion entry on success too")
    block_dim: int     = bits(0, 16, 16, "block_dim", doc="blocks of the main side")
    stream_id: int     = bits(1,  0, 16, "rt_stream_id", doc="stream")
    task_id:   int     = bits(1, 16, 16, "task_id", doc="task of the stream")


@record(size=64, c_name="RtFftsPlusKernelSqe")
class KernelSqe(Header):
    """A kernel on cube or vector cores alone."""

    ffts_type:      FftsType = bits( 2,  0,  3, "fftsType", doc="kind of core")
    wrr_ratio:      int = bits( 2, 12,  4, "wrr_ratio", default=1)
    sqe_index:      int = bits( 3,  0, 16, "sqe_index")
    kernel_credit:  int = bits( 3, 16,  8, "kernel_credit", doc="timeout in units of 2^32 ns, 255: never")
    schem:          int = bits( 3, 24,  2, "schem", doc="1: batch, all blocks at once")
    prefetch_count: int = bits( 3, 27,  5, "icache_prefetch_cnt", doc="never set by the runtime")
    stack_base:     int = bits( 4,  0, 64, "stackPhyBaseLow/High", address=True, doc="stacks of all cores")
    pmg:            int = bits( 7,  0,  2, "pmg")
    ns:             bool = bits(7,  2,  1, "ns", default=1)
    part_id:        int = bits( 7,  3,  8, "part_id", doc="memory partition")
    qos:            int = bits( 7, 12,  4, "qos", doc="quality of service")
    pc:             int = bits( 8,  0, 48, "pc_addr_low/pcAddrHigh", address=True, doc="first instruction")
    args_addr:      int = bits(10,  0, 52, "paramAddrLow/param_addr_high", address=True, doc="argument block")
    stack_level:    int = bits(11, 20, 12, "param_addr_high", doc="stack of (level + 2) x 16 KiB")
    flags:          int = bits(13,  0, 32, "res8[1]", doc="1 dump, 2 BIU perf, 4 L2 profiling")


@record(size=64, c_name="rtFftsPlusSqe_t")
class MixSqe(Header):
    """A kernel under the mix mechanism: its context says the rest."""

    overflow_en:     bool = bits( 0, 15,  1, "overflowEn", doc="overflow detection")
    ffts_type:       FftsType = bits(2, 0, 3, "fftsType", default=FftsType.MIX, doc="kind of core")
    cmo:             bool = bits( 2,  3,  1, "cmo")
    schedule_dfx:    bool = bits( 2,  4,  1, "scheduleDfxFlag")
    wrr_ratio:       int = bits( 2, 12,  4, "wrrRatio")
    dsa_sq_id:       int = bits( 2, 16, 11, "dsaSqId")
    sqe_index:       int = bits( 3,  0, 16, "sqeIndex")
    kernel_credit:   int = bits( 3, 16,  8, "kernelCredit", doc="timeout in units of 2^32 ns, 255: never")
    sub_type:        ContextType = bits(3, 24, 8, "subType", default=ContextType.MIX_AIC, doc="the main side")
    stack_base:      int = bits( 4,  0, 64, "stackPhyBaseL/H", address=True, doc="stacks of all cores")
    total_contexts:  int = bits( 6,  0, 16, "totalContextNum", default=1)
    ready_contexts:  int = bits( 6, 16, 16, "readyContextNum", default=1)
    preload_contexts: int = bits(7,  0, 16, "preloadContextNum", default=1)
    timeout:         int = bits( 7, 16, 16, "timeout")
    prefetch_bounds: int = bits( 8,  0, 64, "prefetchOstNum")
    context_addr:    int = bits(10,  0, 49, "contextAddressBaseL/H", address=True, doc="context of 128 bytes")
    pid:             int = bits(12,  0, 32, "reserved16[0]")
    flags:           int = bits(13,  0, 32, "reserved16[1]", doc="1 dump, 2 BIU perf, 4 L2 profiling")


@record(size=64, c_name="RtStarsAicpuKernelSqe")
class AicpuSqe(Header):
    """A kernel of the AI CPU."""

    sqe_type:        SqeType = bits(0, 0, 6, "type", default=SqeType.AICPU, doc="what the entry is for")
    kernel_type:     CpuKernelType = bits(2, 16, 7, "kernel_type", doc="handler in the AI CPU engine")
    batch_mode:      bool = bits( 2, 23,  1, "batch_mode")
    topic_type:      CpuTopic = bits(2, 24, 4, "topic_type", doc="where it runs")
    qos:             int = bits( 2, 28,  3, "qos", doc="quality of service")
    sqe_index:       int = bits( 3,  0, 16, "sqe_index")
    kernel_credit:   int = bits( 3, 16,  8, "kernel_credit", doc="timeout in units of 2^32 ns, 255: never")
    so_name_addr:    int = bits( 4,  0, 48, "taskSoAddrLow/High", address=True, doc="name of the library")
    args_addr:       int = bits( 6,  0, 48, "paramAddrLow/param_addr_high", address=True, doc="parameter head")
    func_name_addr:  int = bits( 8,  0, 48, "task_name_str_ptr_low/high", address=True, doc="name of the function")
    l2_ctrl_addr:    int = bits(10,  0, 48, "pL2CtrlLow/p_l2ctrl_high", address=True)
    overflow_en:     bool = bits(11, 16, 1, "overflow_en", doc="overflow detection")
    dump_en:         bool = bits(11, 17, 1, "dump_en", doc="data dump")
    debug_dump_en:   bool = bits(11, 18, 1, "debug_dump_en", doc="dump for a debug register")
    extra_field:     int = bits(12,  0, 64, "extraFieldLow/extra_field_high", doc="task")
    sub_topic_id:    int = bits(14,  0, 12, "subTopicId")
    topic_id:        int = bits(14, 12,  6, "topicId", default=3)
    group_id:        int = bits(14, 18,  6, "group_id")
    user_data_len:   int = bits(14, 24,  8, "usr_data_len", default=40, doc="bytes of words 4 to 13")
    dest_pid:        int = bits(15,  0, 32, "dest_pid")


@record(size=128, c_name="rtFftsPlusMixAicAivCtx_t")
class MixContext(Record):
    """What a mix kernel does on both sides; aligned to 128 bytes."""

    context_type:        ContextType = bits(0, 0, 16, "contextType", default=ContextType.MIX_AIC, doc="the main side")
    successor_num:       int  = bits( 0, 16,  8, "successorNum")
    dump_switch:         bool = bits( 0, 30,  1, "dumpSwitch")
    aten:                bool = bits( 0, 31,  1, "aten")
    prefetch_config:     int  = bits( 1,  0,  8, "prefetchConfig")
    pred_cnt_init:       int  = bits( 1, 16,  8, "predCntInit")
    pred_cnt:            int  = bits( 1, 24,  8, "predCnt")
    policy_pri:          int  = bits( 2, 16, 16, "policyPri")
    schem:               int  = bits(16,  1,  2, "schem", doc="1: batch, all blocks at once")
    aic_prefetch_count:  int  = bits(16,  3,  5, "aicIcachePrefetchCnt", doc="units of 2048 bytes")
    aiv_prefetch_count:  int  = bits(16,  8,  5, "aivIcachePrefetchCnt", doc="units of 2048 bytes (Q-7)")
    atm:                 bool = bits(16, 15,  1, "atm")
    prefetch_bitmap:     int  = bits(16, 16,  4, "prefetchEnableBitmap")
    prefetch_once:       int  = bits(16, 24,  4, "prefetchOnceBitmap")
    pmg:                 int  = bits(17,  0,  2, "pmg")
    ns:                  bool = bits(17,  2,  1, "ns", default=1)
    part_id:             int  = bits(17,  3,  8, "partId", doc="memory partition")
    qos:                 int  = bits(17, 12,  4, "qos", doc="quality of service")
    ratio:               int  = bits(17, 16,  8, "nonTailBlockRatioN", doc="blocks of the other side for each")
    tail_ratio:          int  = bits(17, 24,  8, "tailBlockRatioN")
    thread_id:           int  = bits(18,  0, 16, "threadId", doc="stack of (level + 2) x 16 KiB")
    thread_dim:          int  = bits(18, 16, 16, "threadDim", default=1)
    block_dim:           int  = bits(19,  0, 16, "nonTailBlockdim", doc="blocks of the main side")
    tail_block_dim:      int  = bits(19, 16, 16, "tailBlockdim")
    aic_args_addr:       int  = bits(20,  0, 48, "aicTaskParamPtrL/H", address=True, doc="argument block")
    aic_args_size:       int  = bits(21, 16, 16, "aicTaskParamPtrOffset", doc="bytes of the argument block")
    aiv_args_addr:       int  = bits(22,  0, 48, "aivTaskParamPtrL/H", address=True, doc="argument block")
    aiv_args_size:       int  = bits(23, 16, 16, "aivTaskParamPtrOffset", doc="bytes of the argument block")
    aic_pc:              int  = bits(24,  0, 48, "nonTailAicTaskStartPcL/H", address=True, doc="first instruction on AIC")
    aic_tail_pc:         int  = bits(26,  0, 32, "tailAicTaskStartPcL", high=(25, 16, 16, "tailAicTaskStartPcH"), address=True)
    aiv_pc:              int  = bits(27,  0, 48, "nonTailAivTaskStartPcL/H", address=True, doc="first instruction on AIV")
    aiv_tail_pc:         int  = bits(29,  0, 32, "tailAivTaskStartPcL", high=(28, 16, 16, "tailAivTaskStartPcH"), address=True)
    src_slot:            int  = bits(30,  0, 64, "srcSlot")
# fmt: on
