"""A recorded session of loading, carried out with our own functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from cannkit.device.device import Device, DeviceConfig
from cannkit.device.trace import EventLog
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.addresses import (
    core_addresses,
    function_addresses,
    global_range,
    image_range,
    kernel_at,
)
from cannkit.runtime.binary_loader import BinaryLoader
from cannkit.runtime.kernel import Kernel
from cannkit.runtime.kernel_facts import assign_slots
from cannkit.runtime.load_options import LoadOption, LoadOptions, Magic
from cannkit.runtime.module import Module
from cannkit.runtime.old_flow import register_function
from cannkit.runtime.pool import ProgramPool
from cannkit.runtime.process import Process
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program
from cannkit.runtime.stub_table import kernel_names
from cannkit.soc import find_soc
from tests.device.drivers import SOCS, Faults, TestDriver, as_recorded
from tests.device.pools import described
from tests.runtime.answers import OK, SKIP, Answer, described_program, failure, recorded_bytes

STATE_DEVICES: Final = 4


class Session:
    """One process: its devices, programs and modules, and what its driver was asked last."""

    def __init__(self, row: Mapping[str, Any], corpus: Path) -> None:
        self.soc = find_soc(SOCS[row["profile"]])
        self.config = DeviceConfig(
            use_pool=row.get("pool", True), has_numa_ts=row.get("numaTs", True)
        )
        self.log = EventLog()
        self.faults = Faults()
        self.pool = ProgramPool(row.get("maxPrograms", 480_000))
        # The rows ask what lies behind the feature gate of aclrtBinaryLoad.
        ungated = self.soc._replace(loads_without_tiling=True)
        self.process = Process(BinaryLoader(ungated, self.pool), destroyed=self._destroyed)
        self.loader = self.process.loader
        self.devices: dict[int, Device] = {}
        self.device: Device | None = None
        self.programs: list[Program | None] = []
        self.taken: list[Module | None] = []
        self.module_bases: set[int] = set()
        self.leaks: tuple[int, ...] = ()  # of the last unload
        self._corpus = corpus

    def run(self, op: Mapping[str, Any]) -> Answer | None:
        """The answer to a step, in the words of the rows."""
        self.log.clear()
        step: Callable[[Mapping[str, Any]], Answer | None] = getattr(self, f"_{op['op']}")
        answer = step(op)
        events = as_recorded(self.log)
        return answer if answer is None or not events else answer | {"ev": events}

    def program(self, op: Mapping[str, Any]) -> Program | None:
        """The program of a step, None where it does not exist (any more)."""
        number = op["p"]
        return self.programs[number] if number < len(self.programs) else None

    def bare_addresses(self, op: Mapping[str, Any]) -> Answer | None:
        """What `faddr` answers where the original takes offsets for addresses (QK-7)."""
        program = self.program(op) if op["op"] == "faddr" else None
        kernel = program.find_name(op["name"]) if program else None
        if kernel is None:
            return None
        first, second = kernel.part1.offset, kernel.part2.offset
        aic, aiv = assign_slots(kernel, first, second)
        return {"aic": aic, "aiv": aiv, "func1": first, "func2": second or "unwritten"}

    def _destroyed(self, program: Program) -> None:
        self.programs = [None if known is program else known for known in self.programs]

    def _dev(self, op: Mapping[str, Any]) -> Answer:
        if op["id"] < 0:
            self.device = None
            return {}
        device = self.devices.get(op["id"]) or Device(
            op["id"],
            self.soc,
            self.config,
            driver=TestDriver.sharing(self.faults),
            trace=self.log,
        )
        try:
            device.start()
        except RtError as error:
            return failure(error)
        self.devices[device.id] = self.device = device
        return {}

    def _load(self, op: Mapping[str, Any]) -> Answer:
        data = memoryview(recorded_bytes(op, self._corpus))
        flow, magic = op.get("flow", "new"), op.get("magic", Magic.ELF)
        program: Program
        binaries = self.process.binaries
        self.programs.append(None)
        try:
            if flow == "new":
                options = tuple(LoadOption(*pair) for pair in op.get("opts", ()))
                program = binaries.load_from_data(data, LoadOptions(options))
            elif flow == "reg":
                program = binaries.register_binary(data, magic)
            elif flow == "regall":
                program = binaries.load_old(data, magic)
            elif flow == "notiling":
                program = self.process.load_without_tiling(data, self.device)
            else:
                program = self.process.load_old(data, magic, self.device)
        except RtError as error:
            return failure(error)
        self.programs[-1] = program
        return OK | described_program(program)

    def _getf(self, op: Mapping[str, Any]) -> Answer:
        """DEV-13: any failure of a look-up by name is 107000, inside too."""

        def find(program: Program) -> Kernel:
            try:
                self.loader.prepare(program, self.device)
                return program.by_name(op["name"])
            except RtError as error:
                raise RtError(RtStatus.INVALID_VALUE, "no function", why=str(error)) from error

        return self._found(op, find)

    def _gete(self, op: Mapping[str, Any]) -> Answer:
        def find(program: Program) -> Kernel:
            self.loader.prepare(program, self.device)
            return program.by_entry(op["entry"])

        return self._found(op, find)

    def _found(self, op: Mapping[str, Any], find: Callable[[Program], Kernel]) -> Answer:
        program = self.program(op)
        if program is None:
            return SKIP
        try:
            return OK | {"kernel": find(program).name}
        except RtError as error:
            return failure(error) | {"kernel": None}

    def _faddr(self, op: Mapping[str, Any]) -> Answer:
        program = self.program(op)
        if program is None:
            return SKIP
        kernel = program.find_name(op["name"])
        if kernel is None:
            return {"kernel": None}
        loaded = self.loader.find(program, self.device) if self.device else None
        names = (loaded.names.addresses(kernel) if loaded else None) or (0, 0)
        lengths = assign_slots(kernel, kernel.part1.length, kernel.part2.length)
        answer = {"aic": 0, "aiv": 0, "names": list(names), "size": list(lengths)}
        try:
            aic, aiv = core_addresses(self.loader, program, kernel, self.device)
            pc1, pc2 = function_addresses(self.loader, program, kernel, self.device)
        except RtError as error:
            return answer | failure(error)
        answer |= {"aic": aic, "aiv": aiv, "func1": pc1}
        return answer | OK | {"func2": "unwritten" if pc2 is None else pc2}

    def _devaddr(self, op: Mapping[str, Any]) -> Answer:
        program = self.program(op)
        if program is None:
            return SKIP
        if op["type"] == 1:
            return OK | {"addr": True, "size": len(program.data)}
        try:
            address, size = image_range(self.loader, program, self.device)
        except RtError as error:
            return failure(error)
        return OK | {"addr": address, "size": size}

    def _global(self, op: Mapping[str, Any]) -> Answer:
        program = self.program(op)
        if program is None:
            return SKIP
        try:
            address, size = global_range(self.loader, program, op["name"], self.device)
        except RtError as error:
            return failure(error)
        return OK | {"addr": address, "size": size}

    def _regcpu(self, op: Mapping[str, Any]) -> Answer:
        program = self.program(op)
        if program is None:
            return SKIP
        try:
            kernel = self.process.register_cpu_function(
                program, op["func"], op["kernel"], self.device
            )
        except RtError as error:
            return failure(error) | {"kernel": None}
        assert self.device is not None
        loaded = self.loader.on(program, self.device)
        assert kernel.cpu is not None
        return OK | {
            "kernel": {
                "function": kernel.cpu.function,
                "name": kernel.name,
                "names": list(loaded.names.addresses(kernel) or (0, 0)),
                "opType": kernel.cpu.op_type,
                "so": kernel.cpu.kernel_so,
                "type": kernel.cpu.kernel_type,
            }
        }

    def _unload(self, op: Mapping[str, Any]) -> Answer:
        program = self.program(op)
        if program is None:
            return SKIP
        try:
            self.leaks = self.process.unload(program, self.device)
        except RtError as error:
            return failure(error)
        return dict(OK)

    def _reset(self, op: Mapping[str, Any]) -> Answer:
        device = self.devices.get(op["id"])
        if device is not None:
            self.process.reset(device)
            self.device = None if self.device is device else self.device
        return {}

    def _pc(self, op: Mapping[str, Any]) -> Answer:
        program = self.program(op)
        if not isinstance(program, ElfProgram):
            return SKIP if program is None else {"kernel": None}
        try:
            original = kernel_at(self.loader, program, op["addr"], self.device).original
        except RtError:
            original = None
        return {"kernel": original.name if original else None}

    def _state(self, op: Mapping[str, Any]) -> Answer:
        program = self.program(op)
        if program is None:
            return SKIP
        places = {place.device.id: place for place in self.loader.places(program)}
        return {
            "addr": [
                [place.base, place.aligned, place.prepared] if place else [0, 0, False]
                for place in map(places.get, range(STATE_DEVICES))
            ]
        }

    def _pools(self, op: Mapping[str, Any]) -> Answer:
        device = self.devices.get(op["id"])
        return {"pools": described(device.pools) if device else []}

    def _slots(self, op: Mapping[str, Any]) -> Answer:
        counts = [self.pool.references(at) for at in range(op["n"])]
        return {"slots": [[count, count > 0] for count in counts]}

    def _fault(self, op: Mapping[str, Any]) -> None:
        self.faults.plan(op["what"], op["n"], op["ret"])

    def _nextaddr(self, op: Mapping[str, Any]) -> None:
        self.faults.next_address = op["addr"]

    def _l2(self, op: Mapping[str, Any]) -> None:
        self.faults.l2 = op["ret"], op["value"]

    def _modload(self, op: Mapping[str, Any]) -> Answer:
        program = self.program(op)
        if program is None:
            return SKIP
        self.taken.append(None)
        try:
            names = kernel_names(program, self.process.stubs)
            module = self.process.modules.take(program, self.device, names)
        except RtError as error:
            return failure(error) | {"ok": False}
        self.taken[-1] = module
        assert module.image is not None
        self.module_bases.add(module.image.base)
        return {
            "m": len(self.taken) - 1,
            "ok": True,
            "base": module.image.base,
            "align": module.image.aligned,
            "devSize": module.image.size,
            "names": [module.names_address, module.so_address],
            "ref": self.pool.references(program.id),
        }

    def _module(self, op: Mapping[str, Any]) -> Module | None:
        return self.taken[op["m"]] if op["m"] < len(self.taken) else None

    def _modrel(self, op: Mapping[str, Any]) -> Answer:
        module = self._module(op)
        if module is None:
            return SKIP
        self.taken[op["m"]] = None
        return {"freed": self.process.modules.release(module)}

    def _modfn(self, op: Mapping[str, Any]) -> Answer:
        program, module = self.program(op), self._module(op)
        if program is None or module is None:
            return SKIP
        kernel = program.find_name(op["name"])
        if kernel is None:
            return {"kernel": None}
        pc1, pc2 = module.function(kernel)
        return {"pc": [pc1, pc2 or 0], "prefetch": list(module.prefetch(kernel) or (0, 0))}

    def _freg(self, op: Mapping[str, Any]) -> Answer:
        program = self.program(op)
        if program is None:
            return SKIP
        answer = dict(OK)
        try:
            register_function(self.process.stubs, program, op["stub"], op["stubName"], op["ext"])
        except RtError as error:
            answer = failure(error)
        size = program.names_size if isinstance(program, ElfProgram) else 0
        return answer | {"namesSize": size, "soName": program.so_name}
