"""Runner: runs a job in our small native program, here or under qemu. Spec 07, OPR-801 to OPR-810."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import struct
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from cannkit.ae.caller import Stage, Verdict
from cannkit.ae.host_end import Cause, End
from cannkit.ae.host_verdict import verdict_of
from cannkit.errors import OutputError, brief
from cannkit.format.dynamic_types import machine_name
from cannkit.format.elf_types import Machine
from cannkit.inputs.files import reason
from cannkit.ops.build import built_runner
from cannkit.ops.child import Ended, run_child
from cannkit.ops.errors import CannotRunError
from cannkit.ops.job import Job, RunStage, write_job
from cannkit.ops.job_result import CallDone, Fault, JobResult, Overrun, is_noted
from cannkit.ops.package_paths import library_machine
from cannkit.ops.spot import told
from cannkit.ops.start_failure import Started, check_file, check_start
from cannkit.ops.toolchain import Found, Missing, Tool, Toolchain

TIMEOUT: Final = 10.0
MEMORY: Final = 2 << 30
SHARE: Final = 4  # of address space for each byte of a tensor, OPR-805
RECORD: Final = struct.Struct("<IIiI")  # of the log: `record` in stand_ins.c
LONGEST_LINE: Final = 1023
SEALS: Final = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
QEMU_LINE: Final = re.compile(rb"^qemu: uncaught target signal .*\n?", re.MULTILINE)
MOST_SAID: Final = 200
ACCESSES: Final = (signal.SIGSEGV, signal.SIGBUS)
KERNEL: Final = 0x80  # SI_KERNEL: a fault of an instruction, its address is not told
STAGES: Final = {
    RunStage.NONE: Stage.START,
    RunStage.STARTED: Stage.START,
    RunStage.MAPPED: Stage.LOAD,
    RunStage.LOADED: Stage.LOOKUP,
    RunStage.FOUND: Stage.CALL,
    RunStage.CALLED: Stage.DONE,
    RunStage.LEAVING: Stage.DONE,
}


class Emulate(StrEnum):
    """Whether a library runs under an emulator. OPR-801."""

    AUTO = "auto"
    NEVER = "never"
    ALWAYS = "always"


class LogLine(NamedTuple):
    """A line that the operator logged through slog: level 0 is DEBUG, 1 INFO, 2 WARN, 3 ERROR. OPR-720.

    `call` is the number of the call that was made; what is logged while a library loads counts as the first.
    """

    module: int
    level: int
    text: str
    call: int = 0


class Outcome(NamedTuple):
    """How a run ended and what it left; `exit` or `signal` is None.

    `call_index` is the call that was made last, `opname` its operator. `fault` tells of a crash. `memory` has
    the bytes of the regions. `logs` are in order of their calls, `overruns` in order of regions.
    """

    stage: RunStage
    cause: Cause
    exit: int | None
    signal: int | None
    seconds: float
    calls: tuple[CallDone, ...]
    call_index: int
    logs: tuple[LogLine, ...]
    stdout: bytes
    stderr: bytes
    fault: Fault | None
    error: str | None
    opname: str
    load_ns: int
    overruns: tuple[Overrun, ...]
    emulated: bool
    memory: JobResult
    library: str

    @property
    def is_whole(self) -> bool:
        """Whether all calls came back, and the process ended by itself."""
        return self.stage is RunStage.LEAVING and self.exit == 0 and self.cause is Cause.ITSELF

    @property
    def printed(self) -> str:
        """What it wrote to stdout, then to stderr."""
        between = b"\n" if self.stdout and self.stderr and self.stdout[-1:] != b"\n" else b""
        return (self.stdout + between + self.stderr).decode("utf-8", "replace")

    @property
    def said(self) -> str:
        """The head of what it printed, on one line, to follow other words."""
        words = " ".join(self.printed[: 4 * MOST_SAID].split())
        cut = f"{words[:MOST_SAID]}..." if len(words) > MOST_SAID else words
        return f"; it printed: {cut}" if words else ""

    def verdict(
        self, timeout: float = TIMEOUT, name_of: Callable[[int], str] = "buffer {}".format
    ) -> Verdict | None:
        """AE-1206: how it ended, in words; None where it is whole. `name_of` says what a region is."""
        if self.is_whole:
            return None
        stage, seconds = STAGES[self.stage], round(self.seconds, 2)
        end = End(self.cause, stage, self.exit, self.signal, seconds, self.printed)
        verdict = verdict_of(end, timeout)
        return verdict._replace(hints=(*self._hints(name_of), *verdict.hints))

    def _hints(self, name_of: Callable[[int], str]) -> Iterator[str]:
        if self.opname:
            yield f"the operator {brief(self.opname)} was running"
        if self.fault is not None:
            yield from self._access(self.fault, name_of)
        spot = self.memory.spot
        asked = self.fault is not None or self.cause is Cause.TIMEOUT
        if spot and asked and (place := told(spot, self.library)):
            yield place

    def _access(self, fault: Fault, name_of: Callable[[int], str]) -> Iterator[str]:
        """What was accessed, where an access is what crashed."""
        if fault.is_full:
            yield "its stack is full: a recursion without end, or local variables that are too large"
            return
        if fault.signal not in ACCESSES or fault.code <= 0:
            return
        spot = self.memory.spot
        verb = "jumped to" if spot and spot.place.address == fault.address else "accessed"
        if fault.region is not None:
            name, size = name_of(fault.region), len(self.memory.region(fault.region))
            place = f"byte {fault.distance} of {name}"
            if fault.where != "inside":
                yield f"it {verb} {place}, {fault.where} its {size} bytes"
            elif verb == "accessed":
                yield f"it wrote {place}, which is constant"
            else:
                yield f"it jumped to {place}, which is no code"
        elif fault.code == KERNEL:
            yield "it accessed an address that no process has, or that is not aligned for the instruction"
        else:
            yield f"it {verb} address {fault.address:#x}"


def decide(machine: Machine | int, emulate: Emulate, toolchain: Toolchain | None = None) -> bool:
    """OPR-801: whether code for `machine` is to be emulated. Raises CannotRunError where it does not run."""
    here = (toolchain or Toolchain()).machine
    if machine == here and emulate is not Emulate.ALWAYS:
        return False
    name = machine_name(machine)
    what = f"the library is for {name}"
    if emulate is Emulate.NEVER:
        why = "this machine does not run that, and nothing is to be emulated"
        hint = "--emulate auto" if machine == Machine.EM_AARCH64 else None
        raise CannotRunError(what, why=why, hint=hint)
    if machine != Machine.EM_AARCH64:
        raise CannotRunError(what, why="only AArch64 is emulated")
    return True


class Runner:
    """Runs jobs with the tools of this machine. Changes: a tool that was found is not looked for again."""

    def __init__(self, toolchain: Toolchain | None = None) -> None:
        self._toolchain = toolchain or Toolchain()
        self._programs: dict[Machine, str] = {}

    def run(
        self,
        job: Job,
        *,
        emulate: bool,
        sysroot: str | None = None,
        timeout: float = TIMEOUT,
        memory: int = MEMORY,
        threads: int = 1,
        env: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run a job; what foreign code does comes back as an Outcome.

        `memory` bounds the address space beside the tensors. Raises CannotRunError where nothing is called:
        a tool is missing, the library is for another machine or not loaded, or has no such function;
        OutputError where tensors find no memory, InputError for a library that is not readable, FormatError for
        a file that no loader takes.
        """
        prefix, root = self._prefix(job, emulate, sysroot)
        machine = Machine.EM_AARCH64 if emulate else self._toolchain.machine
        assert machine is not None
        if machine not in self._programs:
            self._programs[machine] = built_runner(machine, self._toolchain)
        program = self._programs[machine]
        size = sum(region.size for region in job.regions)
        fd = _job_file()
        try:
            layout = write_job(fd, job._replace(library=str(Path(job.library).absolute())))
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)  # foreign code cannot take it away under us
            ended = run_child(
                lambda log, go: [*prefix, program, str(fd), str(log), str(go)],
                pass_fds=(fd,),
                env={
                    "PATH": os.defpath,
                    "OMP_NUM_THREADS": str(threads),
                    **(env or {}),
                },
                timeout=timeout,
                memory=memory + SHARE * size,
                has_answered=lambda: is_noted(fd),
            )
            result = JobResult(fd, layout)
        finally:
            os.close(fd)
        return _outcome(job, ended, result, emulate, root, program)

    def _prefix(self, job: Job, emulate: bool, sysroot: str | None) -> tuple[list[str], str]:
        """The emulator and its options, and where libraries lie."""
        found = library_machine(job.library)
        wanted = Machine.EM_AARCH64 if emulate else self._toolchain.machine
        if found != wanted:  # OPR-801: the loader would say that there is no such file
            decide(found, Emulate.ALWAYS if emulate else Emulate.NEVER, self._toolchain)
        check_file(job.library)
        if not emulate:
            return [], "/"
        qemu = _there(self._toolchain.emulator())
        root = _there(self._toolchain.find_sysroot(sysroot)).path
        return [*qemu.command, "-L", root], root


