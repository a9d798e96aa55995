"""Outcomes of battles, the counters of them, and what is read from both."""
