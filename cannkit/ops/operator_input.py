"""What `cannkit parse` takes for AI CPU operators: their JSON, or a library with it beside. Spec 07, OPR-501."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cannkit.errors import CannkitError
from cannkit.format.elf_types import HEADER_SIZE, HOST_MACHINES
from cannkit.format.sidecar import MAX_SIZE, parse_json
from cannkit.inputs.contents import NothingInsideError, host_contents, machine_of
from cannkit.inputs.files import is_directory, open_window, read_host
from cannkit.ops.package_paths import SPACE

if TYPE_CHECKING:
    from cannkit.ops.describe import Package


def operator_package(path: str, json: str | None = None) -> Package | None:
    """The package whose operators `path` stands for; None for anything else, or what cannot be read.

    A library that embeds kernels is one of kernels. `json` is the JSON to take for a library.
    """
    try:
        if is_directory(path):
            return None
        window = open_window(path)
        head = bytes(window[0:HEADER_SIZE])
        is_json = head.lstrip(SPACE)[:1] == b"{"
        if not is_json and (machine_of(head) not in HOST_MACHINES or _embeds(path)):
            return None
        from cannkit.ops.describe import Package  # most inputs are kernel objects: not for them

        if is_json:
            return Package.of(path) if _is_operators(path) else None
        package = Package.of(path, json)
        return package if package.ops else None
    except CannkitError:  # the reader of kernel objects tells what is wrong
        return None


def _is_operators(json: str) -> bool:
    from cannkit.ops.op_json import is_op_json

    return is_op_json(parse_json(read_host(json, MAX_SIZE) or b""))


def _embeds(path: str) -> bool:
    try:
        return host_contents(path, open_window(path)) is not None
    except NothingInsideError:
        return False
