"""What a reader must know before reading a number about a crowd."""

from collections.abc import Iterator

from nuggetstream.crowd.study import Dimension, Study
from nuggetstream.domain.note import Note
from nuggetstream.files.cells import many

_ENOUGH_VOTES = 3


def notes(study: Study) -> tuple[Note, ...]:
    """The states of the data that change how the numbers are read."""
    return tuple(_notes(study))


def _notes(study: Study) -> Iterator[Note]:
    crowd = study.crowd
    if crowd.unlabelled:
        yield Note(
            "no_label", f"{many(crowd.unlabelled, 'place')} for a label left empty: neither votes nor ties"
        )
    for each in study.dimensions:
        yield from _about(each)
        yield from _about_order(each)
    if study.sessions:
        unplaced = sum(vote.turn is None for each in study.dimensions for vote in each.votes)
        if unplaced:
            yield Note("no_place", f"{many(unplaced, 'vote')} without a place: neither early nor late")
    halves = study.halves
    if halves.missing and len(study.dimensions) > 1 and _of_pairs(study):
        yield Note("no_split", f"no split by whether pairs can be told apart: {halves.missing}")
    elif halves.left_out:
        items = many(halves.left_out, "item")
        yield Note("too_few_dimensions", f"{items} with votes in too few dimensions, left out of the split")


def _of_pairs(study: Study) -> bool:
    return all(each.scale.preference for each in study.dimensions)


def _about(each: Dimension) -> Iterator[Note]:
    learned = each.learned
    if each.agreement.missing:
        yield Note("no_alpha", f"{each.name}: no alpha: {each.agreement.missing}")
    if learned.missing:
        yield Note("no_competence", f"{each.name}: no gold labels and no competence: {learned.missing}")
        return
    if each.without_spam and each.without_spam.missing and not each.agreement.missing:
        yield Note("no_alpha_left", f"{each.name}: no alpha without spam: {each.without_spam.missing}")
    if len(each.votes) < _ENOUGH_VOTES * each.items:
        per_item = len(each.votes) / each.items
        yield Note(
            "few_votes",
            f"{each.name}: {per_item:.1f} votes per item; below {_ENOUGH_VOTES} they can differ without "
            "anybody being wrong more often, so competence is little more than a guess",
        )
    if undecided := sum(item.gold is None for item in learned.items):
        yield Note(
            "no_gold", f"{each.name}: {many(undecided, 'item')} with two equally likely labels: no gold"
        )
    if unmet := sum(worker.spam is None for worker in learned.workers):
        yield Note(
            "never_met", f"{each.name}: {many(unmet, 'worker')} alone on every item: unknown, votes kept"
        )


def _about_order(each: Dimension) -> Iterator[Note]:
    if each.sides and each.sides.effect.missing:
        yield Note("no_sides", f"{each.name}: no answer about sides: {each.sides.effect.missing}")
    if each.places and each.places.missing:
        yield Note("no_places", f"{each.name}: no answer along the session: {each.places.missing}")
