"""Languages as data sets name them, as BCP 47 tags."""

from typing import Any

_TAGS = {
    "afrikaans": "af", "albanian": "sq", "amharic": "am", "arabic": "ar", "armenian": "hy",
    "azerbaijani": "az", "basque": "eu", "belarusian": "be", "bengali": "bn", "bosnian": "bs",
    "bulgarian": "bg", "burmese": "my", "catalan": "ca", "chinese": "zh", "croatian": "hr",
    "czech": "cs", "danish": "da", "dutch": "nl", "english": "en", "esperanto": "eo", "estonian": "et",
    "finnish": "fi", "french": "fr", "galician": "gl", "georgian": "ka", "german": "de", "greek": "el",
    "gujarati": "gu", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "icelandic": "is",
    "indonesian": "id", "irish": "ga", "italian": "it", "japanese": "ja", "kannada": "kn",
    "kazakh": "kk", "khmer": "km", "korean": "ko", "kurdish": "ku", "lao": "lo", "latin": "la",
    "latvian": "lv", "lithuanian": "lt", "luxembourgish": "lb", "macedonian": "mk", "malagasy": "mg",
    "malay": "ms", "malayalam": "ml", "maltese": "mt", "marathi": "mr", "mongolian": "mn",
    "nepali": "ne", "norwegian": "no", "persian": "fa", "polish": "pl", "portuguese": "pt",
    "punjabi": "pa", "romanian": "ro", "russian": "ru", "serbian": "sr", "sinhala": "si", "slovak": "sk",
    "slovenian": "sl", "somali": "so", "spanish": "es", "swahili": "sw", "swedish": "sv",
    "tagalog": "tl", "tamil": "ta", "telugu": "te", "thai": "th", "turkish": "tr", "ukrainian": "uk",
    "urdu": "ur", "uzbek": "uz", "vietnamese": "vi", "welsh": "cy", "yiddish": "yi", "yoruba": "yo",
    "zulu": "zu",
}  # fmt: skip
_LONGEST_TAG = 3


def language_tag(value: Any) -> str | None:
    """The tag of a language by its English name or tag, of the first one in a list; None where it is unknown.

    >>> language_tag("German"), language_tag(["en", "fr"]), language_tag("unknown"), language_tag([])
    ('de', 'en', None, None)
    """
    if isinstance(value, list | tuple):
        return language_tag(value[0]) if value else None
    if not isinstance(value, str):
        return None
    name = value.strip().casefold()
    primary = name.replace("_", "-").split("-")[0]
    if 1 < len(primary) <= _LONGEST_TAG and primary.isascii() and primary.isalpha():
        return value.strip().replace("_", "-")
    return _TAGS.get(name)
