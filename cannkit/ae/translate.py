"""What becomes of the code that a function returned. Spec 05, section 8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.format.ae_status import KFC_PASSTHROUGH, AeStatus, FwkStatus, OpCode

_SIGN: Final = 1 << 31
_FAULTS: Final[Mapping[int, AeStatus]] = {
    OpCode.SILENT_FAULT: AeStatus.SILENT_FAULT,
    OpCode.DETECT_FAULT: AeStatus.DETECT_FAULT,
    OpCode.DETECT_FAULT_NORAS: AeStatus.DETECT_FAULT_NORAS,
    OpCode.DETECT_LOW_BIT_FAULT: AeStatus.DETECT_LOW_BIT_FAULT,
    OpCode.DETECT_LOW_BIT_FAULT_NORAS: AeStatus.DETECT_LOW_BIT_FAULT_NORAS,
}
_FWK: Final[Mapping[int, AeStatus]] = {
    FwkStatus.NATIVE_END_OF_SEQUENCE: AeStatus.END_OF_SEQUENCE,
    FwkStatus.NOT_SUPPORT_OPTYPE: AeStatus.BAD_PARAM,
}


def signed(code: int) -> int:
    """A u32 as the int32_t that the engine returns."""
    return code - (1 << 32) if code & _SIGN else code


def translate_aicpu(code: int, *, is_cust_sd: bool) -> AeStatus:
    """AE-801: fault codes count in the ordinary scheduler only; what is not known passes."""
    if code == OpCode.END_OF_SEQUENCE:
        return AeStatus.END_OF_SEQUENCE
    if not is_cust_sd and code in _FAULTS:
        return _FAULTS[code]
    return AeStatus(signed(code))


def translate_kfc(code: int) -> AeStatus:
    """AE-802: 0, abort and the band of collective communication; all else is a failure."""
    if code == OpCode.TASK_ABORT:
        return AeStatus.TASK_ABORT
    if code == 0 or code in KFC_PASSTHROUGH:
        return AeStatus(code)
    return AeStatus.TASK_FAIL


def translate_fwk(code: int) -> AeStatus:
    """AE-803: end of sequence and unsupported operation; all else passes."""
    return _FWK.get(code) or AeStatus(signed(code))
