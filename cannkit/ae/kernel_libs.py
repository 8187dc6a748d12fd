"""The kernel libs: one class for each way to find and call a function. Spec 05, AE-504 and section 7."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cannkit.ae.call import AeCall, Desk, Note, Session, carry_out
from cannkit.ae.caller import Found, Signature
from cannkit.ae.context import AeContext, byte_length, cut_bytes
from cannkit.ae.event import AeEvent
from cannkit.ae.fwk_path import choose, open_chosen, open_tensorflow
from cannkit.ae.so_manager import SoManager
from cannkit.ae.so_path import CUST_TYPES, SO_NAME_LIMIT, Settings
from cannkit.ae.so_walk import Resolution
from cannkit.ae.translate import translate_aicpu, translate_fwk, translate_kfc
from cannkit.format.ae_status import AeStatus, FwkKernelType

FUNC_NAME_LIMIT: Final = 200
WITH_BLOCK: Final = "RunCpuKernelWithBlock"
TF_FUNCTION: Final = "TFOperateAPI"
ONLY_GLOBAL: Final = (
    "the library name is empty or longer than 100 bytes: no library is asked, only what all can see"
)


class AicpuLib:
    """Types 2 and 4: a function of exactly one library. AE-701."""

    name = "aicpu"

    def __init__(self, settings: Settings, desk: Desk) -> None:
        self.allowed: set[str] = set()
        self._caller = desk.caller
        self._manager = SoManager(settings, desk.files, desk.caller)

    def call(self, event: AeEvent, session: Session) -> AeCall:
        """See KernelLib."""
        if event.so_name is None:
            return AeCall(AeStatus.BAD_PARAM, self.name, notes=(_null("AE-701", "kernelSo"),))
        if event.func_name is None:
            return AeCall(AeStatus.BAD_PARAM, self.name, notes=(_null("AE-701", "kernelName"),))
        symbol = cut_bytes(event.func_name, FUNC_NAME_LIMIT)
        so_name = cut_bytes(event.so_name, SO_NAME_LIMIT)
        notes = (
            *_cut_note("library", event.so_name, so_name),
            *_cut_note("function", event.func_name, symbol),
        )
        sought = self._manager.find(event.kernel_type, so_name, symbol, session.context)
        if sought.found is None:
            notes += tuple(_why("AE-701", sought.why))
            return AeCall(sought.status, self.name, sought.resolution, symbol, notes=notes)
        notes += tuple(_other_place(event, sought.resolution))
        session.op_name = symbol
        session.block = event.block_id, event.block_num
        call = AeCall(
            None,
            self.name,
            sought.resolution,
            symbol,
            sought.found,
            signature=Signature.BLOCK if symbol == WITH_BLOCK else Signature.PARAM,
            op_name=session.op_name,
            notes=notes,
        )
        is_cust_sd = session.context.is_cust_sd
        return carry_out(
            call, self._caller, event, lambda code: translate_aicpu(code, is_cust_sd=is_cust_sd)
        )

    def load(self, kernel_type: int, names: list[str], session: Session) -> list[Resolution]:
        """See KernelLib: failures are ignored."""
        return [self._manager.load(kernel_type, name, session.context) for name in names]

    def close(self, name: str | None) -> AeStatus:
        """See KernelLib: no name is an error, one that is not loaded is none."""
        if not name:
            return AeStatus.BAD_PARAM
        self._manager.close(name)
        return AeStatus.SUCCESS

    def destroy(self) -> None:
        """See KernelLib."""
        self._manager.close_all()


class KfcLib:
    """Types 5 and 6: a function by name, whichever library has it. AE-702."""

    name = "kfc"

    def __init__(self, settings: Settings, desk: Desk) -> None:
        self._caller = desk.caller
        self._manager = SoManager(settings, desk.files, desk.caller)
        self._known: dict[str, tuple[Found, str | None]] = {}  # and the library it was asked of

    def call(self, event: AeEvent, session: Session) -> AeCall:
        """See KernelLib."""
        symbol = event.func_name
        if symbol is None:
            return AeCall(AeStatus.BAD_PARAM, self.name, notes=(_null("AE-702", "kernelName"),))
        if byte_length(symbol) > FUNC_NAME_LIMIT:
            why = f"a KFC function name has at most {FUNC_NAME_LIMIT} bytes: it is not looked up"
            return AeCall(AeStatus.INNER_ERROR, self.name, notes=(Note("AE-702", why),))
        resolution, notes, is_global = None, [], False
        known = self._known.get(symbol)
        if known is None:
            if event.so_name is None:
                notes.append(Note("Q-1", "original crashes: null kernelSo for KFC"))
                return AeCall(AeStatus.BAD_PARAM, self.name, symbol=symbol, notes=tuple(notes))
            if not 0 < byte_length(event.so_name) <= SO_NAME_LIMIT:
                notes.append(Note("AE-702", ONLY_GLOBAL))
            resolution, found = self._search(event, event.so_name, symbol, session.context)
            if found is None:
                found, is_global = self._caller.find_global(symbol), True
            if found is None:
                notes += _why("AE-702", self._caller.why_missing(None, symbol))
                return AeCall(
                    AeStatus.INNER_ERROR,
                    self.name,
                    resolution,
                    symbol,
                    is_global=True,
                    notes=tuple(notes),
                )
            self._known[symbol] = found, event.so_name
        else:
            found, owner = known
            if event.so_name not in (owner, None):
                where = f"found for {owner}" if owner else "found globally"
                notes.append(
                    Note("Q-7", f"{symbol} was {where} before: {event.so_name} is not asked")
                )
        session.block = event.block_id, event.block_num
        call = AeCall(
            None,
            self.name,
            resolution,
            symbol,
            found,
            is_global,
            Signature.PARAM,
            session.op_name,
            notes=tuple(notes),
        )
        return carry_out(call, self._caller, event, translate_kfc)

    def _search(
        self, event: AeEvent, so_name: str, symbol: str, context: AeContext
    ) -> tuple[Resolution | None, Found | None]:
        """The library that the event names, unless its name is empty or too long."""
        if not 0 < byte_length(so_name) <= SO_NAME_LIMIT:
            return None, None
        sought = self._manager.find(event.kernel_type, so_name, symbol, context)
        return sought.resolution, sought.found

    def load(self, kernel_type: int, names: list[str], session: Session) -> list[Resolution]:
        """See KernelLib: nothing is loaded."""
        return []

    def close(self, name: str | None) -> AeStatus:
        """See KernelLib: nothing is closed."""
        return AeStatus.SUCCESS

    def destroy(self) -> None:
        """See KernelLib."""
        self._manager.close_all()


class FwkLib:
    """Type 1: the one function of TensorFlow's kernels. AE-703."""

    name = "fwk"

    def __init__(self, context: AeContext, desk: Desk) -> None:
        self._desk = desk
        self._choice = choose(context, desk.files)
        self._resolution: Resolution | None = None
        self._tensorflow: int | None = None
        self._function: Found | None = None

    def call(self, event: AeEvent, session: Session) -> AeCall:
        """See KernelLib."""
        if event.fwk_type is None:
            return AeCall(AeStatus.BAD_PARAM, self.name, notes=(_null("AE-703", "kernel"),))
        if event.fwk_type != FwkKernelType.TF:
            name = FwkKernelType(event.fwk_type).name
            why = f"fwkKernelType {event.fwk_type} ({name}) has no implementation, only TF (0) has"
            return AeCall(AeStatus.BAD_PARAM, self.name, notes=(Note("AE-703", why),))
        resolution = self._open(session.context)
        if resolution.library is None:
            return AeCall(AeStatus.OPEN_SO_FAILED, self.name, resolution, TF_FUNCTION)
        if self._function is None:
            self._function = self._desk.caller.find(resolution.library, TF_FUNCTION)
        if self._function is None:
            why = self._desk.caller.why_missing(resolution.library, TF_FUNCTION)
            return AeCall(
                AeStatus.GET_KERNEL_NAME_FAILED,
                self.name,
                resolution,
                TF_FUNCTION,
                notes=tuple(_why("AE-703", why)),
            )
        call = AeCall(
            None,
            self.name,
            resolution,
            TF_FUNCTION,
            self._function,
            signature=Signature.ADDRESS,
            op_name=session.op_name,
        )
        return carry_out(call, self._desk.caller, event, translate_fwk)

    def _open(self, context: AeContext) -> Resolution:
        """The library, opened at the first call and kept."""
        if self._resolution is not None:
            return self._resolution
        desk = self._desk
        opened = open_chosen(self._choice, context, desk.files, desk.caller.open)
        if opened.library is not None:
            self._resolution = opened._replace(cached=True)
        return opened

    def load(self, kernel_type: int, names: list[str], session: Session) -> list[Resolution]:
        """See KernelLib: TensorFlow and its kernels, each once."""
        resolutions = []
        desk, context = self._desk, session.context
        if self._tensorflow is None:
            resolutions.append(open_tensorflow(self._choice, context, desk.files, desk.caller.open))
            self._tensorflow = resolutions[0].library
        return [*resolutions, self._open(context)]

    def close(self, name: str | None) -> AeStatus:
        """See KernelLib: nothing is closed."""
        return AeStatus.SUCCESS

    def destroy(self) -> None:
        """See KernelLib."""
        kernels = self._resolution.library if self._resolution else None
        for library in (kernels, self._tensorflow):
            if library is not None:
                self._desk.caller.close(library)


def _null(rule: str, field: str) -> Note:
    return Note(rule, f"{field} is a null pointer")


def _other_place(event: AeEvent, resolution: Resolution) -> Iterator[Note]:
    """Q-6: a library of this name was loaded from where this type would not look."""
    first = resolution.kernel_type
    if resolution.cached and (event.kernel_type in CUST_TYPES) != (first in CUST_TYPES):
        where = f"{resolution.so_name} was loaded for type {first} before, from {resolution.loaded}"
        yield Note("Q-6", f"{where}: the folders of type {event.kernel_type} are not asked")


def _why(rule: str, text: str) -> list[Note]:
    return [Note(rule, text)] if text else []


def _cut_note(what: str, full: str, used: str) -> list[Note]:
    """Q-5: names are cut without a word."""
    if full == used:
        return []
    sizes = f"{byte_length(full)} bytes, {byte_length(used)} of them are used"
    return [Note("Q-5", f"the {what} name has {sizes}: it is cut silently")]
