"""Datasets in, tables out: what researchers do with stored or replayed battles."""
