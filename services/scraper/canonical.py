"""The canonical form of a URL, so that a page is fetched once however it is cited. Pure.

The parser is strict on purpose: a URL that two parsers may read differently (user names, control characters,
backslashes, octal or decimal hosts) is rejected, because such URLs are used to circumvent address guards.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

import idna

MAX_URL_CHARS = 4096
_DEFAULT_PORTS = {"http": 80, "https": 443}
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")
_TRACKING_PREFIXES = ("utm_", "_hs", "mc_", "pk_", "mtm_")
_TRACKING = frozenset(
    {"gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid", "ttclid"}
    | {"igshid", "igsh", "li_fat_id", "mkt_tok", "srsltid", "vero_id", "oly_enc_id", "oly_anon_id"}
    | {
        "gad_source",
        "gad_campaignid",
        "_ga",
        "_gl",
        "wickedid",
        "s_kwcid",
        "ref_src",
        "ref_url",
        "ncid",
        "cmpid",
    }
)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SAFE = "/%:@!$&'()*+,;=~-._"
_QUERY_SAFE = _PATH_SAFE + "?[]|^`{}"


class InvalidUrl(ValueError):
    """The URL is not the address of a web page; the message says why."""


@dataclass(frozen=True, slots=True)
class WebUrl:
    """An absolute http or https URL in canonical form.

    Attributes:
        scheme: "http" or "https".
        host: Lower-case ASCII name or IP address, without brackets.
        port: Effective port, 1 to 65535.
        target: Path and query, beginning with "/".
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host and port as in a Host header: the default port of the scheme is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme and authority, the scope of a robots.txt."""
        return f"{self.scheme}://{self.authority}"

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    def joined(self, location: str) -> "WebUrl":
        """The target of a redirect. Its tracking parameters stay, because the site asks for them.

        Args:
            location: Value of the Location header.

        Raises:
            InvalidUrl: The target is not a web page.
        """
        try:
            target = urljoin(str(self), location.strip())
        except ValueError as error:
            raise InvalidUrl(f"unusable redirect: {error}") from error
        return canonicalize(target, keep_tracking=True)

    def __str__(self) -> str:
        return self.origin + self.target


def canonicalize(url: str, *, keep_tracking: bool = False) -> WebUrl:
    """The canonical form of a web address.

    Scheme and host in lower case, international names in punycode, no default port, no fragment, no
    tracking parameters, no segments "." and "..", characters outside ASCII percent-encoded, letters and
    digits not. Order and case of path and query are kept, since servers may tell them apart.

    Args:
        url: Absolute URL as cited.
        keep_tracking: Keep tracking parameters.

    Raises:
        InvalidUrl: The URL is not http(s) or is too long, its host is missing or ambiguous, or it contains
            credentials or control characters.

    >>> str(canonicalize("HTTP://Example.COM:80/a?utm_source=x&b=1#top"))
    'http://example.com/a?b=1'
    >>> str(canonicalize("https://münchen.example"))
    'https://xn--mnchen-3ya.example/'
    """
    parts, port = _split(url.strip())
    query = parts.query if keep_tracking else _without_tracking(parts.query)
    target = _without_dots(_encoded(parts.path, _PATH_SAFE)) or "/"
    if query:
        target += "?" + _encoded(query, _QUERY_SAFE)
    return WebUrl(parts.scheme, _host(parts.hostname or ""), port or _DEFAULT_PORTS[parts.scheme], target)


def _encoded(text: str, safe: str) -> str:
    return _ESCAPE.sub(_normal_escape, quote(text, safe=safe))


def _normal_escape(escape: re.Match[str]) -> str:
    """An escape in upper case, or the character itself where an escape means the same (RFC 3986, 6.2.2)."""
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()


def _without_dots(path: str) -> str:
    """A path without segments "." and ".." (RFC 3986, 5.2.4)."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _split(url: str) -> tuple[SplitResult, int | None]:
    if len(url) > MAX_URL_CHARS:
        raise InvalidUrl(f"longer than {MAX_URL_CHARS} characters")
    spaced = url.replace(" ", "%20")  # the one mistake that all browsers correct in the same way
    if _FORBIDDEN.search(spaced):
        raise InvalidUrl("control characters or backslashes in the URL")
    try:
        parts = urlsplit(spaced)
        port = parts.port
    except ValueError as error:
        raise InvalidUrl(str(error)) from error
    if parts.scheme not in _DEFAULT_PORTS:
        raise InvalidUrl(f"scheme {parts.scheme!r} is not http or https")
    if "@" in parts.netloc:
        raise InvalidUrl("credentials in the URL")
    if port == 0:
        raise InvalidUrl("port 0")
    return parts, port


def _without_tracking(query: str) -> str:
    return "&".join(part for part in query.split("&") if part and not _is_tracking(part))


def _is_tracking(parameter: str) -> bool:
    name = unquote(parameter.partition("=")[0]).lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)


def _host(raw: str) -> str:
    if ":" in raw:
        return _ipv6(raw)
    host = _ascii_host(raw.removesuffix("."))
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise InvalidUrl(f"{raw!r} is not a host name")
    if _NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]):
        return _ipv4(host)
    return host


def _ascii_host(raw: str) -> str:
    if raw.isascii():
        return raw.lower()
    try:
        return idna.encode(raw, uts46=True).decode("ascii")
    except idna.IDNAError as error:
        raise InvalidUrl(f"{raw!r} is not a host name: {error}") from error


def _ipv4(host: str) -> str:
    # 2130706433, 0x7f.1 and 0177.0.0.1 all mean 127.0.0.1 to some resolvers: only dotted decimal passes.
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError as error:
        raise InvalidUrl(f"{host!r} is not a dotted decimal address") from error


def _ipv6(raw: str) -> str:
    try:
        address = ipaddress.IPv6Address(raw)
    except ValueError as error:
        raise InvalidUrl(f"{raw!r} is not an IPv6 address") from error
    if address.scope_id is not None:
        raise InvalidUrl("an IPv6 address with a zone")
    return address.compressed
