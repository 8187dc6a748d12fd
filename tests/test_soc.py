"""The chip table. Spec 01, section 1; spec 03, section 7.1."""

from __future__ import annotations

import pytest

from cannkit.errors import UsageError
from cannkit.soc import DEFAULT_SOC, all_socs, find_soc, soc_names
from tests.facts import SOC_OF_PROFILE

# Spec 01, section 1, by runtime chip: INCLUDE_STACK_SIZE, 16K_STACK, TASK_RATION, META_SU_STACK,
# AICPU_MACHINE, DATA_READ_ONLY.
FEATURES = {
    "CHIP_910_B_93": (True, True, True, True, False, False),
    "CHIP_DAVID": (False, False, True, True, False, False),
    "CHIP_ASCEND_350": (False, False, True, True, False, False),
    "CHIP_CLOUD_V5": (False, False, True, False, False, True),
    "CHIP_MC62CM12A": (False, False, True, True, False, True),
    "CHIP_MC32DM11A": (False, False, True, True, False, True),
    "CHIP_CLOUD": (False, False, False, False, True, False),
}
NOTHING = (False,) * 6


def test_features_of_every_chip() -> None:
    for soc in all_socs():
        found = (
            soc.has_stack_size_in_version,
            soc.keeps_elf_stack,
            soc.has_task_ratio,
            soc.has_min_stack_meta,
            soc.has_aicpu_machine,
            soc.data_is_read_only,
        )
        assert found == FEATURES.get(soc.chip, NOTHING), soc.name


def test_unit_of_dfx_element_sizes() -> None:
    """DFX-05: bytes on A2, A3 and 310P."""
    in_bytes = {soc.family for soc in all_socs() if soc.dfx_dtype_in_bytes}
    assert in_bytes == {"Ascend910B", "Ascend910_93", "Ascend310P"}


def test_default_is_an_a2() -> None:
    assert find_soc(DEFAULT_SOC).chip == "CHIP_910_B_93"


@pytest.mark.parametrize("name", soc_names())
def test_every_name_is_found(name: str) -> None:
    assert find_soc(name).name == name


def test_names_are_unique() -> None:
    assert len(set(soc_names())) == len(soc_names()) == len(all_socs())


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ascend910b", "Ascend910B1"),  # CHP-4: a folder of an opp tree names a family
        ("Ascend910B", "Ascend910B"),  # an exact version comes first: the old 910
        ("ascend910_93", "Ascend910_9362"),
        ("ascend950", "Ascend950DT_950x"),
        ("ASCEND310P3", "Ascend310P3"),
        ("Ascend910", "Ascend910A"),  # SOC-2
    ],
)
def test_name_by_family_case_and_alias(name: str, found: str) -> None:
    assert find_soc(name).name == found


@pytest.mark.parametrize(
    ("name", "near"),
    [("Ascend910B11", "Ascend910B1"), ("910b1", "Ascend910B1"), ("A5", "did you mean Ascend950?")],
)
def test_unknown_name_has_a_hint(name: str, near: str) -> None:
    with pytest.raises(UsageError) as error:
        find_soc(name)
    assert near in str(error.value.hint)


def test_name_like_nothing_known() -> None:
    with pytest.raises(UsageError) as error:
        find_soc("\x1b[31m")
    assert "\\x1b" in str(error.value)  # HAZ-18
    assert "cannkit soc" in str(error.value.hint)


def test_profiles_of_the_recorded_answers() -> None:
    chips = {profile: find_soc(name).chip for profile, name in SOC_OF_PROFILE.items()}
    assert chips == {
        "910B": "CHIP_910_B_93",
        "950": "CHIP_DAVID",
        "910": "CHIP_CLOUD",
        "310P": "CHIP_DC",
    }


def test_facts_are_typed() -> None:
    soc = find_soc("Ascend910B1")
    assert soc.facts["ai_core_count"] == 24
    assert soc.facts["vir_type_list"] == ("2", "3", "6", "12", "24")
    assert soc.facts["npu_arch"] == 2201
    assert find_soc("Ascend910A").facts["cube_core_count"] is None
