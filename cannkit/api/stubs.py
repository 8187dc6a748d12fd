"""StubCalls: the old flow of a Runtime, by descriptor and host stub. Spec 02, sections 8 and 9."""

from __future__ import annotations

from cannkit.api.binary import BinaryHandle, hand
from cannkit.api.session import Raw, Session, call
from cannkit.device.device import Range
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.load_options import Magic
from cannkit.runtime.old_flow import (
    KernelDetail,
    address_of_stub,
    detail_of_stub,
    function_by_name,
    query_function,
)


class StubCalls:
    """The part of a Runtime that the ACL has no calls for. A stub is a host address."""

    session: Session

    @call
    def load_old(self, data: Raw | None, magic: int = Magic.ELF) -> BinaryHandle:
        """Register with every entry and copy at once (rtBinaryLoad). POL-4.

        Raises RtError: 107000 for null, no bytes, another magic or a refused object, 107002, 507032,
        and that of the copy.
        """
        device = self.session.contexts.device
        return hand(self.session, self.session.process.load_old(_bytes(data), magic, device))

    @call
    def register_all_kernels(self, data: Raw | None, magic: int = Magic.ELF) -> BinaryHandle:
        """Register with every entry, and copy nothing (rtRegisterAllKernel). POL-4.

        Raises RtError: 107000 as `load_old` does, 507032.
        """
        return hand(self.session, self.session.process.binaries.load_old(_bytes(data), magic))

    @call
    def register_binary(self, data: Raw | None, magic: int = Magic.ELF) -> BinaryHandle:
        """Register a binary whose kernels come one by one (rtDevBinaryRegister). POL-10.

        Raises RtError: 107000 for null, no bytes, an unknown magic or a refused object, 507032.
        """
        return hand(
            self.session, self.session.process.binaries.register_binary(_bytes(data), magic)
        )

    @call
    def unregister_binary(self, binary: BinaryHandle) -> bool:
        """Give it back (rtDevBinaryUnRegister); whether it is gone, for who refers to it keeps it.

        Raises RtError: 107000 for null, 107017. POL-7.
        """
        return self.session.process.unregister(binary.program)

    @call
    def stub_of(self, stub_name: str) -> int:
        """The stub of a name (rtGetFunctionByName). Raises RtError: 507027."""
        return function_by_name(self.session.process, stub_name)

    @call
    def query_function(self, stub: int) -> str:
        """The name of the kernel of a stub (rtQueryFunctionRegistered).

        Raises RtError: 507027, and 507024 while its binary is being unregistered. STB-7.
        """
        return query_function(self.session.process, stub).name

    @call
    def stub_address(self, stub: int) -> int:
        """Where the kernel of a stub starts on the current device (rtGetAddrByFun).

        Raises RtError: 507027 whatever fails. STB-7.
        """
        return address_of_stub(self.session.process, stub, self.session.contexts.device)

    @call
    def stub_detail(self, stub: int) -> KernelDetail:
        """Addresses and prefetch counts of the kernel of a stub (rtKernelGetAddrAndPrefCntV2).

        Raises RtError: 207000 on a chip without it, 507000 for an unknown stub, 107002, and that of
        a copy.
        """
        return detail_of_stub(self.session.process, stub, self.session.contexts.device)

    @call
    def get_symbol(self, address: int) -> Range:
        """Where a host variable is on the current device (rtSymbolLookup). SYM-1.

        Raises RtError: 107043 for an unknown one, 107002, and that of the copy.
        """
        return self.session.process.variable_range(address, self.session.contexts.device)


def _bytes(data: Raw | None) -> memoryview:
    if data is None:
        raise RtError(RtStatus.INVALID_VALUE, "null binary")
    return memoryview(bytes(data))
