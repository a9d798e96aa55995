"""Prompts without what is stored elsewhere: references stand in place of texts that the reader has, too.

    header   number of references, number of texts in the dictionary, CRC-32 of the messages
    digests  of the texts that are referred to, then of those in the dictionary
    zlib     JSON: for each message its role and its parts, each a string or the index of a reference

A text is a part of an event of the battle, which is recorded, or a text of the platform, which is stored
once for all battles. Deflate replaces what remains by references to the dictionary, which is made of texts
of the battle that occur in the prompt in another form, such as an answer whose sentences are numbered.
"""

import json
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from services.runtime.llm.prompt import Message

Digest = bytes
_DIGEST_BYTES = 8
_HEADER = struct.Struct("<HBI")
_NONCE = re.compile(r"#([0-9a-f]{16})>>>")
_FENCE = "\n\n<<<"
_LEAST_SHARED = 80  # characters; shorter texts of the platform are stored with the prompt
_PROBE = 24  # characters at the beginning of a text that tell whether it occurs in another form
_DICTIONARY = 32_000  # bytes of a dictionary that deflate uses
_LEVEL = 9
_MOST_REFERENCES = 0xFFFF


def digest_of(text: str) -> Digest:
    """Identifies a text among those of a battle and those of the platform."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


def prompt_digest(messages: Sequence[Message]) -> bytes:
    """Identifies a prompt within its battle."""
    return blake2b(_plain(messages), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class PackedPrompt:
    """A prompt in its stored form.

    Attributes:
        body: The stored form.
        shared: Texts of the platform that it refers to, by digest.
    """

    body: bytes
    shared: Mapping[Digest, str]


def pack_prompt(messages: Sequence[Message], texts: Iterable[str]) -> PackedPrompt:
    """The stored form of a prompt.

    Args:
        messages: The prompt.
        texts: Texts that are recorded with its battle, the longest first.
    """
    shared = {digest_of(text): text for text in _of_the_platform(messages)}
    contents = [message["content"] for message in messages]
    whole = [text for text in texts if any(text in content for content in contents)][:_MOST_REFERENCES]
    texts_in_use = [*shared.values(), *whole]
    used: dict[str, int] = {}
    parts = [[message["role"], _parts(message["content"], texts_in_use, used)] for message in messages]
    dictionary = _in_other_form(texts, contents, set(whole))
    packing = zlib.compressobj(_LEVEL, zdict=_joined(dictionary))
    encoded = json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    data = packing.compress(encoded) + packing.flush()
    header = _HEADER.pack(len(used), len(dictionary), zlib.crc32(_plain(messages)))
    digests = b"".join(digest_of(text) for text in (*used, *dictionary))
    return PackedPrompt(header + digests + data, {d: text for d, text in shared.items() if text in used})


def digests_in(body: bytes) -> list[Digest]:
    """The digests of the texts without which a prompt cannot be read."""
    references, in_dictionary, _ = _HEADER.unpack_from(body)
    end = _HEADER.size + (references + in_dictionary) * _DIGEST_BYTES
    return [body[start : start + _DIGEST_BYTES] for start in range(_HEADER.size, end, _DIGEST_BYTES)]


def unpack_prompt(body: bytes, text_of: Callable[[Digest], str | None]) -> list[Message] | None:
    """The messages of a stored prompt.

    Args:
        body: The stored form.
        text_of: Returns the text with a digest, None where it is not stored.

    Returns:
        The messages; None where a text is missing, or the messages are not those that were stored.
    """
    references, in_dictionary, checksum = _HEADER.unpack_from(body)
    texts = [text_of(digest) for digest in digests_in(body)]
    present = [text for text in texts if text is not None]
    if len(present) < len(texts):
        return None
    unpacking = zlib.decompressobj(zdict=_joined(present[references:]))
    start = _HEADER.size + (references + in_dictionary) * _DIGEST_BYTES
    encoded = unpacking.decompress(body[start:]) + unpacking.flush()
    messages: list[Message] = [
        {"role": role, "content": "".join(part if isinstance(part, str) else present[part] for part in parts)}
        for role, parts in json.loads(encoded.decode("utf-8", "surrogatepass"))
    ]
    return messages if zlib.crc32(_plain(messages)) == checksum else None


def _of_the_platform(messages: Sequence[Message]) -> list[str]:
    """The texts of a prompt that are ours: they stand outside of the blocks of material, around the nonce."""
    texts: list[str] = []
    for message in messages:
        content = message["content"]
        if message["role"] == "system":
            nonce = _NONCE.search(content)
            texts += content.split(nonce[1]) if nonce else [content]
        elif message["role"] == "user":
            texts.append(content.partition(_FENCE)[0] if _FENCE in content else "")
    return sorted({text for text in texts if len(text) >= _LEAST_SHARED}, key=len, reverse=True)


def _parts(content: str, referable: Iterable[str], used: dict[str, int]) -> list[str | int]:
    """A text as strings and indexes of references; `used` collects what is referred to."""
    spans: list[tuple[int, int, str]] = []
    taken = bytearray(len(content))
    for text in referable:
        start = content.find(text)
        while start >= 0:
            end = start + len(text)
            if 1 not in taken[start:end]:
                taken[start:end] = b"\x01" * len(text)
                spans.append((start, end, text))
            start = content.find(text, end)
    parts: list[str | int] = []
    position = 0
    for start, end, text in sorted(spans):
        if start > position:
            parts.append(content[position:start])
        parts.append(used.setdefault(text, len(used)))
        position = end
    return [*parts, content[position:]] if position < len(content) else parts


def _in_other_form(texts: Iterable[str], contents: Sequence[str], whole: set[str]) -> list[str]:
    """Texts that begin like a part of the prompt without being one, as far as they fit the dictionary."""
    chosen: list[str] = []
    room = _DICTIONARY
    for text in texts:
        size = len(text.encode("utf-8", "surrogatepass"))
        if text in whole or size > room or len(chosen) == 255:
            continue
        if any(text[:_PROBE] in content for content in contents):
            chosen.append(text)
            room -= size
    return chosen


def _joined(texts: Sequence[str]) -> bytes:
    return "\n".join(texts).encode("utf-8", "surrogatepass")


def _plain(messages: Sequence[Message]) -> bytes:
    return "\x00".join(f"{m['role']}\x00{m['content']}" for m in messages).encode("utf-8", "surrogatepass")
