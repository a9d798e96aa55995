"""How well near-duplicates among nuggets are found: precision and recall, by language.

    python -m benchmarks.near_duplicates

The pairs are those of the tests. Some were written after the rules, which nobody has changed since.
"""

from collections.abc import Sequence

from services.nuggetizer.near_duplicates import fact_of
from services.nuggetizer.same_words import words_of
from tests.near_duplicates import PAIRS, Pair, recall


def main() -> None:
    """Print the table."""
    print(f"{'pairs':<24}{'same':>6}{'found':>7}{'recall':>8}{'different':>11}{'merged':>8}{'precision':>11}")
    for language in sorted({pair.language for pair in PAIRS}):
        print(_row(language, [pair for pair in PAIRS if pair.language == language]))
    print(_row("written before the rules", [pair for pair in PAIRS if pair.before]))
    print(_row("written after the rules", [pair for pair in PAIRS if not pair.before]))
    print(_row("all", PAIRS))
    found, same = recall(words_of, PAIRS)
    print(f"by equal words alone: {found} of {same} found")


def _row(name: str, pairs: Sequence[Pair]) -> str:
    found, same = recall(fact_of, pairs)
    different = [pair for pair in pairs if not pair.same]
    merged = sum(fact_of(pair.one) == fact_of(pair.other) for pair in different)
    precision = f"{found / (found + merged):.3f}" if found + merged else "-"
    share = f"{found / max(1, same):.2f}"
    return f"{name:<24}{same:>6}{found:>7}{share:>8}{len(different):>11}{merged:>8}{precision:>11}"


if __name__ == "__main__":
    main()
