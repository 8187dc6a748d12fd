"""Rules on packages, each over a small package that breaks it and one that does not."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from cannkit.check.finding import Finding
from cannkit.check.matrix import MOST_MISSING, Matrix, Missing, coverage_of, matrix_of
from cannkit.check.package_subject import PackageSubject
from cannkit.check.rules_package import PACKAGE_RULES
from cannkit.image.package import find_packages
from cannkit.image.package_config import MOST_OPS
from tests import corpus
from tests.packages import (
    API_LIBRARY,
    DIST_INFO,
    HASH,
    KERNEL,
    TBE,
    aclnn_library,
    below,
    folder,
    library,
    record_of,
    to_json,
    vendor,
    wheel,
)

STEM = f"{KERNEL}ascend910b/addcustom/AddCustom_{HASH}"
CONFIG = f"{KERNEL}config/ascend910b/binary_info_config.json"
HEADER = "op_api/include/aclnn_demo.h"
Files = dict[str, bytes]


def findings(path: str) -> list[Finding]:
    return [
        finding
        for package in find_packages(path)
        for apply in PACKAGE_RULES
        for finding in apply(PackageSubject(package))
    ]


def codes(path: str) -> list[str]:
    return [finding.rule.code for finding in findings(path)]


def only(path: str) -> Finding:
    (found,) = findings(path)
    return found


@pytest.mark.parametrize("socs", [("ascend910b",), ("ascend910b", "ascend950")])
def test_nothing_is_wrong(tmp_path: Path, socs: tuple[str, ...]) -> None:
    files = vendor(("AddCustom", "MulCustom"), socs)
    assert codes(folder(tmp_path / "v", files)) == []
    assert codes(wheel(tmp_path / "demo.whl", below("v", files))) == []


def test_a_configuration_that_is_no_json(tmp_path: Path) -> None:
    """What depends on it is not told of as well."""
    found = only(folder(tmp_path, vendor() | {CONFIG: b"{"}))
    assert (found.rule.code, found.file) == ("K301", f"{tmp_path}/{CONFIG}")


def test_a_missing_object_is_told_of_once(tmp_path: Path) -> None:
    files = vendor(("AddCustom", "MulCustom"))
    del files[f"{STEM}.o"]
    found = findings(folder(tmp_path, files))
    assert [each.rule.code for each in found] == ["K302", "K306"]
    assert found[0].message == f"{STEM}.o is not there"
    assert found[1].where == "AddCustom, ascend910b"


def test_a_missing_sidecar(tmp_path: Path) -> None:
    files = vendor()
    del files[f"{STEM}.json"]
    found = only(folder(tmp_path, files))
    assert (found.rule.code, found.message) == ("K303", f"{STEM}.json is not there")


def test_an_object_without_a_configuration(tmp_path: Path) -> None:
    files = vendor()
    files[f"{KERNEL}ascend910b/addcustom/AddCustom_1.o"] = files[f"{STEM}.o"]
    files[f"{KERNEL}ascend910b/addcustom/AddCustom_2_relocatable.o"] = b""
    found = only(folder(tmp_path, files))
    assert (found.rule.code, found.file) == (
        "K304",
        f"{tmp_path}/{KERNEL}ascend910b/addcustom/AddCustom_1.o",
    )


def without_kernels(files: Files, soc: str) -> Files:
    return {name: data for name, data in files.items() if f"kernel/{soc}/" not in name}


def test_an_operator_without_kernels(tmp_path: Path) -> None:
    files = vendor(("AddCustom", "MulCustom"))
    info = f"{TBE}config/ascend910b/aic-ascend910b-ops-info.json"
    files[info] = to_json({"AddCustom": {}, "MulCustom": {}, "SubCustom": {}})
    files[API_LIBRARY] = aclnn_library("AddCustom", "MulCustom", "SubCustom")
    found = only(folder(tmp_path, files))
    assert (found.rule.code, found.file) == ("K306", f"{tmp_path}/{info}")
    assert found.message == "SubCustom has no kernels for ascend910b"


def test_an_operator_of_one_soc_only(tmp_path: Path) -> None:
    files = vendor(("AddCustom",), ("ascend910b", "ascend950"))
    files |= vendor(("AddCustom", "MulCustom"), ("ascend950",))
    found = only(folder(tmp_path, files))
    assert (found.rule.code, found.file) == ("K307", str(tmp_path))
    assert found.message == "MulCustom has kernels for ascend950, not for ascend910b"


def test_an_operator_that_is_not_declared(tmp_path: Path) -> None:
    files = vendor(("AddCustom", "MulCustom"))
    files[f"{TBE}config/ascend910b/aic-ascend910b-ops-info.json"] = to_json({"AddCustom": {}})
    found = only(folder(tmp_path, files))
    assert (found.rule.code, found.where) == ("K308", "MulCustom, ascend910b")


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (b"nothing", "K310", "starts with 6e6f7468"),
        (library("aclnnAddCustom"), "K311", "not aclnnAddCustomGetWorkspaceSize"),
        (library("aclnnAddCustomGetWorkspaceSize"), "K311", "but not aclnnAddCustom"),
        (library("other"), "K312", "neither aclnnAddCustom nor"),
        (aclnn_library("AddCustom", "MulCustom"), "K313", "aclnnMulCustom is exported"),
    ],
)
def test_exports_of_the_op_api_library(
    tmp_path: Path, data: bytes, code: str, message: str
) -> None:
    files = vendor() | {API_LIBRARY: data}
    del files[HEADER]
    found = only(folder(tmp_path, files))
    assert (found.rule.code, found.file) == (code, f"{tmp_path}/{API_LIBRARY}")
    assert message in found.message


def test_an_operator_that_others_call(tmp_path: Path) -> None:
    files = vendor() | {API_LIBRARY: aclnn_library("InnerAddCustom")}
    del files[HEADER]
    assert codes(folder(tmp_path, files)) == []


def test_a_package_without_an_op_api_library(tmp_path: Path) -> None:
    files = vendor()
    del files[API_LIBRARY]
    assert codes(folder(tmp_path, files)) == []


def test_a_function_that_is_only_declared(tmp_path: Path) -> None:
    files = vendor()
    files[HEADER] += b"aclnnStatus aclnnMore (void);\n"
    found = only(folder(tmp_path, files))
    assert (found.rule.code, found.where) == ("K314", "aclnnMore")


@pytest.mark.parametrize(
    "text",
    [
        "static inline int aclnnHelper(int n) { return n; }",
        "inline void run() { aclnnCat(1, 2); }",
        "#define EXEC(x) \\\n    aclnnStatus aclnnMacro(x);",
        "#if 0\naclnnStatus aclnnOld(void);\n#endif",
        "// aclnnStatus aclnnOld(void);",
        'static const char *const NAME = "aclnnText(x)";',
    ],
)
def test_what_is_no_prototype(text: str, tmp_path: Path) -> None:
    files = vendor()
    files[HEADER] += text.encode() + b"\n"
    assert codes(folder(tmp_path, files)) == []


def changed(record: bytes, name: str) -> bytes:
    """RECORD without the row of a file."""
    rows = record.splitlines(keepends=True)
    return b"".join(row for row in rows if not row.startswith(name.encode()))


def other_hash(files: Files) -> bytes:
    return record_of(files | {"v/version.info": b"other"})


RECORDS: list[tuple[Callable[[Files], bytes], str, str]] = [
    (other_hash, "K321", "v/version.info"),
    (lambda files: record_of(files | {"v/more": b""}), "K322", f"{DIST_INFO}RECORD"),
    (lambda files: changed(record_of(files), "v/version"), "K323", "v/version.info"),
    (lambda files: record_of(files) + b"half a row\n", "K324", f"{DIST_INFO}RECORD"),
    (
        lambda files: changed(record_of(files), "v/version") + b"v/version.info,md5=x,1\n",
        "K324",
        f"{DIST_INFO}RECORD",
    ),
]


@pytest.mark.parametrize(("record", "code", "file"), RECORDS)
def test_record(tmp_path: Path, record: Callable[[Files], bytes], code: str, file: str) -> None:
    files = below("v", vendor())
    path = wheel(tmp_path / "demo.whl", files, record(files))
    found = only(path)
    assert (found.rule.code, found.file) == (code, f"{path}!{file}")


def test_record_of_an_installed_wheel(tmp_path: Path) -> None:
    """Compiled files have no hash, scripts lie elsewhere; what else is there is nobody's business."""
    files = below("v", vendor())
    extra = b"v/__pycache__/a.pyc,,\n../../bin/demo,md5=x,1\n/etc/passwd,md5=x,1\n"
    files[f"{DIST_INFO}RECORD"] = record_of(files) + extra
    folder(tmp_path, files | {"v/mine.txt": b""})
    assert codes(str(tmp_path)) == []
    (tmp_path / "v/version.info").write_text("changed")
    assert codes(str(tmp_path)) == ["K321"]


