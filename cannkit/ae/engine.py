"""AeEngine: the six calls of the AI CPU engine over its three kernel libs. Spec 05, section 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from cannkit.ae.call import AeCall, Desk, KernelLib, Note, Session
from cannkit.ae.caller import CallEndedError, Caller
from cannkit.ae.context import AeContext
from cannkit.ae.event import AeEvent
from cannkit.ae.fwk_path import TF_KERNELS
from cannkit.ae.kernel_libs import AicpuLib, FwkLib, KfcLib
from cannkit.ae.so_path import read_settings
from cannkit.ae.so_walk import Resolution
from cannkit.errors import UsageError
from cannkit.format.ae_status import AeStatus
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.inputs.files import PathView

if TYPE_CHECKING:
    from cannkit.ae.host_caller import HostCaller

ALLOWED_LIMIT: Final = 100  # AE-509
SUPPORTED: Final = (
    CpuKernelType.FWK,
    CpuKernelType.AICPU,
    CpuKernelType.AICPU_CUSTOM,
    CpuKernelType.AICPU_KFC,
    CpuKernelType.CUSTOM_KFC,
)
KFC_IS_GONE: Final = "KFC lib was destroyed and cannot be re-created (call_once)"
KFC_NEVER_CAME: Final = "KFC lib could not be made, and is not tried again (call_once)"


class BatchLoaded(NamedTuple):
    """AE-507: the status, always 0 but for Q-4, and what was looked for, in order."""

    status: AeStatus
    resolutions: tuple[Resolution, ...] = ()
    notes: tuple[Note, ...] = ()


class AeEngine:
    """The AI CPU engine of one process: `context` is that process, `files` where it looks. Changes.

    `caller` opens libraries and calls functions; without one they are really called, in a child process
    that `end`, or the end of a `with` block, ends. Without `files` nothing is looked up. Only `call`,
    `batch_load`, `close` and `clear` run foreign code; they raise CallEndedError where it ended its
    process.
    """

    def __init__(
        self, context: AeContext, files: PathView | None, caller: Caller | None = None
    ) -> None:
        """Raises UsageError where there is no caller, and `files` are not those of a directory."""
        self.session = Session(context)
        self._own: HostCaller | None = None
        if caller is None:
            caller = self._own = host_caller(files)
        self._desk = Desk(files, caller)
        self._aicpu: AicpuLib | None = None
        self._kfc: KfcLib | None = None
        self._kfc_is_gone: tuple[Note, ...] = ()  # why it will not be made any more
        self._fwk: FwkLib | None = None
        self._notes: tuple[Note, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def end(self) -> None:
        """End the child process that calls are made in, if there is one of its own."""
        if self._own is not None:
            self._own.end()

    @property
    def context(self) -> AeContext:
        """The process. What it becomes later counts for later calls, but for what a lib has read."""
        return self.session.context

    @context.setter
    def context(self, context: AeContext) -> None:
        self.session.context = context

    def call(self, event: AeEvent | None) -> AeCall:
        """Run a kernel (aeCallInterface, AE-502); an event of None is a null pointer."""
        if event is None:
            why = "the address of the event is null"
            return AeCall(AeStatus.BAD_PARAM, notes=(Note("AE-502", why),))
        lib = self.lib_for(event.kernel_type)
        if lib is None:
            return AeCall(AeStatus.BAD_PARAM, notes=self._notes)
        try:
            return lib.call(event, self.session)
        except CallEndedError as ended:
            if ended.call is None:
                ended.call = AeCall(None, lib.name, ended.resolution, event.func_name)
            raise

    def lib_for(self, kernel_type: int) -> KernelLib | None:
        """AE-503, AE-504: the kernel lib of a type, made at the first call; None where there is none."""
        match kernel_type:
            case CpuKernelType.FWK:
                return self._get_fwk()
            case CpuKernelType.AICPU | CpuKernelType.AICPU_CUSTOM:
                return self._get_aicpu()
            case CpuKernelType.AICPU_KFC | CpuKernelType.CUSTOM_KFC:
                return self._get_kfc()
        self._notes = (Note("AE-503", without_lib(kernel_type)),)
        return None

    def batch_load(self, kernel_type: int, names: Sequence[str | None]) -> BatchLoaded:
        """Load libraries ahead (aeBatchLoadKernelSo, AE-507). A name of None is skipped.

        Which lib loads one is decided by its file name alone.
        """
        framework = [name for name in names if name == TF_KERNELS]
        others = [name for name in names if name is not None and name != TF_KERNELS]
        resolutions: list[Resolution] = []
        if framework:
            resolutions += self._get_fwk().load(kernel_type, framework, self.session)
        if others:
            lib = self._get_aicpu()
            if lib is None:
                crash = Note("Q-4", "original crashes: it does not test whether its lib is there")
                return BatchLoaded(AeStatus.BAD_PARAM, tuple(resolutions), (*self._notes, crash))
            resolutions += lib.load(kernel_type, others, self.session)
        return BatchLoaded(AeStatus.SUCCESS, tuple(resolutions))

    def close(self, kernel_type: int, name: str | None) -> AeStatus:
        """Unload a library (aeCloseSo, AE-508)."""
        lib = self.lib_for(kernel_type)
        return AeStatus.BAD_PARAM if lib is None else lib.close(name)

    def clear(self) -> None:
        """Destroy the libs (aeClear, AE-506). The KFC lib never comes back (Q-2)."""
        for lib in (self._aicpu, self._kfc, self._fwk):
            if lib is not None:
                lib.destroy()
        if self._kfc is not None:
            self._kfc_is_gone = (Note("Q-2", KFC_IS_GONE),)
        self._aicpu = self._kfc = self._fwk = None

    def add_allowed(self, name: str | None) -> AeStatus:
        """Add to the allow list (AeAddSoInWhiteList, AE-509), which nobody reads."""
        if name is None:
            return AeStatus.BAD_PARAM
        lib = self._get_aicpu()
        if lib is None or len(lib.allowed) >= ALLOWED_LIMIT:
            return AeStatus.INNER_ERROR
        lib.allowed.add(name)
        return AeStatus.SUCCESS

    def delete_allowed(self, name: str | None) -> None:
        """Take from the allow list (AeDeleteSoInWhiteList, AE-509)."""
        lib = self._get_aicpu() if name is not None else None
        if lib is not None and name is not None:
            lib.allowed.discard(name)

    def _get_aicpu(self) -> AicpuLib | None:
        """Made again where it could not be made before."""
        if self._aicpu is None:
            settings = read_settings(self.context)
            if settings.status != AeStatus.SUCCESS:
                self._notes = (Note("AE-505", settings.why),)
                return None
            self._aicpu = AicpuLib(settings, self._desk)
        return self._aicpu

    def _get_kfc(self) -> KfcLib | None:
        """Made once; where that failed, or after `clear`, there is none any more."""
        if self._kfc is None and not self._kfc_is_gone:
            settings = read_settings(self.context)
            if settings.status == AeStatus.SUCCESS:
                self._kfc = KfcLib(settings, self._desk)
            else:
                self._kfc_is_gone = Note("AE-505", settings.why), Note("Q-2", KFC_NEVER_CAME)
        self._notes = self._kfc_is_gone
        return self._kfc

    def _get_fwk(self) -> FwkLib:
        """Made anew after `clear`: its path is chosen again."""
        if self._fwk is None:
            self._fwk = FwkLib(self.context, self._desk)
        return self._fwk


def without_lib(kernel_type: int) -> str:
    """AE-503: why a kernel type goes nowhere; empty for one that has a kernel lib."""
    if kernel_type in SUPPORTED:
        return ""
    return f"kernel type {kernel_type} has no kernel lib: 1, 2, 4, 5 and 6 have one"


def host_caller(files: PathView | None) -> HostCaller:
    """Who really calls what is in `files`. Raises UsageError for files that are not in a directory."""
    from cannkit.ae.host_caller import HostCaller
    from cannkit.inputs.rooted import RootedFiles  # here, for a table of functions needs neither

    if not isinstance(files, RootedFiles):
        hint = "TableCaller has Python functions, DryCaller calls nothing"
        raise UsageError("libraries are called where files are those of a directory", hint=hint)
    return HostCaller(files)
