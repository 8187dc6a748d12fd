"""Runtime status codes by number and name. Spec 02, section 1."""

from __future__ import annotations

from cannkit.format.bits import OpenEnum


class RtStatus(OpenEnum):
    """Inner codes of the runtime, `RT_ERROR_<name>`."""

    INVALID_VALUE = 0x07110001
    FEATURE_NOT_SUPPORT = 0x0711000D

    @property
    def c_name(self) -> str:
        """The name in CANN."""
        return f"RT_ERROR_{self.name}"
