"""The parameter block of `RunCpuKernel`: head, io addresses, NodeDef. Spec 07, section 1 (OPR-101)."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from cannkit.errors import FormatError

HEAD: Final = struct.Struct("<IIIQ")  # length, ioAddrNum, extInfoLength, extInfoAddr
SIZE: Final = struct.Struct("<I")  # of the NodeDef
ADDRESS: Final = 8
EXT_SLOT: Final = 12  # the offset of extInfoAddr
MOST: Final = (1 << 32) - 1


class ParamBlock(NamedTuple):
    """A block: `length` is what its head says; `tail` is what stands behind the NodeDef."""

    length: int
    ext_length: int
    ext_address: int
    addresses: tuple[int, ...]
    node_def: bytes
    tail: bytes = b""


def io_slot(index: int) -> int:
    """The offset of an io address: inputs in NodeDef order, then outputs."""
    return HEAD.size + ADDRESS * index


def encode_block(n_io: int, node_def: bytes, ext_length: int) -> bytes:
    """A block whose addresses are all zero; raises FormatError for what 32 bits cannot count."""
    length = io_slot(n_io) + SIZE.size + len(node_def)
    if not 0 <= ext_length <= MOST or n_io < 0 or length > MOST:
        why = f"{n_io} addresses, {len(node_def)} bytes of NodeDef, {ext_length} of ext info"
        raise FormatError("no parameter block holds this", why=why, rule="OPR-101")
    head = HEAD.pack(length, n_io, ext_length, 0)
    return b"".join((head, bytes(ADDRESS * n_io), SIZE.pack(len(node_def)), node_def))


def decode_block(raw: bytes | memoryview) -> ParamBlock:
    """The block at the start of `raw`.

    Raises FormatError for one that the library refuses or that would make it read past its end (Q-1).
    """
    have = len(raw)
    if have < HEAD.size:
        raise _bad(f"{have} bytes, the head takes {HEAD.size}")
    length, count, ext_length, ext_address = HEAD.unpack_from(raw)
    if length > have:
        raise _bad(f"its head says {length} bytes, there are {have}")
    start = io_slot(count) + SIZE.size
    if start > length:
        raise _bad(f"{count} io addresses take {start} bytes, its head says {length}")
    (size,) = SIZE.unpack_from(raw, start - SIZE.size)
    if not size:
        raise _bad("its NodeDef is empty")
    if size > length - start:
        raise _bad(f"a NodeDef of {size} bytes, {length - start} are left")
    addresses = struct.unpack_from(f"<{count}Q", raw, HEAD.size)
    end = start + size
    return ParamBlock(
        length, ext_length, ext_address, addresses, bytes(raw[start:end]), bytes(raw[end:])
    )


def _bad(why: str) -> FormatError:
    return FormatError("malformed parameter block", why=why, rule="OPR-202")
