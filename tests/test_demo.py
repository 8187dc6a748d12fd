"""`fixtures/packages` is what `tests/demo.py` makes."""

from __future__ import annotations

from tests.demo import PACKAGES, packages

LIMIT = 8 << 10  # as of other fixtures


def test_packages_are_what_the_builder_makes() -> None:
    committed = {
        path.relative_to(PACKAGES).as_posix(): path.read_bytes()
        for path in PACKAGES.rglob("*")
        if path.is_file()
    }
    made = {
        f"{name}/{path}": data for name, files in packages().items() for path, data in files.items()
    }
    assert committed == made, "run `python -m tests.demo`"
    assert max(map(len, made.values())) <= LIMIT
