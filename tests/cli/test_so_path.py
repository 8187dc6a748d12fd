"""cannkit so-path on pipes and terminals: each option, every kind of file, both sides of a custom library."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from cannkit.ae.context import AeContext
from cannkit.ae.survey import table
from cannkit.errors import ExitCode
from tests.ae.library import built
from tests.cli.runner import BOX, ESCAPE, Result, cannkit, each, terminal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

K: Final = "/usr/lib64/aicpu_kernels"
K0: Final = f"{K}/0/aicpu_kernels_device"
USER: Final = "/home/CustAiCpuUser"
INNER: Final = "ASCEND_AICPU_KERNEL_PATH"
CUST: Final = "ASCEND_CUST_AICPU_KERNEL_CACHE_PATH"
OPEN_FAILED: Final = {"code": 11002, "name": "AE_STATUS_OPEN_SO_FAILED"}

# cli.md, section 7; what is not there follows
DOCUMENT: Final = ["so_name", "context", "results"]
CONTEXT: Final = ["vf", "unique_vf", "pid", "device", "env"]
SEARCH: Final = ["kernel_type", "run_mode", "cust_sd", "init", "decision", "attempts", "loaded",
                 "status", "call_status"]  # fmt: skip
DECISION: Final = ["rule", "condition", "taken"]
ATTEMPT: Final = ["level", "directory", "path", "exists", "real_path", "guard", "status"]


def so_path(*args: str | Path, env: Mapping[str, str] | None = None) -> Result:
    return cannkit("so-path", *args, env=env)


def answer(
    *args: str | Path, code: int = 0, env: Mapping[str, str] | None = None
) -> dict[str, Any]:
    found = so_path(*args, "--json", env=env)
    assert found.code == code, found.err
    return found.document


def search(
    *args: str | Path, code: int = 0, env: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The one search of a kernel type."""
    (found,) = answer(*args, code=code, env=env)["results"]
    assert isinstance(found, dict)
    return found


def paths(found: Mapping[str, Any]) -> list[str]:
    return [attempt["path"] for attempt in found["attempts"]]


def first(*args: str | Path, env: Mapping[str, str] | None = None) -> str:
    """The first path that is asked for."""
    return paths(search("libmy.so", *args, env=env))[0]


def placed(root: Path, name: str = "libmy.so", directory: str = K0) -> Path:
    """A library below a root."""
    place = root / directory.lstrip("/")
    place.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(built("ops"), place / name))


def test_table_of_all_directories() -> None:
    """05, 10.2: nothing is cut, and a row for each line of the chapter."""
    found = so_path("--vf", "40", "--pid", "123")
    assert found.code == 0
    assert found.errors == ["hint: vf 40 is that of virtual device 40, as a rule: --device 40"]
    rows = [re.split(" {2,}", line) for line in found.text.splitlines()]
    assert rows[1] == ["Kernel types", "Mode", "Level 1", "Level 2", "Level 3"]
    shown = {(row[0], row[1]): tuple(row[2:]) for row in rows[2:-1]}
    words = {(1,): "fwk (1)", (2, 5): "inner (2, 5)"}
    for row in table(AeContext(vf=40, pid=123)):
        process = " in cust-sd" if row.is_cust_sd else " in aicpusd"
        kinds = words.get(tuple(map(int, row.kernel_types)), f"custom (4, 6){process}")
        modes = ", ".join(mode.name.lower() for mode in row.modes)
        assert shown.pop((kinds, modes)) == (row.paths or (f"refused: {row.why}",))
    assert shown == {}
    assert f"{USER}5/lib/" in rows[-1][0]


def test_table_with_the_device() -> None:
    found = so_path("--vf", "40", "--pid", "123", "--device", "40")
    assert found.err == b""
    assert f"{USER}5/cust_aicpu_40_40_123/123_40/<so>" in found.text
    assert so_path("--vf", "40", "-q").err == b""


def test_table_of_one_type() -> None:
    assert "custom" not in so_path("--kernel-type", "fwk").text
    assert len(so_path("--kernel-type", "kfc").text.splitlines()) == 5
    assert "kernel type 3 has no kernel lib" in so_path("--kernel-type", "3").text


