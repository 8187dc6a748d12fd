"""The grammar of kernel names: `<file>_<tilingKey>[_mix_aic|_mix_aiv]`. Spec 01, SYM-11."""

from __future__ import annotations

from typing import Final, NamedTuple

LARGEST_KEY: Final = (1 << 64) - 1
MIX_SUFFIXES: Final = ("_mix_aic", "_mix_aiv")


class KernelName(NamedTuple):
    """A symbol name taken apart: `base` has no mix suffix, `key` is its decimal tail, up to 64 bits."""

    base: str
    mix_suffix: str
    key: int | None


def split_kernel_name(name: str) -> KernelName:
    """Take a symbol name apart."""
    suffix = next((s for s in MIX_SUFFIXES if name.endswith(s)), "")
    base = name.removesuffix(suffix)
    tail = base.rpartition("_")[2]
    key = int(tail) if tail.isascii() and tail.isdecimal() and len(tail) <= 4096 else None
    return KernelName(base, suffix, key if key is not None and key <= LARGEST_KEY else None)
