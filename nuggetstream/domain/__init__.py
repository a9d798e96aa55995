"""The words everything else is said in: battles, evidence, nuggets, judgments, events, failures."""
