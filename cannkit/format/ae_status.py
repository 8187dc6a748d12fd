"""Codes of the AI CPU: the engine, its schedulers, operators, the framework adapter. Spec 05, section 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.format.bits import OpenEnum

KFC_PASSTHROUGH: Final = range(1000, 1100)  # AE-202: codes of collective communication


class AeStatus(OpenEnum):
    """AE-201, aeStatus_t: what aeCallInterface returns. Raw codes of operators pass through it, too."""

    SUCCESS = 0
    TASK_FAIL = 1
    END_OF_SEQUENCE = 6
    SILENT_FAULT = 7
    TASK_ABORT = 8
    DETECT_FAULT = 9
    DETECT_FAULT_NORAS = 10
    DETECT_LOW_BIT_FAULT = 11
    DETECT_LOW_BIT_FAULT_NORAS = 12
    TASK_WAIT = 101
    BAD_PARAM = 11001
    OPEN_SO_FAILED = 11002
    GET_KERNEL_NAME_FAILED = 11003
    KERNEL_API_PARAM_INVALID = 11004
    KERNEL_API_INNER_ERROR = 11005
    INNER_ERROR = 11006
    SO_NAME_INVALID = 11007
    KERNEL_NAME_INVALID = 11008
    RESERVED = 11009

    @classmethod
    def name_of(cls, value: int) -> str:
        """The name of a code that is none of the engine's: an operator's own."""
        return super().name_of(value & 0xFFFF_FFFF)  # int32_t

    @property
    def c_name(self) -> str:
        """The name in CANN."""
        return f"AE_STATUS_{self.name}"


class OpCode(OpenEnum):
    """AE-202, AicpuOpErrorCode: what an operator may return."""

    TASK_WAIT = 101
    END_OF_SEQUENCE = 201
    TASK_ABORT = 301
    SILENT_FAULT = 501
    DETECT_FAULT = 502
    DETECT_FAULT_NORAS = 503
    DETECT_LOW_BIT_FAULT = 504
    DETECT_LOW_BIT_FAULT_NORAS = 505
    KFC_PASSTHROUGH_START = 1000
    KFC_PASSTHROUGH_END = 1099


class ScheduleStatus(OpenEnum):
    """AE-207, codes of the scheduler process (aicpusd), `AICPU_SCHEDULE_<name>`."""

    OK = 0
    FAIL = 1
    ERROR_PARAMETER_NOT_VALID = 21001
    ERROR_FROM_DRV = 21003
    ERROR_NOT_FOUND_LOGICAL_TASK = 21005
    ERROR_TASK_EXECUTE_FAILED = 21006
    ERROR_INNER_ERROR = 21008
    ERROR_MODEL_NOT_FOUND = 21101
    ERROR_STREAM_NOT_FOUND = 21102
    ERROR_RESERVED = 21200
    ERROR_NOT_FOUND_EVENT = 21202
    ERROR_DRV_ERR = 21206
    ERROR_NOT_FOUND_VERSION = 21217

    @property
    def c_name(self) -> str:
        """The name in CANN."""
        return f"AICPU_SCHEDULE_{self.name}"


class CustScheduleStatus(OpenEnum):
    """AE-207, AE-208, the same of the scheduler of custom operators (cust-sd)."""

    OK = 0
    FAIL = 1
    ERROR_NOT_FOUND_EVENT = 21202
    ERROR_NOT_FOUND_VERSION = 21203
    ERROR_FROM_DRV = 21206
    ERROR_PARAMETER_NOT_VALID = 22001
    ERROR_DRV_ERR = 22002
    ERROR_TASK_EXECUTE_PARAM_INVALID = 22004
    ERROR_TASK_EXECUTE_FAILED = 22005
    ERROR_TASK_EXECUTE_TIMEOUT = 22006
    ERROR_INNER_ERROR = 22007
    ERROR_RESERVED = 22200

    @property
    def c_name(self) -> str:
        """The name in CANN."""
        return f"AICPU_SCHEDULE_{self.name}"


class ResponseStatus(OpenEnum):
    """AE-207, `hwts_response_t.status`."""

    TASK_SUCC = 0
    TASK_FAIL = 1
    TASK_OVERFLOW = 2


class RunMode(OpenEnum):
    """AE-205, AicpuRunMode: where the scheduler runs."""

    PCIE = 0
    SOCKET = 1
    THREAD = 2
    INVALID = 3


RUN_MODE_WORDS: Final[Mapping[str, RunMode]] = {  # as the command line calls them
    "pcie": RunMode.PCIE,
    "socket": RunMode.SOCKET,
    "thread": RunMode.THREAD,
}


class FwkKernelType(OpenEnum):
    """AE-204, FwkkernelType_t: only TF has an implementation."""

    TF = 0
    CF = 10
    PT = 20
    RESERVED = 21


class FwkOperateType(OpenEnum):
    """AE-206, FWKOperateType."""

    SESSION_CREATE = 0
    KERNEL_RUN = 1
    KERNEL_DESTROY = 2
    SESSION_DESTROY = 3
    SINGLE_OP_RUN = 4
    KERNEL_RUN_NO_SESS = 5


class FwkStatus(OpenEnum):
    """AE-206, FWKAdptAPIRetCode: what TFOperateAPI returns, `FWK_ADPT_<name>`."""

    SUCCESS = 0
    NOT_INIT = 1
    ALLOC_FAILED = 2
    PARAM_INVALID = 3
    PARAM_PARSE_FAILED = 4
    NATIVE_ERROR = 5
    NOT_SUPPORT_OPTYPE = 6
    INTERNAL_ERROR = 7
    NOT_SUPPORT_DATATYPE = 8
    KERNEL_ALREADY_RUNING = 9
    SESSION_NOT_EXIST = 10
    SESSION_ALREADY_EXIST = 11
    NATIVE_END_OF_SEQUENCE = 12
    EXTEND_TYPE_NOT_EXIST = 13
    UNKNOWN_ERROR = 99

    @property
    def c_name(self) -> str:
        """The name in CANN."""
        return f"FWK_ADPT_{self.name}"
