"""Checks of the files in deploy/ and k8s/: `python -m k8s.checks`.

Each check says ok, what is wrong, or that it was skipped and why. Nothing here needs a cluster.
"""
