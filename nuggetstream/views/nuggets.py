"""How the nugget list of a battle came about, as JSON."""

from nuggetstream.views.common import View


class RewordingView(View):
    """A nugget that a step worded anew."""

    before: str
    after: str


class MergedNuggetView(View):
    """A nugget that was left out because another one states the same fact."""

    text: str
    into: str


class NuggetStepView(View):
    """One step of the creation of a nugget list, and what it changed."""

    documents: list[str]
    """The documents read in this step: "answer:a", "answer:b", "answer:other" or ids of chunks."""
    added: list[str]
    reworded: list[RewordingView]
    dropped: list[str]
    merged: list[MergedNuggetView]
