import pytest

from services.scraper.canonical import MAX_URL_CHARS, InvalidUrl, canonicalize


@pytest.mark.parametrize(
    ("cited", "canonical"),
    [
        ("HTTP://Example.COM", "http://example.com/"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:80/a", "https://example.com:80/a"),
        ("http://example.com./a", "http://example.com/a"),
        ("https://example.com/a#part", "https://example.com/a"),
        ("  https://example.com/a b  ", "https://example.com/a%20b"),
        ("https://example.com/?utm_source=openai", "https://example.com/"),
        ("https://example.com/?b=2&UTM_Medium=x&gclid=1&a=1&fbclid=z", "https://example.com/?b=2&a=1"),
        ("https://example.com/ümlaut?q=日本", "https://example.com/%C3%BCmlaut?q=%E6%97%A5%E6%9C%AC"),
        ("https://example.com/a%2Fb%20c", "https://example.com/a%2Fb%20c"),
        ("https://例え.テスト/", "https://xn--r8jz45g.xn--zckzah/"),
        ("https://my_host.example.com/", "https://my_host.example.com/"),
        ("http://[2001:DB8:0:0::1]:80/x", "http://[2001:db8::1]/x"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),
        ("https://example.com/%7eowl/%41%e6%97%a5", "https://example.com/~owl/A%E6%97%A5"),
        ("https://example.com/a/./b/../c?x=%2f..%2f", "https://example.com/a/c?x=%2F..%2F"),
        ("https://example.com/a/..", "https://example.com/"),
        ("https://example.com/../../a/.", "https://example.com/a/"),
        ("https://example.com/a#:~:text=owls%20hunt", "https://example.com/a"),
        ("https://example.com/a?utm_source=x&b=2&_gl=1*x", "https://example.com/a?b=2"),
    ],
)
def test_every_spelling_of_a_page_has_one_canonical_form(cited: str, canonical: str) -> None:
    assert str(canonicalize(cited)) == canonical
    assert str(canonicalize(canonical)) == canonical


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com/a",
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://",
        "http:///path",
        "http://user:secret@example.com/",
        "http://@example.com/",
        "http://good.example\\@evil.example/",
        "http://example.com/\r\nX-Injected: 1",
        "http://example.com:0/",
        "http://example.com:99999/",
        "http://example.com:abc/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.0.0x1/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http://exa mple.com/",
        "http://-bad.example/",
        "http://a..b/",
        "http://%6c%6f%63alhost/",
        "http://" + "a" * 64 + ".example/",
        "http://example.com/" + "a" * MAX_URL_CHARS,
    ],
)
def test_what_two_parsers_might_read_differently_is_refused(url: str) -> None:
    with pytest.raises(InvalidUrl):
        canonicalize(url)


def test_a_redirect_is_resolved_against_the_page_and_keeps_its_parameters() -> None:
    page = canonicalize("https://example.com/a/b?x=1")
    assert str(page.joined("../c?utm_source=site")) == "https://example.com/c?utm_source=site"
    assert str(page.joined("//other.example/d")) == "https://other.example/d"
    with pytest.raises(InvalidUrl):
        page.joined("file:///etc/passwd")


def test_the_host_header_names_only_unusual_ports() -> None:
    assert canonicalize("http://example.com/").authority == "example.com"
    assert canonicalize("http://[::1]:8080/").authority == "[::1]:8080"
