"""Host models by name: found, or told in one line why not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import pytest

from cannkit.api.models import ModelContext
from cannkit.cli.foreign import ForeignCode
from cannkit.cli.host_model import HostModel, ModelName, load_model
from cannkit.errors import InputError, UsageError

CONTEXT: Final = cast(ModelContext, None)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """What a model adds to Python goes with its test."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def load(text: str) -> HostModel:
    return load_model(ModelName.of(text), ForeignCode(60))


def call(text: str) -> object:
    """What the model of this name gives back."""
    foreign = ForeignCode(60)
    model = load_model(ModelName.of(text), foreign)
    with foreign:
        return model.run(CONTEXT)


def written(folder: Path, text: str, name: str = "m.py") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_from_a_file(tmp_path: Path) -> None:
    """Compiled anew each time, whatever the clock says; nothing is left beside it."""
    for answer in (1, 2):
        file = written(tmp_path, f"def f(ctx): return {answer}\n")
        assert call(f"{file}:f") == answer
    assert [path.name for path in tmp_path.iterdir()] == ["m.py"]


def test_a_file_may_import_its_neighbours(tmp_path: Path) -> None:
    """But no file of the user's takes the place of a module of Python's or of ours."""
    written(tmp_path, "value = 3\n", "neighbour.py")
    written(tmp_path, "raise SystemExit\n", "difflib.py")
    text = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "import difflib, neighbour\n"
        "@dataclass\nclass Model:\n    value: int\n"
        "    def __call__(self, ctx): return self.value\n"
        "model = Model(neighbour.value)\n"
    )
    assert call(f"{written(tmp_path, text)}:model") == 3


def test_from_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importable, or in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "package").mkdir()
    written(tmp_path / "package", "def f(ctx): return 4\n", "inner.py")
    assert call("package.inner:f") == 4
    assert call("json:dumps") == "null"


@pytest.mark.parametrize("text", ["", ":", "m.py", "m.py:", ":f", "json"])
def test_no_name_of_a_model(text: str) -> None:
    with pytest.raises(UsageError, match="not MODULE:FUNCTION"):
        load(text)


def test_no_such_function(tmp_path: Path) -> None:
    file = written(tmp_path, "def vector_add(ctx): pass\nnumber = 1\n")
    for name in ("vektor_add", "number"):
        with pytest.raises(UsageError, match="no function") as caught:
            load(f"{file}:{name}")
        assert caught.value.hint == "it has vector_add"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def f(:\n", r"SyntaxError: .*\(\S+m\.py:1\)$"),
        ("a = 1\n1 / 0\n", r"ZeroDivisionError: division by zero \(\S+m\.py:2\)$"),
        ("import nothing_of_the_kind\n", r"ModuleNotFoundError: .*\(\S+m\.py:1\)$"),
        ("raise SystemExit(3)\n", r"SystemExit: it asks to end the process with 3 \(\S+m\.py:1\)$"),
        (
            "raise ValueError('a\\nb' * 999)\n",
            r"ValueError: a ba b.*\(2998 characters\)|ValueError",
        ),
        ("\0", r": source code.* cannot contain null bytes"),
        ("raise MemoryError\n", r": MemoryError \(\S+m\.py:1\)$"),
        ("\xff\n", r"SyntaxError"),
    ],
)
def test_a_file_that_fails(tmp_path: Path, text: str, why: str) -> None:
    """Exit 3, one line, with the place."""
    (tmp_path / "m.py").write_text(text, "latin-1")
    with pytest.raises(InputError, match=why) as caught:
        load(f"{tmp_path}/m.py:f")
    assert "\n" not in str(caught.value)
    assert "None" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["no/such.py:f", "/:f", "nothing_of_the_kind:f", "a..b:f", "/dev/zero:f"]
)
def test_a_module_that_is_not_there(text: str) -> None:
    with pytest.raises(InputError):
        load(text)


def test_module_getattr(tmp_path: Path) -> None:
    file = written(tmp_path, "def __getattr__(name): raise LookupError(name)\n")
    with pytest.raises(InputError, match=r"LookupError: f \(\S+m\.py:1\)$"):
        load(f"{file}:f")
    written(tmp_path, "def __getattr__(name): raise AttributeError(name)\n")
    with pytest.raises(UsageError, match="no function 'f' there"):
        load(f"{file}:f")


def test_a_failure_is_not_in_importlib(tmp_path: Path) -> None:
    """But in the user's file, or in no file at all."""
    with pytest.raises(InputError) as caught:
        load("nothing_of_the_kind:f")
    assert caught.value.why == "ModuleNotFoundError: No module named 'nothing_of_the_kind'"
    sys.path.append(str(tmp_path))
    written(tmp_path, "import neighbour\n", "imports.py")
    written(tmp_path, "\n1 / 0\n", "neighbour.py")
    with pytest.raises(InputError, match=r"division by zero \(\S+neighbour\.py:2\)$"):
        load("imports:f")


@pytest.mark.parametrize(
    "text",
    [
        "async def f(ctx): pass",
        "def f(ctx): yield",
        "class C:\n    async def __call__(self, ctx): pass\nf = C()",
    ],
)
def test_a_model_that_a_call_does_not_run(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="nothing would run"):
        load(f"{written(tmp_path, text)}:f")


def test_objects_that_fail_at_any_look(tmp_path: Path) -> None:
    text = (
        "class Opaque:\n"
        "    def __call__(self, ctx): return 6\n"
        "    def __getattr__(self, name): raise GeneratorExit(name)\n"
        "f = Opaque()\n"
    )
    assert call(f"{written(tmp_path, text)}:f") == 6


def test_a_module_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It puts something else into its place."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "import sys\ndef f(ctx): return 7\nsys.modules[__name__] = 5\n", "own.py")
    assert call(f"{tmp_path}/own.py:f") == 7
    with pytest.raises(InputError, match="TypeError"):
        load("own:f")


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own, however it is named, and those of what it imports."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "def f(ctx): pass\n", "inner.py")
    written(tmp_path, "from inner import f\n", "outer.py")
    written(tmp_path, "def f(ctx): pass\n", "bare")
    assert set(load("outer:f").files) == {f"{tmp_path}/outer.py", f"{tmp_path}/inner.py"}
    assert f"{tmp_path}/bare" in load("./bare:f").files
