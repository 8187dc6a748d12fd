"""cannkit load on pipes, and the files it writes. cli.md, sections 1 and 5."""

from __future__ import annotations

import shutil
import stat
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from cannkit.errors import ExitCode
from tests.build import OBJECTS as FOLDER
from tests.cli.runner import ADD, FATBIN, OBJECTS, all_of, cannkit, each, terminal, together
from tests.cli.test_register import A5, MISSING, MIX, ODD, PRINTF, REFUSED, SOFTMAX, real, wheel
from tests.facts import A2_SOC, read

SOFT: Final = f"{OBJECTS}/{SOFTMAX}"
RELOCATABLE: Final = f"{OBJECTS}/{next(FOLDER.glob('Transpose*.o')).name}"
GATHER: Final = f"{OBJECTS}/{next(FOLDER.glob('Gather*.o')).name}"
RO, RW = 0x1240_0000_0000, 0x12C0_0000_0000
DT: Final = ("--soc", "Ascend950DT_9591")

CODES: Final = {
    f"{FATBIN} --no-pool": 0,
    f"{ADD} --device 63 --base 0x200000000000 --flow old": 0,
    # the runtime refuses
    f"{OBJECTS}/{PRINTF}": 4,
    f"{RELOCATABLE}": 4,
    f"{REFUSED} {ADD}": 4,
    f"{ADD} --device 64": 4,
    f"{ADD} --device=-1": 4,
    # nothing to read; the gravest counts
    f"{MISSING}": 3,
    f"{RELOCATABLE} {MISSING} {ADD}": 3,
    "completions": 3,
    f"{ADD} --image /nonexistent/out": 3,
    f"{ADD} --svg {OBJECTS}": 3,
    # the command line
    "": 2,
    f"{ADD} --soc Ascend910X": 2,
    f"{ADD} --base 0x1": 2,
    f"{ADD} --base 0x10000000000000000": 2,
}


def loaded(*args: str | Path, **options: Any) -> dict[str, Any]:
    """The document of a load that works."""
    found = cannkit("load", *args, "--json", **options)
    assert (found.code, found.err) == (0, b"")
    return found.document


def suffixes(document: dict[str, Any]) -> dict[str, int]:
    """Where functions start, by the number at the end of their names."""
    return {f["kernel"].rpartition("_")[2]: int(f["pc1"], 16) for f in document["functions"]}


def test_exit_codes() -> None:
    """One document whatever happens."""
    lines = [["load", *line.split(), "--json"] for line in CODES]
    for (line, code), found in zip(CODES.items(), each(lines), strict=True):
        assert found.code == code, line
        document = found.document
        assert document["schema"] == "cannkit.load/1"
        if "errors" not in document:
            assert list(document) == ["schema", "error"], line
            kind = {2: "usage", 3: "output", 4: "runtime"}[code]
            assert document["error"]["kind"] == kind, line
            continue
        gravest = {"input": 3, "format": 3, "runtime": 4}
        codes = [gravest[each_["error"]["kind"]] for each_ in document["errors"]]
        assert code == min(codes, default=0), line
    assert not list(FOLDER.glob(".cannkit-*"))


def test_every_allocation_is_apart() -> None:
    """03, 2: at 4 KiB, in the order of the files, none over another; a file twice is two images."""
    socs = ("Ascend910B1", "Ascend950PR_9599", "Ascend310P3")
    files = [ADD, SOFT, GATHER, FATBIN, ADD]
    for found in each([["load", *files, "--soc", soc, "--json"] for soc in socs]):
        document = found.document
        images = document["allocations"]
        assert [image["file"].partition("!")[0] for image in images] == [
            *files[:3],
            *[FATBIN] * 3,
            ADD,
        ]
        spans = sorted(
            (int(image["aligned"], 16), int(image["aligned"], 16) + image["size"])
            for image in images
        )
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))
        assert all(start % 4096 == 0 for start, _ in spans)
        for function in document["functions"]:
            at = int(function["pc1"], 16)
            assert sum(start <= at < end for start, end in spans) == 1


