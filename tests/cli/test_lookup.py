"""cannkit lookup on pipes. cli.md, sections 1 and 4."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from cannkit.errors import ExitCode
from tests.build import OBJECTS as FOLDER
from tests.build import SHF_ALLOC, SHF_WRITE
from tests.cli.inputs import vector_object
from tests.cli.runner import ADD, FATBIN, OBJECTS, cannkit, each, terminal, together
from tests.cli.test_register import MISSING, MIX, ODD, PRINTF, REFUSED, SOFTMAX, real, wheel
from tests.runtime.programs import Function, builder

SOFT: Final = f"{OBJECTS}/{SOFTMAX}"
BASE: Final = 0x12C0_0000_0000
PARAMS: Final = "fixtures/cases/params/input.o"
QUERY_KEYS: Final = ["name", "entry", "pc", "base"]

CODES: Final = {
    f"{ADD} --name AddCustom_0": 0,
    f"{ADD} --pc 0": 0,
    f"{PARAMS} --entry 18446744073709551615": 0,
    f"{PARAMS} --entry 0xffffffffffffffff": 0,
    f"{ADD} --pc {BASE + 4:#x} --base {BASE:#x}": 0,
    f"{OBJECTS} --name add_custom_half_1": 4,  # a refused object came before the hit
    # nothing found
    f"{ADD} --name addcustom_0": 1,
    f"{ADD} --entry 18446744073709551615": 1,
    f"{ADD} --pc 0x1004": 1,
    f"{ADD} --pc {BASE + 4:#x}": 1,
    f"{ADD} --pc 0 --base 0": 1,  # TBL-4
    # the gravest counts
    f"{OBJECTS}/{PRINTF} --entry 0": 4,
    f"{ADD} {OBJECTS}/{PRINTF} --entry 7": 4,
    f"{REFUSED} {MISSING} {ADD} --entry 0": 3,
    "completions --entry 0": 3,
    # the first hit ends the search
    f"{ADD} {MISSING} --entry 0": 0,
    f"{ADD} {MISSING} --entry 0 --all": 3,
    # the command line
    f"{ADD}": 2,
    f"{ADD} --entry 0 --name AddCustom_0": 2,
    f"{ADD} --entry 0 --pc 0": 2,
    f"{ADD} --entry 18446744073709551616": 2,
    f"{ADD} --entry ffff": 2,
    f"{ADD} --pc 1g": 2,
    f"{ADD} --entry 0 --base 0x1000": 2,
    f"{ADD} --pc 0 --base -": 2,
    f"{ADD} --entry 0 --soc Ascend910X": 2,
}


def test_exit_codes() -> None:
    """One document whatever happens, and a reason for whatever was not found."""
    lines = [["lookup", *line.split(), "--json"] for line in CODES]
    for (line, code), found in zip(CODES.items(), each(lines), strict=True):
        assert found.code == code, line
        document = found.document
        assert document["schema"] == "cannkit.lookup/1"
        if code == ExitCode.USAGE:
            assert list(document) == ["schema", "error"], line
            assert document["error"]["kind"] == "usage"
            continue
        assert list(document["query"]) == QUERY_KEYS
        assert bool(document["hits"]) == (document["reason"] is None), line
        assert not (document["hits"] and document["nearest"])
        gravest = {"input": 3, "format": 3, "runtime": 4}
        worst = min((gravest[each_["error"]["kind"]] for each_ in document["errors"]), default=0)
        assert code == (worst or int(not document["hits"])), line


def test_errors_have_one_line_and_a_miss_its_reason() -> None:
    two, none, key, soc, miss, refused = each(
        [
            ["lookup", ADD, "--entry", "0", "--pc", "0"],
            ["lookup", ADD],
            ["lookup", ADD, "--entry", "18446744073709551616"],
            ["lookup", ADD, "--entry", "0", "--soc", "Ascend950B1"],
            ["lookup", ADD, "--entry", "1168"],
            ["lookup", REFUSED, "--entry", "0"],
        ]
    )
    asked = "cannkit: error: ask for one of --name, --entry and --pc"
    assert two.errors == none.errors == [asked]
    assert key.errors[0].startswith("cannkit: error: --entry 18446744073709551616: ")
    assert soc.errors[1].startswith("hint: did you mean ")
    assert miss.errors == []
    assert miss.text.splitlines()[0].startswith("not found: every kernel is registered under key 0")
    assert "107000 ACL_ERROR_RT_PARAM_INVALID" in refused.errors[0]
    assert refused.text == "not found: no binary could be searched\n"


def test_keys_are_the_same_in_both_notations() -> None:
    results = each(
        [
            ["lookup", SOFT, "--entry", key, "--json"]
            for key in ("10000000000000001", "0x2386f26fc10001", "0X2386F26FC10001")
        ]
    )
    assert results[0].document["query"]["entry"] == "10000000000000001"
    assert len({result.out for result in results}) == 1


def test_first_hit_wins_and_all_are_listed() -> None:
    """cli.md: several files are searched in order; a directory, an archive, a library whole."""
    first, every, library = each(
        [
            ["lookup", SOFT, ADD, FATBIN, f"{OBJECTS}/{MIX}", "--entry", "0", "--json"],
            ["lookup", SOFT, ADD, FATBIN, f"{OBJECTS}/{MIX}", "--entry", "0", "--all", "--json"],
            ["lookup", FATBIN, "--name", "add_custom_half_1", "--json"],
        ]
    )
    assert [hit["file"] for hit in first.document["hits"]] == [ADD]
    assert [hit["kernel"]["name"] for hit in every.document["hits"]] == [
        "AddCustom_0",
        "mla_custom_0",
        "add_custom_half_0",
        "matmul_custom_0",
        f"{MIX.removesuffix('.o')}_0",
    ]
    (hit,) = library.document["hits"]
    assert hit["file"] == f"{FATBIN}!.ascend.kernel.ascend910b1.add_kernels[1] aiv"


def test_misses_look_at_all_files() -> None:
    name, entry = each(
        [
            ["lookup", SOFT, ADD, "--name", "AddCustm_0", "--json"],
            ["lookup", SOFT, ADD, "--entry", "1168", "--json"],
        ]
    )
    assert name.document["nearest"] == ["AddCustom_0"]
    assert entry.document["nearest"] == ["0", "1", "2", "10000000000000001"]


def test_addresses_are_those_of_load() -> None:
    """A look-up copies to the device as the runtime does, so that an address can be told."""
    found, loaded, pc = each(
        [
            ["lookup", SOFT, "--entry", "2", "--json"],
            ["load", SOFT, "--json"],
            ["lookup", SOFT, "--pc", f"{BASE + 0x90:#x}", "--base", f"{BASE:#x}", "--json"],
        ]
    )
    (hit,) = found.document["hits"]
    places = {f["kernel"]: f for f in loaded.document["functions"]}
    assert hit["function_address"] == places[hit["kernel"]["name"]]["pc1"]
    assert (hit["pc_offset"], hit["source"]) == (None, None)
    (inside,) = pc.document["hits"]
    assert inside["function_address"] == places[hit["kernel"]["name"]]["pc2"]
    assert inside["pc_offset"] == 0x10
    assert pc.document["query"]["base"] == hex(BASE)


def test_what_cannot_be_loaded_is_not_found(tmp_path: Path) -> None:
    """Q-3: it registers, yet its image leaves the file; the reason does not say otherwise."""
    made = builder(Function("k_0", length=32))
    made.section(".data", bytes(16), flags=SHF_ALLOC | SHF_WRITE, at=0x100)
    path = tmp_path / "cut.o"
    path.write_bytes(made.lie(".data", size=0x2000).build())
    alone, beside = each(
        [
            ["lookup", str(path), "--name", "k_0", "--json"],
            ["lookup", str(path), ADD, "--name", "k_0", "--json"],
        ]
    )
    assert (alone.code, alone.document["hits"]) == (ExitCode.REFUSED, [])
    assert alone.document["reason"] == "no binary could be searched"
    assert alone.document["errors"][0]["error"]["what"] == "device image exceeds the file"
    assert beside.document["reason"].startswith("none of 1 registered")


def test_relocatable_object_has_names_but_no_addresses() -> None:
    path = str(next(FOLDER.glob("Transpose*.o")))
    found = cannkit("lookup", path, "--entry", "1", "--json")
    assert found.code == 0
    assert found.document["hits"][0]["function_address"] is None


def test_low_bits_are_told_whatever_else_is_found(tmp_path: Path) -> None:
    """cli.md: `--pc` says so where the low bits rule applied, to one file of several too."""
    large = builder(Function("l_0", offset=0x1040, length=0x40), code=0x2000)
    (tmp_path / "large.o").write_bytes(large.build())
    exact, mixed = each(
        [
            ["lookup", SOFT, str(tmp_path / "large.o"), "--pc", "0x1044", "--json"],
            ["lookup", SOFT, str(tmp_path / "large.o"), "--pc", "0x1040", "--all", "--json"],
        ]
    )
    assert [hit["kernel"]["name"] for hit in exact.document["hits"]] == ["l_0"]
    assert exact.document["reason"] is None
    first, second = mixed.document["hits"]
    assert (first["function_address"], first["pc_offset"]) == ("0x1040", 0)
    assert (second["kernel"]["name"], second["pc_offset"]) == ("l_0", 0)
    assert mixed.document["reason"].startswith("a guess by the low 12 bits")


def test_stdin_and_wheel(tmp_path: Path) -> None:
    path = wheel(tmp_path / "ops.whl", "AddCustom.o", SOFTMAX)
    data = (FOLDER / SOFTMAX).read_bytes()
    piped, member = together(
        lambda: cannkit("lookup", "-", "--entry", "2", "--json", stdin=data),
        lambda: cannkit("lookup", path, "--entry", "2", "--json"),
    )
    assert [hit["file"] for hit in piped.document["hits"]] == ["-"]
    assert [hit["file"] for hit in member.document["hits"]] == [f"{path}!opp/{SOFTMAX}"]


def test_names_cannot_drive_a_terminal(tmp_path: Path) -> None:
    """HAZ-18: hits, near names and reasons alike."""
    name = "\x1b[31mred_0"
    (tmp_path / "k.o").write_bytes(vector_object(name))
    results = each(
        [
            ["lookup", str(tmp_path / "k.o"), "--name", name],
            ["lookup", str(tmp_path / "k.o"), "--name", name[:-2]],
            ["lookup", str(tmp_path / "k.o"), "--name", f"{name}_mix_aic"],
            ["lookup", str(tmp_path / "k.o"), "--pc", "0x40", "--base", "0"],
            ["lookup", ODD, "--entry", "3"],
        ]
    )
    assert [result.code for result in results] == [0, 1, 1, 1, 0]
    for result in results:
        assert {c for c in result.text if not c.isprintable()} == {"\n"}
        assert r"\x1b[31mred" in result.text
    screen = terminal("lookup", ODD, "--entry", "0", width=80)
    assert "a" * 118 in "".join(line.rstrip() for line in screen.lines)


# Real objects


@pytest.mark.corpus
def test_real_misses(corpus: Path) -> None:
    """An entry that no table has, explained; on A2 and on A5."""
    a2, a5 = real(corpus, "A2", "OffsetsRange_67fb"), real(corpus, "A5", "SegmentSumCsr_be10")
    soc = ("--soc", "Ascend950PR_9599")
    zero, keys, answer, folder = each(
        [
            ["lookup", str(a2), "--entry", "1168"],
            ["lookup", str(a5), *soc, "--entry", "1168"],
            ["lookup", str(a5), *soc, "--entry", "1168", "--json"],
            ["lookup", str(corpus), "--entry", "1168", "--json"],
        ]
    )
    assert zero.code == keys.code == answer.code == ExitCode.NEGATIVE
    assert "every kernel is registered under key 0 only" in zero.text
    assert "none of 6 keys is 1168: they go from 0 to 6" in keys.text
    assert answer.document["nearest"] == ["0", "1", "2", "4", "5", "6"]
    assert folder.code == ExitCode.REFUSED  # printf objects
    assert folder.document["reason"].startswith("none of ")
    assert all("printf" in each_["error"]["why"] for each_ in folder.document["errors"])


@pytest.mark.corpus
def test_real_hits(corpus: Path) -> None:
    """WE-9 (1), WE-10, and an address in the vector half: 0xb98 and on."""
    path = str(real(corpus, "A2", "OffsetsRange_67fb"))
    name, half, entry, pc, low = each(
        [
            ["lookup", path, "--name", f"{Path(path).stem}_0", "--json"],
            ["lookup", path, "--name", f"{Path(path).stem}_0_mix_aiv", "--json"],
            ["lookup", path, "--entry", "0", "--json"],
            ["lookup", path, "--pc", "0xba0", "--json"],
            ["lookup", path, "--pc", "0x12c0c0010b98", "--json"],
        ]
    )
    assert name.document["hits"] == entry.document["hits"]
    assert half.document["nearest"] == [f"{Path(path).stem}_0"]
    (inside,) = pc.document["hits"]
    assert (inside["pc_offset"], inside["function_address"]) == (8, hex(BASE + 0xB98))
    (start,) = low.document["hits"]
    assert (start["pc_offset"], start["function_address"]) == (0, "0x12c0c0010b98")
    assert "low 12 bits" in low.document["reason"]
