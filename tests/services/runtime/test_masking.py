"""Secrets are replaced wherever they come back, in whatever form."""

import base64
import json
import logging

import pytest
import structlog

from services.runtime import logs, masking
from services.runtime.masking import KnownSecrets, masked_url, secrets_in


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://ada:pa%40ss@host/v1", "https://ada:***@host/v1"),
        ("https://ada:p@ss/word@host/v1", "https://ada:***@host/v1"),
        ("https://host/v1?api-key=k3y&api-version=2", "https://host/v1?api-key=***&api-version=2"),
        ("nats://t0ken@a:4222,nats://u:pw@b:4222", "nats://***@a:4222,nats://u:***@b:4222"),
        ("postgresql+asyncpg://u:pw@h/db?ssl=require", "postgresql+asyncpg://u:***@h/db?ssl=require"),
        ("postgresql+asyncpg://h/db?password=pw", "postgresql+asyncpg://h/db?password=***"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert masked_url(url) == shown


def test_the_secrets_of_a_url_are_known_as_written_and_as_sent() -> None:
    assert secrets_in("https://ada:pa%40ss@host/v1?api-key=k3y") == ["pa%40ss", "pa@ss", "k3y"]
    assert secrets_in("nats://t0ken@broker") == ["t0ken", "t0ken"]
    assert secrets_in("http://[broken") == []


@pytest.mark.parametrize("form", ["{}", "Bearer {}", "https://u:{}@host/", "?api-key={}&x", "a{}b"])
def test_a_known_secret_is_replaced_wherever_it_stands(form: str) -> None:
    secret = 'p"s/w rd+'
    known = KnownSecrets()
    known.remember(secret, None, "", "abc")
    encoded = base64.b64encode(secret.encode()).decode()
    for written in (secret, "p%22s%2Fw%20rd%2B", json.dumps(secret)[1:-1], encoded):
        assert written not in known.redact(form.format(written))
    assert known.redact("abc") == "abc"


def test_what_looks_like_a_credential_is_replaced_even_if_it_is_unknown() -> None:
    text = "got Authorization: Bearer abcdef123456 and sk-proj-0123456789abcdef0123 from http://u:pw@h/"
    assert KnownSecrets().redact(text) == "got Authorization: Bearer *** and *** from http://u:***@h/"


def test_a_short_key_is_hidden_in_messages_and_no_word_of_a_reply_is_lost() -> None:
    known = KnownSecrets()
    known.remember("none", "sk-0123456789abcdef")
    assert known.hide("none, sk-0123456789abcdef") == "***, ***"
    assert known.hide_in_content("none of these; sk-0123456789abcdef") == "none of these; ***"


def test_the_user_of_a_database_is_no_secret_and_a_token_is() -> None:
    assert secrets_in("postgresql+asyncpg://postgres@host/db") == []
    assert secrets_in("nats://token@host") == ["token", "token"]


def test_no_line_of_the_log_has_a_secret(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Secrets of other tests of this process would be replaced, too.
    for name, nothing in (("_forms", set()), ("_pattern", None), ("_long_pattern", None)):
        monkeypatch.setattr(masking.KNOWN, name, nothing)
    masking.KNOWN.remember("battery staple")
    before = structlog.get_config()
    root, handlers = logging.getLogger(), logging.getLogger().handlers[:]
    root.handlers.clear()
    try:
        logs.configure("debug", "json")
        structlog.get_logger("x").error("no", key="battery staple", listed=["battery staple"], tries=3)
        try:
            int("battery staple")
        except ValueError:
            structlog.get_logger("x").exception("bug")
            logging.getLogger("x").exception("battery staple")
    finally:
        structlog.configure(**before)
        root.handlers[:] = handlers
    written = capsys.readouterr().err
    assert written.count("***") == 7
    assert "battery staple" not in written
    assert '"tries": 3' in written
