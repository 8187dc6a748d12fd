"""What the loader tells the device of the functions in an image. Spec 04, section 6."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cannkit.device.code_map import FunctionFacts
from cannkit.runtime.arg_layout import plan_arguments
from cannkit.runtime.kernel import AttrType, Kernel, strip_mix
from cannkit.runtime.old_flow import kernel_of_object
from cannkit.runtime.program import ElfProgram
from cannkit.runtime.program_base import Program


def function_facts(program: Program, aligned: int) -> Mapping[int, FunctionFacts]:
    """The functions of an image at `aligned`, by address; of two at one address the first."""
    found: dict[int, FunctionFacts] = {}
    for address, facts in _all(program, aligned):
        found.setdefault(address, facts)
    return found


def _all(program: Program, aligned: int) -> Iterator[tuple[int, FunctionFacts]]:
    for kernel in _kernels(program):
        plan = plan_arguments(program, kernel)
        facts = FunctionFacts(
            name=kernel.name,
            is_vector=kernel.attr is AttrType.VECTOR,
            args_size=plan.args_size,
            pointers=plan.pointers,
            min_stack=kernel.min_stack,
            vf_type=kernel.vf_type,
            has_parameters=kernel.has_param_summary,
        )
        for part in (kernel.part1, kernel.part2):
            if part.present:
                yield aligned + part.offset, facts


def _kernels(program: Program) -> Iterable[Kernel]:
    """Those of a program; where it knows none yet, for they come one by one, those of its object."""
    if program.kernels or not isinstance(program, ElfProgram):
        return program.kernels
    names = dict.fromkeys(strip_mix(image.name) for image in program.obj.kernels)
    return [kernel_of_object(program, name) for name in names if name]
