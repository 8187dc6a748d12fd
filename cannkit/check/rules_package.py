"""Rules on packages: what their configurations promise is there. Spec 01, section 11."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from cannkit.check.finding import Finding, Level, rule
from cannkit.check.matrix import coverage_of, matrix_of
from cannkit.check.package_subject import PackageRule, PackageSubject
from cannkit.check.rules_aclnn import PACKAGE_RULES as ACLNN_RULES
from cannkit.check.rules_record import PACKAGE_RULES as RECORD_RULES
from cannkit.errors import brief
from cannkit.image.package import Package

SHOWN: Final = 5
RELOCATABLE: Final = "_relocatable.o"  # no configuration of OPP-02 names these

K301 = rule(
    "K301",
    "a configuration cannot be read",
    Level.ERROR,
    why="An operator that stands in it is not found: the runtime drops the whole file.",
    fix="Build the package again; the file was cut off, edited or written by another tool.",
    spec="OPP-02 OPP-04 OPP-05 HAZ-14",
)
K302 = rule(
    "K302",
    "a configured kernel object is missing",
    Level.ERROR,
    why="The operator is chosen by its configuration, and the call fails for the object is not there.",
    fix="Look into the log of the kernel compiler: it failed for these data types; then build again.",
    spec="OPP-02 OPP-04",
)
K303 = rule(
    "K303",
    "a configured sidecar is missing",
    Level.ERROR,
    why="Without its JSON an object has no core type and no magic: it cannot be registered from the file.",
    fix="Ship the .json beside the .o; packaging patterns such as *.o leave it behind.",
    spec="OPP-02 JSN-01",
)
K304 = rule(
    "K304",
    "no configuration names a kernel object",
    Level.WARNING,
    why="It is never chosen. It makes the package larger, or its entry got lost.",
    fix="Write the configuration from the objects that are there, or leave the old object out.",
    spec="OPP-02",
)
K306 = rule(
    "K306",
    "an operator has no kernels for its SoC",
    Level.ERROR,
    why="The operator is declared for the SoC: programs find it, and their calls fail.",
    fix="Build its kernels for the SoC, or take it out of aic-<soc>-ops-info.json.",
    spec="OPP-05",
)
K307 = rule(
    "K307",
    "an operator is missing for one of the SoCs",
    Level.WARNING,
    why="The package is for this SoC, too, but this operator of it works on others only.",
    fix="Add the SoC to the operator's AddConfig and build again, or say so in the documentation.",
    spec="OPP-01 OPP-05",
)
K308 = rule(
    "K308",
    "kernels of an operator that is not declared",
    Level.WARNING,
    why="Without a prototype in aic-<soc>-ops-info.json graphs do not know the operator.",
    fix="Build prototypes and kernels of one source tree.",
    spec="OPP-02 OPP-05",
)


def check_configurations(subject: PackageSubject) -> Iterator[Finding]:
    """K301: each JSON says what it should."""
    for config, where, why in subject.package.problems:
        yield Finding(K301, subject.place_of(config), where, why)


def check_binaries(subject: PackageSubject) -> Iterator[Finding]:
    """K302, K303: what configurations name is there. A missing file is told of once."""
    package = subject.package
    seen: set[str] = set()
    for each in package.binaries:
        for found, name in ((K302, each.kernel), (K303, each.sidecar)):
            if name not in package.name_set and name not in seen:
                seen.add(name)
                place = subject.place_of(each.config)
                yield Finding(found, place, each.op, f"{brief(name, 512)} is not there")


def check_references(subject: PackageSubject) -> Iterator[Finding]:
    """K304: each object is named by a configuration. Where none could be read nothing is known."""
    package = subject.package
    named = {each.kernel for each in package.binaries}
    silent = {problem.config.rpartition("/")[0].rpartition("/")[2] for problem in package.problems}
    for name in package.kernels:
        soc = name.split("/")[4]  # behind op_impl/ai_core/tbe/kernel/
        if name not in named and not name.endswith(RELOCATABLE) and soc not in silent:
            yield Finding(K304, subject.place_of(name), None, "no configuration names it")


def check_operators(subject: PackageSubject) -> Iterator[Finding]:
    """K306, K307: each operator has kernels for each SoC. K308: and is declared."""
    package = subject.package
    files = {(each.op, each.soc): each.config for each in package.declared}
    built: defaultdict[str, list[str]] = defaultdict(list)
    for op, soc in sorted(package.built):
        built[op].append(soc)
    for op, soc, declared in matrix_of([coverage_of(package)]).missing:
        where = f"{brief(op)}, {soc}"
        if declared:
            message = f"{brief(op)} has no kernels for {soc}"
            yield Finding(K306, subject.place_of(files[op, soc]), where, message)
        else:
            others = ", ".join(built[op][:SHOWN]) or "no SoC"
            message = f"{brief(op)} has kernels for {others}, not for {soc}"
            yield Finding(K307, package.place, where, message)
    for (op, soc), config in sorted(_undeclared(package).items()):
        message = f"{brief(op)} is not in aic-{soc}-ops-info.json"
        yield Finding(K308, subject.place_of(config), f"{brief(op)}, {soc}", message)


def _undeclared(package: Package) -> dict[tuple[str, str], str]:
    """Configured operators that are not declared for their SoC, and where they are configured."""
    return {
        (each.op, each.soc): each.config
        for each in package.binaries
        if each.op and each.soc in package.ops and each.op not in package.ops[each.soc]
    }


PACKAGE_RULES: Final[tuple[PackageRule, ...]] = (
    check_configurations,
    check_binaries,
    check_references,
    check_operators,
    *ACLNN_RULES,
    *RECORD_RULES,
)
