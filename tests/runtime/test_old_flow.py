"""Kernels under host stubs. Spec 02, sections 8 and 9."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cannkit.device.device import Device
from cannkit.format.ascend_meta import FuncType
from cannkit.format.status import RtError, RtStatus
from cannkit.runtime.binary_loader import BinaryLoader
from cannkit.runtime.kernel import AttrType, Kernel, MixType
from cannkit.runtime.load_options import Magic
from cannkit.runtime.old_flow import (
    UNKNOWN_KEY,
    address_of_stub,
    detail_of_key,
    detail_of_stub,
    function_by_name,
    query_function,
    register_function,
    register_metadata,
)
from cannkit.runtime.process import Process
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program
from cannkit.soc import find_soc
from tests.facts import A2_SOC
from tests.runtime.programs import Function, builder

PAIR = (
    Function("op_0_mix_aic", FuncType.MIX_AIC_MAIN, 0, 0x20, ratio=(1, 2)),
    Function("op_0_mix_aiv", FuncType.MIX_AIC_MAIN, 0x20, 0x20, ratio=(1, 2)),
)
STUB = 0x1000


def _process(soc: str = A2_SOC) -> tuple[Process, Device]:
    process = Process(BinaryLoader(find_soc(soc)))
    device = Device(0, process.soc)
    device.start()
    return process, device


def _program(process: Process, *functions: Function, magic: int = Magic.ELF) -> Program:
    data = memoryview(builder(*functions).build())
    return process.binaries.register_binary(data, magic)


def _registered(*functions: Function, info: str | None = None) -> Kernel:
    process, _ = _process()
    program = _program(process, *functions)
    return register_function(process.stubs, program, STUB, "s", info).kernel


@pytest.mark.parametrize(
    ("info", "name", "attr", "mix"),
    [
        ("op_0", "op_0", AttrType.MIX, MixType.MIX_AIC_AIV_MAIN_AIC),
        (None, "op_0", AttrType.MIX, MixType.MIX_AIC_AIV_MAIN_AIC),
        ("", "op_0", AttrType.MIX, MixType.MIX_AIC_AIV_MAIN_AIC),
        ("op_0_mix_aic", "op_0_mix_aic", AttrType.CUBE, MixType.MIX_AIC),
    ],
)
def test_register(info: str | None, name: str, attr: AttrType, mix: MixType) -> None:
    """STB-6, WE-10."""
    kernel = _registered(*PAIR, info=info)
    assert (kernel.name, kernel.attr, kernel.mix, kernel.tiling_key) == (name, attr, mix, 0)
    assert kernel.is_paired == (mix is MixType.MIX_AIC_AIV_MAIN_AIC)


def test_entry_of_a_stub() -> None:
    """REG-7 with the name asked for; REG-15 counts as in any registration."""
    assert _registered(Function("k_5")).tiling_key == 5
    assert _registered(Function("k_5", entry=99)).tiling_key == 99
    process, _ = _process("Ascend950PR_9599")
    program = _program(process, Function("k_5", length=5000))
    kernel = register_function(process.stubs, program, STUB, "s").kernel
    assert kernel.part1.prefetch == 2


def test_only_in_the_table() -> None:
    """STB-6: not in the program's name map; the names of the image grow, each second half apart."""
    process, _ = _process()
    program = _program(process, Function("a_1"), *PAIR)
    assert isinstance(program, ElfProgram)
    register_function(process.stubs, program, STUB, "a", "a_1")
    entry = register_function(process.stubs, program, STUB + 8, "op", "op_0")
    assert (program.kernels, program.names_size) == ((), len(b"a_1\0op_0_mix_aic\0"))
    assert entry.kernel.name_offset == len(b"a_1\0")


@pytest.mark.parametrize(
    ("functions", "info", "acl"),
    [
        (PAIR, "nope", 507000),
        ((Function("_mix_aic", FuncType.AIC),), None, 107000),
        ((Function("k", FuncType.AIC), Function("k_mix_aic", FuncType.AIC)), "k", 107000),
        ((Function("k", FuncType.MIX_AIC_MAIN),), "k", 107000),
    ],
)
def test_refused(functions: tuple[Function, ...], info: str | None, acl: int) -> None:
    """STB-6; QK-29: nothing stays in the table."""
    process, _ = _process()
    program = _program(process, *functions)
    with pytest.raises(RtError) as caught:
        register_function(process.stubs, program, STUB, "s", info)
    assert (caught.value.acl, len(process.stubs)) == (acl, 0)
    assert isinstance(program, ElfProgram)
    assert program.names_size == 0


