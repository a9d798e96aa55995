"""The pure domain: types, scores, preferences, ratings. No I/O, no clock, no global randomness."""
