"""Pools in the words of the recorded rows."""

from __future__ import annotations

from typing import Any

from cannkit.device.kernel_pool import KernelPools


def described(pools: KernelPools) -> list[dict[str, Any]]:
    return [
        {
            "base": pool.base,
            "used": pool.used,
            "ro": pool.read_only,
            "free": [list(node) for node in pool.free],
        }
        for pool in pools.pools
    ]
