"""Where the engine would look, asked without a task: the answers of `so-path`. Spec 05, AE-1203."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from cannkit.ae.caller import Found, Opened, Returned, Signature
from cannkit.ae.context import AeContext
from cannkit.ae.elsewhere import find_elsewhere
from cannkit.ae.engine import AeEngine, without_lib
from cannkit.ae.event import AeEvent, Argument
from cannkit.ae.fwk_path import TF_KERNELS, choose, open_chosen, unpacked_directory
from cannkit.ae.so_path import (
    CUST_TYPES,
    SYSTEM_ROOT,
    Decision,
    Settings,
    is_so_name,
    level_directories,
    place,
    read_settings,
)
from cannkit.ae.so_walk import Attempt, Guard, Open, Resolution, gate, resolve
from cannkit.errors import InputError
from cannkit.format.ae_status import AeStatus, FwkKernelType, RunMode
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.inputs.files import WHOLE_LIMIT, PathView

SO: Final = "<so>"
FUNCTION: Final = "RunCpuKernel"
TABLE_MODES: Final = (RunMode.PCIE, RunMode.SOCKET, RunMode.THREAD)
TABLE_TYPES: Final = (
    (CpuKernelType.AICPU, CpuKernelType.AICPU_KFC),
    CUST_TYPES,
    (CpuKernelType.FWK,),
)


class Answer(NamedTuple):
    """One kernel type in one process: the start of the lib, the search, what the caller of the engine sees.

    `call_status` is None where it cannot be known without files. `elsewhere` tells of what lies where this
    search does not look.
    """

    kernel_type: CpuKernelType
    context: AeContext
    settings: Settings
    resolution: Resolution
    call_status: AeStatus | None
    elsewhere: tuple[str, ...] = ()


class TableRow(NamedTuple):
    """A row of 05, section 10.2: types and modes that share their directories; or why there are none."""

    kernel_types: tuple[CpuKernelType, ...]
    modes: tuple[RunMode, ...]
    is_cust_sd: bool
    paths: tuple[str, ...]
    why: str = ""


def ask(
    kernel_type: CpuKernelType,
    so_name: str | None,
    context: AeContext,
    files: PathView | None,
    probe: Open,
) -> Answer:
    """Look for a library, or without a name for the directories. `probe` says whether one would open."""
    is_framework = kernel_type == CpuKernelType.FWK
    settings = Settings(context.run_mode, None, None) if is_framework else read_settings(context)
    if why := without_lib(kernel_type):
        settings = Settings(context.run_mode, None, None, AeStatus.BAD_PARAM, why)
    name = so_name or ""
    if so_name is None and not is_framework:
        name, resolution = SO, _directories(kernel_type, settings, context)
        if resolution.status is None:
            return Answer(kernel_type, context, settings, resolution, None)
    elif settings.status != AeStatus.SUCCESS:
        resolution = Resolution(name, (), (), (), settings.status, settings.why)
    elif is_framework:
        choice = choose(context, files)
        resolution = open_chosen(choice, context, files, probe)
    else:
        resolution = resolve(kernel_type, name, settings, context, files, probe)
    engine = AeEngine(context, files, _Probe(probe))
    event = AeEvent(kernel_type, name, FUNCTION, fwk_type=FwkKernelType.TF)
    call = engine.call(event)
    status = call.status if call.is_known else None
    missed = files is not None and is_so_name(resolution.so_name) and resolution.loaded is None
    elsewhere = tuple(find_elsewhere(kernel_type, resolution, context, files)) if missed else ()
    return Answer(kernel_type, context, settings, resolution, status, elsewhere)


def not_asked(path: str) -> Opened:
    """Where there are no files nothing is opened."""
    return Opened(None)


def prober(files: PathView) -> Open:
    """What says whether a library would open on a device: by its headers, nothing is loaded."""
    from cannkit.ae.static_check import check_library, open_hosted
    from cannkit.format.dynamic_types import machine_name
    from cannkit.format.elf_types import Machine  # here, for a table of directories needs none
    from cannkit.inputs.rooted import RootedFiles

    def probe(path: str) -> Opened:
        try:
            data = (
                open_hosted(files, path)
                if isinstance(files, RootedFiles)
                else memoryview(files.read(path, WHOLE_LIMIT) or b"")
            )
            checked = check_library(data, None)
        except InputError as error:
            return Opened(None, error.why)
        if checked.why or checked.library is None:
            return Opened(None, checked.why)
        machine = checked.library.machine
        is_device = machine == Machine.EM_AARCH64
        remark = f"built for {machine_name(machine)}; the AI CPU is AArch64"
        return Opened(0, remarks=() if is_device else (remark,))

    return probe


def table(context: AeContext, kernel_types: Iterable[int] | None = None) -> list[TableRow]:
    """05, section 10.2: the directories of every type and mode, `<so>` for the library."""
    wanted = None if kernel_types is None else set(kernel_types)
    rows: list[TableRow] = []
    for group in TABLE_TYPES:
        types = tuple(each for each in group if wanted is None or each in wanted)
        if not types:
            continue
        is_cust = types[0] in CUST_TYPES
        rows += _merged(types, context, is_cust_sd=is_cust)
        if is_cust:
            rows += [row for row in _merged(types, context, is_cust_sd=False) if row.why]
    for each in sorted(wanted or ()):
        if why := without_lib(each):
            rows.append(TableRow((CpuKernelType(each),), TABLE_MODES, False, (), why))
    return rows


def _merged(
    types: tuple[CpuKernelType, ...], context: AeContext, *, is_cust_sd: bool
) -> list[TableRow]:
    rows: list[TableRow] = []
    for mode in TABLE_MODES:
        one = context._replace(run_mode=mode, is_cust_sd=is_cust_sd)
        paths, why = _paths(types[0], one)
        if rows and (rows[-1].paths, rows[-1].why) == (paths, why):
            rows[-1] = rows[-1]._replace(modes=(*rows[-1].modes, mode))
        else:
            rows.append(TableRow(types, (mode,), is_cust_sd, paths, why))
    return rows


def _paths(kernel_type: CpuKernelType, context: AeContext) -> tuple[tuple[str, ...], str]:
    if kernel_type == CpuKernelType.FWK:
        first, _ = unpacked_directory(context)
        return (first + TF_KERNELS, SYSTEM_ROOT + TF_KERNELS), ""
    settings = read_settings(context)
    found = _directories(kernel_type, settings, context)
    return tuple(attempt.path for attempt in found.attempts), found.why


def _directories(kernel_type: CpuKernelType, settings: Settings, context: AeContext) -> Resolution:
    """The levels of a library that has no name yet."""
    if settings.status != AeStatus.SUCCESS:
        return Resolution(SO, (), (), (), settings.status, settings.why)
    why = gate(kernel_type, SO, settings, context)
    if why:
        rule = Decision("AE-602.2", why, taken=True)
        return Resolution(SO, (rule,), (), (), AeStatus.BAD_PARAM, why)
    placement = place(kernel_type, SO, settings, context)
    if placement.directory is None:
        return Resolution(SO, placement.decisions, (), (), placement.status, placement.why)
    attempts = tuple(
        Attempt(level, directory, directory + SO, None, None, Guard.NOT_CHECKED, None)
        for level, directory in enumerate(level_directories(placement.directory, context), 1)
        if directory is not None
    )
    return Resolution(SO, placement.decisions, attempts, (), None)


class _Probe:
    """A caller for which every function is there and returns 0: only libraries are looked for."""

    def __init__(self, probe: Callable[[str], Opened]) -> None:
        self.open = probe

    def close(self, library: int) -> None:
        """Nothing was loaded."""

    def find(self, library: int, name: str) -> Found | None:
        """Yes."""
        return Found(0)

    def find_global(self, name: str) -> Found | None:
        """No: nothing is loaded that could have it."""
        return None

    def why_missing(self, library: int | None, name: str) -> str:
        """Nobody asks."""
        return ""

    def call(
        self, function: int, signature: Signature, argument: Argument, block: tuple[int, int]
    ) -> Returned:
        """Well."""
        return Returned(0)
