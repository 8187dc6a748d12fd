"""The document of launch as JSON: keys of the contract, text and schema agree, numbers keep their digits."""

from __future__ import annotations

import json
import struct
from functools import cache
from hashlib import sha256
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from cannkit.ae.ae_run import NOT_KNOWN
from cannkit.api.registration import Registration
from cannkit.api.runtime import Runtime
from cannkit.api.values import DTYPES, pack, unpack
from cannkit.cli.launch_listener import Listener
from cannkit.cli.launch_steps import Repeats, rehearse
from cannkit.device.hardware import DeviceConfig
from cannkit.format.sqe import Family, decode_sqe
from cannkit.inputs.contents import Input
from cannkit.inputs.paths import NamedFiles, open_inputs
from cannkit.report.json import document_json, json_schema
from cannkit.report.launch import LaunchDocument, Story
from cannkit.report.outputs import MOST_VALUES, Output, OutputEntry
from cannkit.runtime.arg_values import ArgKind, UserArg
from cannkit.runtime.launch_config import LaunchConfig
from cannkit.runtime.load_options import LoadOptions
from tests.build import OBJECTS
from tests.cli.inputs import CASES
from tests.facts import A2_SOC, A5_SOC, golden
from tests.report.test_json import shapes

ADD: Final = str(OBJECTS / "AddCustom.o")
MIX: Final = str(next(OBJECTS.glob("MatmulLeakyrelu*.o")))
CUBE: Final = str(next(OBJECTS.glob("MatmulCustom*.o")))
SIMT: Final = str(CASES / "launch-simt-grid" / "input.o")
PARAMS: Final = str(CASES / "params" / "input.o")
CPU: Final = str(CASES / "register-cpu-mode-1" / "libcust.json")
TILING: Final = UserArg(ArgKind.TILING, bytes(40), size=40)


def story(
    path: str,
    args: Any,
    blocks: int = 2,
    soc: str = A2_SOC,
    *,
    config: LaunchConfig | None = None,
    lenient: bool = False,
    cpu_mode: int | None = None,
    grid: tuple[int, ...] | None = None,
) -> Story:
    """A launch as the command makes it."""
    listener = Listener()
    runtime = Runtime(soc, config=DeviceConfig(lenient=lenient), trace=listener)
    process = Registration(runtime, LoadOptions.of(cpu_mode=cpu_mode))
    (item,) = open_inputs([path]) if cpu_mode is None else NamedFiles([path], read=False)
    assert isinstance(item, Input)
    binary = process.take(item).binary
    name = "AddCust" if cpu_mode is not None else next(iter(binary.program.kernels)).name
    function = binary.get_function(name)

    def launch() -> Any:
        return runtime.launch(function, blocks, args, config=config, grid=grid, threads=(2, 3))

    stream = runtime.default_stream
    repeats = Repeats(launch, lambda: launch, runtime, stream, told=True)
    users = () if isinstance(args, bytes) else tuple(args)
    begun = Story(name, runtime.devices[0], blocks, args=users)
    return rehearse(begun, repeats, 1, listener, quiet=True)


def word(kind: ArgKind, size: int = 64) -> UserArg:
    return UserArg(kind, None, 0x12C0_0000_0000, size, dtype="u8", shape=(size,))


@cache
def stories() -> dict[str, Story]:
    tensors = [word(ArgKind.IN), word(ArgKind.IN), word(ArgKind.OUT)]
    scalars = [
        UserArg(ArgKind.SCALAR, b"\xff" * 8, size=8, dtype="u64"),
        UserArg(ArgKind.SCALAR, struct.pack("<i", -7), size=4, dtype="i32"),
    ]
    big = LaunchConfig.of(sched_mode=1, timeout_us=2**64 - 1)
    outputs = [
        Output(at, dtype, (3,), pack(dtype, [1, 0, 1]), None)
        for at, dtype in enumerate(DTYPES.values())
    ]
    ok = story(ADD, [*tensors, word(ArgKind.WORKSPACE), TILING])
    return {
        "vector": ok._replace(outputs=outputs),
        "mix": story(MIX, bytes(56), blocks=20),
        "simt": story(SIMT, scalars, 6, A5_SOC, grid=(3, 2)),
        "cpu": story(CPU, bytes(20), 1, cpu_mode=1),
        "refused": story(ADD, bytes(40), blocks=1 << 70),
        "failed": story(CUBE, bytes(56), blocks=99, config=big),
        "lenient": story(CUBE, bytes(56), blocks=99, config=big, lenient=True),
    }


def documents() -> dict[str, dict[str, Any]]:
    return {
        name: json.loads(document_json(LaunchDocument.of(each))) for name, each in stories().items()
    }


def test_text_is_what_the_schema_s_own_serializer_writes() -> None:
    kind: TypeAdapter[Any] = TypeAdapter(LaunchDocument)
    for each in stories().values():
        document = LaunchDocument.of(each)
        body = kind.dump_json(document, indent=2).replace(b'"class_":', b'"class":')
        assert document_json(document) == b'{\n  "schema": "cannkit.launch/1",' + body[1:] + b"\n"


def test_documents_follow_the_schema() -> None:
    check = Draft202012Validator(json_schema(LaunchDocument))
    for document in documents().values():
        check.validate(document)


