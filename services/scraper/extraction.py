"""What goes to an extraction process and what comes back: values, and their form on the pipe.

A frame is two 32-bit lengths (big endian), a JSON object and a run of bytes. Imported by both sides,
so nothing heavy is imported here.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from services.scraper.media_type import MediaKind

PREFIX = struct.Struct(">II")
MAX_FRAME_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ExtractionJob:
    """A document to be read.

    Attributes:
        kind: what it is.
        url: where it is from, for relative references and error messages.
        content_type: the Content-Type header, for its charset.
        content_language: the Content-Language header, believed when the document names no language.
        body: the decoded bytes.
    """

    kind: MediaKind
    url: str
    content_type: str
    content_language: str
    body: bytes

    def frame(self) -> bytes:
        """The job as it goes through the pipe."""
        header = {
            "kind": self.kind.value,
            "url": self.url,
            "content_type": self.content_type,
            "content_language": self.content_language,
        }
        return frame(header, self.body)

    @classmethod
    def parse(cls, header: dict[str, str], body: bytes) -> "ExtractionJob":
        """The job out of a frame's parts."""
        return cls(
            kind=MediaKind(header["kind"]),
            url=header["url"],
            content_type=header["content_type"],
            content_language=header["content_language"],
            body=body,
        )


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read in a document.

    Attributes:
        title: its title, "" when it has none.
        text: its main text, "" when there is none.
        language: the language it declares, "" when it declares none.
        visible: the beginning of all visible text, to recognise walls by.
        for_subscribers: its metadata says that it is not free to read.
    """

    title: str = ""
    text: str = ""
    language: str = ""
    visible: str = ""
    for_subscribers: bool = False

    def frame(self) -> bytes:
        """The result as it goes through the pipe."""
        return frame(asdict(self))


class ExtractionFailed(Exception):
    """The document could not be read; the message says why."""


def frame(header: Mapping[str, object], body: bytes = b"") -> bytes:
    """A header and a body, prefixed with their lengths."""
    encoded = json.dumps(header).encode("ascii")
    return PREFIX.pack(len(encoded), len(body)) + encoded + body