def test_a_record_that_repeats_itself(tmp_path: Path) -> None:
    """A row counts once, however often it is there."""
    files = below("v", vendor())
    record = record_of(files | {"v/more": b""}) + b"v/more,md5=x,1\n" * 3
    path = wheel(tmp_path / "demo.whl", files, record + record)
    assert codes(path) == ["K322", "K322"]


def test_an_installed_wheel_of_links(tmp_path: Path) -> None:
    """As uv installs one into a virtual environment, when it is told to."""
    files = below("v", vendor())
    folder(tmp_path / "env", files | {f"{DIST_INFO}RECORD": record_of(files)})
    place = tmp_path / "env/v/version.info"
    place.rename(tmp_path / "version.info")
    place.symlink_to(tmp_path / "version.info")
    assert findings(str(tmp_path / "env")) == []


@pytest.mark.parametrize("algorithm", ["sha384", "sha512"])
def test_hashes_that_are_better_than_sha256(tmp_path: Path, algorithm: str) -> None:
    def record(raw: bytes) -> bytes:
        digest = base64.urlsafe_b64encode(hashlib.new(algorithm, raw).digest()).rstrip(b"=")
        return b"a.txt,%s=%s,1\n%sRECORD,,\n" % (algorithm.encode(), digest, DIST_INFO.encode())

    files = {"a.txt": b"a"}
    assert codes(wheel(tmp_path / "good.whl", files, record(b"a"))) == []
    assert codes(wheel(tmp_path / "bad.whl", files, record(b"b"))) == ["K321"]


