"""Skirmishes of the compiled rules: battle by battle those of the reference, and what must hold in all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from simcore.core.jit import is_jit_disabled
from tests.rulesets.force_order import reference as ref
from tests.rulesets.force_order import reference_skirmish as sk
from tests.rulesets.force_order.lockstep import compare
from tests.rulesets.force_order.test_reference_skirmish import MIX, RULES, check

if TYPE_CHECKING:
    from tests.rulesets.force_order.lockstep import Mixes

EXAMPLES = 4 if is_jit_disabled() else 40
policies = st.sampled_from(["random", "eager", "greedy"])


@settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.tuples(MIX, MIX), RULES, st.tuples(policies, policies), st.integers(0, 2**32 - 1), st.integers(0, 1))
def test_every_game_is_that_of_the_reference(
    mixes: Mixes, rules: sk.Rules, chosen: tuple[str, str], seed: int, first: int
) -> None:
    compare(rules, mixes, chosen, key=(seed, 77), battle=seed * 3, first=first, watch=check)
