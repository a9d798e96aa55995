"""What a report computes: pure functions of results, a module for each key of report.json.

`compute_NAME` of a module gives plain values: a dataclass, or a sequence of them. A number that the data do
not give is None. Nothing here knows how numbers are drawn.
"""
