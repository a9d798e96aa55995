"""From votes to strengths: counts, models, resamples and standard errors."""
