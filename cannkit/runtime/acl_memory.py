"""AclMemory: allocate, free, copy and set memory as the ACL does. Spec 03, section 6.3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cannkit.device.device import Device
from cannkit.device.driver import copy_error
from cannkit.device.memory import DeviceFaultError, HostMemory, RegionName, round_up
from cannkit.device.trace import CopyKind
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.load import current
from cannkit.runtime.malloc_policy import (
    GRAIN,
    MallocPolicy,
    bad_parameter,
    memory_type_of,
    padded_size,
)
from cannkit.runtime.pointers import (
    PIECE,
    Pointers,
    Source,
    Target,
    check_buffer,
    check_copy,
    invalid,
    is_null,
)

LARGEST_CACHED: Final = 1 << 50  # MEM-5
LARGEST_D2D: Final = 4 << 40  # MEM-7
CAPTURE_MODE_NOT_SUPPORT: Final = RtStatus(0x0703_001C)  # 107030


class AclMemory:
    """The memory calls of one process. Changes.

    `devices` are those in use by id; `host` is pinned host memory. A pointer is an address, or host
    memory of the caller as a buffer; None and 0 are null. A `device` of None is "no current context".
    """

    def __init__(self, host: HostMemory, devices: Mapping[int, Device]) -> None:
        self._host = host
        self._devices = devices
        self._pointers = Pointers(host, devices)
        self._owned: set[tuple[int, int]] = set()  # device id, address

    def malloc(
        self,
        size: int,
        policy: int = MallocPolicy.HUGE_FIRST,
        *,
        device: Device | None,
        align32: bool = False,
    ) -> int:
        """aclrtMalloc, and aclrtMallocAlign32 with `align32`: an address on the device. MEM-3.

        Raises RtError: 100000 for a size of 0 or an overflow, 107002, 207001 after one retry.
        """
        if size <= 0:
            raise bad_parameter("cannot allocate", f"{size} bytes")
        soc = current(device).soc
        return self._allocate(padded_size(size, soc, policy, align32=align32), policy, device)

    def malloc_with_cfg(self, size: int, policy: int = 0, *, device: Device | None) -> int:
        """aclrtMallocWithCfg: no padding. Raises RtError as `malloc` does."""
        if size <= 0:
            raise bad_parameter("cannot allocate", f"{size} bytes")
        return self._allocate(round_up(size, GRAIN), policy, device)

    def malloc_cached(self, size: int, policy: int, *, device: Device | None) -> int:
        """Cached memory: aclrtMallocCached. MEM-5.

        Raises RtError: 100000 for a size of 0, 107000 above 2^50, 207000 for another policy than
        NORMAL_ONLY, and as `malloc` does.
        """
        if size <= 0:
            raise bad_parameter("cannot allocate", f"{size} bytes")
        if size > LARGEST_CACHED:
            raise invalid("cannot allocate", f"{size} bytes are more than {LARGEST_CACHED}")
        if policy != MallocPolicy.NORMAL_ONLY:
            why = f"cached memory takes NORMAL_ONLY, not {MallocPolicy(policy).name}"
            raise RtError(RtStatus.FEATURE_NOT_SUPPORT, "cannot allocate", why=why)
        return self.malloc(size, policy, device=device)

    def malloc_host(self, size: int) -> int:
        """aclrtMallocHost: pinned host memory. Raises RtError: 100000 for a size of 0, 207001."""
        if size <= 0:
            raise bad_parameter("cannot allocate", f"{size} bytes")
        return self._host.allocate(size, RegionName.HOST)

    def free(self, address: int | None) -> None:
        """Device memory given back: aclrtFree.

        Raises RtError: 100000 for null, 107017 for what `malloc` did not give.
        """
        if not address:
            raise bad_parameter("cannot free", "null pointer")
        for device in self._devices.values():
            if (device.id, address) in self._owned:
                self._owned.discard((device.id, address))
                device.free(address)
                return
        why = f"{address:#x} is not the address of an allocation"
        raise RtError(RtStatus.INVALID_HANDLE, "cannot free", why=why)

    def free_host(self, address: int | None) -> None:
        """Pinned memory given back: aclrtFreeHost. Raises RtError: 100000 for null, 107017 for an unknown address."""
        if not address:
            raise bad_parameter("cannot free", "null pointer")
        self._host.free(address)

    def reset(self, device: Device) -> None:
        """The allocations of a device died with it."""
        self._owned = {pair for pair in self._owned if pair[0] != device.id}

    def memcpy(
        self,
        target: Target | None,
        limit: int,
        source: Source | None,
        count: int,
        kind: int = CopyKind.DEFAULT,
        *,
        device: Device | None,
        captured: bool = False,
    ) -> None:
        """aclrtMemcpy: `count` bytes to a target of `limit` bytes. MEM-6, MEM-9.

        `captured`: a capture that is not relaxed is active. Raises RtError, in this order: 100000 for
        a null pointer or an unknown kind, 107000 for a limit too small, 107002, 107030, 107000 for a
        pointer that leads elsewhere than the kind says, 507053 for a range that is not live.
        """
        if count == 0:
            return
        check_copy(target, limit, source, count, kind)
        assert target is not None
        assert source is not None
        if target is source or (isinstance(target, int) and target == source):
            return
        current(device)
        if captured:
            why = "a capture is active that is not relaxed"
            raise RtError(CAPTURE_MODE_NOT_SUPPORT, "cannot copy", why=why)
        self._pointers.copy_kind(target, source, kind)
        self._pointers.copy(target, source, count)

    def memcpy_async(
        self,
        target: Target | None,
        limit: int,
        source: Source | None,
        count: int,
        kind: int = CopyKind.DEFAULT,
        *,
        device: Device | None,
        captured: bool = False,
    ) -> tuple[int, ...]:
        """aclrtMemcpyAsync, carried out at once: the sizes of its pieces, one entry each. MEM-7.

        Raises RtError as `memcpy` does, but: 207000 for a copy from host to host, 107000 for memory
        of the caller (which is pageable) under capture, and for more than 4 TiB between devices.
        """
        if count == 0:
            return ()
        check_copy(target, limit, source, count, kind)
        assert target is not None
        assert source is not None
        current(device)
        kind = self._pointers.copy_kind(target, source, kind)
        if kind == CopyKind.HOST_TO_HOST:
            why = "host to host has no stream"
            raise RtError(RtStatus.FEATURE_NOT_SUPPORT, "cannot copy", why=why)
        if captured and not (isinstance(target, int) and isinstance(source, int)):
            raise invalid("cannot copy", "pageable host memory under capture")
        if kind == CopyKind.DEVICE_TO_DEVICE and count > LARGEST_D2D:
            raise invalid("cannot copy", f"{count} bytes are more than {LARGEST_D2D}")
        self._pointers.copy(target, source, count)
        return tuple(min(PIECE, count - at) for at in range(0, count, PIECE))

    def memset(
        self,
        target: Target | None,
        limit: int,
        value: int,
        count: int,
        *,
        device: Device | None,
    ) -> None:
        """aclrtMemset: set `count` bytes of a target of `limit` bytes to a byte. MEM-8.

        Raises RtError: 100000 for null, 107000 for a limit too small, 107002, 107000 for a pointer
        that leads nowhere, 507053 for a range that is not live.
        """
        if count == 0:
            return
        if is_null(target):
            raise bad_parameter("cannot set memory", "null pointer")
        if count > limit:
            raise invalid("cannot set memory", f"{count} bytes into {limit}")
        check_buffer(target, count, written=True)
        current(device)
        assert target is not None
        place = self._pointers.place(target)
        if not isinstance(target, int):
            memoryview(target).cast("B")[:count] = bytes([value & 0xFF]) * count
        elif place.space is None:
            raise invalid("cannot set memory", f"{target:#x} is {place.name}")
        else:
            try:
                place.space.fill(target, value & 0xFF, count)
            except DeviceFaultError as fault:
                raise copy_error(fault) from fault

    def _allocate(self, size: int, policy: int, device: Device | None) -> int:
        device = current(device)
        memory_type = memory_type_of(policy)
        read_only = policy == MallocPolicy.ACCESS_USER_SPACE_READONLY
        with device.lock:
            try:
                address = device.allocate(size, memory_type=memory_type, read_only=read_only)
            except RtError as error:
                if error.rt is not RtStatus.DRV_OUT_MEMORY:
                    raise
                address = device.allocate(size, memory_type=memory_type, read_only=read_only)
            self._owned.add((device.id, address))
            return address
