"""Package: an operator package of one vendor, in a folder or a wheel, or the wheel as such. Spec 01, section 11."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

from cannkit.errors import CannkitError
from cannkit.format.host_library import HostLibrary, read_host_library
from cannkit.format.symbol_versions import unversioned
from cannkit.image.package_config import (
    KERNEL,
    TBE,
    Binary,
    Configs,
    Declared,
    Problem,
    read_configs,
)
from cannkit.image.package_files import PackageFiles, files_at

_in_vendor = re.compile(
    r"(?:(.*?)/)?(?:op_impl/(?:ai_core|cpu|aicpu)|op_api/(?:lib|include)|op_proto/(?:inc|lib))/",
    re.DOTALL,
).match
_is_vendor = re.compile(r"op_impl/(?:ai_core/tbe|cpu|aicpu)/|op_api/lib/").match
_soc_folder = re.compile(rf"(?:{KERNEL}(?:config/)?|{TBE}config/)([^/]+)/.", re.DOTALL).match
_is_api_library = re.compile(r"op_api/lib/.*\.so", re.DOTALL).fullmatch
_is_api_header = re.compile(r"op_api/include/.*\.h", re.DOTALL).fullmatch
_is_prototype = re.compile(r"op_proto/inc/.*\.h", re.DOTALL).fullmatch
_is_cpu_config = re.compile(
    r"op_impl/(?:cpu|aicpu)/(?:.*/)?config/[^/]+\.json", re.DOTALL
).fullmatch
_is_cpu_library = re.compile(r"op_impl/(?:cpu|aicpu)/.*\.so(?:\.[0-9]+)*", re.DOTALL).fullmatch
_record = re.compile(r"((?:.*/)?)([^/]+)\.dist-info/RECORD", re.DOTALL).fullmatch
HEADER_LIMIT: Final = 4 << 20


class PackageLibrary(NamedTuple):
    """A library of a package; None and `why` where it cannot be read.

    `unversioned` are the names it misses without saying of which version they are.
    """

    name: str
    library: HostLibrary | None
    unversioned: tuple[str, ...] = ()
    why: str = ""

    @property
    def file_name(self) -> str:
        """Without its folders."""
        return posixpath.basename(self.name)


@dataclass(frozen=True)
class Package:
    """The tree of one vendor, or a wheel as such, which has `record` and none of the rest.

    `root` is where it begins in `files`, empty or with a `/` at its end; `names` are relative to it, sorted.
    What is read is read once, when it is first asked for.
    """

    name: str
    files: PackageFiles
    root: str = ""
    names: tuple[str, ...] = ()
    record: str | None = None

    @property
    def is_wheel(self) -> bool:
        """Whether it is a wheel as such."""
        return self.record is not None

    def place_of(self, name: str) -> str:
        """A file of it as findings call it."""
        return self.files.place_of(self.root + name)

    @property
    def place(self) -> str:
        """Its root as findings call it."""
        return self.files.place_of(self.root.rstrip("/")) if self.root else self.files.place

    def read(self, name: str, limit: int) -> bytes | None:
        """See FileView."""
        return self.files.read(self.root + name, limit)

    @cached_property
    def name_set(self) -> frozenset[str]:
        """Its files, to look them up."""
        return frozenset(self.names)

    @cached_property
    def socs(self) -> tuple[str, ...]:
        """OPP-01: the SoCs that it has folders of."""
        found = (_soc_folder(name) for name in self.names)
        return tuple(sorted({each[1] for each in found if each} - {"config"}))

    @cached_property
    def configs(self) -> Configs:
        """What its JSON says."""
        return read_configs(self.names, self.read)

    @property
    def declared(self) -> tuple[Declared, ...]:
        """OPP-05: operators of `aic-<soc>-ops-info.json`."""
        return self.configs.declared

    @property
    def binaries(self) -> tuple[Binary, ...]:
        """OPP-02 and OPP-04: what the configurations name."""
        return self.configs.binaries

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the JSON."""
        return self.configs.problems

    @cached_property
    def ops(self) -> Mapping[str, tuple[str, ...]]:
        """Operators by the SoC they are declared for, each once."""
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for each in self.declared:
            found[each.soc][each.op] = None
        return {soc: tuple(ops) for soc, ops in sorted(found.items())}

    @cached_property
    def kernels(self) -> tuple[str, ...]:
        """The kernel objects that lie where the runtime looks for them."""
        return tuple(
            name
            for name in self.names
            if name.startswith(KERNEL)
            and name.endswith(".o")
            and not name.startswith(f"{KERNEL}config/")
        )

    @cached_property
    def built(self) -> frozenset[tuple[str, str]]:
        """(operator, SoC) of which there are kernels. JSN-08: a file is named after its operator."""
        found = {
            (each.op, each.soc) for each in self.binaries if each.op and self._has(each.kernel)
        }
        for name in self.kernels:
            soc, _, rest = name.removeprefix(KERNEL).partition("/")
            found.add((posixpath.basename(rest).removesuffix(".o").partition("_")[0], soc))
        return frozenset(found)

    @cached_property
    def api_libraries(self) -> tuple[PackageLibrary, ...]:
        """The libraries of aclnn functions."""
        return tuple(self._libraries(filter(_is_api_library, self.names)))

    @cached_property
    def api_headers(self) -> Mapping[str, str]:
        """The headers of aclnn functions: name and text."""
        return dict(self._texts(filter(_is_api_header, self.names)))

    @cached_property
    def prototypes(self) -> Mapping[str, str]:
        """The headers of operator prototypes: name and text."""
        return dict(self._texts(filter(_is_prototype, self.names)))

    @cached_property
    def cpu_configs(self) -> tuple[str, ...]:
        """The JSON of AI CPU operators (OPR-501)."""
        return tuple(filter(_is_cpu_config, self.names))

    @cached_property
    def cpu_libraries(self) -> tuple[PackageLibrary, ...]:
        """The libraries of AI CPU operators."""
        return tuple(self._libraries(filter(_is_cpu_library, self.names)))

    def _has(self, name: str) -> bool:
        return name in self.name_set

    def _texts(self, names: Iterator[str]) -> Iterator[tuple[str, str]]:
        for name in names:
            try:
                yield name, (self.read(name, HEADER_LIMIT) or b"").decode("utf-8", "replace")
            except CannkitError:  # a header is a remark: without it nothing is said
                continue

    def _libraries(self, names: Iterator[str]) -> Iterator[PackageLibrary]:
        for name in names:
            try:
                data = self.files.open(self.root + name)
                yield PackageLibrary(name, read_host_library(data), unversioned(data))
            except CannkitError as error:
                yield PackageLibrary(name, None, why=error.why or error.what)


