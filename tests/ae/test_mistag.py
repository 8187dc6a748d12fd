"""Tasks under a wrong kernel type. Spec 05, section 10.1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.ae.mistag import mistag_notes
from cannkit.format.ae_event import CceKernel, FwkKernel, TsKernel
from tests.ae.structs import EXAMPLE, FACTS, number, tagged

NAME = 0x124000001000
CCE = TsKernel.decode(tagged(1))
FWK = FwkKernel(operate_addr=NAME)
AS_FWK = "read as FWK, but it looks like a CCE kernel: "
AS_CCE = "read as CCE, but only the first 8 bytes of kernelBase are set, as in an FWK kernel: "


@pytest.mark.parametrize("first", FACTS["example"]["first_of_names"])
def test_cce_bytes_tagged_1(first: str) -> None:
    """10.1: `RunC` is 0x436E7552, `my_o` is 0x6F5F796D."""
    value = number(FACTS["example"]["first_of_names"][first])
    told = f"{first.encode()!r} of the kernel name is fwkKernelType {value:#x}: refused with 11001"
    for name in (first, f"{first}puKernel"):
        assert mistag_notes(CCE, {NAME: name}) == (AS_FWK + told,)
        no_library = TsKernel.of(1, FWK)  # the name tells, where nothing else does
        assert mistag_notes(no_library, {NAME: name}) == (AS_FWK + told,)


def test_what_the_name_is_not_known_to_be() -> None:
    """10.1: only an empty one passes."""
    unknown = "a kernel name would be fwkKernelType: refused with 11001 unless it is empty"
    assert mistag_notes(CCE) == mistag_notes(CCE, {NAME + 1: "x"}) == (AS_FWK + unknown,)
    empty = "the empty kernel name is fwkKernelType: taken for TF where 3 more bytes are 0"
    assert mistag_notes(CCE, {NAME: ""}) == (AS_FWK + empty,)
    short = "b'ab' of the kernel name is fwkKernelType: refused with 11001"
    assert mistag_notes(CCE, {NAME: "ab"}) == (AS_FWK + short,)
    three = "b'abc' of the kernel name is fwkKernelType 0x636261: refused with 11001"
    assert mistag_notes(CCE, {NAME: "abc"}) == (AS_FWK + three,)


@pytest.mark.parametrize("kernel_type", [0, 2])
def test_fwk_bytes_tagged_2(kernel_type: int) -> None:
    """10.1: a logic kernel with an empty name."""
    kernel = TsKernel.of(kernel_type, FWK)
    head = f"{AS_CCE}kernelSo is 0, so a logic kernel is looked up by "
    empty = f"{head}the name at the FWK block, whose first byte is 0 for TF: empty, 21005"
    assert mistag_notes(kernel) == mistag_notes(kernel, {NAME: ""}) == (empty,)
    assert mistag_notes(kernel, {NAME: "foo"}) == (f"{head}the name 'foo': 21005",)
    assert mistag_notes(kernel, {NAME: "endGraph"}) == (f"{head}the name 'endGraph': there is one",)


def test_fwk_bytes_under_other_types() -> None:
    """AE-303, Q-1."""
    crash = "kernelSo is 0: the original crashes where the kernel name is new, here 11001"
    told = {4: "kernelSo is 0: 11001", 5: crash, 6: crash}
    for kernel_type, what in told.items():
        assert mistag_notes(TsKernel.of(kernel_type, FWK)) == (AS_CCE + what,)
    assert mistag_notes(TsKernel.of(10, FWK)) == ()


@pytest.mark.parametrize("is_cloud", [False, True])
def test_nothing_to_say(is_cloud: bool) -> None:
    """A task under its own type, and one in which there is nothing."""
    assert mistag_notes(TsKernel.of(1, FWK, is_cloud=is_cloud)) == ()
    assert mistag_notes(TsKernel.decode(EXAMPLE), {NAME: "RunCpuKernel"}) == ()
    logic = CceKernel(func_name_addr=NAME, args_addr=0x124000002000)
    assert mistag_notes(TsKernel.of(2, logic, is_cloud=is_cloud), {NAME: "endGraph"}) == ()
    for kernel_type in range(12):
        assert mistag_notes(TsKernel.of(kernel_type, CceKernel(), is_cloud=is_cloud)) == ()


@given(st.integers(0, 12), st.binary(min_size=64, max_size=64), st.text())
def test_any_task(kernel_type: int, base: bytes, name: str) -> None:
    kernel = TsKernel(kernel_type, base)
    notes = mistag_notes(kernel, {kernel.cce.func_name_addr: name})
    assert len(notes) == 1 if kernel_type == 1 else len(notes) <= 1
