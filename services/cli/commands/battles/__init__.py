"""Commands about the battles of a running platform."""
