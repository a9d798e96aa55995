"""Votes of a crowd: who can be trusted, what the votes say together, and which items can be told apart."""
