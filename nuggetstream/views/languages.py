"""The language of a battle as JSON."""

from nuggetstream.text.languages import DetectedLanguage
from nuggetstream.views.common import View


class WithLanguage(View):
    """Something that has a language, declared or detected."""

    language: str | None
    """As the arena declared it; null where it declared none."""
    detected_language: DetectedLanguage | None = None
    """Null where a language was declared, or none could be detected."""

    @property
    def known_language(self) -> str | None:
        """The declared language, or else the detected one."""
        if self.language or self.detected_language is None:
            return self.language
        return self.detected_language.tag
