"""Groups of terms by which walls are recognised: what such a page says, in whatever words, by language.

A single term proves nothing. A page is a wall when terms of several groups meet on one short page: an offer
to subscribe, a price per week and a way to cancel are a paywall. Texts are compared in lower case.
"""

import re

Group = tuple[str, re.Pattern[str]]
"""What the terms say, and the terms."""


def _group(meaning: str, *terms: str) -> Group:
    return meaning, re.compile("|".join(terms))


# Languages in this order: en, de, fr, es, it, pt, nl, ru, zh, ja, ko.
COOKIES = re.compile("cookie|クッキー|쿠키|файлы куки")
CONSENT = (
    _group(
        "accept", r"\baccept", r"\bagree", r"akzeptieren", r"zustimmen", r"\baccepter", r"\baceptar",
        r"\baccetta",
        r"\baceitar", r"принять", r"согла[сш]", "接受", "同意", "受け入れる", "許可する", "동의",
    ),
    _group(
        "reject or choose", r"\breject", r"manage (options|preferences|choices|settings)", r"more options",
        r"ablehnen", r"optionen verwalten", r"weitere optionen", r"auswahl", r"\brefuser", r"paramétrer",
        r"plus d'options", r"vos choix", r"\brechazar", r"gestionar", r"más opciones", r"preferencias",
        r"rifiuta",
        r"gestisci", r"altre opzioni", r"scelte", r"rejeitar", r"weigeren", r"отклонить", r"настроить",
        r"другие варианты", "拒绝", "管理选项", "更多选项", "更改选择", "拒否", "設定を管理",
        "その他の設定", "거부",
    ),
    _group(
        "purpose", r"partners", r"personali[sz]ed", r"measure", r"partner", r"werbung", r"partenaires",
        r"publicité",
        r"socios", r"publicidad", r"pubblicità", r"publicidade", r"advertenties", r"партн[её]р", r"реклам",
        "合作伙伴", "广告", "パートナー", "広告", "광고",
        r"provide (and maintain )?services", r"keep services running", r"dienste bereitzustellen",
        r"fournir (nos|les|des) services", r"ofrecer servicios", r"fornire i servizi",
        r"предоставлять услуги",
        "提供服务", "サービスの提供",
    ),
    _group(
        "privacy", r"your privacy", r"privatsphäre", r"vie privée", r"privacidad", r"privacy", r"privacidade",
        r"конфиденциальн", "隐私", "プライバシー", "개인정보", r"before you", r"bevor sie", r"avant d",
        r"antes de",
        r"prima di", r"прежде чем", "之前", "前に",
    ),
)  # fmt: skip

ROBOT_CHECK = re.compile(
    "|".join(
        (
            r"not a robot", r"(you are|you're) (a )?human", r"unusual (activity|traffic|requests)",
            r"(characters|letters) (in|from|of) the (picture|image)", r"automated (requests|queries|traffic)",
            r"kein(en)? roboter", r"ungewöhnlich\w* (viele )?(aktivität|zugriffe|anfragen|datenverkehr)",
            r"zeichen (auf|aus|in|im) (dem )?bild", r"pas un robot", r"(activité|trafic) inhabituel",
            r"caractères (de|sur) l'image", r"no (es|soy|eres) un robot", r"(actividad|tráfico) inusual",
            r"caracteres de la imagen", r"non (essere|sono|sei) un robot", r"(attività|traffico) insolit",
            r"caratteri dell'immagine", r"não (é|sou|ser) um robô", r"geen robot",
            r"не робот", r"(подозрительн|необычн)\w+ (запрос|активност|трафик)",
            r"символы с (картинки|изображения)",
            "不是机器人", "异常(活动|流量|访问|请求)", "(图片|图中)中?的?(字符|文字)", "人机验证", "機器人",
            "ロボットでは(ない|ありません)", "通常と異なる(アクセス|トラフィック)", "不審なアクセス",
            "画像の文字",
            "로봇이 아",
        )
    )
)  # fmt: skip

