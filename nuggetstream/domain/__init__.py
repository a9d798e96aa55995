"""The types that every other room uses: battles, evidence, nuggets, judgments, events and failures."""
