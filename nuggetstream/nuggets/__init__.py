"""Nugget scores, the preference they give, and its explanation."""
