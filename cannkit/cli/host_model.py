"""Host models by name: `MODULE:FUNCTION` loaded, and the files that it is in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cannkit.cli.foreign import ForeignCode, ForeignError, place_of
from cannkit.device.executor import HostModelTimeout
from cannkit.errors import InputError, UsageError, brief

if TYPE_CHECKING:
    from cannkit.api.models import Model, ModelContext

MOST_NAMED: Final = 8  # functions


class ModelName(NamedTuple):
    """`MODULE:FUNCTION`: a path to a file, or the name of a module, and what to take from it."""

    module: str
    function: str

    @classmethod
    def of(cls, text: str) -> ModelName:
        """The parts of a text. Raises UsageError for another form."""
        module, _, function = text.rpartition(":")
        if not module or not function:
            hint = "as in --model models/vector_add.py:vector_add"
            raise UsageError(f"--model {brief(text)!r}: not MODULE:FUNCTION", hint=hint)
        return cls(module, function)

    @property
    def is_file(self) -> bool:
        """Whether the module is named by its path."""
        return self.module.endswith(".py") or os.sep in self.module


class HostModel(NamedTuple):
    """A host model that takes no more than its time, and the files of the modules it brought."""

    run: Model
    files: Sequence[str]


def load_model(name: ModelName, foreign: ForeignCode) -> HostModel:
    """The function of this name. Runs the module.

    What it imports is looked for in the folder of the file, or the current one, too. Raises UsageError
    for an unknown function and one that no device can call, InputError for a module that is missing,
    fails, or takes too long.
    """
    from cannkit.api.models import check_model

    source = _source(name.module) if name.is_file else None
    own = [os.path.abspath(name.module)] if name.is_file else []
    before = set(sys.modules)
    try:
        with foreign:
            found, names = foreign.call(_find, name, source)
    except (ForeignError, HostModelTimeout) as error:
        kind = "" if isinstance(error, HostModelTimeout) else type(error).__name__
        why, place = ": ".join(filter(None, (kind, str(error)))), place_of(error)
        why = f"{why} ({place})" if place else why
        raise InputError("cannot load the host model", where=name.module, why=why) from error
    if not callable(found):
        hint = f"it has {', '.join(names[:MOST_NAMED])}" if names else "it has no functions"
        what = f"--model {brief(name.module)}: no function {brief(name.function)!r} there"
        raise UsageError(what, hint=hint)
    model: Model = found
    check_model(model)

    def run(context: ModelContext) -> object:
        return foreign.call(model, context)

    return HostModel(run, [*own, *_files(before)])


def _source(path: str) -> bytes:
    from cannkit.inputs.files import open_window

    window = open_window(path)
    return bytes(window[0 : len(window)])


def _find(name: ModelName, source: bytes | None) -> tuple[Any, list[str]]:
    """What has this name, None for nothing, and the names of functions there. Foreign code."""
    folder = os.path.dirname(os.path.abspath(name.module)) if name.is_file else os.getcwd()
    if folder not in sys.path:
        sys.path.append(folder)  # the last one: a file of the user's hides no module of ours
    module = import_module(name.module) if source is None else _run(name.module, source)
    names = [
        key
        for key, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__ and key[0] != "_"
    ]
    return getattr(module, name.function, None), names


def _run(path: str, source: bytes) -> ModuleType:
    """The module in a file: compiled anew each time, and nothing is written beside it."""
    module = ModuleType(f"host model {path}")
    module.__file__ = path
    sys.modules[module.__name__] = module  # a dataclass looks itself up there
    exec(compile(source, path, "exec"), vars(module))  # noqa: S102
    return module


def _files(before: set[str]) -> Iterator[str]:
    """The files of modules that were not there before."""
    for name in sys.modules.keys() - before:
        module: object = sys.modules.get(name)
        if isinstance(module, ModuleType):
            file = object.__getattribute__(module, "__dict__").get("__file__")
            if isinstance(file, str):
                yield file
