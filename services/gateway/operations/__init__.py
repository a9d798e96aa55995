"""The page of operations: what waits, what was given up, and what model calls cost."""
