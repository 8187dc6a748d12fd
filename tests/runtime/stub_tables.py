"""A stub table of dicts alone, and the same questions asked of it and of ours."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from cannkit.format.status import RtError
from cannkit.runtime.kernel import CpuFunction, CpuKernelType, cpu_kernel
from cannkit.runtime.pool import ProgramPool
from cannkit.runtime.program import PlainProgram
from cannkit.runtime.program_base import Flow
from cannkit.runtime.stub_table import StubTable
from cannkit.soc import find_soc
from tests.facts import A2_SOC

Op = list[Any]
Answer = dict[str, Any]
DUPLICATE: Final = 117964807
NOT_IN_POOL: Final = -1
FLOWS: Final = {"old": Flow.STUBS, "new": Flow.NEW, "nopool": Flow.STUBS}
SOC: Final = find_soc(A2_SOC)


class Row(NamedTuple):
    program: int
    kernel: str
    stub: int
    name: str
    info: str


class DictTable:
    """What the original does, or with `by_owner` what QK-8 asks for, without arrays or searches."""

    def __init__(self, programs: list[str], *, by_owner: bool) -> None:
        self.by_owner = by_owner
        self.flows = programs
        self.refs: list[int | None] = [NOT_IN_POOL if f == "nopool" else 1 for f in programs]
        self.rows: dict[int, Row] = {}
        self.names: dict[str, Row] = {}
        self.infos: dict[str, Row] = {}
        self.peak = 0

    def ask(self, op: Op) -> Answer:
        kind, *rest = op
        return getattr(self, f"_{kind}")(*rest)  # type: ignore[no-any-return]

    def final(self) -> Answer:
        return {
            "array": [[stub, self.rows[stub].kernel] for stub in sorted(self.rows)],
            "capacity": -(-self.peak // 2048) * 2048,
            "ext": sorted(self.infos),
            "inv": {name: row.stub for name, row in self.names.items()},
        }

    def _add(self, program: int, kernel: str, stub: int, name: str, info: str | None) -> Answer:
        if stub in self.rows:
            return {"ret": DUPLICATE}
        row = Row(program, kernel, stub, name, info or "")
        self.rows[stub] = self.names[name] = self.infos[row.info] = row
        self.peak = max(self.peak, len(self.rows))
        return {"ret": 0}

    def _look(self, stub: int) -> Answer:
        return self._held(self.rows.get(stub))

    def _ext(self, info: str) -> Answer:
        return self._held(self.infos.get(info))

    def _held(self, row: Row | None) -> Answer:
        count = self.refs[row.program] if row else None
        if row is None or count in (None, NOT_IN_POOL) or self.flows[row.program] == "new":
            return {"kernel": None, "refs": list(self.refs)}
        assert count is not None
        self.refs[row.program] = count + 1
        return {"kernel": row.kernel, "refs": list(self.refs)}

    def _inv(self, name: str) -> Answer:
        row = self.names.get(name)
        return {"stub": row.stub if row else 0}

    def _put(self, program: int) -> Answer:
        count = self.refs[program]
        if count is not None and count > 0 and self.flows[program] != "new":
            self.refs[program] = count - 1 or None
            if count == 1:
                self._removeAll(program)
        return {"refs": self.refs[program]}

    def _removeAll(self, program: int) -> Answer:  # noqa: N802 - the word of the rows
        gone = [row for row in self.rows.values() if row.program == program]
        for row in gone:
            del self.rows[row.stub]
            if not self.by_owner:
                self.names.pop(row.kernel, None)
                self.infos.pop(row.info, None)
        if self.by_owner:
            self.names = {t: row for t, row in self.names.items() if row.program != program}
            self.infos = {t: row for t, row in self.infos.items() if row.program != program}
        return {"ret": 0}


class OurTable:
    """The same questions for a StubTable."""

    def __init__(self, programs: list[str]) -> None:
        self.pool = ProgramPool()
        self.table = StubTable(self.pool)
        self.programs = [PlainProgram(SOC, FLOWS[flow]) for flow in programs]
        self.ids = [
            None if flow == "nopool" else self.pool.add(program)
            for flow, program in zip(programs, self.programs, strict=True)
        ]

    def ask(self, op: Op) -> Answer:
        kind, *rest = op
        return getattr(self, f"_{kind}")(*rest)  # type: ignore[no-any-return]

    def final(self) -> Answer:
        return {
            "array": [[entry.stub, entry.kernel.name] for entry in self.table],
            "capacity": self.table.capacity,
            "ext": list(self.table.infos()),
            "inv": self.table.names(),
        }

    def _refs(self) -> list[int | None]:
        return [NOT_IN_POOL if at is None else self.pool.references(at) or None for at in self.ids]

    def _add(self, program: int, kernel: str, stub: int, name: str, info: str | None) -> Answer:
        made = cpu_kernel(CpuFunction(kernel, "", "", CpuKernelType.AICPU))
        try:
            self.table.add(self.programs[program], made, stub, name, info)
        except RtError as error:
            return {"ret": error.rt}
        return {"ret": 0}

    def _look(self, stub: int) -> Answer:
        entry = self.table.lookup(stub)
        return {"kernel": entry.kernel.name if entry else None, "refs": self._refs()}

    def _ext(self, info: str) -> Answer:
        entry = self.table.lookup_info(info)
        return {"kernel": entry.kernel.name if entry else None, "refs": self._refs()}

    def _inv(self, name: str) -> Answer:
        return {"stub": self.table.stub_of(name) or 0}

    def _put(self, program: int) -> Answer:
        number = self.ids[program]
        gone = None if number is None else self.pool.put(number)
        if gone is not None:
            self.table.remove_all(gone)
        return {"refs": self._refs()[program]}

    def _removeAll(self, program: int) -> Answer:  # noqa: N802 - the word of the rows
        self.table.remove_all(self.programs[program])
        return {"ret": 0}
