"""Evaluated battles in, one self-contained page and its numbers out.

    results.jsonl  ->  Results  ->  numbers  ->  sections/*  ->  page  ->  report.html, report.json

`sections` is the table of contents: chapters of sections, and sections of parts, each with its numbers, their
computation and their drawing. Beside it is what they share: `blocks` (what a part can show), `charts` (one
look for all figures), `wording` and `lenses`, and `human_ratings` (what human votes say about the systems).
`arrangement` puts findings on top and names what is not measured. `summary` and `terminal` are the shorter
form that `nuggetstream eval` prints.
"""
