"""Many objects: one line for each, as they come, then the totals."""

from __future__ import annotations

from collections import Counter

from rich.text import Text

from cannkit.render.console import from_file
from cannkit.render.text import plural, size
from cannkit.report.parse import ParseDocument
from cannkit.soc import PRODUCTS


class ParseListing:
    """Makes the lines and keeps the counts."""

    def __init__(self) -> None:
        self._objects = 0
        self._kernels = 0
        self._families: Counter[str] = Counter()
        self._states: Counter[str] = Counter()

    def heading(self) -> Text:
        """The names of the columns."""
        return Text(
            f"{'CHIP':<7}{'CORE':<9}{'KERNELS':>7}  {'SIZE':<24}{'RUNTIME':<11}FILE", "bold"
        )

    def line(self, document: ParseDocument) -> Text:
        """One object."""
        chip = _chip(document)
        state, style = _state(document)
        self._objects += 1
        self._kernels += len(document.kernels)
        self._families[chip] += 1
        self._states[state] += 1
        weight = "" if document.size is None else size(document.size)
        line = Text(f"{chip:<7}")
        line.append(f"{_core(document):<9}", "cyan")
        line.append(f"{len(document.kernels):>7,}  {weight:<24}")
        line.append(f"{state:<11}", style)
        return line.append_text(from_file(document.place))

    def totals(self) -> Text:
        """Objects and kernels, objects by chip, and how many are not simply accepted."""
        chips = ", ".join(f"{count:,} {chip}" for chip, count in sorted(self._families.items()))
        counts = f"{plural(self._objects, 'object')}, {plural(self._kernels, 'kernel')}: {chips}"
        odd = [f"{count:,} {state}" for state, count in self._states.items() if state != "accepts"]
        return Text(counts + (f"; {', '.join(odd)}" if odd else ""), "bold")


def _chip(document: ParseDocument) -> str:
    family = document.family
    if family is not None:
        return PRODUCTS.get(family, family)
    arch = document.elf["arch"] if document.elf else None
    return arch.split()[0] if arch else "?"


def _core(document: ParseDocument) -> str:
    kinds = {kernel.func_type_name for kernel in document.kernels}
    if len(kinds) > 1 or any(kind.startswith("MIX") for kind in kinds):
        return "MIX"
    kind = next(iter(kinds), "-")
    return "default" if kind == "INVALID" else kind


def _state(document: ParseDocument) -> tuple[str, str]:
    if document.error is not None or document.verdict is None:
        return "error", "bold red"
    if not document.verdict.from_data.accepted:
        return "refuses", "bold red"
    if not document.verdict.from_file.accepted:
        return "data only", "yellow"
    return "accepts", "green"
