"""Enumerations that lose nothing."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from cannkit.format.ascend_meta import FuncType, ImplicitFeature


def test_known_number_has_its_name() -> None:
    member = FuncType(3)
    assert member is FuncType.AIV
    assert member.known


@pytest.mark.parametrize("number", [8, 0x2A, 0xFFFF_FFFF, 1 << 64])
def test_unknown_number_keeps_its_value(number: int) -> None:
    member = FuncType(number)
    assert member == number
    assert isinstance(member, FuncType)
    assert member.name == f"UNKNOWN_{number:#x}"
    assert not member.known


def test_unknown_numbers_do_not_become_members() -> None:
    FuncType(77)
    assert 77 not in set(FuncType)
    assert len(FuncType) == 8


def test_unknown_numbers_are_equal_by_value() -> None:
    assert FuncType(77) == FuncType(77)
    assert hash(FuncType(77)) == hash(77)
    assert pickle.loads(pickle.dumps(FuncType.AIC)) is FuncType.AIC


def test_other_types_are_refused() -> None:
    text: Any = "AIV"
    with pytest.raises(ValueError, match="'AIV' is not a valid FuncType"):
        FuncType(text)


def test_mask_of_an_unknown_feature() -> None:
    """BIN-01: a feature up to 32 sets its bit, whatever it means."""
    assert ImplicitFeature(32).mask == 1 << 31