def test_what_is_told_at_least() -> None:
    """cli.md, section 7: with a name or with --json the mode is PCIe, the types are three."""
    for line in (("--json",), ("libmy.so", "--json")):
        results = so_path(*line).document["results"]
        assert [(each["kernel_type"], each["run_mode"], each["cust_sd"]) for each in results] == [
            ("aicpu", "pcie", False), ("custom", "pcie", True), ("fwk", "pcie", False),
        ]  # fmt: skip
    assert so_path("--run-mode", "thread").text.count(" in thread mode, ") == 3


def test_keys() -> None:
    document = answer("libmy.so")
    assert list(document)[: len(DOCUMENT) + 1] == ["schema", *DOCUMENT]
    assert document["schema"] == "cannkit.so-path/1"
    assert list(document["context"]) == CONTEXT
    assert list(document["context"]["env"]) == ["HOME", INNER, CUST]
    for found in document["results"]:
        assert list(found)[: len(SEARCH)] == SEARCH
        for attempt in found["attempts"]:
            assert list(attempt)[: len(ATTEMPT)] == ATTEMPT
        for decision in found["decision"]:
            assert list(decision) == DECISION


def test_every_rule_that_was_asked_is_told() -> None:
    rules = [
        (each["rule"], each["taken"])
        for each in search("libmy.so", "--kernel-type", "kfc")["decision"]
    ]
    assert rules == [(f"AE-604.{at}", at == 5) for at in range(1, 6)]


# fmt: off
FIRST: Final = {  # options -> the first path
    "--kernel-type aicpu": f"{K0}/libmy.so",
    "--kernel-type 2": f"{K0}/libmy.so",
    "--kernel-type KFC": f"{K0}/libmy.so",
    "--kernel-type kfc --vf 7": f"{K}/7/aicpu_kernels_device/libmy.so",
    "--kernel-type custom": f"{USER}/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type custom-kfc --pid -5": f"{USER}/cust_aicpu_0_0_-5/libmy.so",
    "--kernel-type 6 --vf 4294967295 --device 4294967295":
        f"{USER}4294967295/cust_aicpu_4294967295_4294967295_0/libmy.so",
    "--kernel-type custom --run-mode socket": "/home/HwHiAiUser/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type custom --run-mode 1 --vf 40": "/home/HwHiAiUser5/cust_aicpu_0_40_0/libmy.so",
    "--kernel-type custom --run-mode THREAD --no-cust-sd": "/home/HwHiAiUser/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type custom --run-mode socket --home=": "/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type custom --run-mode socket --home /h": "/h/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type custom --run-mode socket -e HOME=/h/": "/h//cust_aicpu_0_0_0/libmy.so",
    "--kernel-type custom --run-mode socket -e HOME=": "/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type custom --run-mode socket -e HOME=/a -e HOME=/b": "/b/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type custom --run-mode socket -e HOME=/a --home /b": "/b/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type custom --run-mode socket --inherit-env": "/home/me/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type custom --run-mode socket --inherit-env -e HOME=/a": "/a/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type aicpu --run-mode thread --inherit-env": "/opt/mine/libmy.so",
    "--kernel-type aicpu --run-mode thread --no-home": f"{K0}/libmy.so",
    f"--kernel-type aicpu --run-mode thread --env {INNER}=/o": "/o/libmy.so",
    f"--kernel-type custom --env {CUST}=/o": "/o/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type custom --run-mode 7": "/home/HwHiAiUser/cust_aicpu_0_0_0/libmy.so",
    "--kernel-type fwk": f"{K0}/libtf_kernels.so",
}
# fmt: on


@pytest.mark.parametrize("line", FIRST)
def test_the_process_is_told_of(line: str) -> None:
    """The variables of the shell count with --inherit-env alone."""
    shell = {"HOME": "/home/me", INNER: "/opt/mine"}
    assert first(*line.split(), env=shell) == FIRST[line]


