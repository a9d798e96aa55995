"""Numbers that must come out of our code, computed from recorded data without a model.

A row of the table compares one number of ours with a reference and says what the reference is: printed in a
paper, recorded in the repository of a paper, computed by a second implementation of ours, or worked by hand.
"""
