"""States of a crowd's labels that change how the numbers are read."""

from collections.abc import Iterator, Sequence

from nuggetstream.crowd.dimension import DimensionStudy
from nuggetstream.crowd.pair_split import PairSplit
from nuggetstream.domain.note import Note
from nuggetstream.files.numerals import many, percent
from nuggetstream.statistics.share import FEW

_ENOUGH_VOTES = 3
_SKEWED = 0.75  # of the votes for one label


def notes_of(
    dimensions: Sequence[DimensionStudy],
    split: PairSplit,
    unlabelled: int,
    *,
    positions: bool,
    remarks: Sequence[str] = (),
) -> Iterator[Note]:
    """The states, each as a note.

    Args:
        dimensions: What was studied.
        split: Pairs that people can tell apart.
        unlabelled: Number of cells without a label.
        positions: Whether any position in a session is known.
        remarks: How the labels were read.
    """
    yield from (Note("labels_read", remark) for remark in remarks)
    if unlabelled:
        cells = many(unlabelled, "cell")
        yield Note("no_label", f"{cells} without a label: neither votes nor ties")
    for dimension in dimensions:
        yield from _about_dimension(dimension)
        yield from _about_order(dimension)
    if positions:
        votes = (vote for dimension in dimensions for vote in dimension.votes)
        if without := sum(vote.position is None for vote in votes):
            yield Note("no_place", f"{many(without, 'vote')} without a position: neither early nor late")
    about_pairs = all(dimension.scale.preference for dimension in dimensions)
    if split.missing and len(dimensions) > 1 and about_pairs:
        yield Note("no_split", f"no split by whether people can tell pairs apart: {split.missing}")
    elif split.left_out:
        items = many(split.left_out, "item")
        yield Note("too_few_dimensions", f"{items} with votes in too few dimensions, left out of the split")


def _about_dimension(dimension: DimensionStudy) -> Iterator[Note]:
    name, learned = dimension.name, dimension.learned
    if dimension.agreement.missing:
        yield Note("no_alpha", f"{name}: no alpha: {dimension.agreement.missing}")
    elif dimension.items < FEW:
        yield Note(
            "few_items", f"{name}: the interval of alpha rests on {dimension.items} items, and is approximate"
        )
    if learned.missing:
        yield Note("no_competence", f"{name}: no gold labels and no competence: {learned.missing}")
        return
    without_spam = dimension.without_spam
    if without_spam and without_spam.missing and not dimension.agreement.missing:
        yield Note("no_alpha_left", f"{name}: no alpha without spam: {without_spam.missing}")
    if len(dimension.votes) < _ENOUGH_VOTES * dimension.items:
        per_item = len(dimension.votes) / dimension.items
        yield Note(
            "few_votes",
            f"{name}: {per_item:.1f} votes per item; with fewer than {_ENOUGH_VOTES} workers can disagree "
            "without either being wrong more often, so competence is little more than a guess",
        )
    yield from _about_methods(dimension)
    if undecided := sum(item.gold is None for item in learned.items):
        items = many(undecided, "item")
        yield Note("no_gold", f"{name}: {items} with two equally probable labels have no gold label")
    if alone := sum(worker.spam is None for worker in learned.workers):
        workers = many(alone, "worker")
        yield Note(
            "never_met", f"{name}: {workers} alone on every item: competence is unknown, votes are kept"
        )


def _about_methods(dimension: DimensionStudy) -> Iterator[Note]:
    """How often three ways to the true label differ, and what MACE makes of rare labels."""
    name, items = dimension.name, dimension.learned.items
    apart = {
        "majority": sum(None not in (one.gold, one.majority) and one.gold != one.majority for one in items),
        "Dawid–Skene": sum(
            None not in (one.gold, one.dawid_skene) and one.gold != one.dawid_skene for one in items
        ),
    }
    if any(apart.values()):
        counts = " and ".join(f"from {other} on {count:,}" for other, count in apart.items())
        text = f"{name}: gold by MACE differs {counts} of {many(len(items), 'item')}"
        yield Note("methods_differ", text)
    label, votes = max(dimension.counts.items(), key=lambda entry: entry[1])
    if votes >= _SKEWED * len(dimension.votes):
        share = percent(votes / len(dimension.votes))
        yield Note(
            "skewed",
            f"{name}: {share} of the votes are {label}; MACE takes all labels for equally common and finds "
            "rare ones too often, so compare majority and Dawid–Skene",
        )


def _about_order(dimension: DimensionStudy) -> Iterator[Note]:
    if dimension.sides and dimension.sides.effect.missing:
        yield Note("no_sides", f"{dimension.name}: no answer about sides: {dimension.sides.effect.missing}")
    if dimension.places and dimension.places.missing:
        missing = dimension.places.missing
        yield Note("no_places", f"{dimension.name}: no answer about the session: {missing}")