def test_variables_are_shown() -> None:
    document = answer("--no-home", "-e", f"{CUST}=", "--vf", "3", "--pid", "-1", "--device", "2")
    assert document["context"] == {
        "vf": 3, "unique_vf": 3, "pid": -1, "device": 2,
        "env": {"HOME": None, INNER: None, CUST: ""},
    }  # fmt: skip
    text = so_path("x.so", "--no-home", "-e", f"{CUST}=/c").text
    assert text.startswith(f"device 0, vf 0, host process 0, HOME is not set, {CUST}=/c\n")


def test_custom_types_in_the_ordinary_scheduler() -> None:
    """AE-602.2; where they run in cust-sd, a line tells of the other."""
    hint = "the ordinary scheduler refuses custom types outside thread mode (21008)"
    found = search("libmy.so", "--kernel-type", "custom")
    assert any(hint in line for line in found["hints"])
    refused = search("libmy.so", "--kernel-type", "custom", "--no-cust-sd")
    assert (refused["attempts"], refused["status"]["code"]) == ([], 11001)
    assert refused["call_status"] == OPEN_FAILED
    assert search("libmy.so", "--kernel-type", "custom", "--run-mode", "thread")["hints"] == []
    assert search("libmy.so", "--kernel-type", "aicpu", "--cust-sd")["cust_sd"] is True


NAMES: Final = {
    "": (11001, 11002, 0),
    "lib\u00fc.so": (11001, 11002, 0),
    "a/b.so": (11001, 11002, 0),
    "../libmy.so": (11001, 11002, 0),
    "a b.so": (11001, 11002, 0),
    "-x.so": (11002, 11002, 3),
    ".": (11002, 11002, 3),
    "l" * 97 + ".so": (11002, 11002, 3),
    "l" * 98 + ".so": (11002, 11002, 3),
    "l" * 300: (11002, 11002, 3),
    "l" * 5000: (11002, 11002, 0),
}


def test_names(tmp_path: Path) -> None:
    """SP-33 to SP-36: what the loader says, what the caller sees, how many paths are asked for."""
    options = ("--kernel-type", "aicpu", "--root", str(tmp_path), "--json", "--")
    found = each([("so-path", *options, name) for name in NAMES])
    for name, result in zip(NAMES, found, strict=True):
        assert result.code == 0, result.err
        (one,) = result.document["results"]
        assert (one["status"]["code"], one["call_status"]["code"], len(one["attempts"])) == NAMES[
            name
        ]
    long = found[list(NAMES).index("l" * 98 + ".so")].document["results"][0]
    assert "a call uses the first 100 of 101 bytes of the name (Q-5)" in long["hints"]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"lib\xff.so")
    options = ("--root", tmp_path, "-e", f"{CUST}=/{name}", "--install", built("ops"))
    document = answer(*options, name, code=4)
    assert document["so_name"] == document["install"]["so_name"] == r"lib\xff.so"
    assert document["context"]["env"][CUST] == r"/lib\xff.so"
    assert r"lib\xff.so for aicpu" in so_path(name).text


@pytest.mark.parametrize(("size", "init", "skipped"), [(4095, 0, 2), (4096, 11006, 0)])
def test_longest_variables(size: int, init: int, skipped: int) -> None:
    """SP-14 to SP-16, AE-505."""
    value = "/" + "x" * (size - 1)
    options = ("--kernel-type", "aicpu", "--run-mode", "thread", "-e", f"{INNER}={value}")
    found = search("libmy.so", *options)
    assert found["init"]["code"] == init
    assert len(found["skipped"]) == skipped
    assert len(found["attempts"]) == (1 if skipped else 0)
    if init:
        assert found["reason"] == f"{INNER} is 4096 bytes long (at most 4095)"
        assert found["call_status"]["code"] == 11001
    else:
        assert found["skipped"][0]["rule"] == "level 1"
    assert so_path("libmy.so", *options).code == 0


def test_empty_variable() -> None:
    found = search("libmy.so", "--kernel-type", "aicpu", "-e", f"{INNER}=")
    assert (found["init"]["code"], found["attempts"], found["status"]) == (11006, [], None)
    text = so_path("libmy.so", "--kernel-type", "aicpu", "-e", f"{INNER}=").text
    assert f"init  AE_STATUS_INNER_ERROR (11006): {INNER} is set, but empty" in text


