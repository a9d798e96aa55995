"""Nuggetstream: why one answer is better, from battles, nuggets, judges and votes."""
