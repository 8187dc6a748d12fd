from __future__ import annotations

import pytest

from cannkit.format import ae_status
from cannkit.format.ae_status import AeStatus
from cannkit.format.bits import OpenEnum
from tests.facts import golden

NAMES = [name for name in golden("ae_codes") if name != "origin"]


@pytest.mark.parametrize("name", NAMES)
def test_codes(name: str) -> None:  # AE-201, AE-202, AE-204 to AE-207
    kind = getattr(ae_status, name)
    assert {member: int(code) for member, code in kind.__members__.items()} == golden("ae_codes")[
        name
    ]


def test_every_enumeration_has_a_fact() -> None:
    kinds = {
        name
        for name, kind in vars(ae_status).items()
        if isinstance(kind, type) and issubclass(kind, OpenEnum) and kind is not OpenEnum
    }
    assert kinds == set(NAMES)


def test_names_in_c() -> None:
    assert AeStatus.OPEN_SO_FAILED.c_name == "AE_STATUS_OPEN_SO_FAILED"
    assert AeStatus(-1).c_name == "AE_STATUS_UNKNOWN_0xffffffff"
    assert AeStatus(1050).c_name == "AE_STATUS_UNKNOWN_0x41a"
