"""What a battle shows in one sentence: whom people, nuggets and the judge prefer."""

from collections.abc import Mapping

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.offline import GROUNDED
from nuggetstream.views.battles import BattleView

_NAMES = {"human": "people", "nugget": "nuggets", "grounded": "grounded nuggets", "judge": "the judge"}


def verdict_of(view: BattleView) -> str | None:
    """The verdict of a battle in one sentence; None without any preference.

    It has the leading preference by nuggets, unless that is the one on grounded nuggets alone and these are
    not shown to agree with people above chance.
    """
    preferences = view.preferences
    votes = {"human": preferences.human}
    if preferences.leading is not Lens.GROUNDED or GROUNDED.is_argument:
        votes[preferences.leading.value] = preferences.by_nuggets
    votes["judge"] = preferences.judge
    return sentence(
        {lens: vote for lens, vote in votes.items() if vote is not None}, view.a.system, view.b.system
    )


def sentence(votes: Mapping[str, Vote], a: str, b: str) -> str | None:
    """The preferences of the lenses in one sentence; None without any.

    >>> sentence({"human": Vote.A, "nugget": Vote.A, "judge": Vote.B}, "atlas", "birch")
    'People and nuggets prefer answer A (atlas); the judge prefers answer B (birch).'
    >>> sentence({"nugget": Vote.B, "judge": Vote.B}, "atlas", "birch")
    'Nuggets and the judge prefer answer B (birch).'
    >>> sentence({"grounded": Vote.A, "judge": Vote.B}, "atlas", "birch")
    'Grounded nuggets prefer answer A (atlas); the judge prefers answer B (birch).'
    >>> sentence({"human": Vote.BOTH_BAD}, "atlas", "birch")
    'People find both answers bad.'
    """
    words = {
        Vote.A: ("prefer", f"answer A ({a})"),
        Vote.B: ("prefer", f"answer B ({b})"),
        Vote.TIE: ("see", "no better answer"),
        Vote.BOTH_BAD: ("find", "both answers bad"),
    }
    parts = []
    for vote, (verb, what) in words.items():
        names = [_NAMES[lens] for lens, choice in votes.items() if choice is vote]
        if names:
            one = len(names) == 1 and names[0] == _NAMES["judge"]
            parts.append(f"{_listed(names)} {verb}{'s' if one else ''} {what}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else None


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
