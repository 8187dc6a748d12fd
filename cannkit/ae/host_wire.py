"""What HostCaller and its child say to each other: requests, records, and their bytes. Spec 05, AE-1205.

A message is a list of numbers and byte strings. The child imports this module: it loads next to nothing.
"""

from __future__ import annotations

import os
import struct
from typing import Any, Final

TOKEN_SIZE: Final = 16
SIZE: Final = struct.Struct("<Q")
NUMBER: Final = struct.Struct("<Q")

# A request is (kind, ...); the child answers each with ANSWER or PLACE, after a STAGE where it may fail.
START: Final = 0  # token, CPU seconds, memory, process of the parent -> nothing
OPEN: Final = 1  # path -> library or 0, error
CLOSE: Final = 2  # library -> nothing
FIND: Final = 3  # library, name -> function or 0, object that has it
FIND_GLOBAL: Final = 4  # name, is any allowed -> function or 0, object that has it
CALL: Final = 5  # function, signature, address, block id, blocks, (address, is writable, bytes)...

STAGE: Final = 0  # LOAD, LOOKUP or CALLING begins
RETURNED: Final = 1  # the raw code
ANSWER: Final = 2  # as above; of a call how many changed, (index, bytes)..., overruns
PLACE: Final = 3  # number of the segment that has no place, from 1 on, or 0; why

LOAD, LOOKUP, CALLING = 1, 2, 3
PARAM, BLOCK, ADDRESS = 0, 1, 2  # signatures of AE-704
BEFORE, BEHIND, INSIDE = 0, 1, 2  # an overrun: (segment, side, first offset, bytes)
LOST_PIPE, NO_MEMORY = 113, 114  # exit codes of a child that cannot go on

Field = int | bytes
Message = list[Any]  # of fields


class WireError(Exception):
    """Bytes that are no message."""


def encode(*fields: Field) -> bytes:
    """A message as bytes, its length in front."""
    parts = []
    for field in fields:
        if isinstance(field, int):
            parts += [b"i", NUMBER.pack(field)]
        else:
            parts += [b"b", SIZE.pack(len(field)), field]
    body = b"".join(parts)
    return SIZE.pack(len(body)) + body


def decode(body: bytes | bytearray) -> Message:
    """The fields of a message without its length, one at least; raises WireError."""
    fields: Message = []
    at = 0
    while at < len(body):
        if len(body) - at < 1 + SIZE.size:
            raise WireError
        tag = body[at]
        at += 1 + SIZE.size
        if tag == ord("i"):
            fields.append(NUMBER.unpack_from(body, at - NUMBER.size)[0])
            continue
        size = SIZE.unpack_from(body, at - SIZE.size)[0]
        if tag != ord("b") or size > len(body) - at:
            raise WireError
        fields.append(bytes(body[at : at + size]))
        at += size
    if not fields:
        raise WireError
    return fields


def send(pipe: int, message: bytes) -> None:
    """Write all of a message; raises OSError when the pipe is gone."""
    left = memoryview(message)
    while left:
        left = left[os.write(pipe, left) :]


def receive(pipe: int) -> Message:
    """Read one message; raises EOFError at the end of the pipe, OSError when it is gone."""
    return decode(_exactly(pipe, SIZE.unpack(_exactly(pipe, SIZE.size))[0]))


def _exactly(pipe: int, size: int) -> bytearray:
    raw = bytearray()
    while len(raw) < size:
        part = os.read(pipe, min(size - len(raw), 1 << 20))
        if not part:
            raise EOFError
        raw += part
    return raw
