"""What is told to a user: each of the ten practical judgements has a hint. Spec 05, AE-1208."""

from __future__ import annotations

from typing import Final

from cannkit.ae.context import HOME, INNER_PATH, AeContext
from cannkit.ae.engine import AeEngine
from cannkit.ae.event import AeEvent, Argument, Segment
from cannkit.ae.hints import scheduled_hints
from cannkit.ae.path_hints import is_renamed_tf
from cannkit.ae.scheduler import execute
from cannkit.format.ae_status import RunMode
from tests.ae.recorded import SmallKernels, tree

K: Final = "/usr/lib64/aicpu_kernels"
LIBRARY: Final = "libtestkernels.so"
AICPU, CUST, KFC = 2, 4, 5


def engine_of(*files: str, context: AeContext | None = None) -> AeEngine:
    view = tree([[path, "so"] for path in files or (f"{K}/{LIBRARY}",)])
    return AeEngine(context or AeContext(), view, SmallKernels(view, []))


def hints(event: AeEvent, engine: AeEngine | None = None) -> str:
    return "\n".join(scheduled_hints(event, execute(event, engine or engine_of())))


def returning(code: int, kind: int = AICPU) -> AeEvent:
    argument = Argument(0x1000, (Segment(0x1000, code.to_bytes(4, "little")),))
    return AeEvent(kind, LIBRARY, "k_param", argument)


def test_1_null_library_goes_to_a_logic_kernel() -> None:
    text = hints(AeEvent(AICPU, None, "endGraf"))
    assert "kernelSo is 0" in text
    assert "not a problem of the library" in text
    assert "endGraph" in text


def test_2_order_of_the_levels() -> None:
    text = hints(AeEvent(AICPU, "libmissing.so", "f"))
    places = ["its own directory", "/usr/lib64/aicpu_kernels/", "the folder of the host process"]
    assert [text.index(place) for place in places] == sorted(text.index(place) for place in places)


def test_3_two_libraries_lie_in_the_old_root() -> None:
    for name in ("libhccl_operator_call.so", "libbuiltin_kernels.so"):
        assert "/usr/lib64/ itself" in hints(AeEvent(AICPU, name, "f"))
        cust = AeContext(is_cust_sd=True)
        assert "/usr/lib64/ itself" not in hints(AeEvent(CUST, name, "f"), engine_of(context=cust))


def test_4_custom_types_need_cust_sd_or_thread_mode() -> None:
    assert "cust-sd" in hints(AeEvent(CUST, LIBRARY, "k_ret_0"))
    thread = AeContext(RunMode.THREAD, env={HOME: "/home/u"})
    assert "cust-sd" not in hints(AeEvent(CUST, LIBRARY, "k_ret_0"), engine_of(context=thread))


def test_5_valid_types() -> None:
    text = hints(AeEvent(7, LIBRARY, "k_ret_0"))
    assert all(f"{kind} (" in text for kind in (1, 2, 4, 5, 6))


def test_6_kfc_symbol_of_two_libraries() -> None:
    engine = engine_of(f"{K}/{LIBRARY}", f"{K}/libother.so")
    execute(AeEvent(KFC, LIBRARY, "k_ret_0"), engine)
    call = execute(AeEvent(KFC, "libother.so", "k_ret_0"), engine).call
    assert call is not None
    (note,) = call.notes
    assert note.rule == "Q-7"
    assert LIBRARY in note.text
    assert "libother.so is not asked" in note.text


def test_7_function_with_block() -> None:
    assert "two arguments" in hints(AeEvent(AICPU, LIBRARY, "RunCpuKernelWithBlock"))
    assert "two arguments" not in hints(AeEvent(AICPU, LIBRARY, "RunCpuKernel"))


def test_8_band_of_collective_communication() -> None:
    for code in (1000, 1099):
        assert "return another code" in hints(returning(code))
        assert "return another code" not in hints(returning(code, KFC))
    assert "return another code" not in hints(returning(1100))


def test_9_renamed_tensorflow_kernels() -> None:
    assert "libtf_kernels.so" in hints(AeEvent(AICPU, "libtf_kernels_v2.so", "f"))
    assert not is_renamed_tf("libtf_kernels.so")


def test_10_kfc_sets_no_name() -> None:
    assert "not run" in hints(returning(0, KFC))
    assert "not run" not in hints(returning(0))


def test_symbol_that_is_not_exported() -> None:
    assert 'extern "C"' in hints(AeEvent(AICPU, LIBRARY, "missing"))


def test_bad_variable_is_named() -> None:
    engine = engine_of(context=AeContext(env={INNER_PATH: ""}))
    scheduled = execute(AeEvent(AICPU, LIBRARY, "k_ret_0"), engine)
    assert scheduled.call is not None
    assert INNER_PATH in scheduled.call.notes[0].text


def test_codes_that_can_be_either() -> None:
    assert "AE_STATUS_TASK_ABORT" in hints(returning(8))
    assert "AE_STATUS" not in hints(returning(201))  # it was translated
    assert "AE_STATUS" not in hints(returning(1))
