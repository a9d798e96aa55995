"""Graded passages in, everything a rubric says about systems, passages and assessors out.

    graded file  ->  cover      how much of each query's items a system's top answers
                 ->  qrels      a relevance label per passage
                 ->  check      where rubric and assessors contradict each other
                 ->  agree      how grades and labels meet
    runs, labels ->  measure    how good rankings are
    two scorings ->  correlate  whether they order the systems alike

The statistics are the core's. What the data cannot answer is None or empty, with a note that says why.
"""
