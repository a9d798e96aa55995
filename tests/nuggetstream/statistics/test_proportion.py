"""Wilson intervals of proportions."""

import pytest

from nuggetstream.statistics.proportion import wilson


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (3, 2), (-1, 4), (float("nan"), 3)])
def test_wilson_needs_a_proportion(successes: float, trials: float) -> None:
    with pytest.raises(ValueError, match="is not a proportion"):
        wilson(successes, trials)
