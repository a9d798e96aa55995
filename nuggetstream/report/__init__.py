"""Evaluated battles in, one self-contained page and its numbers out.

    results.jsonl  ->  Results  ->  numbers/*  ->  sections/*  ->  page  ->  report.html, report.json

`numbers` has a module for each key of report.json: pure functions of results. `sections` is the table of
contents: seven chapters of at most twelve sections, each a module that draws some of the numbers; a large
drawing has a module in `drawings`, and what results of the library show as well is in `nuggetstream.figures`.
Beside them is what they share: `blocks` (what a part can show), `wording` and `lenses`. `arrangement` puts
findings on top and names what is not measured. `summary` and `terminal` are the shorter form that
`nuggetstream eval` prints.
"""
