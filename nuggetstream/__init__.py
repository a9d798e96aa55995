"""The Nuggetstream library: evaluate battles between LLM answers from nuggets, judges and votes."""
