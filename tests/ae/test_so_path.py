"""The path rules by the examples of spec 05, section 10.3 (SP-01 to SP-45), and the table of 10.2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pytest

from cannkit.ae.call import AeCall
from cannkit.ae.context import CUST_PATH, HOME, INNER_PATH, AeContext
from cannkit.ae.engine import AeEngine
from cannkit.ae.event import AeEvent
from cannkit.ae.so_path import cust_lib, read_settings, vf_suffix
from cannkit.ae.survey import SO, TableRow, table
from cannkit.format.ae_status import AeStatus, RunMode
from cannkit.format.cpu_kernel import CpuKernelType
from tests.ae.recorded import SmallKernels, tree

K = "/usr/lib64/aicpu_kernels"
K0 = f"{K}/0/aicpu_kernels_device"
SO_NAME = "libtest.so"
FOUND, ABSENT, REFUSED, BROKEN = "found", "absent", "refused", "broken"
LONG = "/" + "x" * 4094  # with a slash behind it 4096 bytes
PCIE, SOCKET, THREAD = RunMode.PCIE, RunMode.SOCKET, RunMode.THREAD
AICPU, CUST, KFC, CUST_KFC = 2, 4, 5, 6
USER = "/home/CustAiCpuUser"


class Case(NamedTuple):
    tried: tuple[tuple[str, str], ...]
    status: int
    files: tuple[tuple[str, str], ...] = ()
    so: str = SO_NAME
    kind: int = AICPU
    mode: RunMode = PCIE
    env: Mapping[str, str] = {}
    vf: int = 0
    device: int = 0
    cust_sd: bool = False


def absent(*directories: str, so: str = SO_NAME) -> tuple[tuple[str, str], ...]:
    return tuple((f"{each}/{so}", ABSENT) for each in directories)


NOWHERE = absent(K0, K, f"{K0}/123_0")
RETR = "libretr_kernels.so"
HCCL = "libhccl_operator_call.so"
BUILTIN = "libbuiltin_kernels.so"
OPEN_FAILED, OK = AeStatus.OPEN_SO_FAILED, AeStatus.SUCCESS
CUST_0 = f"{USER}/cust_aicpu_0_0_123"
CUST_40 = f"{USER}5/cust_aicpu_40_40_123"
OLD = "/usr/lib64"
HUNDRED = "l" * 97 + ".so"

CASES: Mapping[str, Case] = {
    "SP-01": Case(((f"{K0}/{SO_NAME}", FOUND),), OK, ((f"{K0}/{SO_NAME}", "so"),)),
    "SP-02": Case((*absent(K0), (f"{K}/{SO_NAME}", FOUND)), OK, ((f"{K}/{SO_NAME}", "so"),)),
    "SP-03": Case(
        (*absent(K0, K), (f"{K0}/123_0/{SO_NAME}", FOUND)),
        OK,
        ((f"{K0}/123_0/{SO_NAME}", "so"),),
    ),
    "SP-04": Case(NOWHERE, OPEN_FAILED),
    "SP-05": Case(absent(K, so=RETR), OPEN_FAILED, so=RETR),
    "SP-06": Case(absent(OLD, K, f"{OLD}/123_0", so=HCCL), OPEN_FAILED, so=HCCL),
    "SP-07": Case(
        absent(OLD, K, f"{OLD}/123_0", so=BUILTIN), OPEN_FAILED, so=BUILTIN, mode=SOCKET, vf=5
    ),
    "SP-08": Case(
        absent(
            "/home/u/aicpu_kernels/40/aicpu_kernels_device",
            K,
            "/home/u/aicpu_kernels/40/aicpu_kernels_device/123_0",
        ),
        OPEN_FAILED,
        mode=THREAD,
        env={HOME: "/home/u"},
        vf=40,
    ),
    "SP-09": Case(
        absent(
            "/home/u/aicpu_kernels/0/aicpu_kernels_device",
            K,
            "/home/u/aicpu_kernels/0/aicpu_kernels_device/123_0",
        ),
        OPEN_FAILED,
        mode=THREAD,
        env={HOME: "/home/u/"},
    ),
    "SP-10 unset": Case(NOWHERE, OPEN_FAILED, mode=THREAD),
    "SP-10 empty": Case(NOWHERE, OPEN_FAILED, mode=THREAD, env={HOME: ""}),
    "SP-11": Case(
        absent("/opt/k", K, "/opt/k/123_0"), OPEN_FAILED, mode=THREAD, env={INNER_PATH: "/opt/k"}
    ),
    "SP-12": Case(
        absent("/opt/k", K, "/opt/k/123_0", so=RETR),
        OPEN_FAILED,
        so=RETR,
        mode=THREAD,
        env={INNER_PATH: "/opt/k/"},
    ),
    "SP-13": Case(NOWHERE, OPEN_FAILED, env={INNER_PATH: "/opt/k"}),
    "SP-14": Case((), AeStatus.BAD_PARAM, env={INNER_PATH: ""}),
    "SP-15": Case((), AeStatus.BAD_PARAM, env={INNER_PATH: LONG + "x"}),
    "SP-16": Case(absent(K), OPEN_FAILED, mode=THREAD, env={INNER_PATH: LONG}),
    "SP-17": Case(absent(K), OPEN_FAILED, mode=THREAD, env={INNER_PATH: K}),
    "SP-18": Case((), OPEN_FAILED, kind=CUST),
    "SP-19": Case(
        ((f"{CUST_0}/{SO_NAME}", FOUND),),
        OK,
        (
            (f"{USER}/lib/{SO_NAME}.0.0.123", "so"),
            (f"{CUST_0}/{SO_NAME}", f"link:{USER}/lib/{SO_NAME}.0.0.123"),
        ),
        kind=CUST,
        cust_sd=True,
    ),
    "SP-20": Case(
        ((f"{CUST_40}/{SO_NAME}", FOUND),),
        OK,
        (
            (f"{USER}5/lib/{SO_NAME}.40.40.123", "so"),
            (f"{CUST_40}/{SO_NAME}", f"link:{USER}5/lib/{SO_NAME}.40.40.123"),
        ),
        kind=CUST,
        cust_sd=True,
        vf=40,
        device=40,
    ),
    "SP-21": Case(
        ((f"{CUST_0}/{SO_NAME}", REFUSED), *absent(K, f"{CUST_0}/123_0")),
        OPEN_FAILED,
        (
            (f"{USER}5/lib/{SO_NAME}", "so"),
            (f"{CUST_0}/{SO_NAME}", f"link:{USER}5/lib/{SO_NAME}"),
        ),
        kind=CUST,
        cust_sd=True,
    ),
    "SP-22": Case(
        ((f"{K0}/{SO_NAME}", REFUSED), *absent(K, f"{K0}/123_0")),
        OPEN_FAILED,
        (("/opt/evil.so", "so"), (f"{K0}/{SO_NAME}", "link:/opt/evil.so")),
    ),
    "SP-23": Case(
        ((f"{K0}/{SO_NAME}", FOUND),),
        OK,
        ((f"{K0}/{SO_NAME}.1", "so"), (f"{K0}/{SO_NAME}", f"link:{SO_NAME}.1")),
    ),
    "SP-24": Case(
        ((f"{K0}/{SO_NAME}", REFUSED), (f"{K}/{SO_NAME}", FOUND)),
        OK,
        ((f"{K}/{SO_NAME}", "so"), (f"{K0}/{SO_NAME}", f"link:../../{SO_NAME}")),
    ),
    "SP-25": Case(
        ((f"{K0}/{SO_NAME}", FOUND),),
        OK,
        ((f"{USER}/lib/x.so", "so"), (f"{K0}/{SO_NAME}", f"link:{USER}/lib/x.so")),
    ),
    "SP-26": Case(
        ((f"{K0}/{SO_NAME}", FOUND),),
        OK,
        ((f"/srv{USER}/lib/e.so", "so"), (f"{K0}/{SO_NAME}", f"link:/srv{USER}/lib/e.so")),
    ),
    "SP-27": Case(
        ((f"{K0}/{SO_NAME}", REFUSED), *absent(K, f"{K0}/123_0")),
        OPEN_FAILED,
        (
            ("/usr/lib64", "link:lib"),
            (f"/usr/lib/aicpu_kernels/0/aicpu_kernels_device/{SO_NAME}", "so"),
        ),
    ),
    "SP-28": Case(
        ((f"/root/cust_aicpu_0_0_123/{SO_NAME}", FOUND),),
        OK,
        ((f"/root/cust_aicpu_0_0_123/{SO_NAME}", "so"),),
        kind=CUST,
        mode=SOCKET,
        env={HOME: "/root"},
        cust_sd=True,
    ),
    "SP-29": Case(
        (
            (f"/root//cust_aicpu_0_0_123/{SO_NAME}", REFUSED),
            *absent(K, "/root//cust_aicpu_0_0_123/123_0"),
        ),
        OPEN_FAILED,
        ((f"/root/cust_aicpu_0_0_123/{SO_NAME}", "so"),),
        kind=CUST,
        mode=SOCKET,
        env={HOME: "/root/"},
        cust_sd=True,
    ),
    "SP-30": Case(
        absent("/cust_aicpu_0_0_123", K, "/cust_aicpu_0_0_123/123_0"),
        OPEN_FAILED,
        kind=CUST,
        mode=SOCKET,
        env={HOME: ""},
        cust_sd=True,
    ),
    "SP-31 socket": Case((), OPEN_FAILED, kind=CUST, mode=SOCKET, cust_sd=True),
    "SP-31 thread": Case((), OPEN_FAILED, kind=CUST, mode=THREAD),
    "SP-32": Case(
        absent("/data/c/cust_aicpu_0_0_123", K, "/data/c/cust_aicpu_0_0_123/123_0"),
        OPEN_FAILED,
        kind=CUST,
        env={CUST_PATH: "/data/c"},
        cust_sd=True,
    ),
    "SP-33": Case((), OPEN_FAILED, so="../libtest.so"),
    "SP-34": Case((), OPEN_FAILED, so=""),
    "SP-35 100": Case(absent(K0, K, f"{K0}/123_0", so=HUNDRED), OPEN_FAILED, so=HUNDRED),
    "SP-35 101": Case(
        absent(K0, K, f"{K0}/123_0", so="l" * 98 + ".s"), OPEN_FAILED, so="l" * 98 + ".so"
    ),
    "SP-36": Case(
        ((f"{K0}/.", ABSENT), (f"{K}/.", REFUSED), (f"{K0}/123_0/.", ABSENT)),
        OPEN_FAILED,
        ((f"{K}/other", "text"),),
        so=".",
    ),
    "SP-37": Case(
        ((f"{K0}/{SO_NAME}", BROKEN), (f"{K}/{SO_NAME}", FOUND)),
        OK,
        ((f"{K0}/{SO_NAME}", "text"), (f"{K}/{SO_NAME}", "so")),
    ),
    "SP-38 relative": Case(
        ((f"kern/{SO_NAME}", REFUSED), *absent(K, "kern/123_0")),
        OPEN_FAILED,
        ((f"/kern/{SO_NAME}", "so"),),
        mode=THREAD,
        env={INNER_PATH: "kern"},
    ),
    "SP-38 slashes": Case(
        ((f"/kern//{SO_NAME}", REFUSED), *absent(K, "/kern//123_0")),
        OPEN_FAILED,
        ((f"/kern/{SO_NAME}", "so"),),
        mode=THREAD,
        env={INNER_PATH: "/kern//"},
    ),
    "SP-39": Case(
        ((f"/opt/k/{SO_NAME}", REFUSED), *absent(K, "/opt/k/123_0")),
        OPEN_FAILED,
        ((f"/opt/k2/{SO_NAME}", "so"), (f"/opt/k/{SO_NAME}", f"link:../k2/{SO_NAME}")),
        mode=THREAD,
        env={INNER_PATH: "/opt/k"},
    ),
    "SP-41 inner": Case(NOWHERE, OPEN_FAILED, mode=RunMode.INVALID),
    "SP-41 cust": Case(
        absent("/home/u/cust_aicpu_0_0_123", K, "/home/u/cust_aicpu_0_0_123/123_0"),
        OPEN_FAILED,
        kind=CUST,
        mode=RunMode.INVALID,
        env={HOME: "/home/u"},
        cust_sd=True,
    ),
}


def context_of(case: Case) -> AeContext:
    return AeContext(case.mode, case.cust_sd, case.device, case.vf, 123, case.env)


def engine_for(case: Case) -> AeEngine:
    files = tree([[*each] for each in case.files])
    return AeEngine(context_of(case), files, SmallKernels(files, []))


def tried(call: AeCall) -> tuple[tuple[str, str], ...]:
    found = []
    for each in call.resolution.attempts if call.resolution else ():
        mark = BROKEN if each.why else FOUND
        if not each.exists:
            mark = ABSENT
        elif each.guard == "refused":
            mark = REFUSED
        found.append((each.path, mark))
    return tuple(found)


@pytest.mark.parametrize("name", CASES)
def test_path_case(name: str) -> None:
    case = CASES[name]
    call = engine_for(case).call(AeEvent(case.kind, case.so, "k_ret_0"))
    assert call.status == case.status
    assert tried(call) == case.tried


@pytest.mark.parametrize(("first", "status"), [(CUST, "2"), (AICPU, "1")])
def test_same_name_in_two_places_is_loaded_once(first: int, status: str) -> None:  # SP-40, Q-6
    files = tree([[f"/home/u/cust_aicpu_0_0_123/{SO_NAME}", "so"], [f"/opt/k/{SO_NAME}", "so"]])
    context = AeContext(THREAD, pid=123, env={HOME: "/home/u", INNER_PATH: "/opt/k"})
    engine = AeEngine(context, files, SmallKernels(files, []))
    expected = f"/home/u/cust_aicpu_0_0_123/{SO_NAME}" if status == "2" else f"/opt/k/{SO_NAME}"
    calls = [
        engine.call(AeEvent(kind, SO_NAME, "k_count")) for kind in (first, CUST + AICPU - first)
    ]
    assert [call.status for call in calls] == [1, 2]  # one library counts both
    assert all(call.resolution and call.resolution.loaded == expected for call in calls)
    assert calls[1].resolution is not None
    assert calls[1].resolution.cached
    assert not calls[1].resolution.attempts


def kfc_engine(*files: tuple[str, str]) -> AeEngine:
    return engine_for(Case((), OK, files))


def test_kfc_falls_back_to_what_is_visible() -> None:  # SP-42
    engine = kfc_engine((f"{K}/libother.so", "so"))
    assert engine.call(AeEvent(AICPU, "libother.so", "k_ret_0")).status == OK
    call = engine.call(AeEvent(KFC, SO_NAME, "k_ret_0"))
    assert tried(call) == NOWHERE
    assert (call.status, call.is_global) == (OK, True)


def test_kfc_goes_around_the_gate_of_custom_types() -> None:  # SP-43
    engine = kfc_engine((f"{K}/libother.so", "so"))
    engine.call(AeEvent(AICPU, "libother.so", "k_ret_0"))
    call = engine.call(AeEvent(CUST_KFC, SO_NAME, "k_ret_0"))
    assert tried(call) == ()
    assert (call.status, call.is_global) == (OK, True)


def test_kfc_symbol_belongs_to_its_first_library() -> None:  # SP-44, Q-7
    engine = kfc_engine((f"{K}/{SO_NAME}", "so"), (f"{K}/libtest2.so", "so"))
    first = engine.call(AeEvent(KFC, SO_NAME, "k_count1000"))
    second = engine.call(AeEvent(KFC, "libtest2.so", "k_count1000"))
    assert (first.status, second.status) == (1001, 1002)
    assert second.resolution is None
    assert [note.rule for note in second.notes] == ["Q-7"]


def test_kfc_lib_does_not_come_back() -> None:  # SP-45, Q-2
    engine = kfc_engine((f"{K}/{SO_NAME}", "so"))
    assert engine.call(AeEvent(KFC, SO_NAME, "k_ret_0")).status == OK
    engine.clear()
    call = engine.call(AeEvent(KFC, SO_NAME, "k_ret_0"))
    assert call.status == AeStatus.BAD_PARAM
    assert [note.rule for note in call.notes] == ["Q-2"]


@pytest.mark.parametrize(
    ("vf", "suffix"),
    {
        0: "/",
        1: "1/",
        31: "31/",
        32: "1/",
        33: "1/",
        34: "2/",
        35: "2/",
        40: "5/",
        41: "5/",
        62: "16/",
        63: "16/",
        64: "64/",
    }.items(),
)
def test_vf_suffix(vf: int, suffix: str) -> None:  # AE-601
    assert vf_suffix(vf) == suffix


@pytest.mark.parametrize("size", [4095, 4096])
def test_longest_variable(size: int) -> None:  # AE-505
    value = "/" + "x" * (size - 1)
    for name in (INNER_PATH, CUST_PATH):
        settings = read_settings(AeContext(env={name: value}))
        assert settings.status == (OK if size == 4095 else AeStatus.INNER_ERROR)
        assert (name in settings.why) is (size == 4096)


def test_limits_count_bytes() -> None:  # AE-505: 1366 letters of 3 bytes
    value = "/" + "€" * 1365
    assert read_settings(AeContext(env={INNER_PATH: value})).status == AeStatus.INNER_ERROR
    assert read_settings(AeContext(env={INNER_PATH: value[1:]})).status == OK


H = "/home/HwHiAiUser"
INNER, CUSTOM, FWK = (
    (CpuKernelType.AICPU, CpuKernelType.AICPU_KFC),
    (CpuKernelType.AICPU_CUSTOM, CpuKernelType.CUSTOM_KFC),
    (CpuKernelType.FWK,),
)


def levels(first: str, third: str) -> tuple[str, ...]:
    return tuple(f"{each}/{SO}" for each in (first, K, f"{first}/{third}"))


def test_table_of_all_directories() -> None:  # 05, 10.2
    rows = table(AeContext(vf=40, pid=123))
    in_k, in_home = f"{K}/40/aicpu_kernels_device", f"{H}/aicpu_kernels/40/aicpu_kernels_device"
    folder = "cust_aicpu_0_40_123"
    tf = "libtf_kernels.so"
    refused = rows.pop(5)
    assert (refused.kernel_types, refused.modes, refused.paths) == (CUSTOM, (PCIE, SOCKET), ())
    assert "cust-sd" in refused.why
    assert rows == [
        TableRow(INNER, (PCIE, SOCKET), False, levels(in_k, "123_0")),
        TableRow(INNER, (THREAD,), False, levels(in_home, "123_0")),
        TableRow(CUSTOM, (PCIE,), True, levels(f"{USER}5/{folder}", "123_0")),
        TableRow(CUSTOM, (SOCKET,), True, levels(f"{H}5/{folder}", "123_0")),
        TableRow(CUSTOM, (THREAD,), True, levels(f"{H}/{folder}", "123_0")),
        TableRow(FWK, (PCIE, SOCKET), False, (f"{in_k}/{tf}", f"{K}/{tf}")),
        TableRow(FWK, (THREAD,), False, (f"{in_home}/{tf}", f"{K}/{tf}")),
    ]
    assert cust_lib(40) == f"{USER}5/lib/"


def test_table_of_another_device() -> None:  # 05, 10.2, the remark below it
    rows = table(AeContext(device=40, vf=40, pid=123))
    assert rows[2].paths == levels(f"{USER}5/cust_aicpu_40_40_123", "123_40")
