"""The baseline: what is known stays known, wherever the command runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from cannkit.check.baseline import baseline_json, digest_of, read_baseline, split_place
from cannkit.check.finding import Finding, Level, Rule
from cannkit.errors import InputError

R1: Final = Rule("K001", "t", Level.ERROR, "why", "fix")
R2: Final = Rule("K102", "t", Level.NOTE, "why", "fix")
FINDINGS: Final = (
    Finding(R2, "d/b.o", "kernel k", "message"),
    Finding(R1, "d/b.o", None, "other"),
    Finding(R1, "d/a.whl!op/../x.o", "kernel k", "message"),
    Finding(R1, "-", None, "from stdin"),
    Finding(R1, "d/\udcff.o", None, "name \udcff"),
)


def test_round_trip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base.json").write_bytes(baseline_json(FINDINGS, "base.json"))
    baseline = read_baseline("base.json")
    assert baseline.split(FINDINGS) == ([], len(FINDINGS))
    for changed in (
        FINDINGS[0]._replace(message="new"),
        FINDINGS[0]._replace(where="kernel l"),
        FINDINGS[0]._replace(where=None),
        FINDINGS[0]._replace(rule=R1),
        FINDINGS[0]._replace(file="d/c.o"),
        FINDINGS[2]._replace(file="d/a.whl!op/x.o"),  # members are named as they are
    ):
        assert baseline.split([*FINDINGS, changed]) == ([changed], len(FINDINGS))


def test_paths_count_from_the_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written in one folder, read from another, with absolute paths or not."""
    (tmp_path / "ci").mkdir()
    monkeypatch.chdir(tmp_path)
    raw = baseline_json(FINDINGS[:2], "ci/base.json")
    assert [entry["file"] for entry in json.loads(raw)["findings"]] == ["../d/b.o"] * 2
    Path("ci/base.json").write_bytes(raw)
    for place in ("../d/b.o", "../ci/../d/b.o", f"{tmp_path}/d/b.o"):
        monkeypatch.chdir(tmp_path / "ci")
        baseline = read_baseline("base.json")
        assert baseline.split([FINDINGS[0]._replace(file=place)]) == ([], 1)


def test_stable_order() -> None:
    raw = baseline_json(FINDINGS, "base.json")
    assert raw == baseline_json([*reversed(FINDINGS), *FINDINGS], "base.json")
    entries = json.loads(raw)["findings"]
    assert len(entries) == len(FINDINGS)
    assert [(e["file"], e["code"]) for e in entries] == sorted(
        (e["file"], e["code"]) for e in entries
    )
    assert len(raw.splitlines()) == len(FINDINGS) + 5  # of the frame
    assert raw.isascii()


def test_empty() -> None:
    assert json.loads(baseline_json([], "b.json")) == {
        "schema": "cannkit.check-baseline/1", "findings": [],
    }  # fmt: skip


def test_hash_of_a_build_is_no_difference() -> None:
    one, two = (f"sha256 is {digit * 64}, not {digit * 64}" for digit in "ab")
    assert digest_of("sidecar", one) == digest_of("sidecar", two)
    assert digest_of(None, "Add_" + "a" * 32) != digest_of(None, "Add_" + "b" * 32)


@pytest.mark.parametrize(
    ("place", "parts"),
    [("a.o", ("a.o", None)), ("a.whl!b.o", ("a.whl", "b.o")), ("a!b!c", ("a", "b!c"))],
)
def test_split_place(place: str, parts: tuple[str, str | None]) -> None:
    assert split_place(place) == parts


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "[" * 100_000, "null", "\xff", '{"schema": "cannkit.check/1"}',
        '{"schema": "cannkit.check-baseline/1"}',
        '{"schema": "cannkit.check-baseline/1", "findings": {}}',
        '{"schema": "cannkit.check-baseline/1", "findings": [1]}',
        '{"schema": "cannkit.check-baseline/1", "findings": [{"file": "a", "code": 1}]}',
    ],
)  # fmt: skip
def test_no_baseline(text: str, tmp_path: Path) -> None:
    file = tmp_path / "base.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match="cannot read the baseline"):
        read_baseline(str(file))


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_baseline(str(tmp_path / "base.json"))
    assert "--write-baseline" in (caught.value.hint or "")
