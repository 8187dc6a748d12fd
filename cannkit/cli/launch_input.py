"""What `cannkit launch` is asked for: blocks, config, arguments with their files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from cannkit.cli.arg_spec import (
    BLOCK_LIMIT,
    ArgSpec,
    Contents,
    Role,
    contents_of,
    hex_or_file,
    parse_spec,
)
from cannkit.cli.options import number
from cannkit.cli.output import Target, check_outputs, check_targets, check_writable, write_files
from cannkit.errors import UsageError, brief

if TYPE_CHECKING:
    from cannkit.api.runtime import Runtime
    from cannkit.report.outputs import Output
    from cannkit.runtime.arg_values import UserArg
    from cannkit.runtime.launch_config import LaunchConfig

PIECE: Final = 1 << 20  # bytes that are copied at a time
HOST_TO_DEVICE: Final = 1  # aclrtMemcpyKind
AXES: Final = 3
GRID_HINT: Final = "or --grid X,Y,Z for a SIMT kernel"
LIBRARY_HINT: Final = f"{GRID_HINT}; of an AI CPU library, --op NAME calls an operator"
SCHED_MODES: Final = {"normal": "0", "batch": "1"}


class Shape(NamedTuple):
    """How many blocks; `grid` and `threads` of a SIMT launch."""

    blocks: int
    grid: tuple[int, ...] | None
    threads: tuple[int, ...]


def launch_shape(
    blocks: int | None, grid: str | None, threads: str | None, hint: str | None = GRID_HINT
) -> Shape:
    """Blocks as asked for, or those of a grid. Raises UsageError for none (`hint`), or two that differ."""
    dims = None if grid is None else _dimensions(grid, "--grid")
    if dims is None and threads is not None:
        raise UsageError("--threads goes with --grid")
    if dims is None and blocks is None:
        raise UsageError("--blocks N: how many blocks?", hint=hint)
    total = 1
    for axis in dims or (blocks or 0,):
        total *= axis
    if blocks is not None and blocks != total:
        raise UsageError(f"--blocks {blocks}, and a grid of {total}: one of them is enough")
    return Shape(total, dims, (1,) if threads is None else _dimensions(threads, "--threads"))


def _dimensions(text: str, option: str) -> tuple[int, ...]:
    words = text.split(",")
    if len(words) > AXES:
        raise UsageError(f"{option} {brief(text)}: takes X, X,Y or X,Y,Z")
    return tuple(number(word.strip(), option) or 0 for word in words)


def launch_config(
    sched_mode: str | None, local_memory: int | None, timeout_us: str | None
) -> LaunchConfig | None:
    """The config of a launch, None where nothing is set. Raises UsageError."""
    from cannkit.runtime.launch_config import LaunchConfig

    mode = SCHED_MODES.get(sched_mode or "", sched_mode)
    if mode is not None and not mode[:1].isdigit():
        raise UsageError(f"--sched-mode {brief(mode)!r}: takes normal, batch or a number")
    config = LaunchConfig.of(
        sched_mode=number(mode, "--sched-mode"),
        local_memory=local_memory,
        timeout_us=number(timeout_us, "--timeout-us"),
    )
    return config if config.attributes else None


class Given(NamedTuple):
    """The arguments as the user gave them: one by one, or the whole block.

    `targets` are the files to write at the end, by the number of their argument from 0 on.
    """

    specs: Sequence[ArgSpec]
    contents: Sequence[Contents]
    block: bytes | None = None
    targets: Mapping[int, Target] = {}

    def place(self, runtime: Runtime) -> list[UserArg]:
        """Device memory for tensors and workspaces, filled; what the others are by value.

        Raises RtError of an allocation, InputError for a file that changed meanwhile.
        """
        from cannkit.runtime.arg_values import ArgKind, UserArg

        args = []
        for spec, (data, size, shape) in zip(self.specs, self.contents, strict=True):
            dtype = spec.dtype.name if spec.dtype else ""
            arg = UserArg(ArgKind(spec.role.value), None, 0, size, spec.text, dtype, shape)
            if spec.role in (Role.SCALAR, Role.TILING):
                arg = arg._replace(data=bytes(data[0:size] if data is not None else b""))
            elif spec.role is not Role.NULL:
                arg = arg._replace(address=_allocated(runtime, spec.text, size))
                for at in range(0, 0 if data is None else size, PIECE):
                    piece = b"" if data is None else data[at : at + PIECE]
                    count = len(piece)
                    runtime.memcpy(arg.address + at, count, piece, count, HOST_TO_DEVICE)
            args.append(arg)
        return args

    def outputs(self, runtime: Runtime, args: Sequence[UserArg]) -> list[Output]:
        """What lies in the memory of every output now."""
        from cannkit.report.outputs import Output

        device = runtime.devices[runtime.current_device or 0]
        outputs = []
        for at, (spec, arg) in enumerate(zip(self.specs, args, strict=True)):
            if spec.role in (Role.OUT, Role.INOUT) and spec.dtype is not None:
                data = device.copy_from_device(arg.address, arg.size) if arg.size else b""
                outputs.append(Output(at, spec.dtype, arg.shape, data, spec.out))
        return outputs

    def check_targets(self, inputs: Iterable[str]) -> None:
        """Raise UsageError for an output that is one of more inputs, which nobody has named."""
        check_targets({_option(at): target for at, target in self.targets.items()}, inputs)

    def write(self, outputs: Iterable[Output]) -> None:
        """Write those that go to files, all of them or none. Raises OutputError."""
        write_files(
            (self.targets[each.argument], each.data)
            for each in outputs
            if each.argument in self.targets
        )


def read_arguments(inputs: Sequence[str], args: Sequence[str], args_hex: str | None) -> Given:
    """What --arg and --args-hex say, their files read, and outputs found to be writable.

    Raises UsageError for nonsense and for an output that is one of `inputs`, of the files read, or
    another output; InputError and OutputError for files.
    """
    specs = [parse_spec(text) for text in args]
    if specs and args_hex is not None:
        raise UsageError("--args-hex is the whole argument block: it goes without --arg")
    read = [*inputs, *(spec.file for spec in specs if spec.file is not None)]
    if args_hex is not None and args_hex.startswith("@"):
        read.append(args_hex[1:])
    check_outputs({_option(at): spec.out for at, spec in enumerate(specs)}, read)
    contents = [contents_of(spec) for spec in specs]
    block = None if args_hex is None else hex_or_file(args_hex, "--args-hex", BLOCK_LIMIT)
    targets = {at: Target.of(spec.out) for at, spec in enumerate(specs) if spec.out is not None}
    for target in targets.values():
        check_writable(target)
    return Given(specs, contents, block, targets)


def _option(argument: int) -> str:
    return f"--arg {argument + 1}"


def _allocated(runtime: Runtime, text: str, size: int) -> int:
    """The address of memory for an argument. Raises RtError in the terms of who asked for it."""
    from cannkit.format.status import RtError

    try:
        return runtime.malloc(max(size, 1))
    except RtError as error:
        status, what = error.rt or error.acl, f"cannot allocate {size} bytes"
        why = error.why if error.why != f"{size} bytes" else ""
        where = f"--arg {brief(text)}"
        raise RtError(status, what, where=where, why=why, hint=error.hint) from error
