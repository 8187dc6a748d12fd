"""FunctionHandle: what can be asked of a kernel. Spec 02, section 3.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from cannkit.api.session import Session, call, not_null
from cannkit.errors import UsageError
from cannkit.format.ascend_meta import VfType
from cannkit.format.status import AclStatus, RtError, RtStatus
from cannkit.runtime.addresses import core_addresses
from cannkit.runtime.handles import NULL, Handle, HandleKind
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.kernel_facts import function_attribute, function_sizes
from cannkit.runtime.meta_query import function_meta, function_meta_size
from cannkit.runtime.program_base import Program, bytes_of

if TYPE_CHECKING:
    from cannkit.api.binary import BinaryHandle

UB_BYTES: Final = 229376  # unified buffer of a block that SIMT code may use
SIMT_TYPES: Final = (VfType.SIMT_VF, VfType.SIMD_SIMT_MIX)


class CorePair(NamedTuple):
    """A value for each kind of core, 0 where the kernel has no code for it."""

    aic: int
    aiv: int


class ParamPlace(NamedTuple):
    """Where an argument lies in the packed argument buffer, bytes."""

    offset: int
    size: int


class FunctionHandle(Handle):
    """A function handle (aclrtFuncHandle). It goes with its binary.

    Every call raises RtError: 100000 for a null handle, where the ACL looks for one, and 107000
    where it does not; 107017 once the binary is unloaded (QK-1).
    """

    KIND = HandleKind.FUNCTION
    __slots__ = ("_binary", "_kernel", "session")

    def __init__(
        self,
        session: Session,
        handle: int = NULL,
        owner: tuple[BinaryHandle, Kernel] | None = None,
    ) -> None:
        super().__init__(handle)
        self.session = session
        if owner is not None:
            self._binary, self._kernel = owner

    def __repr__(self) -> str:
        return f"<FunctionHandle {self.id}>"

    @property
    def kernel(self) -> Kernel:
        """The kernel behind it. Raises RtError: 107000 for null, 107017."""
        return self._live()._kernel

    def target(self) -> tuple[Program, Kernel]:
        """Program and kernel behind it. Raises RtError: 107000 for null, 107017."""
        handle = self._live()
        return handle._binary.program, handle._kernel

    @call
    def name(self, max_length: int | None = None) -> str:
        """Its name (aclrtGetFunctionName, rtsFuncGetName).

        `max_length`: bytes the caller has room for, with the NUL; None for enough. Raises RtError:
        107017, 107000 for a null handle and for too little room.
        """
        kernel = self.kernel
        needed = len(bytes_of(kernel.name)) + 1
        if max_length is not None and max_length < needed:
            raise _invalid("no room for the name", f"{needed} bytes, there are {max_length}")
        return kernel.name

    @call
    def addresses(self) -> CorePair:
        """Where it starts on the current device (aclrtGetFunctionAddr, rtsFuncGetAddr).

        A lazy binary is copied now. Raises RtError: 100000, 107017, 107000 for an AI CPU kernel,
        107002, 107017 where the binary is not loaded (QK-7), and that of a copy.
        """
        self._check_null()
        handle = self._live()
        process, device = self.session.process, self.session.contexts.device
        program, kernel = handle._binary.program, handle._kernel
        return CorePair(*core_addresses(process.loader, program, kernel, device))

    @call
    def sizes(self) -> CorePair:
        """Bytes of its code (aclrtGetFunctionSize, rtFuncGetSize).

        Raises RtError: 207000 on a chip without it, 107017, 107000 for null or an AI CPU kernel.
        """
        soc = self.session.process.soc
        if not soc.has_acl_graph:
            raise _unsupported("no function sizes", f"{soc.chip} does not tell them")
        kernel = self.kernel
        if kernel.cpu is not None:
            raise _invalid("no function sizes", "an AI CPU kernel has none")
        return CorePair(*function_sizes(kernel))

    @call
    def attribute(self, attribute: int) -> int:
        """The value of a FunctionAttribute (aclrtGetFunctionAttribute, rtFunctionGetAttribute).

        Raises RtError: 100000, 107017, 107000 for an unknown attribute, 207000. API-8.
        """
        self._check_null()
        return function_attribute(self.kernel, attribute, self.session.process.soc)

    @call
    def binary(self) -> BinaryHandle:
        """The binary it is from (aclrtFunctionGetBinary, rtFunctionGetBinary).

        Raises RtError: 107017, 107000 for a null handle.
        """
        return self._live()._binary

    @call
    def param_count(self) -> int:
        """How many parameters it states (aclrtFunctionGetParamCount, rtFunctionGetParamCount).

        Raises RtError: 100000, 207000 on XPU, 107017, 207000 for an AI CPU kernel, 107000 without a
        parameter summary.
        """
        return len(self._parametrised().params)

    @call
    def param_info(self, index: int) -> ParamPlace:
        """Where a parameter lies (aclrtFunctionGetParamInfo, rtFunctionGetParamInfo).

        Raises RtError as `param_count` does, and 107000 for an index that is too large.
        """
        params = self._parametrised().params
        if not 0 <= index < len(params):
            raise _invalid(f"no parameter {index}", f"there are {len(params)}")
        return ParamPlace(params[index].offset, params[index].size)

    @call
    def available_dynamic_ubuf(self, flags: int = 0) -> int:
        """Bytes of unified buffer that it leaves to a block; 0 for a kernel that is not SIMT.

        Stands for aclrtFunctionGetAvailDynUbufPerBlock, rtFunctionGetAvailDynUbufPerBlock. Raises
        RtError: 100000 for null or any flag, 107017, 107000 where it takes more than there is.
        """
        self._check_null()
        if flags:
            why = f"flags are {flags:#x}, not 0"
            raise RtError(AclStatus.INVALID_PARAM, "unknown flags", why=why)
        kernel = self.kernel
        if kernel.vf_type not in SIMT_TYPES:
            return 0
        if kernel.ub_size > UB_BYTES:
            raise _invalid("no unified buffer left", f"{kernel.ub_size} of {UB_BYTES} bytes taken")
        return UB_BYTES - kernel.ub_size

    @call
    def meta_size(self, kind: int) -> int:
        """Bytes of its first record of a FunctionMeta type (rtFunctionGetMetaInfoSize).

        Raises RtError: 107017, 207000 for an unknown type, 107000. API-5.
        """
        handle = self._live()
        return function_meta_size(handle._binary.program, handle._kernel.name, kind)

    @call
    def meta(self, kind: int, length: int | None = None) -> bytes:
        """The value of that record (rtFunctionGetMetaInfo); `length` must be its size when given.

        Raises RtError as `meta_size` does, and 107000 for another length.
        """
        handle = self._live()
        return function_meta(handle._binary.program, handle._kernel.name, kind, length)

    def _check_null(self) -> None:
        not_null(function=self.id or None)

    def _live(self) -> FunctionHandle:
        return self.session.handles.find(self.id, FunctionHandle)

    def _parametrised(self) -> Kernel:
        self._check_null()
        if self.session.process.soc.is_xpu:
            raise _unsupported("no parameters", "XPU does not tell them")
        kernel = self.kernel
        if kernel.cpu is not None:
            raise _unsupported("no parameters", "an AI CPU kernel does not state them")
        if not kernel.has_param_summary:
            raise _invalid("no parameters", f"{kernel.name} has no parameter summary")
        return kernel


def target_of(session: Session, function: FunctionHandle | None) -> tuple[Program, Kernel]:
    """Program and kernel of a handle of this session.

    Raises RtError: 107000 for null, 107017 for a dead one; UsageError for one of another Runtime.
    """
    if function is None:
        raise _invalid("null function handle", "")
    if not isinstance(function, FunctionHandle):
        raise UsageError(f"a function handle is needed, not a {type(function).__name__}")
    if function.session is not session:
        raise UsageError("the function handle belongs to another Runtime")
    return function.target()


def _invalid(what: str, why: str) -> RtError:
    return RtError(RtStatus.INVALID_VALUE, what, why=why)


def _unsupported(what: str, why: str) -> RtError:
    return RtError(RtStatus.FEATURE_NOT_SUPPORT, what, why=why)
