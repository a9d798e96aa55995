"""The heuristics of the offline model, which answer the tasks of a language model in a transparent way.

They have no knowledge of the world or of any language. They compare sentences by shared terms and, with an
embedding model, by meaning. Every function is pure: the same texts give the same result.

Which facts does a good answer need? (:func:`create_facts`)
    The sentences of both answers and of the evidence compete for a short list. A sentence is salient when it
    is close to the query (relevance), close to what all documents say (centrality), dense in information
    (long and rare words rather than short ones), and opens a paragraph or a list item, where writers put
    their points. Each criterion is measured in standard deviations over the candidates, so that all count
    equally on any material. Of the evidence only the most topical sentences compete, about as many as the
    answers have. A sentence similar to one already chosen loses salience; one that repeats it is left out,
    and its document becomes a further source; so does a chunk with a sentence that states the fact, judged as
    below (:func:`with_chunks`). The first two thirds of the list are vital.

Which answer states which fact? (:func:`assign`)
    The closeness of a fact to an answer is its closeness to the answer's closest sentence: half the
    similarity of meaning, half the share of the fact's terms in the sentence, with rare terms counting more.
    Two thresholds turn closeness into support, partial support and none; the closest sentence is the quote.
    Where no sentence states the fact, and a close one has most of its words with another number, date, unit
    or polarity, the answer contradicts it, and that sentence is the quote.

Which answer is better? (:func:`judge`)
    The one that states more of the shared facts; with less weight, the one that has more information per word
    and is better structured. Where one is clearly closer to the query, by its closest sentence, so is that.

The heuristics do not recognise whether a fact is true, whether one sentence contradicts another in other
words than numbers, dates, units and negations, or anything that is only implied. Length as such does not
count: all comparisons are shares and means, and repetition changes nothing. Still, a longer answer often
states more of the facts, as for any nugget score.
`benchmarks/offline_agreement.py` measures how often the outcome agrees with human votes.
"""

from services.offline.heuristics.facts import Document, Fact, create_facts
from services.offline.heuristics.sources import with_chunks
from services.offline.heuristics.support import FactLabel, Label, assign
from services.offline.heuristics.vectors import Embed
from services.offline.heuristics.verdict import Verdict, judge

__all__ = [
    "Document",
    "Embed",
    "Fact",
    "FactLabel",
    "Label",
    "Verdict",
    "assign",
    "create_facts",
    "judge",
    "with_chunks",
]