def test_text_and_json_agree() -> None:
    line = ["load", ADD, SOFT, RELOCATABLE]
    text, answer = each([line, [*line, "--json"]])
    assert text.code == answer.code == ExitCode.REFUSED
    document = answer.document
    assert f"memory from {document['device']['base']}" in text.text
    for image in document["allocations"]:
        assert any(
            image["aligned"] in li and f"{image['size']:,} B" in li and li.endswith(image["file"])
            for li in text.text.splitlines()
        )
    for function in document["functions"]:
        assert any(
            li.startswith(f"{function['kernel']}  ") and function["pc1"] in li
            for li in text.text.splitlines()
        )
    assert [e["file"] for e in document["errors"]] == [RELOCATABLE]
    assert RELOCATABLE in text.errors[0]


def test_flows_and_devices() -> None:
    """EX-DEV-1: each device has memory of its own; --base moves all of it; the Module lies alike."""
    new, old, second, moved, own = each(
        [
            ["load", SOFT, "--json"],
            ["load", SOFT, "--flow", "old", "--json"],
            ["load", SOFT, "--device", "1", "--json"],
            ["load", SOFT, "--base", "0x200000000000", "--json"],
            ["load", SOFT, SOFT, "--no-pool", "--json"],
        ]
    )
    assert suffixes(old.document) == suffixes(new.document)
    assert new.document["device"] == {"id": 0, "soc": A2_SOC, "base": hex(RO)}
    assert second.document["device"]["id"] == 1
    apart = int(second.document["device"]["base"], 16) - RO
    assert apart > 0
    for key, place in suffixes(second.document).items():
        assert place > suffixes(new.document)[key]
    shift = 0x2000_0000_0000 - RO
    assert suffixes(moved.document) == {k: v + shift for k, v in suffixes(new.document).items()}
    assert [i["from_pool"] for i in own.document["allocations"]] == [False, False]
    first, other = (int(i["aligned"], 16) for i in own.document["allocations"])
    assert other - first == 0x3000  # EX-DEV-3: 4104 bytes and 4 KiB of slack


def test_stdin_has_no_sidecar() -> None:
    """EX-DEV-8: the printf object loads so, and the loader writes a variable of it."""
    data = (FOLDER / PRINTF).read_bytes()
    document = loaded("-", A5, stdin=data)
    assert [g["refreshed"] for g in document["globals"]] == [True]
    assert document["allocations"][0]["file"] == "-"


def test_wheel(tmp_path: Path) -> None:
    path = wheel(tmp_path / "ops.whl", "AddCustom.o", SOFTMAX)
    files = [image["file"] for image in loaded(path)["allocations"]]
    assert files == [f"{path}!opp/AddCustom.o", f"{path}!opp/{SOFTMAX}"]


# --image and --svg


def test_image_and_picture(tmp_path: Path) -> None:
    """The bytes of the last file as the device has them, and a map of all of them."""
    image, svg = tmp_path / "last.bin", tmp_path / "map.svg"
    svg.write_text("old")
    line = ["load", ADD, SOFT, "--image", str(image), "--svg", str(svg)]
    (found,) = each([[*line, "--json"]])
    assert (found.code, found.err) == (0, b"")
    obj = read((FOLDER / SOFTMAX).read_bytes())
    start = obj.text_offset
    assert image.read_bytes() == (FOLDER / SOFTMAX).read_bytes()[start : start + obj.text_size]
    told = "\n".join(ElementTree.parse(svg).getroot().itertext())
    for function in found.document["functions"]:
        assert f"{function['kernel']} at {function['pc1']}, " in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["last.bin", "map.svg"]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (image, svg)}
    assert modes <= {0o644, 0o664, 0o600, 0o640}
    once = image.read_bytes(), svg.read_bytes()
    each([line])
    assert (image.read_bytes(), svg.read_bytes()) == once


