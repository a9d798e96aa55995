"""The judges: the evaluators that say which of two answers is better."""
