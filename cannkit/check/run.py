"""The run of `cannkit check`: every rule over every object and package, here or in other processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from cannkit.check.finding import Finding
from cannkit.check.matrix import Matrix, coverage_of, matrix_of
from cannkit.check.package_subject import PackageSubject
from cannkit.check.rules_chip import OBJECT_RULES as CHIP_RULES
from cannkit.check.rules_cpu import PACKAGE_RULES as CPU_RULES
from cannkit.check.rules_cpu_library import glibc_version
from cannkit.check.rules_integrity import K049, check_unreadable
from cannkit.check.rules_integrity import OBJECT_RULES as INTEGRITY_RULES
from cannkit.check.rules_package import PACKAGE_RULES as COMPLETENESS_RULES
from cannkit.check.rules_runtime import OBJECT_RULES as RUNTIME_RULES
from cannkit.check.subject import ObjectSubject, UnreadableSubject
from cannkit.check.tally import MOST_OF_A_RULE, NO_COVERAGE, Checked, Failure, Tally
from cannkit.errors import CannkitError, unexpected
from cannkit.format.elf_types import HOST_MACHINES
from cannkit.image.package import Package, packages_at
from cannkit.image.reader import read_input
from cannkit.inputs.contents import Input, NothingInsideError, Unreadable, place_of
from cannkit.inputs.files import NoSuchFileError, is_directory
from cannkit.inputs.parts import FoundFiles, in_parts, spread
from cannkit.inputs.paths import STDIN, Inputs
from cannkit.soc import DEFAULT_SOC, Soc, family_names, find_soc

if TYPE_CHECKING:
    from concurrent.futures import Executor

OBJECT_RULES: Final = (*INTEGRITY_RULES, *RUNTIME_RULES, *CHIP_RULES)
PACKAGE_RULES: Final = (*COMPLETENESS_RULES, *CPU_RULES)
MOST_FINDINGS: Final = 1_000  # of one rule in one object or package


class CheckOptions(NamedTuple):
    """What is asked for: a chip (None: that of the folder), the C library of the device."""

    soc: str | None = None
    device_glibc: str | None = None

    @classmethod
    def of(cls, soc: str | None, device_glibc: str | None) -> Self:
        """Raises UsageError for an unknown SoC, or what is no version of glibc."""
        if soc is not None:
            find_soc(soc)
        if device_glibc is not None:
            glibc_version(device_glibc)
        return cls(soc, device_glibc)


class CheckResult(NamedTuple):
    """All of it. `libraries` are those of packages, `matrix` is None without a package of operators."""

    findings: tuple[Finding, ...]
    objects: int
    libraries: int
    packages: int
    matrix: Matrix | None
    failures: tuple[Failure, ...]


Part = Inputs | FoundFiles | tuple[Package, ...]
Watch = Callable[[int], None]


def check_paths(
    paths: Sequence[str],
    options: CheckOptions,
    *,
    executor: Executor | None = None,
    watch: Watch = lambda objects: None,
) -> CheckResult:
    """Every rule over the objects and packages of `paths`; see `cannkit.check_many`.

    `watch` is told how many objects are done. Raises InputError when a worker of `executor` dies.
    """
    numbers: list[int] = []  # of the path of each part

    def parts() -> Iterator[Part]:
        for number, path in enumerate(paths):
            for part in _parts(path):
                numbers.append(number)
                yield part

    tally, own = Tally(), [Tally() for _ in paths]
    for at, checked in enumerate(spread(partial(check_part, options), parts(), executor)):
        tally.add(checked)
        own[numbers[at]].add(checked._replace(findings=(), coverage=NO_COVERAGE))
        watch(tally.objects)
    more = [
        Finding(K049, file, None, f"{rule.code}: only the first {MOST_OF_A_RULE} are told")
        for rule, file in tally.cut.items()
    ]
    matrix = matrix_of([tally.coverage])
    failures = list(chain.from_iterable(map(_failures, paths, own)))
    if paths and not (tally.objects or tally.libraries or tally.packages or failures):
        error = NothingInsideError(paths[0], "no object, package or library of the AI CPU")
        failures.append(Failure(paths[0], error))
    return CheckResult(
        (*tally.findings, *more),
        tally.objects,
        tally.libraries,
        tally.packages,
        matrix if matrix.ops else None,
        tuple(failures),
    )


def _parts(path: str) -> Iterator[Part]:
    yield from in_parts(path)
    if path != STDIN:
        for packages in packages_at(path):
            if packages[0].files.is_zip:  # each worker that gets a part of it opens it again
                yield packages
            else:
                yield from ((package,) for package in packages)


def _failures(path: str, tally: Tally) -> Iterator[Failure]:
    """What failed; that a path holds no kernels does not count where it holds a package."""
    nothing: CannkitError | None = None
    for each in tally.failures:
        if isinstance(each.error, NothingInsideError):
            nothing = nothing or each.error
        else:
            yield each
    if not (tally.objects or tally.packages):
        if nothing is None and is_directory(path):
            nothing = NothingInsideError(path, "a directory without kernel objects and packages")
        if nothing is not None:
            yield Failure(path, nothing)


def check_part(options: CheckOptions, part: Part) -> Checked:
    """The rules over some objects, or some packages: what a worker does."""
    tally = Tally()
    if isinstance(part, tuple):
        for package in part:  # a copy: what it has read is forgotten with it
            tally.add(check_package(replace(package), options))
    else:
        for item in part:
            tally.add(check_item(item, options))
    return tally.checked


def check_item(item: Input | Unreadable, options: CheckOptions) -> Checked:
    """The rules over one object. What cannot be read is a finding; what is not there, a failure."""
    place = place_of(item)
    family = folder_soc(place)
    soc = _soc(options.soc, family)
    try:
        if isinstance(item, Unreadable):
            raise item.error
        obj = read_input(item, soc)
        if obj.elf.header.machine in HOST_MACHINES:  # rules on libraries look at it
            return Checked()
        subject = ObjectSubject(place, item, obj, soc, family, options.soc is not None)
        findings = _capped((apply(subject) for apply in OBJECT_RULES), place)
        return Checked(_beside(findings, item.path), 1)
    except CannkitError as error:
        if isinstance(error, NothingInsideError):
            return Checked(failures=(Failure(place, error),))
        if item.container is None:
            if isinstance(error, NoSuchFileError):
                return Checked(failures=(Failure(place, error),))
            if place.endswith(".json"):  # named by `dir/*`: an object's rules look at it
                return Checked()
        return Checked(tuple(check_unreadable(UnreadableSubject(place, item, error))), 1)
    except Exception as error:  # a bug of ours in one object must not hide the others
        return Checked(objects=1, failures=(Failure(place, unexpected(error)),))


def check_package(package: Package, options: CheckOptions) -> Checked:
    """The rules over a package as a whole."""
    try:
        subject = PackageSubject(package, options.device_glibc)
        findings = _capped((apply(subject) for apply in PACKAGE_RULES), package.place)
        libraries = len(package.api_libraries) + len(package.cpu_libraries)
        return Checked(findings, 0, libraries, 1, coverage=coverage_of(package))
    except CannkitError:
        raise
    except Exception as error:  # as above
        return Checked(failures=(Failure(package.place, unexpected(error)),))


def _capped(rules: Iterable[Iterator[Finding]], place: str) -> tuple[Finding, ...]:
    """What rules find, of each at most MOST_FINDINGS."""
    findings: list[Finding] = []
    for each in rules:
        found = list(islice(each, MOST_FINDINGS + 1))
        findings += found[:MOST_FINDINGS]
        if len(found) > MOST_FINDINGS:
            message = f"{found[0].rule.code} and its like: only the first {MOST_FINDINGS} are told"
            findings.append(Finding(K049, place, None, message))
    return tuple(findings)


def _beside(findings: Iterable[Finding], path: str) -> tuple[Finding, ...]:
    """The findings, with the name only of a file that lies beside the object at `path`."""
    folder = path[: path.rfind("/") + 1]
    return tuple(
        found._replace(where=found.where.removeprefix(folder)) if found.where else found
        for found in findings
    )


def folder_soc(place: str) -> str | None:
    """The family that a folder on the way to a file is named after; None for none."""
    families = set(family_names())
    named = [part for part in PurePosixPath(place.replace("!", "/")).parts if part in families]
    return named[-1] if named else None


def _soc(asked: str | None, family: str | None) -> Soc:
    return find_soc(asked or family or DEFAULT_SOC)
