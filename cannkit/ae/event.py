"""AeEvent: a task for the engine, its names read and its parameters at hand. Spec 05, sections 1 and 3."""

from __future__ import annotations

from typing import NamedTuple


class Segment(NamedTuple):
    """Bytes at an address that a function may use."""

    address: int
    data: bytes
    is_writable: bool = True


class Argument(NamedTuple):
    """The address that a function gets, and what lies in memory for it. An address of 0 is null."""

    address: int = 0
    segments: tuple[Segment, ...] = ()


NULL: Argument = Argument()


class AeEvent(NamedTuple):
    """HwtsTsKernel with what its addresses point to.

    A name of None is a null pointer. `argument` is `paramBase`; of a framework kernel (type 1) the
    address of the operate block (`kernel` + 4), with `fwk_type` the number in front of it, None for
    a null `kernel`.
    """

    kernel_type: int
    so_name: str | None = None
    func_name: str | None = None
    argument: Argument = NULL
    block_id: int = 0
    block_num: int = 1
    fwk_type: int | None = None
