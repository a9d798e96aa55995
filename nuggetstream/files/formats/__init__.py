"""The formats in which other projects publish battles, answers, votes, nuggets and labels."""
