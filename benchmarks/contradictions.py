"""How well contradictions are found without a model: precision and recall, by language and kind.

    python -m benchmarks.contradictions

The pairs are those of the tests. A third was kept apart while the rules were made.
"""

import argparse
from collections.abc import Sequence

from tests.contradictions import PAIRS, Pair


def main() -> None:
    """Print the table, and with `--wrong` the pairs in view that are wrong."""
    parser = argparse.ArgumentParser(
        description="Precision and recall of contradictions found without a model."
    )
    parser.add_argument(
        "--wrong", action="store_true", help="print the wrong pairs, without those kept apart"
    )
    if parser.parse_args().wrong:
        for pair in PAIRS:
            if not pair.apart and pair.found != (pair.differs is not None):
                print(f"{pair.differs or 'agrees'}: {pair}")
    print(
        f"{'pairs':<16}{'contradict':>11}{'found':>7}{'recall':>8}{'others':>8}{'wrong':>7}{'precision':>11}"
    )
    for language in sorted({pair.language for pair in PAIRS}):
        print(_row(language, [pair for pair in PAIRS if pair.language == language]))
    for kind in ("number", "date", "unit", "negation"):
        print(_row(kind, [pair for pair in PAIRS if pair.differs == kind]))
    print(_row("in view", [pair for pair in PAIRS if not pair.apart and not pair.later]))
    print(_row("written later", [pair for pair in PAIRS if pair.later]))
    print(_row("kept apart", [pair for pair in PAIRS if pair.apart]))
    print(_row("all", PAIRS))


def _row(name: str, pairs: Sequence[Pair]) -> str:
    contradict = [pair for pair in pairs if pair.differs is not None]
    others = [pair for pair in pairs if pair.differs is None]
    found, wrong = sum(pair.found for pair in contradict), sum(pair.found for pair in others)
    recall = f"{found / len(contradict):.2f}" if contradict else "-"
    precision = f"{found / (found + wrong):.3f}" if found + wrong else "-"
    return f"{name:<16}{len(contradict):>11}{found:>7}{recall:>8}{len(others):>8}{wrong:>7}{precision:>11}"


if __name__ == "__main__":
    main()
