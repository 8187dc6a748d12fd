"""A Runtime whose devices fail when told to, and binaries to load into it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import pytest

from cannkit.api.runtime import Runtime
from cannkit.device.trace import EventLog
from cannkit.format.ascend_meta import FuncType
from cannkit.format.status import RtError
from tests.device.drivers import Faults, TestDriver
from tests.facts import A2_SOC
from tests.runtime.loading import image_builder
from tests.runtime.programs import Function, builder

PAIR: Final = (
    Function("op_0_mix_aic", FuncType.MIX_AIC_MAIN, 0, 0x10, ratio=(1, 2), args=3),
    Function("op_0_mix_aiv", FuncType.MIX_AIC_MAIN, 0x10, 0x20, ratio=(1, 2), args=3),
)


class World(NamedTuple):
    """A Runtime, what its devices were asked, and how they fail."""

    runtime: Runtime
    log: EventLog
    faults: Faults

    def told(self) -> list[str]:
        """The kinds of events since the last time."""
        kinds = [type(event).__name__.removesuffix("Event") for event in self.log]
        self.log.clear()
        return kinds


def world(soc: str = A2_SOC, *, device: int | None = 0) -> World:
    log, faults = EventLog(), Faults()
    runtime = Runtime(soc, device=device, trace=log, driver=TestDriver.sharing(faults))
    log.clear()
    return World(runtime, log, faults)


def kernels(*functions: Function) -> bytes:
    """An object with these functions, a mix pair unless given."""
    return builder(*(functions or PAIR)).build()


def image(size: int = 128, *, writable: bool = True) -> bytes:
    """An object with the kernel `k_0` and, if writable, the variable `g_opSystemRunCfg`."""
    return image_builder(size, writable=writable).build()


@contextmanager
def refused(acl: int, rt: int | None = None) -> Iterator[None]:
    """The code that the caller sees, and the inner one where it is given."""
    with pytest.raises(RtError) as caught:
        yield
    assert caught.value.acl == acl, caught.value
    assert rt is None or caught.value.rt == rt
    assert "UNKNOWN" not in caught.value.acl.c_name
    assert str(caught.value)
