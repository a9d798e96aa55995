import pytest

from services.scraper.canonical import canonicalize
from services.scraper.extraction import Extraction
from services.scraper.outcome import Quality
from services.scraper.quality import judge_page, judge_status, weighted_length

PAGE = canonicalize("https://example.com/news/owls-at-night")
ARTICLE = "Owls hunt at night and hear a mouse under the snow from thirty metres away. " * 30


def judged(
    text: str = "", title: str = "", visible: str = "", final: str = str(PAGE), **facts_given: bool
) -> Quality:
    page = Extraction(title=title, text=text, visible=visible, **facts_given)
    return judge_page(page, PAGE, canonicalize(final), min_chars=200).quality


def test_an_article_is_evidence() -> None:
    assert judged(ARTICLE, "Owls at night") is Quality.OK


@pytest.mark.parametrize(
    "text",
    [
        "Before you continue to the site. We use cookies to deliver and maintain our services. Accept all",
        "Wir verwenden Cookies. Mit Klick auf „Alle akzeptieren“ stimmen Sie zu.",
        "Utilizamos cookies propias y de terceros. Aceptar todas las cookies",
        "Nous utilisons des cookies pour mesurer l’audience. Tout accepter. Tout refuser",
        "本网站使用Cookie来改善您的体验。全部接受",
        "当サイトではCookieを使用しています。すべて受け入れる",
    ],
)
def test_a_consent_page_is_a_cookie_wall_in_many_languages(text: str) -> None:
    assert judged(text) is Quality.COOKIE_WALL
    assert judged("", visible=text) is Quality.COOKIE_WALL


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Just a moment...", ""),
        ("", "Verify you are human by completing the action below."),
        ("", "Bitte bestätigen Sie, dass Sie ein Mensch sind."),
        ("", "Para continuar, marque la casilla No soy un robot."),
        ("", "Vérifiez que vous êtes humain"),
        ("", "请完成安全验证"),
        ("", "私はロボットではありません"),
    ],
)
def test_a_robot_check_is_a_bot_wall_in_many_languages(title: str, text: str) -> None:
    assert judged(text, title) is Quality.BOT_WALL


@pytest.mark.parametrize(
    "text",
    [
        "Subscribe to continue reading this story.",
        "Dieser Artikel ist nur für Abonnenten.",
        "Suscríbete para seguir leyendo",
        "Il vous reste 80% de cet article. La suite est réservée. Article réservé aux abonnés",
        "本文为付费内容",
        "この記事は有料会員限定です",
    ],
)
def test_a_teaser_is_a_paywall_in_many_languages(text: str) -> None:
    assert judged("Owls hunt at night. " * 20 + text) is Quality.PAYWALL


@pytest.mark.parametrize(
    "title",
    [
        "Page not found",
        "404",
        "Page not found | The Example Times",
        "Seite nicht gefunden - Zeitung",
        "Página no encontrada",
        "Erreur 404 – Journal",
        "页面不存在",
        "ページが見つかりません",
    ],
)
def test_a_missing_page_with_status_200_is_a_soft_404_in_many_languages(title: str) -> None:
    assert judged("Try the search or go back to the home page. " * 6, title) is Quality.SOFT_404


def test_being_sent_to_the_home_page_is_a_soft_404() -> None:
    assert judged("Welcome. " * 40, final="https://www.example.com/") is Quality.SOFT_404
    assert judged("Welcome. " * 40, final="https://other.example/") is Quality.OK


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("How cookie banners work", "We use cookies, they say. Accept all, they say. " + ARTICLE),
        ("How to fix error 404 on your own server", "A missing page has many causes. " * 20),
        ("Captchas", "Services ask you to verify you are human. " + ARTICLE),
        ("News", "To continue reading is a habit. " + ARTICLE),
        ("Owls", "Owls hunt at night. " * 20 + "Cookie policy"),
        ("Owls", "Owls hunt at night. " * 20 + "Accept all cookies"),
    ],
)
def test_a_page_that_only_mentions_a_wall_is_no_wall(title: str, text: str) -> None:
    assert judged(text, title) is Quality.OK


def test_the_pages_own_metadata_reveals_a_teaser() -> None:
    assert judged("Owls hunt at night. " * 20, for_subscribers=True) is Quality.PAYWALL
    assert judged(ARTICLE, for_subscribers=True) is Quality.OK


def test_too_little_text_is_told_from_none() -> None:
    assert judged("Owls hunt at night.") is Quality.TOO_SHORT
    assert judged("") is Quality.EMPTY


def test_the_shell_of_an_application_is_script_only_and_not_empty() -> None:
    assert judged("", is_shell=True) is Quality.SCRIPT_ONLY
    assert judged("Loading…", visible="Loading…", is_shell=True) is Quality.SCRIPT_ONLY
    assert judged("", "Just a moment...", is_shell=True) is Quality.BOT_WALL
    assert judged(ARTICLE, is_shell=True) is Quality.OK


def test_a_dense_script_needs_fewer_characters() -> None:
    assert weighted_length("梟は夜に狩る") == 18
    assert judged("梟は夜に狩りをする鳥である。" * 6) is Quality.OK


@pytest.mark.parametrize(
    ("status", "body", "quality"),
    [
        (404, "", Quality.NOT_FOUND),
        (410, "", Quality.NOT_FOUND),
        (402, "", Quality.PAYWALL),
        (403, "<title>Just a moment...</title>", Quality.BOT_WALL),
        (503, "DDoS protection by Example", Quality.BOT_WALL),
        (403, "go away", Quality.BLOCKED),
        (401, "", Quality.BLOCKED),
        (429, "", Quality.BLOCKED),
        (451, "", Quality.BLOCKED),
        (500, "", Quality.HTTP_ERROR),
        (503, "", Quality.HTTP_ERROR),
        (304, "", Quality.HTTP_ERROR),
        (418, "", Quality.HTTP_ERROR),
    ],
)
def test_an_error_status_is_never_content(status: int, body: str, quality: Quality) -> None:
    assert judge_status(status, body).quality is quality
