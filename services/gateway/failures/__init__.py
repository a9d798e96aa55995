"""Failures for administrators: list, show, retry and discard dead letters and failed battles."""