def test_a_member_of_more_than_is_held(tmp_path: Path) -> None:
    """It is compared piece by piece."""
    files = {"large.bin": Random(7).randbytes(1 << 20) * 65}
    assert codes(wheel(tmp_path / "demo.whl", files)) == []
    path = wheel(tmp_path / "other.whl", files, record_of({"large.bin": b""}))
    assert codes(path) == ["K321"]


def test_a_wheel_with_two_records(tmp_path: Path) -> None:
    other = "other-2.dist-info/RECORD"
    path = wheel(tmp_path / "demo.whl", {other: b"a,,\n"}, record_of({}))
    found = only(path)
    assert (found.rule.code, found.file) == ("K323", f"{path}!{other}")


def test_a_wheel_too_large_to_compare(tmp_path: Path) -> None:
    """HAZ-14: a member that unpacks to too much is told of, not unpacked."""
    path = wheel(tmp_path / "demo.whl", {"zeros": bytes(40 << 20)})
    assert codes(path) == ["K324"]


def test_matrix(tmp_path: Path) -> None:
    files = below("a", vendor(("AddCustom",), ("ascend910b",)))
    files |= below("b", vendor(("AddCustom", "MulCustom"), ("ascend950",)))
    files |= below("c", without_kernels(vendor(("SubCustom",), ("ascend950",)), "ascend950"))
    found = matrix_of(map(coverage_of, find_packages(folder(tmp_path, files))))
    assert found == Matrix(
        ("AddCustom", "MulCustom", "SubCustom"),
        ("ascend910b", "ascend950"),
        (
            Missing("MulCustom", "ascend910b", False),
            Missing("SubCustom", "ascend910b", False),
            Missing("SubCustom", "ascend950", True),
        ),
    )


def test_matrix_of_nothing() -> None:
    assert matrix_of(()) == ((), (), ())


@pytest.mark.corpus
def test_corpus() -> None:
    path = str(corpus.find())
    assert codes(path) == []
    found = matrix_of(map(coverage_of, find_packages(path)))
    assert (len(found.ops), found.socs) == (50, ("ascend910_93", "ascend910b", "ascend950"))
    assert not any(each.declared for each in found.missing)


def test_a_package_with_too_much(tmp_path: Path) -> None:
    """What a hostile package could make without end is cut, and that is said."""
    info = f"{TBE}config/s/aic-s-ops-info.json"
    broken: dict[str, object] = {"A": {"binaryList": [{}] * 5000}}
    files = {
        info: to_json({f"Op{number}": {} for number in range(MOST_OPS - 1)}),
        info.replace("/s/", "/t/").replace("-s-", "-t-"): to_json({"A": {}, "B": {}}),
        f"{KERNEL}config/s/binary_info_config.json": to_json(broken),
    }
    found = findings(folder(tmp_path, files))
    assert found[0].message == f"with it there are more than {MOST_OPS} operators"
    assert "aic-t-" in found[0].file
    assert [each.rule.code for each in found].count("K301") == 1 + 64


def test_a_matrix_with_too_much(tmp_path: Path) -> None:
    files = {f"{TBE}config/s/aic-s-ops-info.json": to_json({f"Op{n}": {} for n in range(1000)})}
    files |= {f"{KERNEL}config/{number}/x": b"" for number in range(300)}
    found = matrix_of(map(coverage_of, find_packages(folder(tmp_path, files))))
    assert len(found.missing) == MOST_MISSING
