"""Inputs cut in parts, and parts spread over the workers of an executor."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from cannkit.errors import InputError
from cannkit.inputs.contents import Input, Unreadable
from cannkit.inputs.files import is_directory
from cannkit.inputs.paths import STDIN, Inputs, objects_below, objects_found, walk_directory

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

PART: Final = 32  # files of a part
MOST_SENT: Final = 256  # parts whose answer nobody has taken yet

Work = TypeVar("Work")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class FoundFiles:
    """Some of the files that a walk over a directory found: those without kernels are passed over."""

    paths: tuple[str, ...]

    def __iter__(self) -> Iterator[Input | Unreadable]:
        """The objects in their order. What cannot be opened does not raise."""
        for path in self.paths:
            yield from objects_below(path) if is_directory(path) else objects_found(path)


def in_parts(path: str) -> Iterator[Inputs | FoundFiles]:
    """The inputs of `path`, in their order: a directory in parts of PART files.

    Of a directory without kernel objects nothing says so.
    """
    if path == STDIN or not is_directory(path):
        yield Inputs((path,))
        return
    names = [name for name, _ in walk_directory(path)]
    for at in range(0, len(names), PART):
        yield FoundFiles(tuple(names[at : at + PART]))


def spread(
    do: Callable[[Work], Answer], works: Iterable[Work], executor: Executor | None
) -> Iterator[Answer]:
    """What `do` answers for each of `works`, in their order; without `executor` one after the other.

    The standard input is read in this process. Raises InputError when a worker dies, and what `do` raises.
    """
    if executor is None:
        yield from map(do, works)
        return
    from concurrent.futures import BrokenExecutor  # takes long to load

    sent: deque[Future[Answer]] = deque()
    try:
        for work in works:
            sent.append(_done(do, work) if _stays(work) else executor.submit(do, work))
            if len(sent) > MOST_SENT:
                yield sent.popleft().result()
        while sent:
            yield sent.popleft().result()
    except BrokenExecutor as error:
        why = "a worker process was killed, or memory ran out"
        raise InputError("cannot read the files", why=why, hint="try fewer workers") from error
    finally:
        for future in sent:
            future.cancel()


def _stays(work: object) -> bool:
    return isinstance(work, Inputs) and STDIN in work.paths


def _done(do: Callable[[Work], Answer], work: Work) -> Future[Answer]:
    from concurrent.futures import Future

    future: Future[Answer] = Future()
    future.set_result(do(work))
    return future
