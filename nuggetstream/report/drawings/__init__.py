"""Drawings that fill a file of their own; the sections say where they stand."""
