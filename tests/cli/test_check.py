"""cannkit check on pipes and terminals: each option, each format, every exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from tests.cli.runner import ADD, OBJECTS, Result, cannkit, each, terminal, together
from tests.packages import KERNEL, X86_64, vendor, wheel
from tests.packages import folder as write_folder
from tests.packages import library as aarch64_library

PRINTF: Final = "BoundsCheckCustom_fb38dbe3245f5ac10c1c328b07aed377.o"


def check(*args: str | Path, **options: Any) -> Result:
    return cannkit("check", *args, **options)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package without a sidecar for one of its objects (K303), and with a broken object (K003)."""
    root = tmp_path_factory.mktemp("tree")
    files = vendor(("Add", "Mul"), ("ascend910b", "ascend950"))
    name = next(name for name in files if name.endswith(".json") and "/ascend910b/mul/" in name)
    del files[name]
    files[f"{KERNEL}ascend910b/mul/Broken_1.o"] = b"\x7fELF"
    write_folder(root / "vendor", files)
    return root


def codes(found: Result) -> list[str]:
    return [each["code"] for each in json.loads(found.out)["findings"]]


def test_nothing_found() -> None:
    found = check(ADD)
    assert (found.code, found.err) == (0, b"")
    assert found.text == "nothing found in 1 file\n"


def test_findings_by_file(tree: Path) -> None:
    found = check(tree)
    assert (found.code, found.err) == (1, b"")
    lines = found.text.splitlines()
    at = lines.index(f"{tree}/vendor/{KERNEL}ascend910b/mul/Broken_1.o")
    assert lines[at + 1].split()[:2] == ["error", "K003"]
    assert any(line.startswith("  K303  a configured sidecar is missing: ") for line in lines)
    assert "2 operators on 2 SoCs: all have kernels" in lines
    assert lines[-1].endswith(" in 6 files")


