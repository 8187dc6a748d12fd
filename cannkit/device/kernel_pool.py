"""KernelPools: the 2 MiB pools that hold the images of small kernels. Spec 03, section 3."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from cannkit.device.driver import MemoryRequest
from cannkit.device.memory import HUGE_PAGE
from cannkit.errors import BugError
from cannkit.format.status import RtError, RtStatus

POOL_SIZE: Final = HUGE_PAGE
IDLE_LIMIT: Final = 5  # POOL-8


class FreeNode(NamedTuple):
    """A free range of a pool."""

    address: int
    size: int


class KernelPool:
    """One driver allocation, cut up from a free list that is never merged. Changes. POOL-3."""

    def __init__(self, base: int, *, read_only: bool) -> None:
        self.base = base
        self.read_only = read_only
        self.used = 0
        self.free = [FreeNode(base, POOL_SIZE)]

    def allocate(self, size: int) -> int | None:
        """POOL-4: the front of the first free node that is large enough."""
        for index, node in enumerate(self.free):
            if node.size >= size:
                if node.size == size:
                    del self.free[index]
                else:
                    self.free[index] = FreeNode(node.address + size, node.size - size)
                self.used += size
                return node.address
        return None

    def release(self, address: int, size: int) -> None:
        """POOL-5: to the tail of the list, whatever the range is."""
        self.free.append(FreeNode(address, size))
        self.used = max(0, self.used - size)

    def contains(self, address: int) -> bool:
        """POOL-6: whether an address is in use here."""
        if self.used == 0 or not self.base <= address < self.base + POOL_SIZE:
            return False
        return not any(node.address <= address < node.address + node.size for node in self.free)


class KernelPools:
    """The pools of one device in the order of their creation. Changes. POOL-2.

    `allocate` and `free` are the driver's. `honours_flag` is false on chips where the driver is
    never asked for read-only memory. `trusting` releases any range, as the original does; else a
    range that was not handed out like this is a bug (POOL-11).
    """

    def __init__(
        self,
        allocate: Callable[[MemoryRequest], int],
        free: Callable[[int], None],
        *,
        honours_flag: bool = True,
        trusting: bool = False,
    ) -> None:
        self.pools: list[KernelPool] = []
        self._allocate = allocate
        self._free = free
        self._honours_flag = honours_flag
        self._trusting = trusting
        self._blocks: dict[int, int] = {}

    def start(self) -> None:
        """Create the first pool; raises RtError MEMORY_ALLOCATION whatever the driver says."""
        if self._create(read_only=True) is None:
            why = "the driver has no memory for the first kernel pool"
            raise RtError(RtStatus.MEMORY_ALLOCATION, "cannot start the device", why=why)

    def allocate(self, size: int, *, read_only: bool) -> int | None:
        """POOL-4: the address of a block, or None when it does not fit or the driver refuses."""
        if not 0 < size <= POOL_SIZE:
            return None
        for pool in self.pools:
            if pool.read_only == read_only:
                address = pool.allocate(size)
                if address is not None:
                    break
        else:
            created = self._create(read_only=read_only)
            address = created.allocate(size) if created else None
        if address is not None:
            self._blocks[address] = size
        return address

    def try_release(self, address: int, size: int) -> bool:
        """POOL-7: give a block back; False when no pool has it in use.

        Raises BugError for a range that is no block, unless trusting.
        """
        pool = self.owner(address)
        if pool is None:
            return False
        if self._blocks.pop(address, None) != size and not self._trusting:
            raise BugError(f"kernel pool: {size} bytes at {address:#x} were never handed out")
        pool.release(address, size)
        self._trim()
        return True

    def owner(self, address: int) -> KernelPool | None:
        """The first pool that has an address in use."""
        return next((pool for pool in self.pools if pool.contains(address)), None)

    def close(self) -> None:
        """Free the pools in list order. DEV-25."""
        for pool in self.pools:
            self._give_back(pool)
        self.pools.clear()
        self._blocks.clear()

    def _create(self, *, read_only: bool) -> KernelPool | None:
        request = MemoryRequest(POOL_SIZE, read_only=read_only and self._honours_flag)
        try:
            pool = KernelPool(self._allocate(request), read_only=read_only)
        except RtError:
            return None
        self.pools.append(pool)
        return pool

    def _trim(self) -> None:
        """POOL-8: from the front, so it may be the first pool that goes."""
        idle = [pool for pool in self.pools if pool.used == 0]
        for pool in idle[: max(0, len(idle) - IDLE_LIMIT)]:
            self.pools.remove(pool)
            self._give_back(pool)

    def _give_back(self, pool: KernelPool) -> None:
        with suppress(RtError):  # told in the trace; the pool is gone either way
            self._free(pool.base)
