"""Jobs for extraction processes and their results, and their encoding on the pipe.

A frame is two 32-bit lengths (big endian), a JSON object and a sequence of bytes. Both sides import this
module, so it imports nothing heavy.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from services.scraper.media_type import MediaKind

PREFIX = struct.Struct(">II")
MAX_FRAME_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ExtractionJob:
    """A document whose text is to be extracted.

    Attributes:
        kind: Kind of the document.
        url: Address of the document, for relative references and error messages.
        content_type: Content-Type header, for its charset; None when absent.
        content_language: Content-Language header, used when the document declares no language; None when
            absent.
        body: HTTP body without content coding.
    """

    kind: MediaKind
    url: str
    content_type: str | None
    content_language: str | None
    body: bytes

    def frame(self) -> bytes:
        """The job encoded as a frame."""
        header = {
            "kind": self.kind.value,
            "url": self.url,
            "content_type": self.content_type,
            "content_language": self.content_language,
        }
        return frame(header, self.body)

    @classmethod
    def parse(cls, header: dict[str, Any], body: bytes) -> "ExtractionJob":
        """The job decoded from the parts of a frame."""
        return cls(
            kind=MediaKind(header["kind"]),
            url=header["url"],
            content_type=header["content_type"],
            content_language=header["content_language"],
            body=body,
        )


@dataclass(frozen=True, slots=True)
class Extraction:
    """The extracted content of a document.

    Attributes:
        title: Title; None when there is none.
        text: Main text; empty when the document has none.
        language: Language that the document declares; None when it declares none.
        visible: Beginning of all visible text, by which walls are recognised.
        for_subscribers: Whether its metadata says that it is not free to read.
        is_shell: Whether it has no text but scripts and an element that these are to fill.
    """

    title: str | None = None
    text: str = ""
    language: str | None = None
    visible: str = ""
    for_subscribers: bool = False
    is_shell: bool = False

    def frame(self) -> bytes:
        """The result encoded as a frame."""
        return frame(asdict(self))


class ExtractionFailed(Exception):
    """The text of a document could not be extracted; the message says why."""


def frame(header: Mapping[str, object], body: bytes = b"") -> bytes:
    """A header and a body, prefixed with their lengths."""
    encoded = json.dumps(header).encode("ascii")
    return PREFIX.pack(len(encoded), len(body)) + encoded + body
