"""Reruns for administrators: a stage evaluates old battles again, and the results are compared."""
