"""Whether a text contradicts a claim: a like sentence with another number, date or unit, or a negation.

sentence  ->  dates, quantities, polarity and terms (`statement`)  ->  comparison (`detection`)
"""

from nuggetstream.text.contradiction.detection import Contradiction, Difference, contradicted_by, contradicts

__all__ = ["Contradiction", "Difference", "contradicted_by", "contradicts"]
