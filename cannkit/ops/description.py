"""Description: one operator from its JSON entry and its prototype, and where these differ. Spec 07: OPR-506 to OPR-508."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from cannkit.format.op_dtypes import DT_NAMES, OpDtype
from cannkit.ops.op_json import OpInfo, OpTensor, repeated_names
from cannkit.ops.proto_records import Presence, ProtoAttr, ProtoTensor, Prototype

WORKSPACE_KIB: Final = 2  # OPR-504: where the JSON has none
FUNCTION: Final = "RunCpuKernel"
SHOWN: Final = 64  # of what differs


class DescribedTensor(NamedTuple):
    """An input or output. `name` is that of the prototype where it has one, `json_name` that of the JSON.

    `dtypes` are those of the JSON, or the ones that the prototype names; empty for no list, any is taken.
    `types` are the words of the prototype: `DT_` names and groups. `presence` is None where only the JSON
    knows the tensor: it does not say.
    """

    name: str
    presence: Presence | None
    dtypes: tuple[OpDtype, ...]
    unknown_types: tuple[str, ...]
    types: tuple[str, ...]
    format: str | None
    json_name: str | None
    in_json: bool
    in_prototype: bool

    @property
    def is_dynamic(self) -> bool:
        """Whether it stands for any number of tensors."""
        return self.presence is Presence.DYNAMIC

    @property
    def source(self) -> Literal["both", "json", "prototype"]:
        """Where it is declared: `json`, `prototype` or `both`."""
        if self.in_json and self.in_prototype:
            return "both"
        return "json" if self.in_json else "prototype"


class Description(NamedTuple):
    """An operator from all that is known of it. `info` and `prototype` are the sources themselves.

    `attrs` come from the prototype alone: without one (`why_no_prototype`) nothing is known of them.
    `registered` says whether the library has a kernel of this name, None when it was not asked.
    `differences` are sentences on where the sources disagree.
    """

    name: str
    inputs: tuple[DescribedTensor, ...]
    outputs: tuple[DescribedTensor, ...]
    attrs: tuple[ProtoAttr, ...]
    function: str
    kernel_so: str
    kernel_lib: str
    workspace_kib: int
    shape_type: int
    block_dim: bool
    block_dim_index: int
    info: OpInfo | None
    prototype: Prototype | None
    why_no_prototype: str
    registered: bool | None
    differences: tuple[str, ...]

    @property
    def required_attrs(self) -> tuple[ProtoAttr, ...]:
        """Attributes that a call has to bring (Q-5)."""
        return tuple(attr for attr in self.attrs if attr.required)


def describe(
    name: str,
    info: OpInfo | None,
    prototype: Prototype | None,
    why_no_prototype: str = "",
    registered: bool | None = None,
) -> Description:
    """An operator from its sources, one of which may be missing."""
    workspace = info.workspace_kib if info else None
    attrs = {attr.name for attr in prototype.attrs} if prototype else set()
    return Description(
        name=name,
        inputs=joined(info.inputs if info else (), prototype.inputs if prototype else (), attrs),
        outputs=joined(info.outputs if info else (), prototype.outputs if prototype else ()),
        attrs=prototype.attrs if prototype else (),
        function=(info.function if info else "") or FUNCTION,
        kernel_so=info.kernel_so if info else "",
        kernel_lib=info.kernel_lib if info else "",
        workspace_kib=WORKSPACE_KIB if workspace is None else workspace,
        shape_type=info.shape_type if info else 1,
        block_dim=info.block_dim if info else False,
        block_dim_index=info.block_dim_index if info else -1,
        info=info,
        prototype=prototype,
        why_no_prototype=why_no_prototype,
        registered=registered,
        differences=tuple(_differences(info, prototype, registered))[:SHOWN],
    )


def joined(
    json: Sequence[OpTensor], proto: Sequence[ProtoTensor], attrs: Collection[str] = ()
) -> tuple[DescribedTensor, ...]:
    """Tensors of both sources: in order of the prototype, then what only the JSON has.

    Those of one name are one; of others those of one place, where both sources have as many. A JSON may
    declare attributes as tensors (OPR-506): `attrs` are no others.
    """
    left = list(json)
    pairs: list[tuple[OpTensor | None, ProtoTensor | None]] = []
    for each in proto:
        found = next((tensor for tensor in left if tensor.name == each.name), None)
        if found is not None:
            left.remove(found)
        pairs.append((found, each))
    others = [tensor for tensor in left if tensor.name not in attrs]
    if len(others) == sum(found is None for found, _ in pairs):
        pairs = [(found or others.pop(0), each) for found, each in pairs]
        left = [tensor for tensor in left if tensor.name in attrs]
    return tuple(_joined(*pair) for pair in [*pairs, *((tensor, None) for tensor in left)])


def _joined(tensor: OpTensor | None, proto: ProtoTensor | None) -> DescribedTensor:
    presence = proto.kind if proto else None
    if tensor is not None and tensor.is_dynamic:
        presence = Presence.DYNAMIC
    types = proto.types if proto else ()
    named = dict.fromkeys(DT_NAMES[word] for word in types if word in DT_NAMES)
    is_closed = all(word in DT_NAMES for word in types)  # groups of types are not told here
    dtypes = tensor.dtypes if tensor else tuple(named) if is_closed else ()
    return DescribedTensor(
        name=proto.name if proto else tensor.name if tensor else "",
        presence=presence,
        dtypes=dtypes,
        unknown_types=tensor.unknown_types if tensor else (),
        types=types,
        format=tensor.format if tensor else None,
        json_name=tensor.name if tensor else None,
        in_json=tensor is not None,
        in_prototype=proto is not None,
    )


def _differences(
    info: OpInfo | None, prototype: Prototype | None, registered: bool | None
) -> Iterator[str]:
    if registered is False:  # OPR-212
        yield "the library has no kernel of this name"
    if info is None:
        if registered:
            yield "the library has a kernel of this name, the JSON does not have it"
        return
    for twice in repeated_names(info.inputs):
        yield f"the JSON has two inputs {twice!r}"
    for twice in repeated_names(info.outputs):
        yield f"the JSON has two outputs {twice!r}"
    for tensor in info.tensors:  # OPR-503
        if tensor.unknown_types:
            yield f"types of {tensor.name!r} that do not exist: {', '.join(tensor.unknown_types)}"
    if prototype is not None:
        yield from tensor_differences("input", info.inputs, prototype.inputs, prototype)
        yield from tensor_differences("output", info.outputs, prototype.outputs, prototype)
        yield from _variants(prototype)


def tensor_differences(
    what: str, json: Sequence[OpTensor], proto: Sequence[ProtoTensor], prototype: Prototype
) -> Iterator[str]:
    """OPR-506: other numbers of inputs or outputs, other names."""
    whose = f"the prototype {prototype.name}"
    ours, theirs = [each.name for each in json], [each.name for each in proto]
    if len(ours) != len(theirs):
        counts = f"{len(ours)} {what}s in the JSON, {len(theirs)} in {whose}"
        yield f"{counts}: {_names(ours)} against {_names(theirs)}"
    else:
        for number, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            if our != their:
                yield f"{what} {number} is {our!r} in the JSON, {their!r} in {whose}"
    attrs = {attr.name for attr in prototype.attrs} - set(theirs)
    if declared := [name for name in ours if name in attrs]:
        yield f"{_names(declared)}: {what}s in the JSON, attributes in {whose}"


def _variants(prototype: Prototype) -> Iterator[str]:
    """Headers of different age are compiled into one library: the first registration is described."""
    for variant in prototype.variants:
        what = f"the prototype {prototype.name} is registered twice"
        others = {attr.name: attr for attr in variant.attrs}
        changed = [
            f"{attr.name} is {_told(attr)}, then {_told(others.get(attr.name))}"
            for attr in prototype.attrs
            if attr != others.get(attr.name)
        ]
        own = {attr.name for attr in prototype.attrs}
        changed += [f"{name} comes with the other" for name in others if name not in own]
        yield f"{what}: {'; '.join(changed)}" if changed else f"{what}, with other types"


def _told(attr: ProtoAttr | None) -> str:
    if attr is None:
        return "not there"
    return "required" if attr.required else f"{attr.default!r} by default"


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
