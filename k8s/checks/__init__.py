"""Checks of everything an operator reads: `python -m k8s.checks`.

Each check says ok, what is wrong, or that it was skipped and why. Nothing here needs a cluster.
"""
