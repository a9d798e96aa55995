"""How the boards of a report are made, in words."""

from nuggetstream.files.numerals import integer, percent
from nuggetstream.ratings.options import Bootstrap, Intervals, Options
from nuggetstream.ratings.ties import TiePolicy

_POLICIES = {
    TiePolicy.HALF: "a tie is half a win for each, and so is “both bad”",
    TiePolicy.DROP_BOTH_BAD: "a tie is half a win for each; “both bad” is not counted",
    TiePolicy.DROP: "ties are not counted",
    TiePolicy.DAVIDSON: "a tie is an outcome of its own (Davidson)",
    TiePolicy.RAO_KUPPER: "a tie is an outcome of its own (Rao and Kupper)",
}
_BOOTSTRAPS = {
    Bootstrap.BAYESIAN: "every battle gets a random weight with mean 1",
    Bootstrap.MULTINOMIAL: "battles are drawn with replacement",
}


def method_in_words(options: Options) -> str:
    """Tie policy, source and level of the intervals; the same for every board of a report."""
    return (
        f"Tie policy “{options.policy}”: {_POLICIES[options.policy]}. Intervals are "
        f"{percent(options.level, 0)}, {_source(options)}. A rating from fewer than "
        f"{options.provisional_below} battles is provisional and has no rank."
    )


def _source(options: Options) -> str:
    """Where the intervals come from, in words."""
    if options.source is Intervals.SANDWICH:
        return "from robust standard errors that are corrected for few battles"
    return (
        f"from {integer(options.draws)} resamples (bootstrap “{options.drawing}”: "
        f"{_BOOTSTRAPS[options.drawing]})"
    )
