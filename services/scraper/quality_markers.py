"""Phrases by which walls and missing pages are recognised, by language.

They are in lower case, as the classifier compares them. A phrase belongs here only if a page with content
hardly ever contains it in its first lines.
"""

COOKIE = (
    # en
    "we use cookies", "uses cookies", "accept all cookies", "accept cookies", "cookie settings",
    "cookie preferences", "cookie policy", "manage consent", "before you continue to",
    "we value your privacy",
    "reject all", "accept all", "store and/or access information on a device", "our partners process data",
    # de
    "wir verwenden cookies", "wir nutzen cookies", "alle cookies akzeptieren", "cookie-einstellungen",
    "alle akzeptieren", "alle ablehnen", "bevor sie fortfahren", "einwilligung verwalten",
    "datenschutzeinstellungen", "mit werbung weiterlesen",
    # es
    "utilizamos cookies", "usamos cookies", "aceptar todas las cookies", "aceptar cookies",
    "configuración de cookies", "política de cookies", "aceptar todo", "rechazar todo", "antes de continuar",
    # fr
    "nous utilisons des cookies", "accepter tous les cookies", "paramètres des cookies", "tout accepter",
    "tout refuser", "continuer sans accepter", "gérer mes choix", "avant de continuer",
    # it, pt, nl
    "utilizziamo i cookie", "accetta tutti", "usamos cookies para", "aceitar todos os cookies",
    "wij gebruiken cookies", "alle cookies accepteren",
    # zh, ja, ko
    "我们使用cookie", "本网站使用cookie", "接受所有cookie", "全部接受", "cookie设置", "我們使用cookie",
    "cookieを使用", "クッキーを使用", "すべて受け入れる", "すべてのcookieを許可", "cookieの設定",
    "쿠키를 사용",
)  # fmt: skip

BOT = (
    # en
    "checking your browser", "verify you are human", "verify that you are human", "are you a robot",
    "i'm not a robot", "i am not a robot", "enable javascript and cookies to continue", "unusual traffic",
    "checking if the site connection is secure", "complete the security check", "ddos protection by",
    "access to this page has been denied", "pardon our interruption", "you have been blocked",
    "automated access", "press & hold to confirm", "solve the captcha", "complete the captcha",
    "performing security verification", "needs to review the security of your connection",
    # de
    "sind sie ein roboter", "ich bin kein roboter", "bestätigen sie, dass sie ein mensch sind",
    "ungewöhnlichen datenverkehr", "ihr browser wird überprüft", "zugriff verweigert",
    # es
    "no soy un robot", "verifica que eres humano", "verifique que es humano", "tráfico inusual",
    "comprobando su navegador", "acceso denegado",
    # fr
    "je ne suis pas un robot", "vérifiez que vous êtes humain", "trafic inhabituel",
    "vérification de votre navigateur", "accès refusé",
    # zh, ja, ko
    "请完成安全验证", "请输入验证码", "人机验证", "正在检查您的浏览器", "异常流量",
    "訪問被拒絕", "访问被拒绝",
    "私はロボットではありません", "ロボットではないことを確認",
    "ブラウザを確認しています", "アクセスが拒否されました",
    "로봇이 아닙니다",
)  # fmt: skip

BOT_TITLES = (
    "just a moment", "attention required", "access denied", "are you a robot", "security check",
    "robot check", "human verification", "einen moment", "un momento", "un instant", "请稍候", "安全验证",
    "しばらくお待ちください",
)  # fmt: skip

PAYWALL = (
    # en
    "subscribe to continue", "subscribe to read", "to continue reading",
    "continue reading with a subscription",
    "already a subscriber", "this article is for subscribers", "this content is for subscribers",
    "for subscribers only", "subscriber-only", "subscribers only",
    "log in to read", "sign in to read the full",
    "register to continue", "you have reached your limit of free articles", "free articles remaining",
    "unlock this article", "start your free trial to read", "members only story",
    # de
    "jetzt weiterlesen mit", "weiterlesen mit", "sie haben bereits ein abo", "nur für abonnenten",
    "abonnieren, um weiterzulesen", "exklusiv für abonnenten", "diesen artikel freischalten",
    "um weiterzulesen",
    # es
    "suscríbete para seguir leyendo", "para seguir leyendo", "contenido exclusivo para suscriptores",
    "solo para suscriptores", "ya eres suscriptor",
    # fr
    "réservé aux abonnés", "réservé à nos abonnés", "abonnez-vous pour lire", "pour lire la suite",
    "déjà abonné", "il vous reste à lire",
    # it, pt
    "contenuto riservato agli abbonati", "per continuare a leggere", "conteúdo exclusivo para assinantes",
    # zh, ja, ko
    "订阅后继续阅读", "登录后继续阅读", "本文为付费内容", "订阅以阅读全文", "訂閱後繼續閱讀", "会员专享",
    "この記事は有料", "有料会員限定", "会員限定記事", "続きを読むには", "残り文字", "구독 후 이용",
)  # fmt: skip

MISSING = (
    # en
    "page not found", "page cannot be found", "page can't be found", "page could not be found",
    "page doesn't exist", "page does not exist", "page no longer exists", "page you requested",
    "page you are looking for", "page you were looking for", "page isn't available", "404 error", "error 404",
    "404 not found", "article not found", "content not found", "content is no longer available",
    # de
    "seite nicht gefunden", "seite wurde nicht gefunden", "seite konnte nicht gefunden werden",
    "seite existiert nicht", "fehler 404",
    # es
    "página no encontrada", "no se encuentra la página", "la página que busca", "la página no existe",
    # fr
    "page introuvable", "page non trouvée", "page n'existe pas", "page que vous cherchez", "erreur 404",
    # it, pt
    "pagina non trovata", "página não encontrada",
    # zh, ja, ko
    "页面不存在", "找不到页面", "您访问的页面", "页面未找到", "找不到網頁", "頁面不存在",
    "ページが見つかりません", "お探しのページ", "ページは存在しません", "指定されたページ",
    "페이지를 찾을 수 없습니다",
)  # fmt: skip

# These occur in many texts, so they count in titles only.
MISSING_TITLES = ("not found", "nicht gefunden", "no encontrado", "no encontrada", "introuvable", "无法找到")
