"""Weighted aspects of long-form answers (W-LLM)."""