@pytest.mark.parametrize("name", ["cce", "hwts", "3", "4294967295"])
def test_types_without_a_lib(name: str) -> None:
    """AE-503."""
    found = search("libmy.so", "--kernel-type", name)
    assert (found["attempts"], found["call_status"]["code"]) == ([], 11001)
    assert "1, 2, 4, 5 and 6 have one" in found["reason"]


# --- files


def spoiled(root: Path) -> dict[str, str]:
    """Files that no loader opens, and what is said of each."""
    place = placed(root).parent
    good = (place / "libmy.so").read_bytes()
    (place / "libdir.so").mkdir()
    os.mkfifo(place / "libfifo.so")
    contents = {
        "libtext.so": b"hello\n",
        "libempty.so": b"",
        "libcut.so": good[:500],
        "lib32.so": good[:4] + b"\1" + good[5:],
        "libbig.so": good[:5] + b"\2" + good[6:],
        "libjunk.so": good[:64] + b"\xff" * (len(good) - 64),
        "libprogram.so": Path(sys.executable).read_bytes(),
    }
    for name, content in contents.items():
        (place / name).write_bytes(content)
    for name, target in {
        "libloop.so": "libloop.so", "libdangling.so": "nowhere.so", "libzero.so": "/dev/zero",
        "libout.so": f"../../../../../../../../{root}/secret.so",
    }.items():  # fmt: skip
        (place / name).symlink_to(target)
    (root / "secret.so").write_bytes(good)
    return {
        "libdir.so": "Is a directory",
        "libfifo.so": "not a regular file",
        "libtext.so": "starts with 68656c6c, not with the ELF magic",
        "libempty.so": "the file is empty",
        "libcut.so": "the library is cut off or damaged",
        "lib32.so": "a 32-bit ELF file",
        "libbig.so": "big endian",
        "libjunk.so": "not a shared library",
        "libprogram.so": "a program",
        "libloop.so": "a loop of symlinks",
        "libdangling.so": "which is not there",
        "libzero.so": "which is not there",
        "libout.so": "which is not there",
    }


def test_files_that_do_not_open(tmp_path: Path) -> None:
    """Each has its reason, and the next levels are asked."""
    whys = spoiled(tmp_path)
    line = ("so-path", "--root", str(tmp_path), "--kernel-type", "aicpu", "--require", "--json")
    for name, result in zip(whys, each([(*line, name) for name in whys]), strict=True):
        assert result.code == ExitCode.NEGATIVE, (name, result.err)
        (found,) = result.document["results"]
        assert (found["status"], found["loaded"]) == (OPEN_FAILED, None)
        assert whys[name] in found["attempts"][0]["reason"], name
        assert len(found["attempts"]) == 3


def test_a_library_that_opens(tmp_path: Path) -> None:
    library = placed(tmp_path)
    found = search("libmy.so", "--root", tmp_path, "--kernel-type", "aicpu", "--require")
    assert found["loaded"] == f"{K0}/libmy.so"
    assert found["status"]["code"] == found["call_status"]["code"] == 0
    (attempt,) = found["attempts"]
    assert (attempt["exists"], attempt["guard"]) == (True, "prefix")
    machine = (183).to_bytes(2, "little")
    raw = library.read_bytes()
    library.write_bytes(raw[:18] + machine + raw[20:])
    (attempt,) = search("libmy.so", "--root", tmp_path, "--kernel-type", "aicpu")["attempts"]
    assert attempt["reason"] is None
    assert attempt["status"]["code"] == 0