def test_keys_are_those_of_the_contract() -> None:
    known = golden("launch_keys")["launch"]
    seen = set()
    for document in documents().values():
        task = document.pop("task")
        assert task is None or list(task)[:2] == ["id", "type"]
        for path, keys in (*shapes(document), *shapes(document["args"], "args")):
            expected = [key for key in known[path] if path or key != "task"]
            assert keys == expected, path
            seen.add(path)
    assert seen == known.keys()


def test_ends() -> None:
    """Well, refused by the runtime, failed on the device; what was never made is null or empty."""
    found = documents()
    assert {name: each["result"]["status"] for name, each in found.items()} == {
        "vector": "ok", "mix": "ok", "simt": "ok", "cpu": "ok", "lenient": "ok",
        "refused": "error", "failed": "error",
    }  # fmt: skip
    refused = found["refused"]
    assert [refused[key] for key in ("args", "task", "sqe", "submission")] == [None, None, [], None]
    assert refused["blocks"]["requested"] == 1 << 70
    assert refused["error"]["kind"] == "runtime"
    failed = found["failed"]
    assert failed["error"]["kind"] == "device-fault"
    assert failed["result"]["acl"] == failed["error"]["acl"]
    assert [each["severity"] for each in failed["findings"]] == ["error"]
    assert [each["severity"] for each in found["lenient"]["findings"]] == ["warning"]
    assert found["cpu"]["result"]["message"] == NOT_KNOWN
    assert [name for name, each in found.items() if each["ae"] is not None] == ["cpu"]


@pytest.mark.parametrize("name", ["vector", "mix", "simt", "cpu", "failed"])
def test_what_is_told_is_what_was_sent(name: str) -> None:
    """The bytes of the entry, of its context and of the block say the same as the rest."""
    document = documents()[name]
    (sqe,), args, task = document["sqe"], document["args"], document["task"]
    raw, family = bytes.fromhex(sqe["hex"]), Family(sqe["arch"])
    assert len(raw) == sqe["size"] == 64
    record = decode_sqe(raw, family)
    values = {field["name"]: field["value"] for field in sqe["fields"]}
    for field, _, value in record.rows():
        assert int(str(values[field]), 0) == value
    assert task["dim"] == values["block_dim"] == document["blocks"]["requested"]
    assert task["args"] == args["address"]
    assert len(args["hex"]) == 2 * args["size"] == 2 * task["args_size"]
    assert (sqe["context_hex"] is not None) == (name == "mix")
    content = bytes.fromhex(args["hex"])
    for slot in args["slots"]:
        part = content[slot["offset"] : slot["offset"] + slot["size"]]
        assert len(part) == slot["size"]
        if str(slot["value"]).startswith("0x"):
            assert int(slot["value"], 16) == int.from_bytes(part, "little")


def test_numbers_keep_their_digits() -> None:
    """cli.md: what outgrows a double is decimal text, an address is `0x...`."""
    found = documents()
    assert [slot["value"] for slot in found["simt"]["args"]["slots"][1:]] == [str(2**64 - 1), "-7"]
    assert found["failed"]["task"]["timeout"] == str(2**64 - 2)
    by_dtype = {each["dtype"]: each["values"] for each in found["vector"]["outputs"]}
    assert by_dtype.keys() == DTYPES.keys()
    assert by_dtype["u64"] == by_dtype["i64"] == ["1", "0", "1"]
    assert by_dtype["i32"] == by_dtype["f16"] == [1, 0, 1]
    assert by_dtype["bool"] == [True, False, True]
    assert by_dtype["c64"] == [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=lambda dtype: dtype.name)
def test_outputs_of_any_bytes(dtype: Any) -> None:
    """Any bits are JSON, and of up to 64 values nothing is lost but which NaN it was."""
    for byte in (0x00, 0x7F, 0x80, 0xFF):
        data = bytes([byte]) * (MOST_VALUES * dtype.size)
        entry = OutputEntry.of(Output(0, dtype, (MOST_VALUES,), data, None))
        assert entry.sha256 == sha256(data).hexdigest()
        assert entry.values is not None
        json.loads(json.dumps(entry.values, allow_nan=False))
        if not isinstance(entry.values[0], tuple):
            again = [float(v) if isinstance(v, str) else v for v in entry.values]
            assert str(list(map(float, unpack(dtype, data)))) == str(list(map(float, again)))  # type: ignore[arg-type]
    more = Output(0, dtype, (), bytes((MOST_VALUES + 1) * dtype.size), None)
    assert OutputEntry.of(more).values is None


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (["args", "address"], 0x1234),
        (["args", "pool"], "yes"),
        (["blocks", "aic"], "2"),
        (["result", "status"], "fine"),
        (["sqe", 0, "size"], "64"),
        (["outputs", 0, "values"], [None]),
        (["findings"], None),
        (["schema"], "cannkit.load/1"),
    ],
)
def test_schema_refuses(path: list[str | int], wrong: object) -> None:
    """A schema that takes everything would make the tests above say nothing."""
    answer = documents()["vector"]
    check = Draft202012Validator(json_schema(LaunchDocument))
    assert check.is_valid(answer)
    *way, last = path
    node: Any = answer
    for step in way:
        node = node[step]
    node[last] = wrong
    assert not check.is_valid(answer)
