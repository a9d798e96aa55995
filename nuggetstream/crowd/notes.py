"""What a reader must know before reading a number about a crowd."""

from collections.abc import Iterator

from nuggetstream.crowd.dimension import DimensionStudy
from nuggetstream.crowd.study import CrowdStudy
from nuggetstream.domain.note import Note
from nuggetstream.files.numerals import many

_ENOUGH_VOTES = 3


def notes(study: CrowdStudy) -> tuple[Note, ...]:
    """The states of the data that change how the numbers are read."""
    return tuple(_notes(study))


def _notes(study: CrowdStudy) -> Iterator[Note]:
    if study.unlabelled:
        cells = many(study.unlabelled, "cell")
        yield Note("no_label", f"{cells} without a label: neither votes nor ties")
    for dimension in study.dimensions:
        yield from _about_dimension(dimension)
        yield from _about_order(dimension)
    if study.sessions:
        votes = (vote for dimension in study.dimensions for vote in dimension.votes)
        if without := sum(vote.position is None for vote in votes):
            yield Note("no_place", f"{many(without, 'vote')} without a position: neither early nor late")
    split = study.split
    if split.missing and len(study.dimensions) > 1 and _is_about_pairs(study):
        yield Note("no_split", f"no split by whether people can tell pairs apart: {split.missing}")
    elif split.left_out:
        items = many(split.left_out, "item")
        yield Note("too_few_dimensions", f"{items} with votes in too few dimensions, left out of the split")


def _is_about_pairs(study: CrowdStudy) -> bool:
    return all(dimension.scale.preference for dimension in study.dimensions)


def _about_dimension(dimension: DimensionStudy) -> Iterator[Note]:
    name, learned = dimension.name, dimension.learned
    if dimension.agreement.missing:
        yield Note("no_alpha", f"{name}: no alpha: {dimension.agreement.missing}")
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
    if undecided := sum(item.gold is None for item in learned.items):
        items = many(undecided, "item")
        yield Note("no_gold", f"{name}: {items} with two equally probable labels have no gold label")
    if alone := sum(worker.spam is None for worker in learned.workers):
        workers = many(alone, "worker")
        yield Note(
            "never_met", f"{name}: {workers} alone on every item: competence is unknown, votes are kept"
        )


def _about_order(dimension: DimensionStudy) -> Iterator[Note]:
    if dimension.sides and dimension.sides.effect.missing:
        yield Note("no_sides", f"{dimension.name}: no answer about sides: {dimension.sides.effect.missing}")
    if dimension.places and dimension.places.missing:
        missing = dimension.places.missing
        yield Note("no_places", f"{dimension.name}: no answer about the session: {missing}")
