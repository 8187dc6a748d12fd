"""The grammar of kernel names. Spec 01, SYM-11."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cannkit.image.kernel_name import MIX_SUFFIXES, KernelName, split_kernel_name
from tests.facts import golden

HASH = "67fb5b7825e97597c68d8ae6a1db5fc8"


def test_suffixes_are_the_golden_ones() -> None:
    assert list(MIX_SUFFIXES) == golden("kernel_meta")["mix_suffixes"]


@pytest.mark.parametrize(
    ("name", "base", "suffix", "key"),
    [
        (f"OffsetsRange_{HASH}_0", f"OffsetsRange_{HASH}_0", "", 0),
        (f"OffsetsRange_{HASH}_0_mix_aic", f"OffsetsRange_{HASH}_0", "_mix_aic", 0),
        (
            f"Op_{HASH}_10000000000000001_mix_aiv",
            f"Op_{HASH}_10000000000000001",
            "_mix_aiv",
            10**16 + 1,
        ),
        ("bgmv_expand_half_12", "bgmv_expand_half_12", "", 12),
        ("k_18446744073709551615", "k_18446744073709551615", "", (1 << 64) - 1),
        ("k_007", "k_007", "", 7),
        ("_Z6kernelPhS_", "_Z6kernelPhS_", "", None),
        ("_Z6kernelPh_mix_aic", "_Z6kernelPh", "_mix_aic", None),
        ("k_0_mix_aic_mix_aiv", "k_0_mix_aic", "_mix_aiv", None),
        ("k_1x", "k_1x", "", None),
        ("k_-1", "k_-1", "", None),
        ("k_\u0663", "k_\u0663", "", None),  # a digit, but no ASCII one
        ("k_\u00b2", "k_\u00b2", "", None),
        ("_mix_aic", "", "_mix_aic", None),
        ("", "", "", None),
        ("k_", "k_", "", None),
        ("k_" + "9" * 5000, "k_" + "9" * 5000, "", None),  # more than int() takes
    ],
)
def test_name_taken_apart(name: str, base: str, suffix: str, key: int | None) -> None:
    assert split_kernel_name(name) == KernelName(base, suffix, key)


@given(st.text(max_size=40), st.integers(0, (1 << 64) - 1), st.sampled_from(["", *MIX_SUFFIXES]))
def test_put_together_and_taken_apart(stem: str, key: int, suffix: str) -> None:
    name = f"{stem}_{key}{suffix}"
    assert split_kernel_name(name) == KernelName(f"{stem}_{key}", suffix, key)
