"""Summary: what `diff` keeps of an object, its facts without its bytes; made by `summarise`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from cannkit.diff.change import DIGEST, KERNEL_FACTS, SIDECAR, Value, cut
from cannkit.diff.digests import Digests, Names
from cannkit.diff.sidecar_facts import EntryKey, entry_facts, kernel_list_fact, sidecar_facts
from cannkit.format.ascend_meta import FUNCTION_META, FunctionMeta
from cannkit.format.dfx import DfxArg, TensorType
from cannkit.image.kernel_meta import EntryKind, Record
from cannkit.image.kernel_name import KernelName, split_kernel_name
from cannkit.image.kernel_object import KernelImage, KernelObject

Facts = Mapping[str, Value]

LONGEST: Final = 1 << 16  # characters of a list of arguments
EXACT: Final = 1 << 53  # a double holds no larger number
BINARY_NAMES: Final = {
    "version": "bin_version",
    "mode": "dynamic_param_mode",
    "input_mode": "optional_input_mode",
    "output_mode": "optional_output_mode",
    "feature": "implicit_feature",
}
FLAT: Final = frozenset({"flag", "function_entry", "ratio_aic", "ratio_aiv"})  # in other facts


class KernelSummary(NamedTuple):
    """A kernel: its name, taken apart, and its facts (`KERNEL_FACTS`)."""

    name: str
    parts: KernelName
    facts: Facts

    @property
    def prefix(self) -> str:
        """The name without its key: the file that it was compiled for, as a rule (SYM-11)."""
        return self.parts.base.rpartition("_")[0] if self.parts.key is not None else ""


class Summary(NamedTuple):
    """An object: `facts` of the object and its sidecar, kernels by name, variables by name.

    `sections` has a digest for what is loaded beside the code of kernels; `entries` what kernelList of
    the sidecar says of a kernel; `simplified` the keys that an operator library finds it by.
    """

    size: int
    sha256: str
    facts: Facts
    kernels: Mapping[str, KernelSummary]
    variables: Facts
    sections: Facts
    entries: Mapping[EntryKey, Facts]
    simplified: tuple[str, ...]

    @property
    def signature(self) -> tuple[object, ...]:
        """Keys and argument lists of the kernels: objects of one purpose have the same."""
        return tuple(
            sorted(
                (kernel.parts.key or 0, kernel.parts.mix_suffix, str(kernel.facts["arguments"]))
                for kernel in self.kernels.values()
            )
        )


def summarise(obj: KernelObject, stem: str) -> Summary:
    """The summary of an object whose file is called `stem`. Raises InputError as reading it does."""
    digests = Digests(obj)
    kernels: dict[str, KernelSummary] = {}
    names = Names()
    for kernel in obj.kernels:
        parts = split_kernel_name(kernel.name)
        summary = KernelSummary(kernel.name, parts, _kernel_facts(kernel, parts, digests))
        kernels[names.unique(kernel.name)] = summary
    sidecar = obj.sidecar.sidecar if obj.sidecar else None
    facts = _object_facts(obj)
    entries: dict[EntryKey, Facts] = {}
    if sidecar is not None:
        facts |= sidecar_facts(sidecar, stem, obj.sha256)
        facts[f"{SIDECAR}kernelList"] = kernel_list_fact(
            sidecar, {kernel.parts.base for kernel in kernels.values()}
        )
        entries = entry_facts(sidecar)
    simplified = facts.get(f"{SIDECAR}supportInfo.simplifiedKey")
    return Summary(
        size=obj.size,
        sha256=obj.sha256,
        facts=facts,
        kernels=kernels,
        variables={each.name: each.size for each in obj.variables if each.is_global},
        sections=dict(digests.sections()),
        entries=entries,
        simplified=simplified if isinstance(simplified, tuple) else (),
    )


def _kernel_facts(kernel: KernelImage, name: KernelName, digests: Digests) -> dict[str, Value]:
    fields, others = _fields(kernel.records)
    facts: dict[str, Value] = {kind: fact.default for kind, fact in KERNEL_FACTS.items()}
    facts |= {key: value for key, value in fields.items() if key not in FLAT} | others
    meta = kernel.meta
    key = meta.function_entry if meta.entry_kind is EntryKind.FUNCTION_ENTRY else name.key
    if key is not None and meta.entry_kind is not EntryKind.UNSUPPORTED:
        facts["key"] = str(key)
    facts["entry_kind"] = meta.entry_kind.value
    if "ratio_aic" in fields:
        facts["task_ratio"] = f"{fields['ratio_aic']}:{fields['ratio_aiv']}"
    if kernel.dfx is not None:
        facts["arguments"] = _bounded(map(_argument, kernel.dfx.args))
        facts["tiling_size"] = kernel.dfx.tiling_size
    facts["params"] = _bounded(_params(kernel.records))
    facts["arg_size"] = kernel.arg_size
    facts["code_size"] = kernel.length
    facts["code"] = digests.code(kernel)
    return facts


def _fields(records: Iterable[Record]) -> tuple[dict[str, int], dict[str, Value]]:
    """The fields of all records, the last one of a type wins (TLV-04); the bytes of unknown ones."""
    fields: dict[str, int] = {}
    others: dict[str, Value] = {}
    special = (FunctionMeta.DFX_TYPE, FunctionMeta.PARAM_INFO)
    for record in records:
        kind = record.tlv.type
        if kind in special or record.tlv.is_padding:
            continue
        if record.value is not None:
            fields |= {name: int(value) for name, value in record.value.items()}
        elif kind not in FUNCTION_META:
            others[f"meta.{record.name}"] = cut(record.tlv.raw.hex())
    return fields, others


def _argument(arg: DfxArg) -> str:
    """An argument slot in words, its tiling size apart (DFX-03, DFX-04)."""
    words = [] if arg.type == FunctionMeta.DFX_ARG_INFO else [f"record {arg.type}"]
    if arg.tensor_type is None:
        return " ".join((*words, "empty"))
    words.append(arg.tensor_type.name.lower())
    if arg.pointer_type:
        words.append(arg.pointer_type.name.lower())
    rest = arg.words[1:]
    if rest and arg.tensor_type is not TensorType.TILING:
        words.append("size unknown" if arg.size is None else f"size {arg.size}")
    rest = rest[1:]
    if arg.dtype_size is not None:
        words.append(f"dtype size {arg.dtype_size}")
        rest = rest[1:]
    elif arg.dims is not None:
        words.append(f"dims {'x'.join(map(str, arg.dims)) or 'none'}")
        rest = rest[1 + len(arg.dims) :]
    if arg.words[0] >> 32:  # DFX-03: no field is there
        rest = (arg.words[0] >> 32, *rest)
    words += [f"{word:#x}" for word in rest]
    return cut(" ".join(words), LONGEST)


def _params(records: Iterable[Record]) -> Iterator[str]:
    """PARAM_INFO by ordinal, of one ordinal the last (FUN-05)."""
    kind = FunctionMeta.PARAM_INFO.value
    values = [each.value for each in records if each.tlv.type == kind and each.value]
    for _, value in sorted({value["ordinal"]: value for value in values}.items()):
        yield ", ".join(f"{name} {number}" for name, number in value.items())


def _bounded(words: Iterable[str]) -> tuple[str, ...]:
    """A list as it is, or cut to so many characters, with a digest of all of it."""
    whole = tuple(words)
    if sum(map(len, whole)) <= LONGEST:
        return whole
    digest = sha256("\n".join(whole).encode("utf-8", "surrogatepass")).hexdigest()
    return (*map(cut, whole[:8]), f"{len(whole)} in all, sha256 {digest[:DIGEST]}")


def _object_facts(obj: KernelObject) -> dict[str, Value]:
    header = obj.elf.header
    facts = _binary_fields(obj.binary_meta)
    outcome = obj.verdict.from_file
    return facts | {
        "machine": header.machine,
        "byte_order": obj.elf.byte_order,
        "elf_type": header.type,
        "flags": header.flags,
        "so_name": obj.so_name,
        "stack_size": obj.stack_size,
        "writable_data": int(obj.writable_data),
        "image_size": obj.text_size,
        "refused": () if outcome.accepted else (f"{outcome.rule}: {outcome.message}",),
        "sidecar": None if obj.sidecar is None else "present",
    }


def _binary_fields(records: Iterable[Record]) -> dict[str, Value]:
    """Fields of `.ascend.meta`: each compile unit has a record, so a field has all distinct values."""
    found: dict[str, dict[int | str, None]] = {}
    for record in records:
        if record.value is not None:
            for name, value in record.value.items():
                if name != "reserved":
                    found.setdefault(BINARY_NAMES.get(name, name), {})[int(value)] = None
        elif not record.tlv.is_padding:
            found.setdefault(f"meta.{record.name}", {})[cut(record.tlv.raw.hex())] = None
    return {name: _one_or_all(list(values)) for name, values in found.items()}


def _one_or_all(values: list[int | str]) -> Value:
    if len(values) == 1 and (isinstance(values[0], str) or values[0] < EXACT):
        return values[0]
    return _bounded(sorted(map(str, values)))


def stem_of(path: str) -> str:
    """The file name of a path without its suffix."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
