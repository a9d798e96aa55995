"""What may be asked of the rater: words and bounds, the same at every door."""

from datetime import UTC, datetime

LEAST_LEVEL, MOST_LEVEL = 0.5, 0.999
LEAST_RESAMPLES, MOST_RESAMPLES = 100, 10_000
LEAST_POWER, MOST_POWER = 0.5, 0.99
MOST_PAIRS = 100
MOST_TAGS = 10
MOST_RATING = 1e6  # of an anchor, up or down
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)
