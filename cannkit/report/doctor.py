"""The document of `cannkit doctor`: what this machine has and can do. cli.md, section 9."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar, Self

from cannkit.errors import ExitCode
from cannkit.format.dynamic_types import machine_name
from cannkit.format.elf_types import Machine
from cannkit.ops.checkup import MEANING, Ability, Cache, What
from cannkit.ops.toolchain import ToolState
from cannkit.report.base import Document, document, printable


@document
class AbilityEntry:
    """Something that can be done here, or `why` it cannot; `hint` says how to change that."""

    name: str
    meaning: str
    works: bool
    required: bool
    why: str | None
    hint: str | None

    @classmethod
    def of(cls, ability: Ability, *, required: bool) -> Self:
        """The entry of an ability."""
        return cls(
            name=ability.what.value,
            meaning=MEANING[ability.what],
            works=ability.works,
            required=required,
            why=printable(ability.why) or None,
            hint=printable(ability.hint) or None,
        )


@document
class ToolEntry:
    """A tool: where it was found and its first words about itself, null for one that is missing."""

    name: str
    path: str | None
    command: tuple[str, ...] | None
    version: str | None
    why: str | None
    hint: str | None

    @classmethod
    def of(cls, state: ToolState) -> Self:
        """The entry of a tool."""
        tool, missing = state.tool, state.missing
        return cls(
            name=printable(state.what),
            path=printable(tool.path) if tool else None,
            command=tuple(map(printable, tool.command)) if tool and tool.is_program else None,
            version=printable(state.version) or None,
            why=(printable(missing.why) or None) if missing else None,
            hint=printable(missing.hint) if missing else None,
        )


@document
class CacheEntry:
    """Where our compiled programs are kept."""

    path: str
    writable: bool
    programs: int
    size: int

    @classmethod
    def of(cls, cache: Cache) -> Self:
        """The entry of a cache."""
        return cls(printable(cache.path), cache.is_writable, cache.programs, cache.size)


@document
class DoctorDocument(Document):
    """What this machine can do with AI CPU operators, and the tools that it takes."""

    SCHEMA: ClassVar[str] = "cannkit.doctor/1"
    machine: str | None
    abilities: tuple[AbilityEntry, ...]
    tools: tuple[ToolEntry, ...]
    cache: CacheEntry

    @property
    def exit_code(self) -> ExitCode:
        """Negative where native calls do not work, or something that is required does not."""
        missing = any(
            not each.works and (each.required or each.name == What.NATIVE)
            for each in self.abilities
        )
        return ExitCode.NEGATIVE if missing else ExitCode.OK

    @classmethod
    def of(
        cls,
        machine: Machine | None,
        abilities: Sequence[Ability],
        tools: Sequence[ToolState],
        cache: Cache,
        required: Collection[What] = (),
    ) -> Self:
        """The document of a machine."""
        return cls(
            machine=None if machine is None else machine_name(machine),
            abilities=tuple(
                AbilityEntry.of(each, required=each.what in required) for each in abilities
            ),
            tools=tuple(map(ToolEntry.of, tools)),
            cache=CacheEntry.of(cache),
        )
