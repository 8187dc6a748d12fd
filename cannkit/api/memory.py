"""MemoryCalls: device and host memory of a Runtime. Spec 03, section 6.3."""

from __future__ import annotations

from cannkit.api.session import Session, call
from cannkit.device.memory import HostMemory
from cannkit.device.trace import CopyKind
from cannkit.runtime.acl_memory import AclMemory
from cannkit.runtime.malloc_policy import MallocPolicy
from cannkit.runtime.pointers import Source, Target


class MemoryCalls:
    """The part of a Runtime that is about memory. A pointer is an address, or a buffer of the caller."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.memory = AclMemory(HostMemory(), session.contexts.devices)

    @call
    def malloc(self, size: int, policy: int = MallocPolicy.HUGE_FIRST) -> int:
        """The address of new device memory (aclrtMalloc).

        Raises RtError: 100000 for a size of 0, 107002, 207001.
        """
        return self.memory.malloc(size, policy, device=self.session.contexts.device)

    @call
    def malloc_align32(self, size: int, policy: int = MallocPolicy.HUGE_FIRST) -> int:
        """The same without padding (aclrtMallocAlign32). Raises RtError as `malloc` does."""
        return self.memory.malloc(size, policy, device=self.session.contexts.device, align32=True)

    @call
    def malloc_with_cfg(self, size: int, policy: int = MallocPolicy.HUGE_FIRST) -> int:
        """The same without padding (aclrtMallocWithCfg). Raises RtError as `malloc` does."""
        return self.memory.malloc_with_cfg(size, policy, device=self.session.contexts.device)

    @call
    def malloc_cached(self, size: int, policy: int = MallocPolicy.NORMAL_ONLY) -> int:
        """The same, cached (aclrtMallocCached).

        Raises RtError as `malloc` does, 107000 above 2^50, 207000 for another policy.
        """
        return self.memory.malloc_cached(size, policy, device=self.session.contexts.device)

    @call
    def malloc_host(self, size: int) -> int:
        """The address of pinned host memory (aclrtMallocHost). Raises RtError: 100000, 207001."""
        return self.memory.malloc_host(size)

    @call
    def free(self, address: int | None) -> None:
        """Give device memory back (aclrtFree). Raises RtError: 100000 for null, 107017."""
        self.memory.free(address)

    @call
    def free_host(self, address: int | None) -> None:
        """Give pinned memory back (aclrtFreeHost). Raises RtError: 100000 for null, 107017."""
        self.memory.free_host(address)

    @call
    def memcpy(
        self,
        target: Target | None,
        limit: int,
        source: Source | None,
        count: int,
        kind: int = CopyKind.DEFAULT,
    ) -> None:
        """Copy `count` bytes to a target of `limit` bytes (aclrtMemcpy).

        Raises RtError: 100000, 107000, 107002, and 507053 for a range that is not live. MEM-6.
        """
        device = self.session.contexts.device
        self.memory.memcpy(target, limit, source, count, kind, device=device)

    @call
    def memcpy_async(
        self,
        target: Target | None,
        limit: int,
        source: Source | None,
        count: int,
        kind: int = CopyKind.DEFAULT,
    ) -> tuple[int, ...]:
        """The same, and the sizes of the entries it takes (aclrtMemcpyAsync), carried out at once.

        Raises RtError as `memcpy` does, and 207000 from host to host. MEM-7.
        """
        device = self.session.contexts.device
        return self.memory.memcpy_async(target, limit, source, count, kind, device=device)

    @call
    def memset(self, target: Target | None, limit: int, value: int, count: int) -> None:
        """Set `count` bytes of a target of `limit` bytes (aclrtMemset).

        Raises RtError as `memcpy` does. MEM-8.
        """
        device = self.session.contexts.device
        self.memory.memset(target, limit, value, count, device=device)