def test_what_is_there_and_unreadable_is_a_finding_what_is_not_there_an_error(
    tmp_path: Path,
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.o").write_text("text")
    text, missing, empty, both = each(
        [
            ["check", f"{tmp_path}/text.o", "--json"],
            ["check", f"{tmp_path}/missing.o"],
            ["check", f"{tmp_path}/empty"],
            ["check", f"{tmp_path}/missing.o", ADD, f"{tmp_path}/text.o", "--json"],
        ]
    )
    assert (text.code, codes(text)) == (1, ["K003"])
    why = "No such file or directory"
    assert missing.code == 3
    assert missing.errors == [f"cannkit: error: cannot read the file ({tmp_path}/missing.o): {why}"]
    assert empty.code == 3
    assert empty.errors[0].startswith("cannkit: error: no kernel object inside")
    assert (both.code, codes(both)) == (3, ["K003"])
    assert [entry["file"] for entry in both.document["errors"]] == [f"{tmp_path}/missing.o"]
    assert both.document["totals"]["files"] == 2


def test_sidecars_that_a_shell_names(tmp_path: Path) -> None:
    """`check dir/*`: their objects' rules look at them."""
    for name in ("AddCustom.o", "AddCustom.json"):
        (tmp_path / name).write_bytes(Path(OBJECTS, name).read_bytes())
    both, alone = each(
        [
            ["check", str(tmp_path / "AddCustom.json"), str(tmp_path / "AddCustom.o")],
            ["check", str(tmp_path / "AddCustom.json")],
        ]
    )
    assert (both.code, both.text) == (0, "nothing found in 1 file\n")
    assert alone.code == 3
    assert alone.errors[0].startswith("cannkit: error: no kernel object inside")


def test_stdin() -> None:
    found = check("-", "--json", stdin=Path(f"{OBJECTS}/{PRINTF}").read_bytes())
    assert (found.code, codes(found)) == (0, ["K103"])  # no K001: nothing can lie beside it


def test_json(tree: Path) -> None:
    found = check(tree, "--json")
    document = found.document
    assert found.code == 1
    assert list(document) == [
        "schema",
        "findings",
        "matrix",
        "totals",
        "errors",
        "fail_on",
        "rules",
    ]
    assert list(document["findings"][0]) == ["code", "level", "file", "where", "message", "fix"]
    assert document["matrix"] == {
        "ops": ["Add", "Mul"],
        "socs": ["ascend910b", "ascend950"],
        "missing": [],
    }
    assert check(tree, "--format", "json") == found


def test_levels_decide(tree: Path) -> None:
    warning, error, never = each(
        [
            ["check", f"{OBJECTS}/{PRINTF}", "--select", "K1", "--ignore", "K102", *rest]
            for rest in (["--fail-on", "warning"], [], ["--fail-on", "never"])
        ]
    )
    assert (warning.code, error.code, never.code) == (0, 0, 0)
    codes = [check(tree, "--fail-on", level).code for level in ("never", "error", "warning")]
    assert codes == [0, 1, 1]


def test_select_and_ignore(tree: Path) -> None:
    package, object_, none, both = each(
        [
            ["check", str(tree), "--json", *rest]
            for rest in (
                ["--select", "k3"],
                ["--select", "K0", "--select", "K2"],
                ["--ignore", "K0,K3"],
                ["--select", "K0,K3", "--ignore", "K30", "--ignore", "K00"],
            )
        ]
    )
    assert set(codes(package)) <= {"K303", "K304"}
    assert "K303" in codes(package)
    assert "K003" in codes(object_)
    assert codes(none) == []
    assert codes(both) == []


def test_rules_are_told() -> None:
    listed, one, as_json, unknown, format_ = each(
        [
            ["check", "--list"],
            ["check", "--explain", "k102"],
            ["check", "--explain", "K102", "--json"],
            ["check", "--explain", "K1020"],
            ["check", "--list", "--format", "sarif"],
        ]
    )
    rows = [line.split(maxsplit=2) for line in listed.text.splitlines()]
    assert rows[0] == ["Rule", "Level", "Title"]
    assert ["K003", "error", "unreadable object"] in rows
    assert rows[1:] == sorted(rows[1:])
    assert one.text.startswith("K102 loading from a file refused\n")
    assert as_json.document["schema"] == "cannkit.check-rule/1"
    assert as_json.document["spec"] == ["JSN-05", "QK-4"]
    assert (unknown.code, format_.code) == (2, 2)
    assert unknown.errors == [
        "cannkit: error: unknown rule 'K1020'",
        "hint: did you mean K120, K102, K020?",
    ]


@pytest.mark.parametrize(
    "args",
    [
        [],
        [ADD, "--json", "--format", "text"],
        [ADD, "--select", "X1"],
        [ADD, "--soc", "Ascend9"],
        [ADD, "--device-glibc", "new"],
        [ADD, "--jobs", "-1"],
        [ADD, "--baseline", "a", "--write-baseline", "b"],
        [ADD, "--write-baseline", "-"],
        [ADD, "--write-baseline", ADD],
        [ADD, "--write-baseline", "README.md"],
    ],
    ids=" ".join,
)
def test_usage_errors(args: list[str]) -> None:
    found = check(*args)
    assert found.code == 2
    assert found.errors[0].startswith("cannkit: error: ")
    assert (found.out == b"") == ("--json" not in args)


def test_the_chip_of_the_folder_or_the_one_named(tree: Path) -> None:
    own, a2, env = together(
        lambda: check(tree, "--json", "--select", "K2"),
        lambda: check(tree, "--json", "--select", "K2", "--soc", "Ascend910B1"),
        lambda: check(tree, "--json", "--select", "K2", env={"CANNKIT_SOC": "ascend910b"}),
    )
    assert codes(own) == []
    assert set(codes(a2)) == set(codes(env)) >= {"K202"}


def test_formats_for_other_programs(tree: Path) -> None:
    github, sarif, junit, known = each(
        [
            ["check", str(tree), "--format", "github"],
            ["check", str(tree), "--format", "sarif"],
            ["check", str(tree), "--format", "junit"],
            ["check", str(tree), "--json"],
        ]
    )
    assert (github.code, sarif.code, junit.code) == (1, 1, 1)
    count = len(codes(known))
    assert sum(line.startswith("::") for line in github.text.splitlines()) == count
    assert len(json.loads(sarif.out)["runs"][0]["results"]) == count
    suites = ElementTree.fromstring(junit.out)
    failed = [each for each in suites.iter("testcase") if each.find("failure") is not None]
    levels = [each["level"] for each in known.document["findings"]]
    assert len(failed) == levels.count("error")


def test_a_baseline_is_known_from_then_on(tree: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    written = check(tree, "--write-baseline", baseline)
    assert (written.code, written.err) == (0, b"")
    count = len(json.loads(baseline.read_bytes())["findings"])
    assert written.text.splitlines()[-1] == (
        f"nothing found in 6 files ({count} known by the baseline)"
    )
    (tree / "vendor" / KERNEL / "ascend910b" / "mul" / "New_1.o").write_text("new")
    try:
        again = check(tree, "--baseline", baseline, "--json")
    finally:
        (tree / "vendor" / KERNEL / "ascend910b" / "mul" / "New_1.o").unlink()
    assert again.code == 1
    assert set(codes(again)) == {"K003", "K304"}
    assert {Path(each["file"]).name for each in again.document["findings"]} == {"New_1.o"}
    assert again.document["totals"]["baseline"] == count
    replaced = check(tree, "--write-baseline", baseline)
    assert replaced.code == 0


def test_a_missing_baseline_is_an_error() -> None:
    found = check(ADD, "--baseline", "missing.json")
    assert found.code == 3
    assert found.errors[-1] == "hint: `--write-baseline missing.json` makes it"


def test_settings_of_the_project(tree: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    write_folder(project / "opp", {"x/Broken_1.o": b"\x7fELF", "y/Broken_2.o": b"\x7fELF"})
    (project / "pyproject.toml").write_text(
        '[tool.cannkit.check.per-path-ignores]\n"opp/x/" = ["K003"]\n'
    )
    found = check(project / "opp", "-v", "--json")
    assert [Path(each["file"]).name for each in found.document["findings"]] == ["Broken_2.o"]
    assert found.errors == [f"cannkit: settings: {project}/pyproject.toml"]
    two = check(project / "opp/x", project / "opp/y", "--json")
    assert [Path(each["file"]).name for each in two.document["findings"]] == ["Broken_2.o"]
    (project / "cannkit.toml").write_text('[check]\nfail-on = "never"\nselect = ["K003"]\n')
    assert check(project / "opp").code == 0
    assert check(project / "opp", "--fail-on", "error").code == 1
    (project / "cannkit.toml").write_text("[check]\nselct = []\n")
    wrong = check(project / "opp")
    assert wrong.code == 2
    assert wrong.errors[-1] == "hint: did you mean select?"


def test_jobs_change_nothing(tree: Path, tmp_path: Path) -> None:
    files = vendor(("Add",))
    archive = wheel(tmp_path / "demo-1.0-py3-none-any.whl", files)
    one, two, all_ = each(
        [["check", str(tree), archive, "--json", "--jobs", jobs] for jobs in ("1", "2", "0")]
    )
    assert one.code == 1
    assert one == two == all_


def test_an_ai_cpu_library_by_itself(tmp_path: Path) -> None:
    library = tmp_path / "libcust_kernels.so"
    needs = {"clone3": ("libc.so.6", "GLIBC_2.34")}
    library.write_bytes(aarch64_library("Add", soname="libother.so", versioned=needs))
    any_, old = each(
        [["check", str(library), "--json", *rest] for rest in ([], ["--device-glibc", "2.28"])]
    )
    assert (any_.code, codes(any_)) == (0, ["K408"])
    assert (old.code, codes(old)) == (1, ["K408", "K409"])
    assert old.document["totals"]["files"] == 1
    assert {each["file"] for each in old.document["findings"]} == {str(library)}


def test_host_objects_beside_kernels(tmp_path: Path) -> None:
    """In a wheel as in a folder: they are no kernels, and no broken ones."""
    files = {"k.o": Path(ADD).read_bytes(), "host.o": aarch64_library("f", machine=X86_64)}
    for place in (write_folder(tmp_path / "build", files), wheel(tmp_path / "k.whl", files)):
        found = check(place, "--json")
        assert (found.code, codes(found)) == (0, ["K001"])
        assert found.document["totals"]["files"] == 1


def test_terminal(tree: Path) -> None:
    found = terminal("check", str(tree), width=60)
    assert found.code == 1
    assert b"\x1b[1;31merror" in found.raw
