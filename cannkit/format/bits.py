"""The language of bit layouts: enumerations that lose nothing, and records whose bits are named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from typing import (
    Any,
    ClassVar,
    Final,
    NoReturn,
    Self,
    TypeVar,
    dataclass_transform,
    get_type_hints,
)

from cannkit.format.codec import Piece as Piece
from cannkit.format.codec import Span as Span
from cannkit.format.codec import make_codec
from cannkit.format.codec import span_mask as span_mask

WORD: Final = 32


def unknown_name(number: int) -> str:
    """What a number without a name is called."""
    return f"UNKNOWN_{number:#x}"


class OpenEnum(IntEnum):
    """An enumeration that decodes a number it does not know as `UNKNOWN_0x2a`."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = cls.name_of(value)
        member._value_ = value
        return member

    @classmethod
    def name_of(cls, value: int) -> str:
        """The name of a number that is no member."""
        return unknown_name(value)

    @classmethod
    def names(cls) -> dict[int, str]:
        """Number to name of those that have one: a table for where a call for each is too slow."""
        return {member.value: name for name, member in cls.__members__.items()}

    @property
    def known(self) -> bool:
        """Whether the number has a name of its own."""
        return self._value_ in type(self)._value2member_map_


def bits(
    word: int,
    lo: int,
    width: int,
    c_name: str,
    *,
    high: tuple[int, int, int, str] | None = None,
    default: int = 0,
    doc: str = "",
    address: bool = False,
) -> Any:
    """A field of a `@record`: `width` bits from bit `lo` of 32-bit word `word` on.

    `high` is (word, lo, width, C name) of the upper bits where they lie elsewhere.
    """
    pieces = [Piece(word * WORD + lo, width, c_name)]
    if high is not None:
        pieces.append(Piece(high[0] * WORD + high[1], high[2], high[3]))
    return Span(tuple(pieces), default, doc, address)


class Record:
    """An entry of fixed size: a little-endian number whose bits are named. Frozen.

    `residue` holds the bits that no field names, in their places, so that decode then encode is the
    identity. Encoder and decoder are generated from the spans at first use.
    """

    SIZE: ClassVar[int] = 0
    C_NAME: ClassVar[str] = ""
    SPANS: ClassVar[Mapping[str, Span]] = {}
    DEFAULTS: ClassVar[Mapping[str, int]] = {}
    residue: int

    def __init__(self, **values: int) -> None:
        fields = self.__dict__
        fields.update(self.DEFAULTS)
        fields.update(values)
        if len(fields) != len(self.DEFAULTS):
            unknown = ", ".join(sorted(values.keys() - self.DEFAULTS.keys()))
            raise TypeError(f"{type(self).__name__} has no field {unknown}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:#x}" for name, value in self.__dict__.items() if value)
        return f"{type(self).__name__}({shown})"

    @classmethod
    def decode(cls, raw: bytes) -> Self:
        """The record in `raw`, SIZE bytes. Raises FormatError for another length."""
        cls._generate()
        return cls.decode(raw)

    def encode(self) -> bytes:
        """Its SIZE bytes. Raises FormatError for a value that does not fit its field."""
        self._generate()
        return self.encode()

    @classmethod
    def _generate(cls) -> None:
        decode, encode = make_codec(cls.__name__, cls.SIZE, cls.SPANS)
        cls.decode = classmethod(decode)  # type: ignore[method-assign, assignment]
        cls.encode = encode  # type: ignore[method-assign, assignment]

    def replace(self, **values: int) -> Self:
        """The same with other values in some fields."""
        return type(self)(**{**self.__dict__, **values})

    def rows(self) -> Iterator[tuple[str, Span, int]]:
        """Name, span and value of each field, in byte order."""
        fields = self.__dict__
        for name, span in self.SPANS.items():
            yield name, span, span.kind(fields[name])


R = TypeVar("R", bound=type[Record])


@dataclass_transform(kw_only_default=True, frozen_default=True)
def record(*, size: int, c_name: str = "") -> Callable[[R], R]:
    """Make a record of `size` bytes of a class whose fields are `bits`, those of its bases first.

    A field of a base that is named again replaces it. `c_name` is what the record is called in C.
    Raises TypeError for fields that overlap or leave the record.
    """

    def make(cls: R) -> R:
        spans: dict[str, Span] = dict(cls.SPANS)
        own = {name: span for name, span in vars(cls).items() if isinstance(span, Span)}
        hints = get_type_hints(cls)
        for name, span in own.items():
            spans[name] = span._replace(kind=hints[name])
            delattr(cls, name)
        taken = 0
        for name, span in spans.items():
            mask = span_mask(span)
            if mask & taken or mask >> 8 * size:
                raise TypeError(f"{cls.__name__}.{name} overlaps a field or leaves the record")
            taken |= mask
        cls.SIZE, cls.C_NAME = size, c_name
        cls.SPANS = dict(sorted(spans.items(), key=lambda item: item[1].lo))
        cls.DEFAULTS = {name: span.default for name, span in cls.SPANS.items()} | {"residue": 0}
        for method in ("decode", "encode"):  # not what was generated for a base
            setattr(cls, method, vars(Record)[method])
        return cls

    return make
