"""cannkit register on pipes and on terminals. cli.md, sections 1 and 3."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import pytest
from rich.cells import cell_len

from cannkit.errors import ExitCode
from tests.build import OBJECTS as FOLDER
from tests.cli.inputs import CASES, SHOWN_NAMES
from tests.cli.runner import ADD, BOX, OBJECTS, ROOT, cannkit, each, terminal, together

MIX: Final = next(FOLDER.glob("MatmulLeaky*.o")).name
SOFTMAX: Final = next(FOLDER.glob("Softmax*.o")).name
PRINTF: Final = next(FOLDER.glob("BoundsCheck*.o")).name
CPU: Final = "fixtures/cases/register-cpu-mode-1/libcust.json"
LIBRARY: Final = "fixtures/cases/register-cpu-mode-1/libcust.so"
ODD: Final = "fixtures/cases/odd-names/input.o"
REFUSED: Final = "fixtures/cases/refused-ratio/input.o"
MISSING: Final = "fixtures/nothing.o"
A5: Final = "--soc=ascend950"

CODES: Final = {
    f"{ADD}": 0,
    f"{ADD} --from-data --magic aivec": 0,
    # the runtime refuses
    f"{OBJECTS}/{PRINTF}": 4,
    f"{ADD} --from-data --magic 1": 4,
    f"{CPU} --cpu-mode 3": 2,
    f"{MISSING} --cpu-mode 1": 4,
    f"{CPU} --cpu-mode 1 --magic elf": 4,
    f"{REFUSED}": 4,
    # nothing to read
    f"{MISSING}": 3,
    f"{MISSING} --cpu-mode 2": 3,
    "completions": 3,
    # the gravest counts: 3 before 4 before 0
    f"{ADD} {OBJECTS}/{PRINTF}": 4,
    f"{OBJECTS}/{PRINTF} {MISSING} {ADD}": 3,
    # the command line
    "": 2,
    f"{ADD} --soc Ascend910X": 2,
    f"{ADD} --magic foo": 2,
    f"{ADD} --magic 4294967296": 2,
    f"{ADD} --unload {MISSING}": 2,
    f"{ADD} --flow old --lazy": 2,
    f"{ADD} --flow old --cpu-mode 0": 2,
}


KINDS: Final[dict[int, set[str | None]]] = {
    0: {None},
    2: {"usage"},
    3: {None, "input", "format", "runtime"},
    4: {None, "runtime"},
}


def wheel(path: Path, *names: str) -> Path:
    """A wheel with files of `fixtures/objects` in a folder."""
    with ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(f"opp/{name}", (FOLDER / name).read_bytes())
    return path


def registered(*args: str | Path, **options: Any) -> dict[str, Any]:
    """The document of a registration that works."""
    found = cannkit("register", *args, "--json", **options)
    assert (found.code, found.err) == (0, b"")
    return found.document


def test_exit_codes() -> None:
    lines = [["register", *line.split(), "--json"] for line in CODES]
    for (line, code), found in zip(CODES.items(), each(lines), strict=True):
        assert found.code == code, line
        document = found.document
        errors = [entry["error"] for entry in document.get("results", [document])]
        assert {error and error["kind"] for error in errors} <= KINDS[code], line
        if code == ExitCode.USAGE:
            assert list(document) == ["schema", "error"]
            assert document["schema"] == "cannkit.register/1"
        for error in errors:
            if error and error["kind"] == "runtime":
                assert error["acl"]["code"] == 107000
                assert error["rt"]["code"] > 0


def test_errors_are_told_with_both_codes_and_a_hint() -> None:
    refused, soc, stranger, magic = each(
        [
            ["register", f"{OBJECTS}/{PRINTF}"],
            ["register", ADD, "--soc", "Ascend950B1"],
            ["register", ADD, "--unload", "other.o"],
            ["register", ADD, "--magic", "foo"],
        ]
    )
    assert refused.out == b""
    assert "107000 ACL_ERROR_RT_PARAM_INVALID (0x1a1f8)" in refused.errors[0]
    assert "RT_ERROR_FEATURE_NOT_SUPPORT (0x" in refused.errors[0]
    assert soc.errors[1].startswith("hint: did you mean ")
    assert stranger.errors[0] == "cannkit: error: --unload other.o: not among the files"
    assert magic.errors[1] == "hint: one of elf, aivec, aicube, or a number"


def test_order_of_kernels_and_keys() -> None:
    """cli.md: kernels in name order, in the old flow too; the table in key order."""
    new, old = each(
        [
            ["register", f"{OBJECTS}/{SOFTMAX}", "--json"],
            ["register", f"{OBJECTS}/{SOFTMAX}", "--flow", "old", "--json"],
        ]
    )
    for found in (new, old):
        names = [kernel["name"] for kernel in found.document["kernels"]]
        assert names == sorted(names)
        assert [name.rpartition("_")[2] for name in names] == ["1", "10000000000000001", "2"]
    keys = [row["tiling_key"] for row in new.document["table"]]
    assert keys == ["1", "2", "10000000000000001"]
    assert [kernel["in_table"] for kernel in new.document["kernels"]] == [True] * 3
    assert old.document["table"] == []
    stubs = {row["kernel"]: row["stub"] for row in old.document["stubs"]}
    assert stubs == {kernel["name"]: kernel["stub"] for kernel in old.document["kernels"]}
    array = [int(row["stub"], 16) for row in old.document["stubs"]]
    assert array == sorted(array)
    assert new.document["stubs"] is None


def test_text_and_json_agree() -> None:
    line = ["register", "-v", OBJECTS]
    text, answer = each([line, [*line, "--json"]])
    assert text.code == answer.code == ExitCode.REFUSED
    for entry in answer.document["results"]:
        for kernel in entry["kernels"]:
            lines = [li for li in text.text.splitlines() if li.startswith(f"{kernel['name']}  ")]
            core = f"{kernel['attr_name']} ({kernel['attr']})"
            assert any(core in li and f"{kernel['offset1']:#x}" in li for li in lines)
        for row in entry["table"]:
            assert f"{row['tiling_key']}  " in text.text
    refused = [e["file"] for e in answer.document["results"] if e["error"]]
    assert [name for name in refused if any(name in error for error in text.errors)] == refused


def test_magic() -> None:
    """LDR-8: the magic decides the default attr; a name and its number are the same."""
    data = ["--from-data", "--json"]
    results = each(
        [["register", ADD, "--magic", magic, *data] for magic in ("elf", "AIVEC", "aicube")]
        + [["register", ADD, "--magic", "0x41415246", *data], ["register", ADD, *data]]
    )
    attrs = [result.document["program"]["default_attr"] for result in results]
    assert attrs[:4] == [3, 2, 1, 2]
    assert results[1].out == results[3].out
    assert {result.document["program"]["id"] for result in results} == {0}


def test_lazy_changes_nothing_that_is_shown() -> None:
    eager, plain, lazy, table = each(
        [
            ["register", ADD, "--eager", "--json"],
            ["register", ADD, "--json"],
            ["register", ADD, "--lazy", "--json"],
            ["register", ADD, "--lazy", "--tiling-table", "--json"],
        ]
    )
    assert eager.out == plain.out == lazy.out
    assert [t["base"] for t in table.document["tiling_tables"]] == ["0x12c000000000"] * 2


def test_tiling_tables_of_what_has_none() -> None:
    """TBL-5: no rows without an entry, no table without an image."""
    relocatable = next(FOLDER.glob("Transpose*.o"))
    reloc, cpu = each(
        [
            ["register", str(relocatable), "--tiling-table", "--json"],
            ["register", CPU, "--cpu-mode", "1", "--tiling-table", "--json"],
        ]
    )
    assert reloc.code == cpu.code == 0
    assert reloc.document["tiling_tables"] is None
    assert cpu.document["tiling_tables"] is None


def test_unload() -> None:
    """STB-7: what is unloaded takes its stubs along; a directory is unloaded whole."""
    path = f"{OBJECTS}/{MIX}"
    new, old, folder = each(
        [
            ["register", path, ADD, "--unload", path, "--json"],
            ["register", path, ADD, "--flow", "old", "--unload", ADD, "--unload", path, "--json"],
            ["register", OBJECTS, ADD, "--flow", "old", "--unload", OBJECTS, "--json"],
        ]
    )
    assert new.code == old.code == 0
    *_, last = new.document["results"]
    assert (last["file"], last["unloaded"], last["stubs"]) == (path, [], None)
    *_, first, second = old.document["results"]
    assert [s["kernel"] for s in first["unloaded"]] == ["AddCustom_0"]
    assert len(first["stubs"]) == len(second["unloaded"]) == 1
    assert second["stubs"] == []
    *registered, last = folder.document["results"]
    assert last["file"] == OBJECTS
    known = {s["stub"] for each_one in registered for s in each_one["stubs"]}
    gone = {s["stub"] for s in last["unloaded"]}
    assert gone
    assert gone | {s["stub"] for s in last["stubs"]} == known
    assert last["stubs"] == []  # AddCustom.o came twice, and the directory names it, too


def test_nothing_stays_half_registered(tmp_path: Path) -> None:
    """A kernel that the old flow refuses takes its program along."""
    from cannkit.format.ascend_meta import FuncType
    from tests.runtime.programs import Function, builder

    half = builder(Function("a_0"), Function("b_1", FuncType.MIX_AIC_MAIN, ratio=(1, 2)))
    (tmp_path / "half.o").write_bytes(half.build())
    line = [str(tmp_path / "half.o"), ADD, "--flow", "old", "--json"]
    found = cannkit("register", *line)
    assert found.code == ExitCode.REFUSED
    refused, other = found.document["results"]
    assert refused["error"]["kind"] == "runtime"
    assert [stub["kernel"] for stub in other["stubs"]] == ["AddCustom_0"]


def test_ai_cpu_programs() -> None:
    """CPU-1 to CPU-5: modes 0 and 1 read the JSON; 2 makes up a name and has no kernels."""
    none, one, two, so = each(
        [
            ["register", CPU, "--cpu-mode", "0", "--json"],
            ["register", CPU, "--cpu-mode", "1", "--json"],
            ["register", LIBRARY, "--cpu-mode", "2", "--json"],
            ["register", LIBRARY, "--cpu-mode", "1", "--json"],
        ]
    )
    size = (CASES / "register-cpu-mode-1" / "libcust.so").stat().st_size
    assert [r.document["program"]["load_size"] for r in (none, one, two)] == [0, size, size]
    assert [r.document["program"]["type"] for r in (none, one, two)] == ["plain"] * 3
    kinds = {k["name"]: k["cpu"]["kernel_type"] for k in one.document["kernels"]}
    assert kinds == {"AddCust": 4, "NoLib": 99, "Re": 2, "Tf": 1}
    assert none.document["kernels"] == one.document["kernels"] == so.document["kernels"]
    assert two.document["kernels"] == []
    assert two.document["program"]["so_name"].endswith(f"_{size}.so")
    assert two.document["program"]["id"] is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "array"),
        ("{", ""),
        ('{"Add": {"opInfo": {"kernelSo": 1}}}', None),
        ('{"Add": {"opInfo": [1]}}', None),
    ],
)
def test_bad_json_of_an_ai_cpu_program(tmp_path: Path, text: str, why: str | None) -> None:
    """Wrong types drop an operator; what is no object is refused."""
    (tmp_path / "lib.json").write_text(text)
    (tmp_path / "lib.so").write_bytes(b"x")
    found = cannkit("register", tmp_path / "lib.json", "--cpu-mode", "1", "--json")
    if why is None:
        assert found.code == 0
        assert found.document["warnings"]
    else:
        assert found.code == ExitCode.REFUSED
        assert found.document["error"]["acl"]["code"] == 107000
        assert why in found.document["error"]["why"]


def test_stdin() -> None:
    """cli.md: `-` is one object from stdin; it has no sidecar."""
    add, printf = (FOLDER / name for name in ("AddCustom.o", PRINTF))
    one, two = together(
        lambda: cannkit("register", "-", "--json", stdin=add.read_bytes()),
        lambda: cannkit("register", "-", A5, "--json", stdin=printf.read_bytes()),
    )
    assert (one.code, one.document["file"]) == (0, "-")
    assert [k["name"] for k in one.document["kernels"]] == ["AddCustom_0"]
    assert two.code == 0


def test_wheel(tmp_path: Path) -> None:
    """Members with their sidecars, one entry each; the refused one says so."""
    path = wheel(
        tmp_path / "ops.whl", "AddCustom.o", "AddCustom.json", PRINTF, PRINTF[:-2] + ".json"
    )
    found = cannkit("register", path, A5, "--json")
    assert found.code == ExitCode.REFUSED
    first, second = found.document["results"]
    assert first["file"] == f"{path}!opp/AddCustom.o"
    assert first["program"]["default_attr"] == 2  # the magic of the sidecar: AIVEC
    assert second["error"]["rt"]["name"] == "RT_ERROR_FEATURE_NOT_SUPPORT"


def test_soc_of_the_environment() -> None:
    option, variable = together(
        lambda: cannkit("register", f"{OBJECTS}/{MIX}", "--soc", "Ascend310P3", "--json"),
        lambda: cannkit(
            "register", f"{OBJECTS}/{MIX}", "--json", env={"CANNKIT_SOC": "Ascend310P3"}
        ),
    )
    assert option.out == variable.out
    (kernel,) = option.document["kernels"]
    assert (kernel["attr_name"], kernel["ffts_in_args"]) == ("AICORE", False)


def test_json_is_the_same_each_time() -> None:
    """cli.md: same input, same bytes out; nothing of the machine in them."""
    line = ["register", OBJECTS, "--flow", "old", "--unload", OBJECTS, "--json"]
    first, second = together(
        lambda: cannkit(*line, env={"PYTHONHASHSEED": "1"}),
        lambda: cannkit(*line, env={"PYTHONHASHSEED": "2", "FORCE_COLOR": "1"}),
    )
    assert first.out == second.out
    assert str(ROOT) not in first.text


def test_warnings_unless_quiet() -> None:
    line = ["register", "fixtures/cases/register-warnings/input.o"]
    loud, quiet, many = each([line, [*line, "-q"], [*line, ADD]])
    assert [e.rpartition(" ")[2] for e in loud.errors] == [
        "[lone-half]",
        "[entry-disabled]",
        "[shadowed-key]",
    ]
    assert (quiet.out, quiet.errors) == (loud.out, [])
    assert all(f"warning: {line[1]}: " in e for e in many.errors)


def test_names_cannot_drive_a_terminal() -> None:
    """HAZ-18: in pipes every name is whole and harmless; on screens nothing is cut."""
    line = ["register", ODD, "--flow", "old", "--unload", ODD]
    pipe, plain = cannkit(*line), cannkit("register", ODD)
    for found in (pipe, plain):
        assert {c for c in found.text if not c.isprintable()} == {"\n"}
        assert all(name in found.text for name in SHOWN_NAMES)
        assert not BOX.search(found.text)
    for width in (80, 200):
        screen = terminal(*line, width=width)
        assert max(map(cell_len, screen.lines)) <= width
        joined = "".join(li.rstrip(" ") for li in screen.lines)
        assert all(name in joined for name in SHOWN_NAMES)
        assert "\u2026" not in screen.text


# Real objects


def real(corpus: Path, product: str, stem: str) -> Path:
    (path,) = corpus.glob(f"fbgemm_ascend/opp/{product}/**/{stem}*.o")
    return path


@pytest.mark.corpus
def test_real_object_of_a2(corpus: Path) -> None:
    """WE-9 (1) and WE-11, first row."""
    path = real(corpus, "A2", "OffsetsRange_67fb")
    document = registered(path, "--tiling-table")
    program, (kernel,) = document["program"], document["kernels"]
    assert (program["load_size"], program["read_only"], program["machine"]) == (8200, False, 0x1029)
    assert kernel["name"] == f"{path.stem}_0"
    assert kernel["symbols"] == [f"{path.stem}_0_mix_aic", f"{path.stem}_0_mix_aiv"]
    assert [kernel[key] for key in ("offset1", "length1", "offset2", "length2")] == [
        0,
        2968,
        0xB98,
        3168,
    ]
    assert (kernel["attr_name"], kernel["mix"], kernel["task_ratio_value"]) == ("MIX", 3, 2)
    assert (kernel["user_args"], kernel["system_args"], kernel["ffts_in_args"]) == (5, 2, True)
    assert document["table"] == [{"tiling_key": "0", "kernel": f"{path.stem}_0"}]
    narrow, wide = document["tiling_tables"]
    assert (narrow["row_size"], narrow["used"], wide["used"]) == (32, True, False)
    (row,) = narrow["rows"]
    base = int(narrow["base"], 16).to_bytes(8, "little").hex()
    half = (int(narrow["base"], 16) + 0xB98).to_bytes(8, "little").hex()
    assert row["row_hex"] == f"{0:016x}{base}{half}0200000003000000"


@pytest.mark.corpus
def test_real_object_of_a5(corpus: Path) -> None:
    """WE-9 (5) and WE-11: six kernels by function entry, rows of 40 bytes."""
    path = real(corpus, "A5", "SegmentSumCsr_be10")
    soc = ("--soc", "Ascend950PR_9599")
    document = registered(path, *soc, "--tiling-table")
    assert document["program"]["load_size"] == 24824
    shape = {
        k["tiling_key"]: (k["offset1"], k["length1"], k["min_stack_size"])
        for k in document["kernels"]
    }
    assert shape == {
        "0": (0x3100, 2656, 1984),
        "1": (0x0, 2840, 1984),
        "2": (0x4000, 2816, 1992),
        "4": (0x1200, 2620, 1984),
        "5": (0x5000, 2812, 1984),
        "6": (0x2100, 2768, 1984),
    }
    for kernel in document["kernels"]:
        assert (kernel["attr_name"], kernel["mix_name"]) == ("VECTOR", "NO_MIX")
        assert (kernel["entry_kind"], kernel["func_type"]) == ("function_entry", 3)
        assert (kernel["vf_type"], kernel["ub_size"], kernel["prefetch"]) == (2, 8192, [1, 0])
    _, wide = document["tiling_tables"]
    assert (wide["row_size"], wide["used"], len(wide["rows"])) == (40, True, 6)
    assert wide["rows"][0]["row_hex"][48:] == "02000000000000000020000002000000"
    text = cannkit("register", path, *soc).text
    assert all(f"{path.stem}_{key}  VECTOR (2)" in text for key in shape)


@pytest.mark.corpus
def test_printf_object_of_a5(corpus: Path) -> None:
    """WE-9 (7): 107000 from a file; from data it is one kernel."""
    path = str(real(corpus, "A5", "BoundsCheckIndicesV2_fc63"))
    refused, taken = each([["register", path, A5, *more] for more in ([], ["--from-data"])])
    assert (refused.code, taken.code) == (ExitCode.REFUSED, 0)
    assert "107000 ACL_ERROR_RT_PARAM_INVALID" in refused.errors[0]
    assert f"{Path(path).stem}_0  VECTOR (2)" in taken.text


@pytest.mark.corpus
def test_every_real_object(corpus: Path) -> None:
    """Ids in order, one line each; only printf objects are refused."""
    found = cannkit("register", corpus)
    heading, *lines, totals = found.text.splitlines()
    assert heading.split() == ["ID", "KERNELS", "KEYS", "IMAGE", "OUTCOME", "FILE"]
    refused = [line for line in lines if " refused " in line]
    assert len(lines) == 630
    assert refused
    assert all("BoundsCheckIndices" in line for line in refused)
    assert totals.startswith(f"{630 - len(refused)} registered, ")
    assert totals.endswith(f"; {len(refused)} refused")
