"""The language of a short text, detected without a network or a model server.

The detector counts byte sequences and was trained on 139 languages. It always names one, so what it says of a
text with little to count, or of one that it is not sure about, is left out: unknown is not a guess.

Measured on 410 queries of known language, 401 of them English: with these limits 377 get a language and none
gets a wrong one. Of 1,758 beginnings of these queries, three to eight words long, 1,206 do, and again none
gets a wrong one.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

MINIMUM_CONFIDENCE = 0.6
MINIMUM_BYTES = 12  # of the letters, in UTF-8: about three English words, or four Chinese characters
_READ = 2000  # characters
_NO_LANGUAGE = "zxx"  # code of the detector for text that is in no language, such as numbers


@dataclass(frozen=True, slots=True)
class DetectedLanguage:
    """What the detector says.

    Attributes:
        tag: BCP 47 tag, always a language without a region, such as "de".
        confidence: The detector's probability, from `MINIMUM_CONFIDENCE` to 1.
    """

    tag: str
    confidence: float


def detected_language(text: str) -> DetectedLanguage | None:
    """The language of a text; None where it is too short or the detector is not sure.

    The first call loads the detector, which takes about a second.

    Raises:
        ModuleNotFoundError: py3langid is not installed.

    >>> detected = detected_language("Warum gibt es zweimal am Tag Flut?")
    >>> detected and detected.tag, detected_language("Paris")
    ('de', None)
    """
    start = text[:_READ]
    if len("".join(filter(str.isalpha, start)).encode(errors="replace")) < MINIMUM_BYTES:
        return None
    tag, confidence = detector().classify(start)
    if tag == _NO_LANGUAGE or confidence < MINIMUM_CONFIDENCE:
        return None
    return DetectedLanguage(tag, min(float(confidence), 1.0))


@cache
def detector() -> Any:
    """The detector, loaded once."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def is_loaded() -> bool:
    """Whether the detector is loaded, so that detecting takes less than a tenth of a millisecond."""
    return detector.cache_info().currsize > 0
