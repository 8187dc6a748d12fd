"""The files that outputs of an operator are written to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from cannkit.cli.output import Target, check_outputs, check_writable, write_files

if TYPE_CHECKING:
    from cannkit.cli.op_arg_spec import Spelled
    from cannkit.ops.result import OutputBack


class OutputFiles(NamedTuple):
    """A file, or none, for each output in its order."""

    targets: tuple[Target | None, ...]

    @classmethod
    def of(cls, spelled: Sequence[Spelled], inputs: Sequence[str]) -> Self:
        """The files of arguments, found to be writable.

        Raises UsageError for one that is an input or another output, OutputError for one that cannot be.
        """
        from cannkit.ops.op_args import Role

        if not any(each.out for each in spelled):
            return cls(())
        read = [*inputs, *(each.file for each in spelled if each.file is not None)]
        check_outputs({f"--arg {at}": each.out for at, each in enumerate(spelled, 1)}, read)
        targets = tuple(
            None if each.out is None else Target.of(each.out)
            for each in spelled
            if each.arg.role in (Role.OUT, Role.INOUT)
        )
        for target in targets:
            if target is not None:
                check_writable(target)
        return cls(targets)

    @property
    def names(self) -> tuple[str | None, ...]:
        """The files as the user calls them."""
        return tuple(None if each is None else each.path for each in self.targets)

    def write(self, outputs: Sequence[OutputBack]) -> None:
        """Write the bytes of the shapes that came back, all files or none. Raises OutputError."""
        pairs = zip(self.targets, outputs, strict=False)
        write_files((target, bytes(each.filled)) for target, each in pairs if target is not None)
