"""Results about a crowd as tables and lines for a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nuggetstream.crowd.dimension import ALPHA_KINDS, DimensionStudy
from nuggetstream.crowd.notes import notes
from nuggetstream.crowd.ordering import AlphaByGroup
from nuggetstream.crowd.study import CrowdStudy
from nuggetstream.crowd.topic_grades import TopicGrades
from nuggetstream.files.cells import named, printable, table
from nuggetstream.files.numerals import MISSING, many, number

_LONGEST_NAME = 60
_LONGEST_DIMENSION = 30
_HEADINGS = {"agreement": "alpha", "without_spam": "without spam", "by_file": "without known spam"}
_KEPT = {"without_spam": "kept", "by_file": "known kept"}
_DIFFERENCE = "difference: the larger distance of one group from both together"


def crowd_tables(study: CrowdStudy, most: int, *, file: str, rows: int) -> Group:
    """Agreement per dimension, workers, items, and what the numbers are computed from.

    Args:
        study: The study to show.
        most: Maximum number of rows in each table of workers and items.
        file: Path of the file that was read.
        rows: Number of its rows.
    """
    parts: list[RenderableType | str] = [_agreement(study), *_basis(study, file, rows), "", _labels(study)]
    parts += [*_split(study), *_sides(study), *_positions(study)]
    for dimension in study.dimensions:
        parts += ["", *_workers(dimension, most), "", *_items(dimension, most)]
    return _group(parts)


def grade_tables(grades: TopicGrades, most: int, *, file: str, rows: int) -> Group:
    """Merits and grades per topic, and what they are computed from.

    Args:
        grades: The grades to show.
        most: Maximum number of rows.
        file: Path of the file that was read.
        rows: Number of its rows.
    """
    has_topics = any(item.topic is not None for item in grades.items)
    has_dimensions = len(grades.dimensions) > 1
    keys = [*["dimension"] * has_dimensions, *["topic"] * has_topics, "item"]
    shown = table("Grades per topic", *keys, "labels", "merit", "grade", "tied", text=keys)
    for item in grades.items[:most]:
        names = {"dimension": item.dimension, "topic": item.topic or MISSING, "item": item.item}
        cells = [named(names[key], _LONGEST_NAME) for key in keys]
        shared = "yes" if item.shared else "no"
        shown.add_row(*cells, f"{item.comparisons:,}", number(item.merit), str(item.grade), shared)
    parts: list[RenderableType | str] = [shown, *_hidden(len(grades.items) - most)]
    topics = f"{many(grades.topics, 'topic')}, " if has_topics else ""
    parts.append(
        f"from {file}: {many(grades.labels, 'label')} in {many(rows, 'row')}, "
        f"{topics}{many(len(grades.dimensions), 'dimension')}"
    )
    parts.append(f"Bradley-Terry with ties: regularisation λ {grades.regularisation:g}, tie t {grades.tie:g}")
    parts.append("grade: rank within the topic, 1 is the worst; merits of different topics do not compare")
    if tied := sum(item.shared for item in grades.items):
        parts.append(
            f"{many(tied, 'item')} tied: same merit as another item, so that their order is arbitrary"
        )
    if grades.unlabelled:
        parts.append(f"note: {many(grades.unlabelled, 'cell')} without a label: neither labels nor ties")
    return _group(parts)


def _group(parts: list[RenderableType | str]) -> Group:
    return Group(*(Text(printable(part)) if isinstance(part, str) else part for part in parts))


def _kinds(study: CrowdStudy) -> tuple[str, ...]:
    """The kinds of alpha that any dimension has."""
    return tuple(kind for kind in ALPHA_KINDS if any(d.alpha(kind) for d in study.dimensions))


def _by_dimension(title: str, *columns: str, text: tuple[str, ...] = ()) -> Table:
    """An empty table whose first column, the dimension, is not folded."""
    shown = table(title, "dimension", *columns, text=["dimension", *text])
    shown.columns[0].no_wrap = True
    return shown


def _agreement(study: CrowdStudy) -> RenderableType:
    kinds = _kinds(study)
    headings = [heading for kind in kinds for heading in (_HEADINGS[kind], _KEPT.get(kind)) if heading]
    shown = _by_dimension("Agreement (Krippendorff's alpha)", "votes", *headings)
    for dimension in study.dimensions:
        alphas = (cell for kind in kinds for cell in _alpha_cells(dimension, kind))
        shown.add_row(_dimension(dimension.name), f"{len(dimension.votes):,}", *alphas)
    if len(study.dimensions) > 1:
        shown.add_section()
        means = (cell for kind in kinds for cell in (number(study.mean_alpha(kind)), *[""] * (kind in _KEPT)))
        shown.add_row("mean", "", *means)
    return shown


def _labels(study: CrowdStudy) -> RenderableType:
    columns = ("level", "items", "workers", "votes per label")
    shown = _by_dimension("Labels", *columns, text=("level", "votes per label"))
    for dimension in study.dimensions:
        counts = ", ".join(f"{label} {count:,}" for label, count in dimension.counts.items())
        sizes = (f"{dimension.items:,}", f"{dimension.workers:,}")
        shown.add_row(_dimension(dimension.name), dimension.scale.level.value, *sizes, named(counts))
    return shown


def _dimension(name: str) -> str:
    return named(name, _LONGEST_DIMENSION)


def _alpha_cells(dimension: DimensionStudy, kind: str) -> list[str]:
    """One kind of alpha, and the number of votes that it keeps."""
    alpha = dimension.alpha(kind)
    cells = [MISSING, MISSING] if alpha is None else [number(alpha.value), f"{alpha.votes:,}"]
    return cells if kind in _KEPT else cells[:1]


def _basis(study: CrowdStudy, file: str, rows: int) -> Iterator[str]:
    options = study.options.competence
    votes, dimensions = many(study.votes, "vote"), many(len(study.dimensions), "dimension")
    yield f"from {file}: {votes} in {many(rows, 'row')}, {dimensions}"
    if any(dimension.learned.missing is None for dimension in study.dimensions):
        starts = f"{many(options.restarts, 'start')} of at most {many(options.iterations, 'iteration')}"
        yield f"kept: votes of workers with a spam probability up to {options.limit:g}"
        yield "without spam: alpha of the kept votes"
        yield f"spam probability: MACE, {starts}, seed {options.seed}"
        yield "spam is learned from the same votes: leaving it out raises alpha even if nobody is a spammer"
    if any(dimension.by_file for dimension in study.dimensions):
        yield f"without known spam: alpha of the votes with a known spam probability up to {options.limit:g}"
    for note in notes(study):
        yield f"note: {note.text}"


def _split(study: CrowdStudy) -> Iterator[RenderableType | str]:
    split, kinds = study.split, _kinds(study)
    if split.differentiable is None or split.minimal is None:
        return
    columns = ("pairs", "number", *(f"mean {_HEADINGS[kind]}" for kind in kinds))
    shown = table("Pairs that people can tell apart", *columns, text=["pairs"])
    groups = {"differentiable": split.differentiable, "minimally differentiable": split.minimal}
    for name, group in groups.items():
        shown.add_row(name, f"{len(group.items):,}", *(number(group.mean_alpha[kind]) for kind in kinds))
    yield ""
    yield shown
    options = study.options
    yield (
        f"differentiable: at least {options.decided} of {len(study.dimensions)} dimensions with "
        f"{options.needed} votes or more for one label"
    )


def _sides(study: CrowdStudy) -> Iterator[RenderableType | str]:
    known = [(dimension.name, dimension.sides) for dimension in study.dimensions if dimension.sides]
    if not known:
        return
    columns = (*_by_group_columns("forward", "backward"), "pairs", "in both")
    shown = _by_dimension("Pairs shown in both orders (alpha)", *columns)
    for name, sides in known:
        shown.add_row(_dimension(name), *_by_group(sides.effect), f"{sides.pairs:,}", f"{sides.both:,}")
    yield ""
    yield shown
    yield "in both: pairs shown in both orders, whose votes count"
    yield "forward: answers in alphabetical order; backward: in the other order, with a and b exchanged"
    yield _DIFFERENCE


def _positions(study: CrowdStudy) -> Iterator[RenderableType | str]:
    known = [(dimension.name, dimension.places) for dimension in study.dimensions if dimension.places]
    sessions = study.sessions
    if not known or sessions is None:
        return
    shown = _by_dimension("Agreement along the session (alpha)", *_by_group_columns("early", "late"))
    for name, effect in known:
        shown.add_row(_dimension(name), *_by_group(effect))
    yield ""
    yield shown
    yield f"early: positions up to {sessions.middle:,}; late: positions after it, up to {sessions.last:,}"
    yield _DIFFERENCE


def _by_group_columns(first: str, second: str) -> list[str]:
    groups = (first, second, "together")
    return [*groups, "difference", *(f"votes {group}" for group in groups)]


def _by_group(effect: AlphaByGroup) -> list[str]:
    """Alpha of both groups and of both together, the difference, and the numbers of votes."""
    alphas = (*effect.groups.values(), effect.pooled)
    votes = (f"{alpha.votes:,}" for alpha in alphas)
    return [*(number(alpha.value) for alpha in alphas), number(effect.delta), *votes]


def _workers(dimension: DimensionStudy, most: int) -> Iterator[RenderableType | str]:
    learned = dimension.learned
    if learned.missing:
        yield f"Workers, {dimension.name}: no answer: {learned.missing}"
        return
    title = f"Workers, {named(dimension.name)}, the least competent first"
    shown = table(title, "worker", "votes", "competence", "spam", "kept", text=["worker"])
    for worker in learned.workers[:most]:
        probabilities = (number(worker.competence), number(worker.spam))
        kept = "yes" if worker.kept else "no"
        shown.add_row(named(worker.worker, _LONGEST_NAME), f"{worker.votes:,}", *probabilities, kept)
    yield shown
    dropped = sum(not worker.kept for worker in learned.workers)
    yield f"{dropped} of {many(len(learned.workers), 'worker')} dropped"
    starts = many(learned.converged or 0, "start")
    yield f"{starts} of MACE converged before the last iteration (a small number is common)"
    yield from _hidden(len(learned.workers) - most)


def _items(dimension: DimensionStudy, most: int) -> Iterator[RenderableType | str]:
    items = dimension.learned.items
    columns = ("item", "gold", "probability", "majority", "kept majority", "votes", "kept")
    shown = table(f"Items, {named(dimension.name)}", *columns, text=["item"])
    for item in items[:most]:
        labels = [MISSING if label is None else named(label) for label in (item.majority, item.without_spam)]
        gold = MISSING if item.gold is None else named(item.gold)
        name = named(item.item, _LONGEST_NAME)
        counts = (f"{item.votes:,}", f"{item.kept:,}")
        shown.add_row(name, gold, number(item.probability), *labels, *counts)
    yield shown
    with_both = [item for item in items if item.gold is not None and item.majority is not None]
    if with_both:
        same = sum(item.gold == item.majority for item in with_both)
        divided = sum(item.majority is None for item in items)
        compared = many(len(with_both), "item")
        yield f"gold equals the majority for {same:,} of {compared}; {divided:,} without a majority"
    yield from _hidden(len(items) - most)


def _hidden(count: int) -> Iterator[str]:
    if count > 0:
        yield f"{many(count, 'more row')}; --limit shows more, --out writes all"
