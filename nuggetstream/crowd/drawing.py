"""A crowd as tables and lines for a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from nuggetstream.crowd.notes import notes
from nuggetstream.crowd.ordering import Effect
from nuggetstream.crowd.reliability import Alpha
from nuggetstream.crowd.study import Dimension, Half, Study, mean_alpha
from nuggetstream.files.cells import many, named, printable, table
from nuggetstream.files.numerals import MISSING, number

_LONGEST_NAME = 60
KINDS = ("agreement", "without_spam", "by_file")
_HEADINGS = {"agreement": "alpha", "without_spam": "alpha, spam dropped", "by_file": "by the file's spam"}


def draw(study: Study, most: int) -> RenderableType:
    """Agreement per dimension, workers, items, and what they rest on.

    Args:
        study: what was found.
        most: rows per table of workers and items.
    """
    parts: list[RenderableType | str] = [_agreement(study), *_basis(study)]
    if study.halves.differentiable and study.halves.minimal:
        parts += ["", *_halves(study)]
    parts += [*_sides(study), *_places(study)]
    for each in study.dimensions:
        parts += ["", *_workers(each, most), "", *_items(each, most)]
    return Group(*(Text(printable(part)) if isinstance(part, str) else part for part in parts))


def _kinds(study: Study) -> tuple[str, ...]:
    return tuple(kind for kind in KINDS if any(getattr(each, kind) for each in study.dimensions))


def _agreement(study: Study) -> RenderableType:
    kinds = _kinds(study)
    columns = ("dimension", "labels", "level", "items", "workers", "votes", *map(_HEADINGS.get, kinds))
    shown = table("Agreement (Krippendorff's alpha)", *map(str, columns), text=["dimension", "labels"])
    for each in study.dimensions:
        counts = ", ".join(f"{label} {count:,}" for label, count in each.counts.items())
        sizes = (f"{size:,}" for size in (each.items, each.workers, len(each.votes)))
        alphas = (_alpha(getattr(each, kind), len(each.votes)) for kind in kinds)
        shown.add_row(named(each.name), named(counts), each.scale.level.value, *sizes, *alphas)
    if len(study.dimensions) > 1:
        means = (number(mean_alpha(study.dimensions, kind)) for kind in kinds)
        shown.add_section()
        shown.add_row("mean", *[""] * 5, *means)
    return shown


def _alpha(found: Alpha | None, votes: int) -> str:
    if found is None or found.value is None:
        return MISSING
    return number(found.value) if found.votes == votes else f"{number(found.value)} of {found.votes:,}"


def _basis(study: Study) -> Iterator[str]:
    crowd, method = study.crowd, study.question.method
    votes = sum(len(each.votes) for each in study.dimensions)
    yield (
        f"from {crowd.file}: {many(votes, 'vote')} in {many(crowd.rows, 'row')}, "
        f"{many(len(study.dimensions), 'dimension')}"
    )
    if any(each.learned.missing is None for each in study.dimensions):
        starts = f"{many(method.restarts, 'start')} of at most {many(method.iterations, 'iteration')}"
        dropped = f"votes of a worker likelier spam than {method.limit:g} are dropped"
        yield f"competence: MACE, {starts}, seed {method.seed}; {dropped}"
        yield "competence comes from the same votes: dropping spam raises alpha even if nobody is a spammer"
    for note in notes(study):
        yield f"note: {note.text}"


def _halves(study: Study) -> Iterator[RenderableType | str]:
    kinds = _kinds(study)
    columns = ("pairs", "how many", *(f"mean {_HEADINGS[kind]}" for kind in kinds))
    shown = table("Pairs that people can tell apart", *columns, text=["pairs"])
    for name, half in (
        ("differentiable", study.halves.differentiable),
        ("minimally differentiable", study.halves.minimal),
    ):
        if isinstance(half, Half):
            means = (number(getattr(half, kind)) for kind in kinds)
            shown.add_row(name, f"{len(half.items):,}", *means)
    yield shown
    question = study.question
    yield (
        f"differentiable: at least {question.decided} of {len(study.dimensions)} dimensions with "
        f"{question.needed} votes or more for one label"
    )


def _sides(study: Study) -> Iterator[RenderableType | str]:
    known = [(each.name, each.sides) for each in study.dimensions if each.sides]
    if not known:
        return
    columns = ("dimension", "pairs", "forward", "backward", "together", "difference")
    shown = table("Pairs shown both ways round (alpha)", *columns, text=["dimension"])
    for name, sides in known:
        shown.add_row(named(name), f"{sides.both:,} of {sides.pairs:,}", *_effect(sides.effect))
    yield ""
    yield shown
    yield (
        "forward: both answers in the order of their names; backward: the other way round, labels turned; "
        "difference: the larger one from together"
    )


def _places(study: Study) -> Iterator[RenderableType | str]:
    known = [(each.name, each.places) for each in study.dimensions if each.places]
    sessions = study.sessions
    if not known or sessions is None:
        return
    columns = ("dimension", "early", "late", "together", "difference")
    shown = table("Agreement along the session (alpha)", *columns, text=["dimension"])
    for name, effect in known:
        shown.add_row(named(name), *_effect(effect))
    yield ""
    yield shown
    yield (
        f"early: up to place {sessions.middle:,}; late: after it, up to {sessions.last:,}; "
        "difference: the larger one from together"
    )


def _effect(effect: Effect) -> list[str]:
    """Alphas with their votes; the difference last."""
    alphas = (*effect.groups.values(), effect.pooled)
    shown = [MISSING if each.value is None else f"{number(each.value)} of {each.votes:,}" for each in alphas]
    return [*shown, number(effect.delta)]


def _workers(each: Dimension, most: int) -> Iterator[RenderableType | str]:
    learned = each.learned
    if learned.missing:
        yield f"Workers, {each.name}: no answer: {learned.missing}"
        return
    title = f"Workers, {named(each.name)}, the least competent first"
    shown = table(title, "worker", "votes", "competence", "spam", "kept", text=["worker"])
    for worker in learned.workers[:most]:
        trust = (number(worker.competence), number(worker.spam))
        kept = "yes" if worker.kept else "no"
        shown.add_row(named(worker.worker, _LONGEST_NAME), f"{worker.votes:,}", *trust, kept)
    yield shown
    dropped = sum(not worker.kept for worker in learned.workers)
    settled = f"{learned.converged} starts settled before their last iteration (few is common)"
    yield f"{dropped} of {many(len(learned.workers), 'worker')} dropped; {settled}"
    yield from _hidden(len(learned.workers) - most)


def _items(each: Dimension, most: int) -> Iterator[RenderableType | str]:
    items = each.learned.items
    columns = ("item", "gold", "probability", "majority", "spam dropped", "votes")
    shown = table(f"Items, {named(each.name)}", *columns, text=["item"])
    for item in items[:most]:
        labels = [MISSING if label is None else named(label) for label in (item.majority, item.without_spam)]
        gold = MISSING if item.gold is None else named(item.gold)
        votes = f"{item.votes:,}" if item.kept == item.votes else f"{item.kept:,} of {item.votes:,}"
        name = named(item.item, _LONGEST_NAME)
        shown.add_row(name, gold, number(item.probability), *labels, votes)
    yield shown
    both = [item for item in items if item.gold is not None and item.majority is not None]
    same = sum(item.gold == item.majority for item in both)
    if both:
        divided = sum(item.majority is None for item in items)
        items_with = many(len(both), "item")
        yield f"gold is the majority's label for {same:,} of {items_with}; {divided:,} without a majority"
    yield from _hidden(len(items) - most)


def _hidden(count: int) -> Iterator[str]:
    if count > 0:
        yield f"{many(count, 'more row')}; --limit shows more, --out writes all"
