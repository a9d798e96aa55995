"""Labels of a crowd: agreement, gold labels, competence of workers, and grades of items.

    labels of workers  ->  per dimension: alpha, gold labels, competence, majority
                       ->  agreement by the order in which answers were shown, and along the session
                       ->  pairs whose answers people can tell apart, and the others
    labels of pairs    ->  merit and grade of every item of a topic

Files are read in `nuggetstream.files`; everything here takes values in memory. A number that the labels
cannot give is None, with the reason beside it.
"""