def find_packages(path: str) -> tuple[Package, ...]:
    """The packages in a folder, a wheel, or the wheels of a folder, by their roots.

    What cannot be opened has none: the reader of its objects says why.
    """
    return tuple(chain.from_iterable(packages_at(path)))


def packages_at(path: str) -> Iterator[tuple[Package, ...]]:
    """The same, those of one folder or wheel at a time."""
    return filter(None, map(tuple, map(_packages, files_at(path))))


def _packages(files: PackageFiles) -> Iterator[Package]:
    roots: defaultdict[str, list[str]] = defaultdict(list)
    for name in files.names:
        found = _in_vendor(name)
        if found:
            root = "" if found[1] is None else f"{found[1]}/"
            roots[root].append(name[len(root) :])
    covered: set[str] = set()
    for root, names in sorted(roots.items()):
        if any(map(_is_vendor, names)):
            folder = posixpath.basename((root or files.place).rstrip("/"))
            covered.update(root + name for name in names)
            yield Package(folder, files, root, tuple(names))
    records = [found for found in map(_record, files.names) if found]
    if files.is_zip:  # a wheel has one, at its root; what another one brings is not in the first
        records = [found for found in records if not found[1]][:1]
    for found in records:
        name, root = found[0], found[1]
        if files.is_zip or _covers(files, name, root, covered):
            yield Package(found[2], files, root, record=name.removeprefix(root))


def _covers(files: PackageFiles, record: str, root: str, names: set[str]) -> bool:
    """Whether an installed wheel has brought one of some files."""
    from cannkit.image.wheel_record import read_record

    try:
        return any(root + row.name in names for row in read_record(files, record).rows)
    except CannkitError:
        return False