def test_links_and_the_guard(tmp_path: Path) -> None:
    """SP-19, SP-22 to SP-26, under a root."""
    place = placed(tmp_path).parent
    placed(tmp_path, "libevil.so", "/opt")
    placed(tmp_path, "libcust.so.0.0.123", f"{USER}/lib")
    placed(tmp_path, "libspoof.so", f"/srv{USER}/lib")
    links = {
        "libsame.so": "libmy.so",
        "libevil.so": "/opt/libevil.so",
        "libcust.so": f"{USER}/lib/libcust.so.0.0.123",
        "libspoof.so": f"/srv{USER}/lib/libspoof.so",
    }
    for name, target in links.items():
        (place / name).symlink_to(target)
    line = ("so-path", "--root", str(tmp_path), "--kernel-type", "aicpu", "--json")
    told = {}
    for name, result in zip(links, each([(*line, name) for name in links]), strict=True):
        attempt = result.document["results"][0]["attempts"][0]
        told[name] = attempt["guard"], attempt["real_path"], attempt["status"]["code"]
    assert told == {
        "libsame.so": ("prefix", f"{K0}/libmy.so", 0),
        "libevil.so": ("refused", "/opt/libevil.so", 11002),
        "libcust.so": ("cust-substring", f"{USER}/lib/libcust.so.0.0.123", 0),
        "libspoof.so": ("cust-substring", f"/srv{USER}/lib/libspoof.so", 0),
    }


def test_dots_under_a_root(tmp_path: Path) -> None:
    """AE-1202: `..` never leaves it; a guard with dots matches nothing."""
    placed(tmp_path, directory="/k")
    options = ("--kernel-type", "aicpu", "--run-mode", "thread", "--root", str(tmp_path))
    for value, guard in (
        ("/k", "prefix"),
        ("/a/../k", "refused"),
        ("/../../k", "refused"),
        ("k", "refused"),
    ):
        (tmp_path / "a").mkdir(exist_ok=True)
        attempt = search("libmy.so", *options, "-e", f"{INNER}={value}")["attempts"][0]
        assert (attempt["real_path"], attempt["guard"]) == ("/k/libmy.so", guard)


def test_roots(tmp_path: Path) -> None:
    """A root that is none: exit 3, whatever is asked of it."""
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    roots = {
        "missing": "No such file or directory",
        "loop": "Too many levels of symbolic links",
        "file": "Not a directory",
    }
    for root, why in roots.items():
        for line in ([], ["libmy.so"], ["libmy.so", "--json"]):
            found = so_path(*line, "--root", tmp_path / root)
            assert found.code == ExitCode.INPUT
            assert found.errors == [
                f"cannkit: error: cannot use the root ({tmp_path / root}): {why}"
            ]
    assert so_path("libmy.so", "--root", "").code == ExitCode.INPUT
    assert so_path("libmy.so", "--root", tmp_path / "link").code == 0
    error = so_path("--root", tmp_path / "missing", "--json").document
    assert list(error) == ["schema", "error"]
    assert (error["schema"], error["error"]["kind"]) == ("cannkit.so-path/1", "input")


@pytest.mark.skipif(os.geteuid() == 0, reason="the super-user reads everything")
def test_unreadable_root(tmp_path: Path) -> None:
    placed(tmp_path)
    (tmp_path / "usr").chmod(0)
    try:
        found = search("libmy.so", "--root", tmp_path, "--kernel-type", "aicpu")
    finally:
        (tmp_path / "usr").chmod(0o700)
    assert found["status"] == OPEN_FAILED
    assert "Permission denied" in found["attempts"][0]["reason"]


def test_require(tmp_path: Path) -> None:
    """Exit 1 unless one of the searches finds it."""
    placed(tmp_path)
    root = ("--root", str(tmp_path))
    assert so_path("libmy.so", *root, "--require").code == 0
    assert so_path("libmy.so", *root, "--require", "--kernel-type", "fwk").code == ExitCode.NEGATIVE
    assert so_path("libno.so", *root, "--require").code == ExitCode.NEGATIVE
    assert so_path("libno.so", *root).code == 0
    assert so_path(*root, "--require").code == ExitCode.NEGATIVE
    blind = so_path("libmy.so", "--require")
    assert blind.code == ExitCode.NEGATIVE
    assert blind.errors == ["cannkit: warning: --require finds nothing without --root"]
    assert so_path("libmy.so", "--require", "-q").err == b""


def test_verbose() -> None:
    """Rules and paths go to stderr, the answer stays as it is."""
    plain, verbose = so_path("libmy.so"), so_path("libmy.so", "-v")
    assert plain.out == verbose.out
    assert "trace: aicpu: AE-604.5 otherwise: below the system root, by vf: yes" in verbose.errors
    assert any(line.startswith(f"trace: custom: {K}/libmy.so") for line in verbose.errors)


