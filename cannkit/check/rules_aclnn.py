"""Rules on the op_api library of a package: operators, headers and exports agree. Spec 01, section 11."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from cannkit.check.finding import Finding, Level, rule
from cannkit.check.package_subject import PackageRule, PackageSubject
from cannkit.errors import brief

WORKSPACE: Final = "GetWorkspaceSize"
ACLNN: Final = "aclnn"
INNER: Final = "aclnnInner"  # an operator that only other operators call
# a prototype: neither a call, nor a function that the header defines
_functions = re.compile(
    r"\b(?:aclnnStatus|aclError|int32_t|int)\s+(aclnn\w+)\s*\([^(){};]*\)\s*;"
).findall
_no_code = re.compile(
    r"/\*.*?(?:\*/|\Z)|//[^\n]*"
    r"|^[ \t]*#[ \t]*if[ \t]+0\b.*?(?:^[ \t]*#[ \t]*(?:else|elif|endif)|\Z)"
    r"|^[ \t]*#(?:[^\n\\]|\\.)*",
    re.DOTALL | re.MULTILINE,
)

K310 = rule(
    "K310",
    "the library of aclnn functions cannot be read",
    Level.ERROR,
    why="No program can load it, so no operator of the package can be called.",
    fix="Build the package again; the file is cut off or no shared library.",
)
K311 = rule(
    "K311",
    "one of an operator's two aclnn functions is missing",
    Level.ERROR,
    why="A call takes both: one gives the size of the workspace, the other launches.",
    fix="Export both from the op_api library.",
)
K312 = rule(
    "K312",
    "an operator has no aclnn functions",
    Level.WARNING,
    why="The op_api library does not export them: only graphs can use the operator.",
    fix="Build the op_api library of the same operators as the kernels.",
)
K313 = rule(
    "K313",
    "aclnn functions without an operator",
    Level.NOTE,
    why="The package has no operator of this name: a call may find no kernel.",
    fix="Nothing, if the function is made of other operators; else build the operator's kernels.",
)
K314 = rule(
    "K314",
    "a header declares an aclnn function that no library exports",
    Level.ERROR,
    why="Programs that call it compile, but do not link.",
    fix="Ship headers and library of one build.",
)


def check_aclnn(subject: PackageSubject) -> Iterator[Finding]:
    """K310 to K314: operators, headers and the exports of the op_api library agree."""
    package = subject.package
    libraries = package.api_libraries
    for each in libraries:
        if each.library is None:
            yield Finding(K310, subject.place_of(each.name), None, each.why)
    if not libraries or any(each.library is None for each in libraries):
        return
    exports = {
        name: each.name
        for each in libraries
        if each.library is not None
        for name in each.library.exports
        if name.startswith(ACLNN)
    }
    place = subject.place_of(libraries[0].name)
    ops = {each.op for each in package.declared} | {each.op for each in package.binaries if each.op}
    for op in sorted(ops):
        yield from _functions_of(op, exports.keys(), place)
    known = {f"{prefix}{op}" for op in ops for prefix in (ACLNN, INNER)}
    for name in sorted(exports.keys() - known):
        base = name.removesuffix(WORKSPACE)
        if base not in known and (base == name or base not in exports):
            message = f"{brief(name)} is exported, but the package has no such operator"
            yield Finding(K313, subject.place_of(exports[name]), brief(name), message)
    for header, text in package.api_headers.items():
        for name in dict.fromkeys(_functions(_no_code.sub(" ", text))):
            if name not in exports:
                message = f"{brief(name)} is declared, but no op_api library exports it"
                yield Finding(K314, subject.place_of(header), brief(name), message)


def _functions_of(op: str, exports: Collection[str], place: str) -> Iterator[Finding]:
    found = missing = ""
    for prefix in (ACLNN, INNER):
        pair = f"{prefix}{op}", f"{prefix}{op}{WORKSPACE}"
        there = [name for name in pair if name in exports]
        if len(there) == 2:
            return
        if there:
            found, missing = there[0], pair[1 - pair.index(there[0])]
    if found:
        message = f"it exports {brief(found)}, but not {brief(missing)}"
        yield Finding(K311, place, brief(op), message)
    else:
        message = f"it exports neither {brief(ACLNN + op)} nor {brief(ACLNN + op + WORKSPACE)}"
        yield Finding(K312, place, brief(op), message)


PACKAGE_RULES: Final[tuple[PackageRule, ...]] = (check_aclnn,)
