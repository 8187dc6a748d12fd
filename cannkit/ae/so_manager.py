"""SoManager: the libraries that a kernel lib has loaded, and the functions found in them. Spec 05, section 6."""

from __future__ import annotations

from typing import NamedTuple

from cannkit.ae.caller import Caller, Found
from cannkit.ae.context import AeContext
from cannkit.ae.so_path import Settings
from cannkit.ae.so_walk import Resolution, gate, resolve
from cannkit.format.ae_status import AeStatus
from cannkit.inputs.files import PathView


class Sought(NamedTuple):
    """A function that was asked for. AE-609: the status is 11002 for every library that is not there.

    `why` it is not in the library.
    """

    status: AeStatus
    resolution: Resolution
    found: Found | None = None
    why: str = ""


class LoadedSo:
    """A library, how it was found, and the functions that were asked of it. Changes."""

    __slots__ = ("functions", "library", "resolution")

    def __init__(self, resolution: Resolution, library: int, kernel_type: int) -> None:
        self.resolution = resolution._replace(
            cached=True, kernel_type=kernel_type, attempts=(), skipped=(), decisions=()
        )
        self.library = library
        self.functions: dict[str, Found] = {}


class SoManager:
    """Loaded libraries by name alone: neither type nor path is in the key (Q-6). Changes."""

    def __init__(self, settings: Settings, files: PathView | None, caller: Caller) -> None:
        self.settings = settings
        self._files = files
        self._caller = caller
        self._loaded: dict[str, LoadedSo] = {}

    def load(self, kernel_type: int, name: str, context: AeContext) -> Resolution:
        """AE-602, LoadSo: gates, the cache, then the paths. Raises CallEndedError."""
        loaded = self._loaded.get(name)
        if loaded is not None and not gate(kernel_type, name, self.settings, context):
            return loaded.resolution
        walked = resolve(kernel_type, name, self.settings, context, self._files, self._caller.open)
        if walked.library is not None:
            self._loaded[name] = LoadedSo(walked, walked.library, kernel_type)
        return walked

    def find(self, kernel_type: int, name: str, function: str, context: AeContext) -> Sought:
        """AE-609, GetApi: a function of a library. Raises CallEndedError."""
        resolution = self.load(kernel_type, name, context)
        if resolution.status != AeStatus.SUCCESS:
            return Sought(AeStatus.OPEN_SO_FAILED, resolution)
        so = self._loaded[name]
        found = so.functions.get(function)
        if found is None:
            found = self._caller.find(so.library, function)
            if found is None:
                why = self._caller.why_missing(so.library, function)
                return Sought(AeStatus.GET_KERNEL_NAME_FAILED, resolution, None, why)
            so.functions[function] = found
        return Sought(AeStatus.SUCCESS, resolution, found)

    def close(self, name: str) -> None:
        """AE-610: unload a library and forget it; nothing happens for one that is not loaded."""
        so = self._loaded.pop(name, None)
        if so is not None:
            self._caller.close(so.library)

    def close_all(self) -> None:
        """AE-506: what the end of the manager does."""
        for name in list(self._loaded):
            self.close(name)
