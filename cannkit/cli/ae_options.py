"""Options that tell of a process of the AI CPU: so-path, ae-call and launch share them. cli.md, section 7."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from cannkit.ae.context import AeContext
    from cannkit.inputs.rooted import RootedFiles

U32: Final = (1 << 32) - 1
I32: Final = (1 << 31) - 1


def complete_type(incomplete: str) -> list[str]:
    """Kernel types by name."""
    from cannkit.format.cpu_kernel import KERNEL_TYPE_WORDS

    return [name for name in KERNEL_TYPE_WORDS if name.startswith(incomplete)]


def complete_mode(incomplete: str) -> list[str]:
    """Run modes by name."""
    from cannkit.format.ae_status import RUN_MODE_WORDS

    return [name for name in RUN_MODE_WORDS if name.startswith(incomplete)]


Vf = Annotated[
    int | None,
    typer.Option(
        "--vf",
        metavar="N",
        min=0,
        max=U32,
        help="Unique id of the virtual function.  [default: 0, or that of a virtual device]",
        show_default=False,
    ),
]
Pid = Annotated[
    int, typer.Option("--pid", metavar="N", min=-I32 - 1, max=I32, help="Process on the host.")
]
DeviceId = Annotated[
    int, typer.Option("--device", metavar="N", min=0, max=U32, help="Device of the process.")
]
KernelTypeName = Annotated[
    str | None,
    typer.Option(
        "--kernel-type",
        metavar="TYPE",
        help="aicpu, custom, kfc, custom-kfc, fwk, cce, hwts, or a number.",
        autocompletion=complete_type,
        show_default=False,
    ),
]
RunModeName = Annotated[
    str | None,
    typer.Option(
        "--run-mode",
        metavar="MODE",
        help="pcie, socket, thread, or a number.",
        autocompletion=complete_mode,
        show_default=False,
    ),
]
CustSd = Annotated[
    bool | None,
    typer.Option(
        "--cust-sd/--no-cust-sd",
        help="In the scheduler of custom operators; as a rule, for custom types.",
        show_default=False,
    ),
]
Root = Annotated[
    str | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="Look up the device's paths below DIR.",
        show_default=False,
    ),
]
Home = Annotated[
    str | None,
    typer.Option(
        "--home",
        metavar="DIR",
        help="HOME of the process. [default: /home/HwHiAiUser]",
        show_default=False,
    ),
]
NoHome = Annotated[bool, typer.Option("--no-home", help="HOME is not set.")]
Env = Annotated[
    list[str] | None,
    typer.Option(
        "-e",
        "--env",
        metavar="NAME=VALUE",
        help="A variable of the process; NAME= is empty; repeatable.",
        show_default=False,
    ),
]
InheritEnv = Annotated[
    bool, typer.Option("--inherit-env", help="Begin with the variables of this shell.")
]


def kernel_type(text: str) -> int:
    """The number of a kernel type given by name or number; raises UsageError."""
    from cannkit.format.cpu_kernel import KERNEL_TYPE_WORDS

    return _named(text, KERNEL_TYPE_WORDS, "--kernel-type")


def run_mode(text: str) -> int:
    """The number of a run mode given by name or number; raises UsageError."""
    from cannkit.format.ae_status import RUN_MODE_WORDS

    return _named(text, RUN_MODE_WORDS, "--run-mode")


def _named(text: str, names: Mapping[str, int], option: str) -> int:
    from cannkit.errors import UsageError, brief

    if text.lower() in names:
        return names[text.lower()]
    if text.isascii() and text.isdecimal() and len(text) < 11 and int(text) <= U32:
        return int(text)
    hint = f"one of {', '.join(names)}, or a number"
    raise UsageError(f"{option} {brief(text)!r}: no such value", hint=hint)


def environment(
    home: str | None, no_home: bool, env: Sequence[str] | None, inherit_env: bool
) -> dict[str, str]:
    """The variables of the process that the engine reads. Raises UsageError.

    The later wins: the default HOME, or with --inherit-env what this shell has; --env; --home or --no-home.
    """
    from cannkit.ae.context import DEFAULT_HOME, HOME, VARIABLES
    from cannkit.errors import UsageError, brief

    if home is not None and no_home:
        raise UsageError("ask for one of --home and --no-home")
    found = {HOME: DEFAULT_HOME}
    if inherit_env:
        found = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    for text in env or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--env {brief(text)!r}: not NAME=VALUE", hint=f"{name}= is empty")
        if name not in VARIABLES:
            hint = f"it reads {', '.join(VARIABLES)}"
            raise UsageError(f"--env {brief(name)!r}: the engine does not read it", hint=hint)
        found[name] = value
    if home is not None:
        found[HOME] = home
    if no_home:
        found.pop(HOME, None)
    return found


def make_context(
    *,
    vf: int | None,
    pid: int,
    device: int,
    mode: str | None,
    is_cust_sd: bool,
    env: Mapping[str, str],
) -> AeContext:
    """The process that the options tell of; PCIe mode where they tell none. Raises UsageError."""
    from cannkit.ae.context import AeContext, unique_vf
    from cannkit.format.ae_status import RunMode

    vf = unique_vf(device) if vf is None else vf
    return AeContext(
        RunMode(run_mode("pcie" if mode is None else mode)), is_cust_sd, device, vf, pid, env
    )


def open_root(root: str | None) -> RootedFiles | None:
    """The files below --root, None without one. Raises InputError."""
    if root is None:
        return None
    from cannkit.inputs.rooted import RootedFiles

    return RootedFiles(root)
