"""The tables of labels that a second assigner gave beside the first.

label_pairs      per battle and evaluator: how often each two labels met
label_counters   the same per arena, evaluator and model, changed in the transaction of the row that it counts
"""

from collections.abc import Mapping

from sqlalchemy import BigInteger, Column, Integer, String, Table

from nuggetstream.nuggets.label_agreement import ORDER, LabelPair
from services.store.schema import metadata

# The first assigner's label, then the second's.
LABEL_COLUMNS: Mapping[LabelPair, str] = {
    (first, second): f"{first.value}_{second.value}" for first in ORDER for second in ORDER
}
LONGEST_MODEL = 200  # characters

label_pairs = Table(
    "label_pairs",
    metadata,
    Column("battle_id", String(200), primary_key=True),
    Column("evaluator", String(80), primary_key=True),
    Column("arena", String(200), nullable=False),
    Column("model", String(LONGEST_MODEL), nullable=False),
    Column("nugget_version", Integer),  # of the nugget list that was labelled
    *(Column(name, Integer, nullable=False) for name in LABEL_COLUMNS.values()),
)

label_counters = Table(
    "label_counters",
    metadata,
    Column("arena", String(200), primary_key=True),
    Column("evaluator", String(80), primary_key=True),
    Column("model", String(LONGEST_MODEL), primary_key=True),
    Column("battles", BigInteger, nullable=False),
    *(Column(name, BigInteger, nullable=False) for name in LABEL_COLUMNS.values()),
)
