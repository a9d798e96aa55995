"""Graded passages in; numbers about systems, passages and assessors out.

    graded passages   ->  cover         how much of each query's items the top of each ranking answers
                      ->  label         a relevance label per passage
                      ->  check         where grades and assessors contradict each other
                      ->  agree         how grades and labels agree
    labels, rankings  ->  measure_runs  how good rankings are
    two scorings      ->  compare       whether they put systems in the same order

Every study takes values and returns a result; reading files, printing (`terminal`) and writing (`writing`)
are separate. What the data cannot answer is None or empty, with a note that says why.
"""