_THING = r"(page|article|listing|ad|item|product|content|offer|job|video|post|story|entry)"
_SACHE = r"(seite|artikel|anzeige|inhalt|angebot|produkt|beitrag|eintrag)"
_CHOSE = r"(page|article|annonce|contenu|offre|produit)"
_COSA = r"(página|artículo|anuncio|contenido|oferta|producto)"
_COSA_IT = r"(pagina|articolo|annuncio|contenuto|offerta|prodotto)"
_VESHCH = r"(страниц|статья|объявлени|материал|товар)"
GONE = re.compile(
    "|".join(
        (
            rf"(could not|couldn't|can't|cannot|unable to) (be )?(find|found|locate)\b.{{0,20}}\b{_THING}",
            rf"\b{_THING}\b.{{0,30}}(no longer|not (be )?(found|available))",
            rf"\b{_THING}\b.{{0,30}}has (been )?(removed|deleted|expired)",
            rf"\b{_SACHE}\b.{{0,40}}nicht (mehr |länger )?(gefunden|finden|verfügbar|vorhanden|auffindbar)",
            rf"\b{_CHOSE}\b.{{0,40}}((n'est|n'existe) (plus|pas)|a été (supprimée?|retirée?)|introuvable)",
            rf"(pas|plus) (pu )?(trouvé|trouver) (cette|la|l'|votre) ?{_CHOSE}",
            rf"\b{_COSA}\b.{{0,40}}(ya no|no (existe|se encuentra|está disponible))",
            rf"no (hemos|se ha) (encontrado|podido encontrar) (esa|esta|la|el) {_COSA}",
            rf"\b{_COSA_IT}\b.{{0,40}}(non è (più )?(disponibile|stat)|non esiste)",
            rf"non (abbiamo|è stat[ao]) trovat[oa] (questa|la|l'|quella) ?{_COSA_IT}",
            rf"{_VESHCH}\w*.{{0,20}}(не найден|больше не|не существует|удал[её]н)",
            rf"не удалось найти.{{0,20}}{_VESHCH}",
            "(没有|未|没能)找到.{0,6}(页面|文章|内容)",
            "(页面|文章|内容|商品|信息).{0,6}(不存在|已下架|已删除|已失效|已过期|未找到)",
            "(ページ|記事|商品).{0,12}(見つかりません|存在しません|取り扱っておりません|終了しました|削除され)",
        )
    )
)  # fmt: skip

SUBSCRIBE = re.compile(
    r"subscri|abonn|\babo\b|suscr[ií]b|suscripc|abbona|assin(e|atura)|подпи(с|ш)|订阅|訂閱|会员|購読|有料会員|구독"
)
OFFER = (
    _group(
        "the rest is paid", r"to (read|continue)", r"(rest|remainder) of (this|the)",
        r"read the (full|whole)",
        r"unlock", r"(ganzen|vollständigen) (artikel|text)", r"weiterlesen", r"réservé", r"lire la suite",
        r"(historia|artículo|noticia) complet", r"seguir leyendo", r"riservat", r"continuare a leggere",
        r"conteúdo exclusivo", r"полный текст", r"читать (дальше|полностью)", r"только подписчик",
        "剩余内容", "阅读全文",
        "仅对", "ここから先", "この先", "続きを",
    ),
    _group(
        "a price", r"(a|per) (week|month)", r"pro (woche|monat)", r"par (semaine|mois)", r"(a la|por) semana",
        r"al mes\b", r"alla settimana", r"al mese", r"por mês", r"в (неделю|месяц)", "每(周|月)",
        "週\\d*百?円?", "月額",
    ),
    _group(
        "cancel", r"cancel", r"kündbar", r"kündigen", r"sans engagement", r"résili", r"disdi(ci|re)",
        r"отмен",
        "随时取消", "解約",
    ),
    _group(
        "an account", r"already (have|a subscriber|subscribed)",
        r"(schon|bereits) (ein konto|abonn|registriert|ein abo)",
        r"déjà (un compte|abonn)", r"ya (tienes|tiene|eres)", r"(hai già|sei già)", r"já (tem|é)",
        r"уже есть",
        r"уже подпис", "已有账号", "已是会员", "アカウントをお持ち", "すでに",
    ),
)  # fmt: skip

LOGIN = (
    _group(
        "sign in", r"sign in", r"log ?in", r"anmeld", r"einlogg", r"se connecter", r"connexion",
        r"iniciar sesión",
        r"\baccedi", r"\bentrar", r"inloggen", r"войти", r"вход", "登录", "登錄", "ログイン", "로그인",
    ),
    _group(
        "a password", r"password", r"passwort", r"kennwort", r"mot de passe", r"contraseña", r"\bsenha",
        r"wachtwoord",
        r"пароль", "密码", "密碼", "パスワード", "비밀번호",
    ),
    _group(
        "forgotten", r"forgot", r"vergessen", r"oublié", r"olvid", r"dimenticat", r"esquec", r"vergeten",
        r"забыли",
        "忘记", "忘記", "忘れ",
    ),
    _group(
        "a new account", r"create (an |your )?account", r"sign up", r"register", r"konto erstellen",
        r"registrier",
        r"créer un compte", r"s'inscrire", r"crear (una )?cuenta", r"regístr", r"crea un account",
        r"registrati",
        r"criar conta", r"зарегистр", r"создать (аккаунт|учётную)", "注册", "註冊", "アカウントを作成",
        "新規登録",
    ),
)  # fmt: skip


def meanings(groups: tuple[Group, ...], text: str) -> list[str]:
    """The meanings of the groups of which a text has a term."""
    return [meaning for meaning, terms in groups if terms.search(text)]
