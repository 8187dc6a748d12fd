"""PackageSubject: what the rules of packages look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from cannkit.check.finding import Finding
from cannkit.image.package import Package


class PackageSubject(NamedTuple):
    """A package, and the version of glibc on the device that it is judged for, None for any."""

    package: Package
    device_glibc: str | None = None

    def place_of(self, name: str) -> str:
        """A file of the package as findings call it."""
        return self.package.place_of(name)


PackageRule = Callable[[PackageSubject], Iterator[Finding]]
