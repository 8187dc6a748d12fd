"""SIM-12 to SIM-14: AI CPU entries and what they point to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from cannkit.device.device import Device
from cannkit.device.executor import ErrorType, Outcome, Work
from cannkit.device.hardware import Hardware
from cannkit.device.trace import Severity
from cannkit.format.bits import Record
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.format.sqe import v100, v200
from cannkit.soc import find_soc
from tests.device.station import SOCS, Station
from tests.facts import A2_SOC, A5_SOC

ERROR, WARNING = Severity.ERROR, Severity.WARNING
FAR: Final = 0x1234_5678
FWK: Final = CpuKernelType.FWK


def head(count: int, ext_size: int = 0, ext_address: int = 0) -> bytes:
    """LCH-42."""
    words = b"".join(word.to_bytes(4, "little") for word in (28, count, ext_size))
    return words + ext_address.to_bytes(8, "little")


def with_head(raw: bytes) -> Callable[[Station], Record]:
    def made(station: Station) -> Record:
        station.memory.write(station.cpu_args, raw)
        return station.cpu()

    return made


def long_name(length: int) -> Callable[[Station], Record]:
    def made(station: Station) -> Record:
        at = station.device.allocate(1024)
        station.memory.write(at, b"n" * length)
        return station.cpu(func_name_addr=at)

    return made


def reserved(station: Station) -> Record:
    raw = bytearray(station.cpu().encode())
    raw[15] = 1  # res1, on A5 res3
    return (v100.AicpuSqe if station.is_v100 else v200.AicpuSqe).decode(bytes(raw))


# fmt: off
CASES: Final = [
    (ERROR, "SIM-14", "library name at 0x12345678", lambda s: s.cpu(so_name_addr=FAR)),
    (ERROR, "SIM-14", "function name at 0x12345678", lambda s: s.cpu(func_name_addr=FAR)),
    (ERROR, "SIM-14", "no string", long_name(256)),
    (ERROR, "SIM-14", "no string", lambda s: s.cpu(so_name_addr=end_of_names(s))),
    (ERROR, "SIM-14", "parameter head at 0x12345678: 20 bytes", lambda s: s.cpu(args_addr=FAR)),
    (ERROR, "SIM-14", "20 bytes are not", lambda s: s.cpu(args_addr=s.cpu_args + 4096 - 19)),
    (ERROR, "SIM-14", "510 addresses", with_head(head(510))),
    (ERROR, "SIM-14", "4294967295 addresses", with_head(head(0xFFFF_FFFF))),
    (ERROR, "SIM-14", "extended info at 0x12345678: 8 bytes", with_head(head(1, 8, FAR))),
    (ERROR, "SIM-14", "parameters at 0x12345678", lambda s: s.cpu(kernel_type=FWK, args_addr=FAR)),
    (ERROR, "SIM-14", "parameters at 0x12345678", lambda s: s.cpu(so_name_addr=0, args_addr=FAR)),
    (ERROR, "SIM-14", "parameter head at 0x0", lambda s: s.cpu(kernel_type=4, so_name_addr=0, args_addr=0)),
    (WARNING, "SIM-14", "no function name", lambda s: s.cpu(func_name_addr=0)),
    (WARNING, "SIM-12", "reserved bits", reserved),
]
# fmt: on


def end_of_names(station: Station) -> int:
    """The last bytes of an allocation, none of them 0."""
    station.memory.write(station.names + 1020, b"name")
    return station.names + 1020


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize(("severity", "rule", "why", "make"), CASES)
def test_a_rule_is_provoked(
    soc: str, severity: Severity, rule: str, why: str, make: Callable[[Station], Record]
) -> None:
    """In default, lenient and strict mode; with nobody listening the same."""
    for strict, lenient in ((False, False), (False, True), (True, False)):
        station = Station(soc, strict=strict, lenient=lenient)
        event = station.told(make(station))
        (found,) = event.findings
        assert found.rule == rule
        assert why in found.message
        fails = strict or severity is ERROR
        assert found.severity is (ERROR if fails else WARNING)
        bit = ErrorType.EXCEPTION if rule == "SIM-14" else ErrorType.SQE_ERROR
        assert event.outcome.error_type == (bit if fails else 0)
        unheard = Station(soc, strict=strict, lenient=lenient, listen=False)
        assert [done.cqe.error_type for done in unheard.run(make(unheard))] == [bit] * fails


def test_a_credit_of_0() -> None:
    """SIM-13: on A5 it is one unit."""
    assert Station(A2_SOC).found(Station(A2_SOC).cpu(kernel_credit=0)) == [("SIM-13", WARNING)]
    assert Station(A5_SOC).found(Station(A5_SOC).cpu(kernel_credit=0)) == []


@pytest.mark.parametrize("soc", SOCS)
def test_what_is_right_passes(soc: str) -> None:
    """LCH-43: no library name, and no name at all for the framework."""
    station = Station(soc, strict=True)
    longest = long_name(255)(station)
    extended = with_head(head(1, 256, station.buffer))(station)
    for entry in (
        longest,
        extended,
        station.cpu(so_name_addr=0),
        station.cpu(kernel_type=FWK, so_name_addr=0, func_name_addr=0),
        station.cpu(kernel_type=CpuKernelType.CUSTOM_KFC),
    ):
        event = station.told(entry)
        assert event.findings == ()
        assert event.outcome == (0, 0, "not executed: AE absent")
        assert (event.aic, event.aiv) == (0, 0)


@pytest.mark.parametrize("soc", SOCS)
def test_names_of_what_ran(soc: str) -> None:
    station = Station(soc)
    assert station.told(station.cpu()).name == "Run"
    assert station.told(station.cpu(kernel_type=FWK, func_name_addr=0)).name == "FWK"
    station.memory.write(station.func_name, b"\xff")
    assert station.told(station.cpu()).name == "\ufffdun"


@pytest.mark.parametrize("soc", SOCS)
def test_logic_kernels_have_no_head(soc: str) -> None:
    """AE-303.1, AE-402: an argument of 4 bytes, or none at all, which the kernel itself refuses."""
    station = Station(soc, strict=True)
    short = station.device.allocate(4)
    for kind in (CpuKernelType.CCE, CpuKernelType.AICPU):
        for address in (0, short):
            assert (
                station.found(station.cpu(kernel_type=kind, so_name_addr=0, args_addr=address))
                == []
            )


@pytest.mark.parametrize("kind", [3, 7, 11, 99, 127])
def test_kernel_types_are_left_to_the_parser(kind: int) -> None:
    """AE-301: it has a code of its own for those that it does not know."""
    for soc in SOCS:
        assert Station(soc).found(Station(soc).cpu(kernel_type=kind)) == []


class Engine:
    """An AI CPU that answers a status and keeps its work."""

    def __init__(self) -> None:
        self.works: list[Work] = []

    def execute(self, work: Work) -> Outcome:
        self.works.append(work)
        return Outcome(ErrorType.STATUS, -1, "bad parameter")


@pytest.mark.parametrize("soc", SOCS)
def test_an_engine_takes_its_place(soc: str) -> None:
    """The seam of the engine: after SIM-14 the entry goes to `ai_cpu`."""
    station, engine = Station(soc), Engine()
    station.device.ai_cpu = engine
    entry = station.cpu()
    ((cqe, note),) = station.run(entry)
    assert (cqe.error_type, cqe.error_code, note) == (0x20, 0xFFFF_FFFF, "bad parameter")
    (work,) = engine.works
    assert (work.sqe, work.queue, work.soc) == (entry, 3, find_soc(soc))
    station.run(station.cpu(args_addr=FAR))
    assert len(engine.works) == 1


def test_kfc_under_a_fusion() -> None:
    """04, 4.7."""
    station, engine = Station(A5_SOC), Engine()
    station.device.ai_cpu = engine
    kind = CpuKernelType.AICPU_KFC
    station.run(station.cpu(sqe_type=v200.SqeType.FUSION, kernel_type=kind, sub_type=1))
    assert len(engine.works) == 1
    event = station.told(station.cpu(sqe_type=v200.SqeType.FUSION, kernel_type=kind))
    assert event.outcome.note == "not simulated: FUSION"
    assert len(engine.works) == 1


def test_made_at_the_first_task_and_gone_with_the_device() -> None:
    made: list[Hardware] = []

    def make(hardware: Hardware) -> Engine:
        made.append(hardware)
        return Engine()

    device = Device(0, find_soc(A2_SOC), make_ai_cpu=make)
    assert made == []
    first = device.ai_cpu
    assert device.ai_cpu is first
    device.reset()
    assert device.ai_cpu is not first
    assert made == [device, device]
