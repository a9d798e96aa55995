"""Evaluated battles in, one self-contained page and its numbers out.

    results.jsonl  ->  Results  ->  sections/*  ->  page  ->  report.html, report.json

`sections` is the table of contents: each of its modules is one section, its numbers, their computation and
their drawing together. Beside it are the parts that sections share: `blocks` (what a section can show),
`charts` (one look for all figures), `wording` and `lenses`, and `human_ratings` (what human votes say about
the systems). `summary` and `terminal` are the shorter form that `nuggetstream eval` prints.
"""