def test_image_has_what_the_loader_writes(tmp_path: Path) -> None:
    data = (FOLDER / PRINTF).read_bytes()
    obj = read(data)
    document = loaded("-", A5, "--image", tmp_path / "out", stdin=data)
    (variable,) = document["globals"]
    at = int(variable["address"], 16) - int(document["allocations"][0]["aligned"], 16)
    image, plain = (tmp_path / "out").read_bytes(), data[obj.text_offset :][: obj.text_size]
    assert image[at : at + 8] != plain[at : at + 8]
    assert image[:at] + plain[at : at + 8] + image[at + 8 :] == plain


def test_odd_names_in_a_picture(tmp_path: Path) -> None:
    svg = tmp_path / "<&>.svg"
    shutil.copy(ODD, tmp_path / '"><x a="&.o')
    assert cannkit("load", tmp_path / '"><x a="&.o', ODD, "--svg", svg).code == 0
    root = ElementTree.parse(svg).getroot()
    assert {element.tag.rpartition("}")[2] for element in root.iter()} == {
        "svg",
        "style",
        "text",
        "rect",
        "title",
    }


@pytest.mark.parametrize("option", ["--image", "--svg"])
def test_what_cannot_be_written(option: str, tmp_path: Path) -> None:
    """Exit 3 and one line; no file of ours is left, and no other one is harmed."""
    folder, kept = tmp_path / "folder", tmp_path / "kept"
    folder.mkdir()
    kept.write_text("kept")
    inside = kept / "out"
    outs = [folder, inside, tmp_path / "gone" / "out", Path("/dev/full")]
    texts = each([["load", ADD, option, str(out)] for out in outs])
    answers = each([["load", ADD, option, str(out), "--json"] for out in outs])
    for out, text, answer in zip(outs, texts, answers, strict=True):
        assert text.code == answer.code == ExitCode.INPUT
        assert text.out == b""
        assert text.errors[0].startswith(f"cannkit: error: cannot write the file ({out}): ")
        assert answer.document["error"]["kind"] == "output"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder", "kept"]
    assert kept.read_text() == "kept"


def test_devices_and_links_stay_what_they_are(tmp_path: Path) -> None:
    """`--svg /dev/null` writes there: it would be a pity to put a file in its place."""
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "null"
    target.write_text("old")
    link.symlink_to(target)
    pipe.symlink_to("/dev/null")
    for found in each(
        [["load", ADD, "--image", str(out), "--svg", str(pipe)] for out in (link, pipe)]
    ):
        assert found.code == 0
    assert link.is_symlink()
    assert target.stat().st_size == 4104
    assert pipe.is_symlink()
    assert Path("/dev/null").is_char_device()


def test_nothing_is_written_when_nothing_was_loaded(tmp_path: Path) -> None:
    """The error is why nothing was loaded; a file that was there stays."""
    kept = tmp_path / "kept"
    kept.write_text("kept")
    found = cannkit("load", RELOCATABLE, "--image", kept, "--json")
    assert found.code == ExitCode.REFUSED
    assert [e["file"] for e in found.document["errors"]] == [RELOCATABLE]
    assert kept.read_text() == "kept"


def test_terminal_cuts_nothing() -> None:
    calls = [
        lambda width=width: terminal("load", SOFT, f"{OBJECTS}/{MIX}", width=width)
        for width in (80, 200)
    ]
    for width, screen in zip((80, 200), all_of(calls), strict=True):
        assert screen.code == 0
        assert max(map(len, screen.lines)) <= width
        joined = "".join(line.rstrip(" ") for line in screen.lines)
        assert f"{SOFTMAX.removesuffix('.o')}_10000000000000001" in joined
        assert "\u2026" not in screen.text


def test_json_is_the_same_each_time() -> None:
    line = ["load", OBJECTS, FATBIN, "--json"]
    first, second = together(
        lambda: cannkit(*line, env={"PYTHONHASHSEED": "1"}),
        lambda: cannkit(*line, env={"PYTHONHASHSEED": "2", "FORCE_COLOR": "1"}),
    )
    assert first.out == second.out


# Real objects


