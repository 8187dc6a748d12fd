"""Where the framework lib looks for TensorFlow's kernels: two candidates. Spec 05, AE-611."""

from __future__ import annotations

from typing import Final, NamedTuple

from cannkit.ae.caller import Opened
from cannkit.ae.context import AeContext
from cannkit.ae.so_path import SYSTEM_ROOT, UNPACKED, Decision, home_of
from cannkit.ae.so_walk import Attempt, Open, Resolution, Skipped, Walk
from cannkit.format.ae_status import AeStatus, RunMode
from cannkit.inputs.files import PathView

TF_KERNELS: Final = "libtf_kernels.so"
SANDBOX: Final = "sand_box/"
TENSORFLOW: Final = "libtensorflow.so"

IN_HOME: Final = "thread mode, and HOME has 1 to 4095 bytes"
BELOW_ROOT: Final = "otherwise: below the system root, by vf"


class FwkChoice(NamedTuple):
    """The candidate that was chosen when the lib was made; it is not asked again (Q-15).

    `attempts` and `skipped` are what was asked of the first one. `sandbox` is the directory of TensorFlow
    itself, empty in all but thread mode.
    """

    level: int
    directory: str
    sandbox: str
    decisions: tuple[Decision, ...]
    attempts: tuple[Attempt, ...]
    skipped: tuple[Skipped, ...]


def unpacked_directory(context: AeContext) -> tuple[str, tuple[Decision, ...]]:
    """AE-611.2: the directory of the first candidate, and the rule that says so."""
    is_thread = context.run_mode == RunMode.THREAD and not context.mode_fails
    home = home_of(context) if is_thread else ""
    rules = (Decision("AE-611.2", IN_HOME, taken=bool(home)),)
    if home:
        return f"{home}aicpu_kernels/{context.vf}/{UNPACKED}", rules
    last = Decision("AE-611.2", BELOW_ROOT, taken=True)
    return f"{SYSTEM_ROOT}{context.vf}/{UNPACKED}", (*rules, last)


def choose(context: AeContext, files: PathView | None) -> FwkChoice:
    """AE-611.3: the first candidate where it passes the guard, else the second, which is not checked."""
    directory, decisions = unpacked_directory(context)
    walk = Walk(TF_KERNELS, context, files, _pass)
    is_first = walk.attempt(1, directory) == AeStatus.SUCCESS
    sandbox = directory + SANDBOX if len(decisions) == 1 else ""
    level, chosen = (1, directory) if is_first else (2, SYSTEM_ROOT)
    return FwkChoice(level, chosen, sandbox, decisions, tuple(walk.attempts), tuple(walk.skipped))


def open_chosen(
    choice: FwkChoice, context: AeContext, files: PathView | None, open_library: Open
) -> Resolution:
    """AE-611.4: open the library at the call, without a guard. Raises CallEndedError."""
    walk = Walk(TF_KERNELS, context, files, open_library)
    status = walk.attempt(choice.level, choice.directory, guarded=False)
    if choice.level == 1:
        guard = choice.attempts[0].guard
        walk.attempts = [attempt._replace(guard=guard) for attempt in walk.attempts]
    else:
        walk.attempts[:0] = choice.attempts
        walk.skipped[:0] = choice.skipped
    return walk.story(choice.decisions, status)


def open_tensorflow(
    choice: FwkChoice, context: AeContext, files: PathView | None, open_library: Open
) -> Resolution:
    """AE-611, batch load: TensorFlow before its kernels; outside thread mode its path is empty."""
    walk = Walk(TENSORFLOW if choice.sandbox else "", context, files, open_library)
    status = walk.attempt(1, choice.sandbox, guarded=False)
    return walk.story(choice.decisions, status)


def _pass(path: str) -> Opened:
    """Nothing is opened where only the guard is asked."""
    return Opened(0)
