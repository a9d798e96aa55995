"""Scores from aspects of long answers, from files or plain values."""

from nuggetstream.api.sources import Rows, in_python, rows_of
from nuggetstream.aspects.baselines import baselines_of
from nuggetstream.aspects.reading import human_means_of, model_ratings_of
from nuggetstream.aspects.study import DEFAULT_SEED, AspectScores, follow


@in_python
def rubric_aspects(
    judge: Rows,
    people: Rows,
    *,
    answers: Rows | None = None,
    references: Rows | None = None,
    seed: int = DEFAULT_SEED,
) -> AspectScores:
    """How closely scores from aspects of answers, rated by a judge, follow what people accept.

    W-LLM = 2.048 · factuality / 3 + 0.739 · (1 - |amount|) + 0.335 · (1 - |formality|), beside other weights,
    a decision tree, and the judge's overall rating.

    Args:
        judge: Path of a file, a DataFrame or dictionaries with answer_id, factuality (0 to 3), amountInfo and
            formality (-1 to 1, 0 is right) and overall; one row per answer.
        people: The same with acceptability instead of overall; one row per answer and rater.
        answers: The same with the text of each answer, and perhaps its perplexity; adds length and that.
        references: The same with question_id, which then `answers` has as well, and a text; adds ROUGE-L.
        seed: Seed of the folds that cross-validate the tree.

    Returns:
        Pearson's r of every score with mean acceptability, in [-1, 1], higher is better.

    Raises:
        UnusableFile: A row cannot be used; the message names it and its field.
        NoAnswerInCommon: No answer is rated by both.

    Source: "Weighted aspects for long-form answers": weights fitted to 1,200 answers rated by people.

    >>> aspects = {"amountInfo": 0, "formality": 0}
    >>> judge = [{"answer_id": f"{n}", "factuality": n, "overall": 3 - n} | aspects for n in range(4)]
    >>> people = [{"answer_id": f"{n}", "factuality": n, "acceptability": n} | aspects for n in range(4)]
    >>> scores = rubric_aspects(judge, people).scores
    >>> scores[0].score, round(scores[0].pearson, 2), round(scores[-1].pearson, 2)
    ('W-LLM, published weights', 1.0, -1.0)
    """
    _, judged = rows_of(judge, (), "judge")
    _, rated = rows_of(people, (), "people")
    texts, brought = (
        () if rows is None else rows_of(rows, (), name)[1]
        for rows, name in ((answers, "answers"), (references, "references"))
    )
    others = None if answers is None else baselines_of(texts, brought)
    return follow(model_ratings_of(judged), human_means_of(rated), seed, others)