# --- the write side


def test_install_without_a_root() -> None:
    """It is shown alone; then the read side finds it there."""
    document = answer("--install", built("ops"), "--pid", "123")
    install = document["install"]
    assert (install["dry"], install["status"]["code"]) == (True, 0)
    assert document["so_name"] == install["so_name"] == "libops.so"
    kinds = [step["kind"] for step in install["steps"]]
    assert kinds == ["lock", "write", "chmod", "mkdir", "symlink"]
    assert install["steps"][1]["path"] == f"{USER}/lib/libops.so.0.0.123"
    (found,) = document["results"]
    assert (found["kernel_type"], found["cust_sd"]) == ("custom", True)
    assert found["loaded"] == f"{USER}/lib/libops.so.0.0.123"
    assert found["attempts"][0]["guard"] == "cust-substring"
    text = so_path("--install", built("ops")).text
    assert "the write side would store libops.so" in text


def test_install_below_a_root(tmp_path: Path) -> None:
    """AE-904: done for good, and kept the second time (Q-20)."""
    (tmp_path / USER.lstrip("/") / "lib").mkdir(parents=True)
    line = ("--root", str(tmp_path), "--pid", "123", "--require")
    document = answer("--install", built("ops"), *line)
    assert document["install"]["dry"] is False
    link = tmp_path / USER.lstrip("/") / "cust_aicpu_0_0_123/libops.so"
    assert str(link.readlink()) == f"{USER}/lib/libops.so.0.0.123"
    stored = tmp_path / USER.lstrip("/") / "lib/libops.so.0.0.123"
    assert stored.read_bytes() == Path(built("ops")).read_bytes()
    assert (stored.stat().st_mode & 0o777, link.parent.stat().st_mode & 0o777) == (0o640, 0o750)
    again = answer("--install", built("harm", name="libops.so"), *line)["install"]
    assert again["status"]["code"] == 0
    assert any("Q-20" in remark for remark in again["remarks"])
    assert stored.read_bytes() == Path(built("ops")).read_bytes()
    found = search("libops.so", *line, "--kernel-type", "custom")
    assert found["loaded"] == f"{USER}/lib/libops.so.0.0.123"


def test_install_under_another_name() -> None:
    document = answer("libother.so", "--install", built("ops"))
    assert document["install"]["so_name"] == document["so_name"] == "libother.so"
    assert document["results"][0]["loaded"] == f"{USER}/lib/libother.so.0.0.0"


def test_install_is_refused(tmp_path: Path) -> None:
    """Exit 4 with the code of the scheduler; nothing is written."""
    line = ("--root", str(tmp_path), "--run-mode", "socket", "--home", "/h")
    found = answer("--install", built("ops"), *line, "--require", code=4)
    assert found["install"]["status"]["code"] == 21008  # W-9
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "real").mkdir()
    (tmp_path / "h").symlink_to("real")
    found = answer("--install", built("ops"), *line, code=4)
    assert found["install"]["status"]["code"] == 21001  # W-10
    bad = answer("../x.so", "--install", built("ops"), code=4)
    assert bad["install"]["status"]["code"] == 21001  # W-11
    long = answer("l" * 129, "--install", built("ops"), code=4)
    assert long["install"]["status"]["code"] == 21001


def test_install_where_both_sides_disagree() -> None:
    """AE-909: M1 and M3."""
    found = answer(
        "--install", built("ops"), "--run-mode", "socket", "--vf", "40", "--home", "/h", "-q"
    )
    assert [each["rule"] for each in found["install"]["disagreements"]] == ["M1"]
    assert found["results"][0]["loaded"] is None
    found = answer("--install", built("ops"), "-e", f"{CUST}=/c")
    assert [each["rule"] for each in found["install"]["disagreements"]] == ["M3"]


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("/nonexistent.so", "No such file"),
        ("tests", "Is a directory"),
        ("/dev/zero", "not a regular file"),
    ],
)
def test_install_of_nothing(file: str, why: str) -> None:
    found = so_path("--install", file)
    assert found.code == ExitCode.INPUT
    assert why in found.errors[0]


