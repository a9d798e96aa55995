"""Labels of a crowd in, what they say together and whom to trust out.

    file  ->  votes  ->  per dimension: alpha, gold labels, competence, majority
                     ->  agreement by the side an answer was shown on, and along the session
                     ->  pairs that people can tell apart, and the others

Reading knows columns and no statistics; the statistics are the core's. What the votes cannot answer is None
with a state beside it.
"""