def test_order_of_checks() -> None:
    """STB-6: a stub that is taken comes before a program that is no ELF."""
    process, _ = _process()
    plain = _program(process, magic=Magic.PLAIN)
    with pytest.raises(RtError, match="no kernel object") as caught:
        register_function(process.stubs, plain, STUB, "s")
    assert caught.value.acl == 107000
    register_function(process.stubs, _program(process, *PAIR), STUB, "s")
    with pytest.raises(RtError, match=r"stub is taken \(0x1000\)") as caught:
        register_function(process.stubs, plain, STUB, "s")
    assert (caught.value.rt, caught.value.acl) == (RtStatus.KERNEL_DUPLICATE, 507028)


def test_queries() -> None:
    """STB-7."""
    process, device = _process()
    program = _program(process, *PAIR)
    register_function(process.stubs, program, STUB, "s")
    assert function_by_name(process, "s") == STUB
    assert query_function(process, STUB).name == "op_0"
    address = address_of_stub(process, STUB, device)
    assert address == process.module(program, device).function(query_function(process, STUB)).pc1
    assert process.pool.references(program.id) == 2  # its own, and that of the module
    process.pool.get(program.id)
    process.unregister(program)
    with pytest.raises(RtError) as caught:
        query_function(process, STUB)
    assert caught.value.acl == 507024
    process.put(program.id)
    asked: tuple[Callable[[], object], ...] = (
        lambda: function_by_name(process, "s"),
        lambda: query_function(process, STUB),
        lambda: address_of_stub(process, STUB, device),
    )
    for ask in asked:
        with pytest.raises(RtError) as caught:
            ask()
        assert caught.value.acl == 507027


def test_address_without_a_context() -> None:
    """STB-7: 507027 whatever fails; the inner code tells what."""
    process, _ = _process()
    register_function(process.stubs, _program(process, *PAIR), STUB, "s")
    with pytest.raises(RtError) as caught:
        address_of_stub(process, STUB, None)
    assert (caught.value.rt, caught.value.acl) == (RtStatus.CONTEXT_NULL, 507027)


def test_details() -> None:
    """MOD-3, MOD-4 by stub and by key; POL-6 for the key that stands for none."""
    process, device = _process()
    stubs = _program(process, *PAIR)
    register_function(process.stubs, stubs, STUB, "s")
    old = process.binaries.load_old(memoryview(builder(*PAIR).build()))
    by_stub = detail_of_stub(process, STUB, device)
    by_key = detail_of_key(process, old, 0, device)
    assert by_key is not None
    assert by_stub.pc2 == by_stub.pc1 + 0x20
    assert by_key.pc2 == by_key.pc1 + 0x20
    assert by_stub.mix == by_key.mix == MixType.MIX_AIC_AIV_MAIN_AIC
    assert detail_of_key(process, old, UNKNOWN_KEY, device) is None
    assert process.pool.references(old.id) == 2
    asked: tuple[Callable[[], object], ...] = (
        lambda: detail_of_key(process, old, 1, device),
        lambda: detail_of_stub(process, 0, device),
    )
    for ask in asked:
        with pytest.raises(RtError) as caught:
            ask()
        assert caught.value.acl == 507000


def test_no_details_of_the_new_flow() -> None:
    """POL-5, WE-10."""
    process, device = _process()
    new = process.binaries.load_from_data(memoryview(builder(*PAIR).build()))
    with pytest.raises(RtError, match="does not see programs of the new flow") as caught:
        detail_of_key(process, new, 0, device)
    assert caught.value.acl == 507000


def test_chips_without_details() -> None:
    process, device = _process("Ascend950PR_9599")
    with pytest.raises(RtError) as caught:
        detail_of_stub(process, STUB, device)
    assert caught.value.acl == 207000


def test_metadata() -> None:
    """POL-9."""
    process, _ = _process()
    program = _program(process, *PAIR)
    register_metadata(program, "libx.so,0.1,,exclusive;")
    assert (program.so_name, program.metadata) == ("libx.so", "libx.so,0.1,,exclusive;")
    with pytest.raises(RtError, match="no comma") as caught:
        register_metadata(program, "libx.so")
    assert (caught.value.rt, caught.value.acl) == (RtStatus.METADATA, 107000)
