"""Writes what is said about the offline model everywhere, from an evaluation of the 791 battles by `eval`.

    nuggetstream eval $NUGGETSTREAM_DATA/crowdrag25/battles.jsonl.gz \
        --documents $NUGGETSTREAM_DATA/crowdrag25/documents.jsonl.gz --out OUT
    python -m benchmarks.offline_notice OUT

The file has the vote of every predictor on every battle, in the order of the battles, and the agreement with
people that follows. Banners, results and reports read it; a test computes the agreement again from the votes,
and evaluates some of the battles again.
"""

import json
import sys
from pathlib import Path

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.offline import DIMENSIONS, FIGURES
from nuggetstream.files.results import read_results
from nuggetstream.report.summary import agreement_row, predict

LETTERS = {Vote.A: "a", Vote.B: "b", Vote.TIE: "t", None: "-"}


def main() -> None:
    """Write the file."""
    battles = sorted(read_results(Path(sys.argv[1]) / "results.jsonl").battles, key=lambda battle: battle.id)
    votes = predict(battles)
    rows = [
        agreement_row(battles, dimension, name, votes[name]) for dimension in DIMENSIONS for name in votes
    ]
    figures = {
        "battles": len(battles),
        "votes": {name: "".join(LETTERS[vote] for vote in given) for name, given in votes.items()},
        "agreement": [
            {
                "predictor": row.predictor,
                "dimension": row.dimension,
                "share": row.agreement.share,
                "low": row.agreement.low,
                "high": row.agreement.high,
            }
            for row in rows
        ],
    }
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
