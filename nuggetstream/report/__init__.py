"""Evaluated battles in, one self-contained page and its numbers out.

    results.jsonl  ->  rows  ->  numbers/*  ->  drawing/*  ->  page  ->  report.html, report.json

`numbers` computes and knows nothing of pages; `drawing` turns numbers into figures, tables and plain
sentences and computes nothing. A number that the data do not give is None, with its reason beside it.
"""
