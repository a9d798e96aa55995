"""A share and its Wilson interval."""

import pytest

from nuggetstream.statistics.share import share


def test_a_wilson_interval_is_the_published_one() -> None:
    found = share(81, 263)  # Newcombe, 1998, table I
    assert (found.low, found.high) == (pytest.approx(0.2553, abs=1e-4), pytest.approx(0.3662, abs=1e-4))
    assert share(0, 0).value is None
    with pytest.raises(ValueError, match="1 of 0 cases"):
        share(1, 0)
