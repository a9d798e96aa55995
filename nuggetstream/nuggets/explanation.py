"""Why one answer is better: what decided a battle, and why each answer misses what it misses.

Everything here is computed from the snapshot of a battle, without asking a model.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.evidence import Evidence, PageState
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import (
    ANSWERS,
    UNSTATED,
    Assignment,
    Cause,
    Grounding,
    Importance,
    Nugget,
    Support,
)
from nuggetstream.domain.snapshot import BattleSnapshot
from nuggetstream.files.numerals import decisive_digits, many
from nuggetstream.nuggets.contradicted import ContradictedNugget, contradicted, errors
from nuggetstream.nuggets.grounded_preference import GroundedVerdict, grounded_verdict
from nuggetstream.nuggets.opinions import missing_scores, opinions
from nuggetstream.nuggets.scores import (
    NuggetScores,
    Unscorable,
    counted,
    expected_score,
    labels_of,
    nugget_margin,
    preference,
    require_labels,
    scores_of,
    tie_threshold,
)
from nuggetstream.nuggets.unconfirmed import (
    claims,
    is_unverified,
    on_grounded,
    unconfirmed,
    unverified,
    vital_claims,
)
from nuggetstream.nuggets.undecided import undecided

Labels = Mapping[str, Support]


@dataclass(frozen=True, slots=True)
class Miss:
    """A nugget that one answer does not state, although no source is missing for it and nothing disputes it.

    A nugget that only an answer states, or that is disputed, is missed by nobody.

    Attributes:
        nugget: The nugget.
        side: The answer that misses it.
        cause: Why it is missed; None where that is not known, see `cause_of`.
    """

    nugget: Nugget
    side: Side
    cause: Cause | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """What decided a battle.

    Attributes:
        scores: Nugget scores per side, on the nuggets that count; None unless every nugget has a label for
            both sides, and where the nuggets decide nothing.
        expected: The All Score per side that the probabilities of the labels let expect; None without scores,
            and where a label has no probabilities.
        margin: Difference of the All Scores, A minus B, in [-1, 1]; None without scores.
        threshold: Largest absolute margin that counts as a tie.
        preference: The preference that follows from the margin; None without scores.
        grounded: The same on grounded nuggets alone; None without scores, and where no nugget is grounded.
        misses: All misses, vital nuggets first, A's before B's.
        contradictions: All contradicted nuggets, in the same order.
        undecided: Why the nuggets decide nothing although every one has a label; None where they decide.
        lines: The explanation in plain sentences.
    """

    threshold: float
    lines: tuple[str, ...] = ()
    misses: tuple[Miss, ...] = ()
    scores: Mapping[Side, NuggetScores] | None = None
    margin: float | None = None
    preference: Vote | None = None
    expected: Mapping[Side, float] | None = None
    grounded: GroundedVerdict | None = None
    contradictions: tuple[ContradictedNugget, ...] = ()
    undecided: str | None = None


def cause_of(
    nugget: Nugget, side: Side, evidence: Iterable[Evidence], unread: Collection[Side] = ()
) -> Cause | None:
    """Why an answer misses a nugget, judged by where the nugget was read.

    In the paper profile a nugget's provenance is a whole window of documents, so `generation` is an upper
    bound there.

    Args:
        nugget: The nugget, with its provenance.
        side: The answer that misses it.
        evidence: Chunks retrieved for the battle.
        unread: Sides with a source that could not be fetched. Such a source may state the nugget, so
            `retrieval` cannot be concluded for its side. A nugget read only in an answer is not
            `unsourced` while either side has such a source.

    Returns:
        The cause; None where the nugget has no provenance or a source that was not fetched may state it.

    >>> from nuggetstream.domain.nugget import Provenance
    >>> nugget = Nugget("1", "x", Importance.VITAL, (Provenance("c1", url="u"),))
    >>> chunk = Evidence("c1", "x", "u", "", "", None, cited_by=(Side.A,), score=1.0)
    >>> cause_of(nugget, Side.A, [chunk]).value, cause_of(nugget, Side.B, [chunk]).value
    ('generation', 'retrieval')
    """
    documents = {provenance.document for provenance in nugget.provenance}
    if nugget.grounding is Grounding.GROUNDED and nugget.grounds and nugget.grounds.quotation:
        documents.add(
            nugget.grounds.quotation.document
        )  # states it, although the model may not have named it
    if not documents:
        return None
    if any(side in chunk.cited_by for chunk in evidence if chunk.chunk_id in documents):
        return Cause.GENERATION
    if all(document.startswith(ANSWERS) for document in documents):
        return None if unread else Cause.UNSOURCED
    return None if side in unread else Cause.RETRIEVAL


def explain(snapshot: BattleSnapshot, leading: Lens = Lens.NUGGET) -> Explanation:
    """Explain a battle from the results it has so far.

    Args:
        snapshot: The battle.
        leading: The preference with which judges and people are compared: `Lens.NUGGET` on all nuggets, or
            `Lens.GROUNDED` on those that a source states.
    """
    threshold = tie_threshold(snapshot.battle)
    if snapshot.nugget_list is None or snapshot.assignments is None:
        lines = (*missing_scores(snapshot), *opinions(snapshot, None))
        return Explanation(threshold=threshold, lines=lines)
    nuggets = snapshot.nugget_list.nuggets
    labels = {side: labels_of(snapshot.assignments, side) for side in Side}
    unread = _unread(snapshot)
    misses = tuple(_misses(nuggets, labels, snapshot.evidence, unread.keys()))
    contradictions = tuple(contradicted(nuggets, snapshot.assignments))
    unscored = Explanation(threshold=threshold, misses=misses, contradictions=contradictions)
    try:
        for side in Side:
            require_labels(nuggets, labels[side])
    except Unscorable as error:
        why = f"The nuggets cannot be scored: {error}."
        return replace(unscored, lines=(why, *errors(contradictions), *opinions(snapshot, None)))
    if (reason := undecided(snapshot.nugget_list, snapshot.assignments)) is not None:
        said = unverified if is_unverified(snapshot.nugget_list) else claims
        lines = (reason, *said(nuggets, labels), *opinions(snapshot, None))
        return replace(unscored, lines=lines, undecided=reason)
    scores = scores_of(nuggets, snapshot.assignments)
    margin = nugget_margin(nuggets, snapshot.assignments)
    winner = preference(margin, 0.0, threshold)
    grounded = grounded_verdict(nuggets, snapshot.assignments, threshold)
    beside = on_grounded(grounded, nuggets, winner, threshold)
    chosen: Vote | None = winner
    if leads := leading is Lens.GROUNDED:
        chosen = None if grounded is None else grounded.preference
    lines = (
        *(beside if leads else ()),
        _decision(scores, threshold, winner),
        *_key_facts(_confirmed_vital(nuggets, labels)),
        *errors(contradictions),
        *_vital(nuggets, labels),
        *(unverified if is_unverified(snapshot.nugget_list) else vital_claims)(nuggets, labels),
        *_blame(misses, unread),
        *unconfirmed(nuggets),
        *(() if leads else beside),
        *opinions(snapshot, chosen),
    )
    return replace(
        unscored,
        scores=scores,
        margin=margin,
        preference=winner,
        lines=lines,
        expected=_expected(nuggets, snapshot.assignments),
        grounded=grounded,
    )


def _expected(nuggets: Sequence[Nugget], assignments: Sequence[Assignment]) -> Mapping[Side, float] | None:
    scores = {side: expected_score(counted(nuggets), assignments, side) for side in Side}
    expected = {side: score for side, score in scores.items() if score is not None}
    return expected if len(expected) == len(scores) else None


def _unread(snapshot: BattleSnapshot) -> Mapping[Side, int]:
    """Number of sources that could not be fetched, for each side that has any."""
    rejected = {page.url for page in snapshot.pages if page.state is PageState.REJECTED}
    counts = {
        side: sum(source.url in rejected for source in snapshot.battle.answer(side).sources) for side in Side
    }
    return {side: count for side, count in counts.items() if count}


def _misses(
    nuggets: Sequence[Nugget],
    labels: Mapping[Side, Labels],
    evidence: Sequence[Evidence],
    unread: Collection[Side],
) -> Iterable[Miss]:
    for nugget in sorted(nuggets, key=lambda n: n.importance is not Importance.VITAL):
        for side in Side:
            if labels[side].get(nugget.id) is Support.NOT_SUPPORT and not nugget.is_unconfirmed:
                yield Miss(nugget, side, cause_of(nugget, side, evidence, unread))


# --- sentences ---------------------------------------------------------------------------------
def _decision(scores: Mapping[Side, NuggetScores], threshold: float, winner: Vote) -> str:
    a, b = scores[Side.A].all_score, scores[Side.B].all_score
    digits = decisive_digits(a, b, threshold)
    what = "see a tie" if winner is Vote.TIE else f"prefer {winner.value.upper()}"
    by = "at most" if winner is Vote.TIE else "more than"
    numbers = f"All Scores {a:.{digits}f} (A) and {b:.{digits}f} (B) differ by {by}"
    return f"The nuggets {what}: {numbers} the tie threshold of {threshold:.{digits}f}."


_Labelled = tuple[Nugget, Support, Support]  # with the labels of A and B


def _confirmed_vital(nuggets: Sequence[Nugget], labels: Mapping[Side, Labels]) -> Sequence[_Labelled]:
    return [
        (nugget, labels[Side.A][nugget.id], labels[Side.B][nugget.id])
        for nugget in nuggets
        if nugget.importance is Importance.VITAL and not nugget.is_unconfirmed
    ]


def _key_facts(pairs: Sequence[_Labelled]) -> Iterable[str]:
    """How many vital nuggets each answer does not state."""
    missed = [(a in UNSTATED, b in UNSTATED) for _, a, b in pairs]
    only_a, only_b, both = (missed.count(case) for case in ((True, False), (False, True), (True, True)))
    if len(pairs) == 1 and only_a == only_b:
        yield f"{'Both miss' if both else 'Neither misses'} the only key fact."
    elif len(pairs) > 1 and only_a == only_b == 0:
        yield f"{f'Both miss {both}' if both else 'Neither misses any'} of {len(pairs)} key facts."
    elif len(pairs) > 1:
        a, b = (str(count + both) if count + both else "none" for count in (only_a, only_b))
        shared = f"; both miss {both}" if both else ""
        yield f"Of {len(pairs)} key facts, A misses {a} and B misses {b}{shared}."


def _vital(nuggets: Sequence[Nugget], labels: Mapping[Side, Labels]) -> Iterable[str]:
    pairs = _confirmed_vital(nuggets, labels)
    for side in Side:
        for nugget, *states in pairs:
            own, other = states if side is Side.A else reversed(states)
            if line := _advantage(side, nugget, own, other):
                yield line


def _advantage(side: Side, nugget: Nugget, own: Support, other: Support) -> str | None:
    name, rival = side.value.upper(), side.other.value.upper()
    match own, other:
        case Support.SUPPORT, _ if other in UNSTATED:
            return f"Only {name} states: “{nugget.text}”"
        case Support.PARTIAL_SUPPORT, _ if other in UNSTATED:
            return f"Only {name} states, and in part: “{nugget.text}”"
        case Support.SUPPORT, Support.PARTIAL_SUPPORT:
            return f"{name} states in full what {rival} states in part: “{nugget.text}”"
        case _:
            return None


_BLAME = {
    Cause.GENERATION: "in its own sources but not used (generation)",
    Cause.RETRIEVAL: "only in sources it did not find (retrieval)",
    Cause.UNSOURCED: "in no source, only in an answer (unsourced)",
    None: "of unknown cause",
}


def _blame(misses: Sequence[Miss], unread: Mapping[Side, int]) -> Iterable[str]:
    for side in Side:
        causes = Counter(miss.cause for miss in misses if miss.side is side)
        if causes:
            parts = ", ".join(f"{causes[cause]} {why}" for cause, why in _BLAME.items() if causes[cause])
            yield f"{side.value.upper()} misses {many(causes.total(), 'nugget')}: {parts}."
    if unread and any(miss.cause is None for miss in misses):
        parts = " and ".join(f"{many(n, 'source')} of {side.value.upper()}" for side, n in unread.items())
        yield f"{parts} could not be fetched, so it is unknown which nuggets they state."