def _there(tool: Found) -> Tool:
    if isinstance(tool, Missing):
        raise CannotRunError(f"{tool.what} is missing", why=tool.why, hint=tool.hint)
    return tool


def _job_file() -> int:
    """Memory that has no name: nothing of it stays, however a process ends."""
    try:
        return os.memfd_create("cannkit-job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError as error:
        raise OutputError("cannot make shared memory", why=reason(error)) from error


def _outcome(
    job: Job, ended: Ended, result: JobResult, emulated: bool, root: str, program: str
) -> Outcome:
    stderr = QEMU_LINE.sub(b"", ended.stderr) if emulated else ended.stderr
    if ended.cause is Cause.ITSELF and ended.exit is not None:
        started = Started(result.stage, ended.exit, result.error, stderr)
        check_start(job, started, root, program, emulated=emulated)
    return Outcome(
        result.stage,
        ended.cause,
        ended.exit,
        ended.signal,
        ended.seconds,
        result.calls,
        result.call_index,
        tuple(sorted(_log_lines(ended.log), key=attrgetter("call"))),
        ended.stdout,
        stderr,
        result.fault() if ended.signal is not None else None,
        result.error,
        result.opname,
        result.load_ns,
        tuple(result.overruns()),
        emulated,
        result,
        job.library,
    )


def _log_lines(raw: bytes) -> Iterator[LogLine]:
    """Records up to the first that is none: foreign code can write there, too."""
    at = 0
    while at + RECORD.size <= len(raw):
        size, module, level, call = RECORD.unpack_from(raw, at)
        at += RECORD.size
        if size > LONGEST_LINE or at + size > len(raw):
            return
        text = raw[at : at + size].decode("utf-8", "replace")
        yield LogLine(module, level, text, call)
        at += size
