"""Limits of the parameters of rating requests, the same over REST and gRPC."""

from datetime import UTC, datetime

LEAST_LEVEL, MOST_LEVEL = 0.5, 0.999
LEAST_RESAMPLES, MOST_RESAMPLES = 100, 10_000
LEAST_POWER, MOST_POWER = 0.5, 0.99
MOST_PAIRS = 100
LEAST_PRIOR, MOST_PRIOR = 0.01, 1000.0  # pseudo-battles per system
MOST_PROVISIONAL = 10_000  # battles
MOST_TAGS = 10
MOST_RATING = 1e6  # largest absolute rating of an anchor
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)
