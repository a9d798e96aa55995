"""Detecting languages without stopping other work: the detector is loaded in a thread, when first needed."""

import asyncio

from nuggetstream.text.languages import DetectedLanguage, detected_language, detector, is_loaded


async def language_of(text: str) -> DetectedLanguage | None:
    """The language of a text; None where it is not known."""
    if not is_loaded():
        await asyncio.to_thread(detector)
    return detected_language(text)
