"""Figures in the terms of plotly.js, drawn once for the report and for the results of the library.

    numbers  ->  charts, matrices, lines  ->  Figure  ->  a section of the report, or `plot()` of a result

A `Figure` is plain data, so drawing needs no package; only `plot()` needs plotly.
"""