def test_install_where_nothing_can_be_written() -> None:
    found = so_path("--install", built("ops"), "--root", "/proc")
    assert found.code in (ExitCode.INPUT, 4)
    assert "Traceback" not in found.err.decode()


# --- the command line


USAGE: Final = [
    ["--kernel-type", "aicore"],
    ["--kernel-type", ""],
    ["--kernel-type", "4294967296"],
    ["--kernel-type", "-1"],
    ["--run-mode", "hdc"],
    ["--run-mode", ""],
    ["--vf", "-1"],
    ["--vf", "4294967296"],
    ["--vf", "x"],
    ["--pid", "2147483648"],
    ["--device", "-1"],
    ["-e", "HOME"],
    ["-e", "LD_PRELOAD=x"],
    ["--home", "/h", "--no-home"],
    ["liba.so", "libb.so"],
    ["-x.so"],
    ["--color", "sometimes"],
    ["--nothing"],
]


def test_usage() -> None:
    for line, result in zip(
        USAGE, each([("so-path", *line, "--json") for line in USAGE]), strict=True
    ):
        assert result.code == ExitCode.USAGE, line
        assert result.document["schema"] == "cannkit.so-path/1"
        assert result.document["error"]["kind"] == "usage"
        assert result.errors[0].startswith("cannkit: error: ")


def test_help() -> None:
    text = so_path("--help").text
    for option in ("--vf", "--pid", "--device", "--kernel-type", "--run-mode", "--cust-sd / --no-cust-sd",
                   "--root", "--home", "--no-home", "-e, --env", "--inherit-env", "--require", "--install",
                   "--json", "-v, --verbose", "-q, --quiet", "--color"):  # fmt: skip
        assert f"  {option} " in text or f"  {option}\n" in text
    for limit in ("95", "100", "128", "200", "1,023", "4,095"):
        assert limit in text


def test_pipes_and_terminals(tmp_path: Path) -> None:
    """In a pipe no colour and no branches; on a screen both, unless NO_COLOR or TERM say no."""
    placed(tmp_path, directory=K)
    line = ("so-path", "libmy.so", "--root", str(tmp_path))
    pipe = cannkit(*line)
    assert not ESCAPE.search(pipe.out)
    assert not BOX.search(pipe.text)
    assert f"    1 \u2717 {K0}/libmy.so  no such file\n    2 \u2713 {K}/libmy.so" in pipe.text
    screen = terminal(*line)
    assert b"\x1b[32m\xe2\x9c\x93" in screen.raw
    assert "├─ 1 ✗" in screen.text
    assert max(map(len, screen.lines)) <= 80
    assert b"\x1b[3" not in terminal(*line, env={"NO_COLOR": "1"}).raw
    assert not ESCAPE.search(terminal(*line, env={"TERM": "dumb"}).raw)
    assert ESCAPE.search(cannkit(*line, "--color", "always").out)
    assert ESCAPE.search(cannkit(*line, env={"FORCE_COLOR": "1"}).out)


ASCII: Final = {
    "LC_ALL": "C",
    "PYTHONIOENCODING": "ascii",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
}


def test_screens_without_the_marks(tmp_path: Path) -> None:
    """Where they cannot be written others stand for them."""
    placed(tmp_path, directory=K)
    line = ("so-path", "libmy.so", "--root", str(tmp_path))
    for env in (ASCII, {**ASCII, "PYTHONIOENCODING": ""}):
        pipe = cannkit(*line, env=env)
        assert (pipe.code, pipe.err) == (0, b"")
        assert f"    1 x {K0}/libmy.so  no such file\n    2 + {K}/libmy.so".encode() in pipe.out
    screen = terminal(*line, env=ASCII)
    assert (screen.code, screen.raw.isascii()) == (0, True)
    assert "  |- 1 x " in screen.text
    assert "  `- 2 + " in screen.text


def test_same_question_same_answer(tmp_path: Path) -> None:
    placed(tmp_path)
    lines: list[Sequence[str]] = [("so-path", "libmy.so", "--root", str(tmp_path), "--json")] * 2
    one, other = each(lines)
    assert one.out == other.out
    assert str(tmp_path).encode() not in one.out
