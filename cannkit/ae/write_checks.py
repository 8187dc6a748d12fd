"""Where the write side and the read side of custom libraries disagree. Spec 05, AE-909."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from cannkit.ae.context import CUST_PATH, HOME, AeContext, byte_length
from cannkit.ae.so_path import SO_NAME_LIMIT, vf_suffix
from cannkit.ae.write_rules import ENV_LIMIT, NAME_LIMIT, write_root
from cannkit.format.ae_status import RunMode
from cannkit.inputs.real_path import PATH_LIMIT

if TYPE_CHECKING:
    from cannkit.inputs.files import PathView

NOTICE_NAME: Final = 95  # cust-sd is told of no longer name


class Disagreement(NamedTuple):
    """A row of AE-909 that applies: what the scheduler writes, and what the engine makes of it."""

    id: str
    text: str


def disagreements(
    context: AeContext, name: str, files: PathView | None = None
) -> tuple[Disagreement, ...]:
    """The rows of AE-909 that apply to a library. M8 asks `files`, and raises what they raise."""
    told = (*_of_paths(context), *_of_name(context, name), *_of_links(context, files))
    return tuple(Disagreement(*row) for row in told)


def _of_paths(context: AeContext) -> list[tuple[str, str]]:
    mode, home, cust = context.run_mode, context.env.get(HOME), context.env.get(CUST_PATH)
    root = write_root(context) or "the working directory"
    if cust == "":
        used = "has no root and refuses with 21001" if mode == RunMode.THREAD else "ignores it"
        return [
            ("M5", f"{CUST_PATH} is set, but empty: the writer {used}, every call ends with 11001")
        ]
    size = 0 if cust is None else byte_length(cust)
    if 0 < size < PATH_LIMIT:
        if mode in (RunMode.PCIE, RunMode.SOCKET):
            return [("M3", f"{CUST_PATH} is set: the writer uses {root}, the reader the variable")]
        if size >= ENV_LIMIT:
            why = f"{CUST_PATH} has {size} bytes"
            return [("M4", f"{why}: the writer uses {root}, the reader the variable")]
        return []
    if mode != RunMode.SOCKET or home is None:
        return []
    rows = []
    if context.vf:
        read = home + vf_suffix(context.vf)
        text = f"vf is {context.vf}: the writer uses {root}, the reader {read}"
        rows.append(("M1", f"{text}, unless cust-sd has another HOME"))
    elif home.endswith("/"):
        text = "HOME ends with a slash: the reader gets `//`, which its guard refuses"
        rows.append(("M2", text))
    return rows


def _of_name(context: AeContext, name: str) -> list[tuple[str, str]]:
    size, rows = byte_length(name), []
    if SO_NAME_LIMIT < size <= NAME_LIMIT:
        text = (
            "it is written, but AI CPU cuts it to 100 and does not find it, KFC looks globally only"
        )
        rows.append(("M6", f"the name has {size} bytes: {text}"))
    if NOTICE_NAME < size <= NAME_LIMIT and context.run_mode in (RunMode.PCIE, RunMode.SOCKET):
        text = "cust-sd is not told of it, and opens it at its first call"
        rows.append(("M7", f"the name has {size} bytes: {text}"))
    return rows


def _of_links(context: AeContext, files: PathView | None) -> list[tuple[str, str]]:
    root = write_root(context)
    real = files.real_path(root) if files and root.startswith("/") else None
    if real is None or real.rstrip("/") == root.rstrip("/"):
        return []
    text = "the writer refuses with 21001, the guard of the reader levels 1 and 3"
    return [("M8", f"{root} leads to {real}: {text}")]
