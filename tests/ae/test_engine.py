"""The six calls of the engine: when its libs are made, gone and made again, and what they keep. Spec 05, section 5."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

import cannkit
from cannkit.ae.callers import Table, TableCaller
from cannkit.ae.context import CUST_PATH, HOME, INNER_PATH, AeContext
from cannkit.ae.engine import AeEngine, without_lib
from cannkit.ae.event import AeEvent
from cannkit.errors import UsageError
from cannkit.format.ae_status import AeStatus, RunMode
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.inputs.rooted import RootedFiles
from tests.ae.library import built

K: Final = "/usr/lib64/aicpu_kernels"
FWK, AICPU, CUST, KFC, CUST_KFC = 1, 2, 4, 5, 6
OK: Final = AeStatus.SUCCESS
NULL: Final = AeStatus.BAD_PARAM
LOST: Final = AeStatus.OPEN_SO_FAILED
INNER: Final = AeStatus.INNER_ERROR
TABLE: Final[Table] = {
    ("liba.so", "f"): lambda argument, block: 0,
    ("libb.so", "f"): lambda argument, block: 0,
    ("libtf_kernels.so", "TFOperateAPI"): lambda argument, block: 0,
    ("libtensorflow.so", "TF_Version"): lambda argument, block: 0,
}
FILES: Final = MemoryTree({f"{K}/{name}": b"" for name, _ in TABLE})


def engine_of(context: AeContext | None = None, files: MemoryTree = FILES) -> AeEngine:
    return AeEngine(context or AeContext(), files, TableCaller(TABLE))


def call(engine: AeEngine, kind: int = AICPU, so: str | None = "liba.so") -> AeStatus | None:
    return engine.call(AeEvent(kind, so, "f", fwk_type=0)).status


def loaded(engine: AeEngine, names: Sequence[str | None], kind: int = AICPU) -> list[str | None]:
    batch = engine.batch_load(kind, names)
    assert batch.status == OK
    return [each.loaded for each in batch.resolutions]


def test_the_library_is_the_same_name() -> None:
    assert cannkit.AeEngine is AeEngine


@pytest.mark.parametrize("kind", [FWK, AICPU, KFC])
def test_call(kind: int) -> None:
    assert call(engine_of(), kind) == OK


def test_null() -> None:
    """AE-502."""
    found = engine_of().call(None)
    assert (found.status, found.lib, found.notes[0].rule) == (NULL, None, "AE-502")


@pytest.mark.parametrize("kind", [0, 3, 7, 8, 9, 10, 11, 99, 0xFFFFFFFF])
def test_types_without_a_lib(kind: int) -> None:
    """AE-503, AE-508."""
    engine = engine_of()
    found = engine.call(AeEvent(kind, "liba.so", "f"))
    assert (found.status, found.lib, found.resolution) == (NULL, None, None)
    assert found.notes[0].text == without_lib(kind)
    assert engine.close(kind, "liba.so") == NULL
    assert [without_lib(each) for each in (FWK, AICPU, CUST, KFC, CUST_KFC)] == [""] * 5


def test_one_lib_for_two_types() -> None:
    engine = engine_of(AeContext(is_cust_sd=True))
    assert engine.lib_for(AICPU) is engine.lib_for(CUST)
    assert engine.lib_for(KFC) is engine.lib_for(CUST_KFC)
    assert engine.lib_for(AICPU) is not engine.lib_for(KFC)


@pytest.mark.parametrize("variable", [INNER_PATH, CUST_PATH])
def test_a_lib_that_cannot_be_made(variable: str) -> None:
    """AE-504: AiCpu is tried again, KFC is not (Q-2), the framework lib does not mind."""
    engine = engine_of(AeContext(env={variable: ""}))
    for kind, status in ((AICPU, NULL), (KFC, NULL), (FWK, OK)):
        assert call(engine, kind) == status
    notes = {kind: [note.rule for note in engine.call(AeEvent(kind, "liba.so", "f")).notes]
             for kind in (AICPU, KFC)}  # fmt: skip
    assert notes == {AICPU: ["AE-505"], KFC: ["AE-505", "Q-2"]}
    engine.context = AeContext()
    assert (call(engine, AICPU), call(engine, KFC)) == (OK, NULL)


def test_variables_are_read_once() -> None:
    """AE-505: when the lib is made, and again when it is made anew."""
    thread = AeContext(RunMode.THREAD, env={INNER_PATH: "/opt"})
    engine = engine_of(thread, MemoryTree({"/opt/liba.so": b"", "/other/libb.so": b""}))
    assert call(engine) == OK
    engine.context = thread._replace(env={INNER_PATH: "/other"})
    assert call(engine, so="libb.so") == LOST
    engine.clear()
    assert call(engine, so="libb.so") == OK


def test_clear() -> None:
    """AE-506, Q-2: all but KFC come back."""
    engine = engine_of()
    assert [call(engine, kind) for kind in (FWK, AICPU, KFC)] == [OK, OK, OK]
    engine.clear()
    assert [call(engine, kind) for kind in (FWK, AICPU, KFC)] == [OK, OK, NULL]
    assert engine.call(AeEvent(KFC, "liba.so", "f")).notes[0].rule == "Q-2"


def test_clear_before_anything_was_made() -> None:
    engine = engine_of()
    engine.clear()
    assert call(engine, KFC) == OK


def test_the_path_of_the_framework_lib_is_chosen_anew() -> None:
    """AE-504, AE-611, Q-15."""
    first = f"{K}/0/aicpu_kernels_device/libtf_kernels.so"
    second = "/home/u/aicpu_kernels/0/aicpu_kernels_device/libtf_kernels.so"
    engine = engine_of(AeContext(), MemoryTree({first: b"", second: b""}))

    def path() -> str | None:
        resolution = engine.call(AeEvent(FWK, fwk_type=0)).resolution
        assert resolution is not None
        return resolution.loaded

    assert path() == first
    engine.context = AeContext(RunMode.THREAD, env={HOME: "/home/u"})
    assert path() == first
    engine.clear()
    assert path() == second


def test_batch_goes_by_the_file_name() -> None:
    """AE-507: whatever the type; KFC gets nothing."""
    engine = engine_of(AeContext(is_cust_sd=True))
    for kind in (AICPU, CUST, KFC, CUST_KFC, 99):
        batch = engine.batch_load(kind, ["libb.so", "libtf_kernels.so", None, "libno.so"])
        assert batch.status == OK
        assert [each.so_name for each in batch.resolutions][-3:] == [
            "libtf_kernels.so", "libb.so", "libno.so",
        ]  # fmt: skip
    assert loaded(engine, ["libtf_kernels2.so"]) == [None]


def test_batch_of_nothing() -> None:
    engine = engine_of(AeContext(env={INNER_PATH: ""}))
    assert engine.batch_load(AICPU, []).resolutions == ()
    assert engine.batch_load(AICPU, [None, None]).status == OK


def test_batch_without_a_lib() -> None:
    """Q-4: the original crashes."""
    batch = engine_of(AeContext(env={CUST_PATH: ""})).batch_load(
        AICPU, ["libtf_kernels.so", "a.so"]
    )
    assert batch.status == NULL
    assert [each.so_name for each in batch.resolutions] == ["", "libtf_kernels.so"]
    assert [note.rule for note in batch.notes] == ["AE-505", "Q-4"]
    assert CUST_PATH in batch.notes[0].text


def test_batch_of_tensorflow() -> None:
    """AE-611: TensorFlow itself lies in the sandbox, in thread mode alone; once it is open it is not asked."""
    sandbox = "/home/u/aicpu_kernels/0/aicpu_kernels_device/sand_box/libtensorflow.so"
    files = MemoryTree({sandbox: b"", f"{K}/libtf_kernels.so": b""})
    engine = engine_of(AeContext(RunMode.THREAD, env={HOME: "/home/u"}), files)
    kernels = f"{K}/libtf_kernels.so"
    assert loaded(engine, ["libtf_kernels.so"]) == [sandbox, kernels]
    assert loaded(engine, ["libtf_kernels.so", "libtf_kernels.so"]) == [kernels]
    assert loaded(engine_of(), ["libtf_kernels.so"]) == [None, kernels]


def test_what_is_loaded_ahead_is_called() -> None:
    engine = engine_of()
    assert loaded(engine, ["liba.so"]) == [f"{K}/liba.so"]
    resolution = engine.call(AeEvent(AICPU, "liba.so", "f")).resolution
    assert resolution is not None
    assert (resolution.cached, resolution.attempts) == (True, ())


def test_close() -> None:
    """AE-508, AE-610: unknown names are no error, none at all is; the next call looks again."""
    engine = engine_of()
    assert call(engine) == OK
    assert engine.close(AICPU, None) == NULL
    assert engine.close(AICPU, "") == NULL
    assert engine.close(AICPU, "libno.so") == OK
    assert engine.close(CUST, "liba.so") == OK  # the same lib
    resolution = engine.call(AeEvent(AICPU, "liba.so", "f")).resolution
    assert resolution is not None
    assert not resolution.cached
    for kind in (KFC, FWK):
        assert (engine.close(kind, None), engine.close(kind, "liba.so")) == (OK, OK)


def test_close_makes_the_lib() -> None:
    """AE-508: a side effect."""
    engine = engine_of(AeContext(env={INNER_PATH: ""}))
    assert engine.close(KFC, "liba.so") == NULL
    engine.context = AeContext()
    assert call(engine, KFC) == NULL


def test_allow_list() -> None:
    """AE-509: 100 entries; then even one of them is refused."""
    engine = engine_of()
    for at in range(99):
        assert engine.add_allowed(f"lib{at}.so") == OK
    assert engine.add_allowed("lib0.so") == OK
    assert engine.add_allowed("lib99.so") == OK
    assert engine.add_allowed("lib0.so") == INNER
    assert engine.add_allowed(None) == NULL
    engine.delete_allowed(None)
    engine.delete_allowed("libno.so")
    assert engine.add_allowed("lib100.so") == INNER
    engine.delete_allowed("lib7.so")
    assert engine.add_allowed("lib100.so") == OK
    assert call(engine, so="libb.so") == OK  # nobody reads it


def test_allow_list_without_a_lib() -> None:
    engine = engine_of(AeContext(env={INNER_PATH: ""}))
    assert engine.add_allowed("a.so") == INNER
    engine.delete_allowed("a.so")


def test_allow_list_ends_with_its_lib() -> None:
    engine = engine_of()
    for at in range(100):
        engine.add_allowed(f"lib{at}.so")
    engine.clear()
    assert engine.add_allowed("lib0.so") == OK


def test_same_name_in_two_engines() -> None:
    """Nothing is shared between processes."""
    one, other = engine_of(), engine_of(files=MemoryTree({}))
    assert (call(one), call(other)) == (OK, LOST)


def test_files_that_no_process_can_open() -> None:
    for files in (FILES, None):
        with pytest.raises(UsageError, match="files are those of a directory"):
            AeEngine(AeContext(), files)


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_a_caller_of_its_own(tmp_path: Path) -> None:
    """Without a caller the call is real; the child ends with the block."""
    place = tmp_path / K.lstrip("/")
    place.mkdir(parents=True)
    (place / "libops.so").write_bytes(Path(built("ops")).read_bytes())
    with AeEngine(AeContext(), RootedFiles(str(tmp_path))) as engine:
        assert engine.call(AeEvent(AICPU, "libops.so", "code_201")).status == 6
        assert engine.call(AeEvent(AICPU, "libops.so", "code_501")).status == 7
    engine.end()
