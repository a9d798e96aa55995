"""The offline model: transparent heuristics that answer what a language model would be asked.

It knows nothing about the world and no language. It compares sentences, by shared terms and, where an
embedder is given, by meaning. Every function is pure: same texts, same result.

Which facts does a good answer need? (:func:`create_facts`)
    The sentences of both answers and of the evidence compete for a short list. A sentence is salient when it
    is close to the query (relevance), close to what all documents say (centrality), dense in information
    (long and rare words rather than short ones), and opens a paragraph or a list item, where writers put
    their points. Each view is measured in standard deviations among the candidates, so that they count alike
    on any material. Of the evidence only the most topical sentences compete, about as many as the answers
    have. A sentence that resembles one already chosen loses; one that repeats it is left out, and its
    document becomes a further source. The first two thirds of the list are vital.

Which answer states which fact? (:func:`assign`)
    A fact is as close to an answer as to the answer's closest sentence: half the similarity of meaning, half
    the share of the fact's terms that the sentence names, rare terms counting more. Two thresholds turn
    closeness into support, partial support and none; the closest sentence is the quote.

Which answer is better? (:func:`judge`)
    The one that states more of the shared facts; then, with little weight, the one that says more per word
    and is better structured.

What it does not see: whether a fact is true, whether a sentence denies what another says, and anything that
is only between the lines. Length is no ingredient: all comparisons are shares and means, and saying a thing
twice changes nothing. Still, a longer answer often states more of the facts, as it does for any nugget score.
`benchmarks/offline_agreement.py` measures how often the outcome agrees with human votes.
"""

from services.offline.heuristics.facts import Document, Fact, create_facts
from services.offline.heuristics.support import Judgement, Label, assign
from services.offline.heuristics.vectors import Embed
from services.offline.heuristics.verdict import Verdict, judge

__all__ = ["Document", "Embed", "Fact", "Judgement", "Label", "Verdict", "assign", "create_facts", "judge"]