@pytest.mark.corpus
def test_real_objects_of_a5(corpus: Path, tmp_path: Path) -> None:
    """EX-DEV-1, its three rows and its functions; the printf object goes without its sidecar."""
    cumsum, lengths = (
        str(real(corpus, "A5", stem))
        for stem in ("AsynchronousCompleteCumsum_0cd5", "RunLengthEncode_4ad7")
    )
    bounds = str(shutil.copy(real(corpus, "A5", "BoundsCheckIndicesV1_9881"), tmp_path))
    pool, other, own = each(
        [
            ["load", cumsum, lengths, bounds, *DT, *more, "--json"]
            for more in ([], ["--device", "1"], ["--no-pool"])
        ]
    )
    assert (pool.code, other.code, own.code) == (0, 0, 0)
    rows = [
        (int(i["aligned"], 16), i["size"], i["from_pool"], i["read_only"])
        for i in pool.document["allocations"]
    ]
    assert rows == [
        (RO, 17228, True, True),
        (RO + 0x5000, 27896, True, True),
        (RW, 91656, True, False),
    ]
    assert [i["base"] for i in other.document["allocations"]] == [
        "0x124200000000",
        "0x124200005000",
        "0x130000000000",
    ]
    assert [i["base"] for i in own.document["allocations"]] == [  # EX-DEV-2
        "0x124000000000",
        "0x124000006000",
        "0x12c000000000",
    ]
    functions = [
        (f["kernel"].rpartition("_")[2], int(f["pc1"], 16)) for f in pool.document["functions"]
    ]
    assert functions == [
        ("0", RO),
        ("21", RO + 0x5000),
        ("20", RO + 0x7C00),
        ("11", RO + 0x9500),
        ("10", RO + 0xA700),
        ("666", RO + 0xB200),
        ("0", RW),
    ]


@pytest.mark.corpus
def test_real_objects_of_a2(corpus: Path) -> None:
    """EX-DEV-3, the object of it that the corpus has, and WE-9 (1)."""
    cumsum, offsets = (
        str(real(corpus, "A2", stem))
        for stem in ("AsynchronousCompleteCumsum_0cd5", "OffsetsRange_67fb")
    )
    document = loaded(cumsum, offsets)
    rows = [(int(i["base"], 16), i["size"], i["read_only"]) for i in document["allocations"]]
    assert rows == [(RW, 4104, False), (RW + 0x2000, 8200, False)]
    assert [g["address"] for g in document["globals"]] == [hex(RW + 0x1000), hex(RW + 0x4000)]
    *_, last = document["functions"]
    assert (last["pc1"], last["pc2"]) == (hex(RW + 0x2000), hex(RW + 0x2B98))
    text = cannkit("load", cumsum, offsets).text
    assert all(f["pc1"] in text and f["kernel"] in text for f in document["functions"])


def test_output_is_no_input(tmp_path: Path) -> None:
    """Nothing that was read, nor the answer itself, is written over; nor is an output by another."""
    kernel, sidecar = tmp_path / "k.o", tmp_path / "k.json"
    kernel.write_bytes((FOLDER / "AddCustom.o").read_bytes())
    sidecar.write_text("{}")
    before = kernel.read_bytes()
    out = tmp_path / "out"
    for line in (
        [kernel, "--image", kernel],
        [kernel, "--svg", sidecar],
        [tmp_path, "--svg", kernel],
        [kernel, "--image", out, "--svg", out],
        [kernel, "--image", "-"],
    ):
        found = cannkit("load", *map(str, line), "--json")
        assert (found.code, found.document["error"]["kind"]) == (ExitCode.USAGE, "usage"), line
    assert (kernel.read_bytes(), sidecar.read_text()) == (before, "{}")
    assert not out.exists()


def test_stdout_has_the_answer() -> None:
    """An image written into the file or pipe that gets the JSON would end both."""
    found = cannkit("load", ADD, "--json", "--image", "/dev/stdout")
    assert found.code == ExitCode.USAGE
    assert "stdout has the answer" in found.document["error"]["what"]
