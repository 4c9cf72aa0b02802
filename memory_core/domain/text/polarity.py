"""Words that reverse a statement: negations, and words that exclude each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from memory_core.domain.text.spelling import MONTHS, WEEKDAYS
from memory_core.domain.text.text_cache import keep_texts

_QUALITIES = """
    big small; large small; large tiny; huge tiny; long short; tall short; high low; higher lower;
    deep shallow; wide narrow; broad narrow; thick thin; fat thin; heavy light; light dark;
    bright dark; bright dim; hot cold; hot iced; warm cold; warm cool; hot mild; spicy mild;
    wet dry; damp dry; hard soft; firm soft; rough smooth; sharp blunt; strong weak; fast slow;
    quick slow; rapid slow; loud quiet; noisy quiet; loud silent; noisy silent; clean dirty;
    tidy messy; neat messy; full empty; crowded empty; rich poor; cheap expensive; cheap costly;
    new old; young old; fresh stale; fresh frozen; raw cooked; ripe unripe; sweet sour;
    sweet bitter; sweet savory; sweet dry; easy hard; easy difficult; simple complex;
    simple complicated; good bad; better worse; best worst; great terrible; positive negative;
    right wrong; correct wrong; true false; real fake; genuine fake; safe dangerous; safe risky;
    healthy sick; healthy ill; alive dead; awake asleep; present absent; present missing;
    visible hidden; public private; public secret; open closed; open shut; opened closed;
    open locked; locked unlocked; single married; single taken; married divorced; married unmarried;
    married engaged; married widowed; employed unemployed; employed self-employed; guilty innocent;
    strict lenient; strict relaxed; calm nervous; confident nervous; happy sad; happy unhappy;
    cheerful gloomy; polite rude; friendly hostile; kind cruel; kind mean; generous stingy;
    brave cowardly; shy outgoing; shy confident; lazy hardworking; lazy diligent; patient impatient;
    optimistic pessimistic; optimist pessimist; introvert extrovert; introverted extroverted;
    liberal conservative; formal informal; formal casual; brief detailed; short detailed;
    short lengthy; concise verbose; concise detailed; brief long; terse verbose;
    temporary permanent; permanent fixed-term; fixed variable; fixed flexible; flexible rigid;
    mutable immutable; static dynamic; manual automatic; manually automatically; automated manual;
    mandatory optional; required optional; compulsory optional; compulsory voluntary;
    mandatory voluntary; optional essential; free paid; free occupied; vacant occupied; free busy;
    available unavailable; available busy; available taken; paid unpaid; paid overdue;
    valid expired; valid invalid; current outdated; up-to-date outdated; active inactive;
    active dormant; active retired; active passive; online offline; on off; up down; working broken;
    works broken; intact broken; working down; functional broken; fixed broken; whole broken;
    enabled disabled; installed uninstalled; online in-person; digital paper; digital analog;
    electric manual; electric gas; remote on-site; remote onsite; remotely office; remotely on-site;
    local remote; full-time part-time; fulltime parttime; permanent temporary; vegan vegetarian;
    vegetarian carnivore; vegan carnivore; sober drunk; left-handed right-handed; lefty righty;
    left right; leftmost rightmost; inner outer; inside outside; indoors outdoors; indoor outdoor;
    upstairs downstairs; upper lower; top bottom; front back; front rear; above below; over under;
    north south; east west; northern southern; eastern western; near far; nearby distant; close far;
    first last; early late; earlier later; minimum maximum; min max; major minor; senior junior;
    odd even; ascending descending; horizontal vertical; uppercase lowercase; singular plural;
    synchronous asynchronous; sync async; single-threaded multi-threaded; serial parallel;
    sequential parallel; stateful stateless; read-only writable; strict loose; compiled interpreted;
    encrypted plaintext; male female; window aisle; pro con; sunny cloudy; sunny rainy; urban rural;
    domestic foreign; domestic international; natural artificial; organic conventional;
    leaded unleaded; striped plain; hairy bald; curly straight; smooth crunchy; sparkling still;
    decaf regular; weekly monthly; daily weekly; daily monthly; monthly yearly; monthly annually;
    weekly yearly; hourly daily; nightly weekly; quarterly monthly; quarterly yearly;
    monthly annual; well badly; well poorly; earlybird nightowl; late punctual; strict easygoing;
    strict lax; stable unstable; stable flaky; reliable flaky; repaired broken; bland spicy;
    matte glossy; opaque transparent; loose tight; straight crooked; sharp blurry; sleepy alert;
    humble arrogant; modest proud; talkative quiet; thrifty wasteful; careful careless; tame wild;
    blond dark-haired; fertile barren; solid liquid; cloudy clear; profitable unprofitable;
    popular unpopular; useful useless; harmless harmful; painful painless; permanent interim;
    frugal extravagant; tabs spaces; merge rebase; yes no
"""
_AMOUNTS = """
    all none; everyone nobody; everyone none; everybody nobody; everybody none; someone nobody;
    somebody nobody; everything nothing; something nothing; everywhere nowhere; somewhere nowhere;
    both neither; few many; many none; much little; more less; more fewer; most least; most few;
    always never; always sometimes; always rarely; always seldom; always occasionally; often rarely;
    often never; often seldom; frequently rarely; frequently seldom; regularly rarely;
    usually never; usually rarely; sometimes never; occasionally never; constantly never;
    increase decrease; completely partly; fully partially; morning evening; morning night;
    mornings evenings; mornings nights; morning afternoon; noon midnight; day night; days nights;
    weekdays weekends; before after; with without; for against; can cannot; exactly roughly;
    for-profit non-profit
"""
_DEEDS = """
    like dislike; like hate; likes detests; love hate; love dislike; love detest; love loathe;
    adore hate; adore loathe; enjoy hate; enjoy dislike; loves can't; like loathe; favor oppose;
    back oppose; back reject; favor reject; endorse reject; endorse oppose; trust distrust;
    trust mistrust; accept reject; accept refuse; accept decline; accepted rejected;
    accepted declined; take refuse; allow forbid; allow deny; allow ban; allow prohibit;
    allowed forbidden; allowed banned; allowed prohibited; permit forbid; permit prohibit;
    permit ban; permitted forbidden; permitted prohibited; permitted banned; approved rejected;
    approved denied; approve reject; approve deny; approve disapprove; approved declined;
    granted denied; granted refused; grant deny; grant refuse; confirmed denied; confirm deny;
    confirmed canceled; confirmed cancelled; agree disagree; agree refuse; agreed refused;
    support oppose; supports rejects; encourage discourage; praise criticize; admit deny;
    include exclude; included excluded; enable disable; activate deactivate; start stop;
    starts stops; start end; start finish; begin end; begin finish; began ended; continue stop;
    keep stop; keep drop; kept dropped; keep discard; open close; opens shuts; lock unlock;
    locks unlocks; add remove; install uninstall; install remove; connect disconnect; attach detach;
    show hide; lent borrowed; buy sell; buying selling; bought sold; rent own; rents owns;
    rented owned; win lose; won lost; pass fail; passed failed; succeed fail; succeeded failed;
    success failure; find lose; found lost; remember forget; remembered forgot; rise fall;
    rising falling; rose fell; raise lower; raised lowered; raised cut; raised reduced;
    increase reduce; increase lower; increased decreased; increased reduced; grow shrink;
    growing shrinking; grew shrank; gain lose; gained lost; gaining losing; improve worsen;
    improving worsening; improved worsened; expand shrink; speed slow; hire fire; hiring firing;
    hired fired; hires dismisses; hired dismissed; join leave; joined left; joining leaving;
    arrive leave; arrive depart; arrived left; arrived departed; enter leave; stay leave;
    staying leaving; stayed left; save spend; saves wastes; earn lose; build demolish;
    built demolished; create destroy; repair break; repaired broke; follow ignore; follows breaks;
    answer ignore; obey disobey; attend skip; attended skipped; attended missed; attends misses;
    catch miss; caught missed; promoted demoted; promote demote; upgrade downgrade;
    upgraded downgraded; extend shorten; extended shortened; lengthen shorten; publish withdraw;
    merged reverted; deploy rollback; lives died; believe doubt; knows ignores; need lack;
    has lacks; have lack; postponed advanced; delayed expedited; warm cool; heat cool; fill empty;
    subscribed unsubscribed; prefers avoids; wants refuses; eats avoids; drinks avoids; uses avoids;
    recommends discourages; sends withholds; married divorced
"""
_GERMAN = """
    groß klein; lang kurz; hoch niedrig; hoch tief; tief flach; breit schmal; breit eng; weit eng;
    weit nah; nah fern; dick dünn; schwer leicht; leicht schwierig; einfach schwierig;
    einfach kompliziert; hell dunkel; heiß kalt; warm kalt; warm kühl; heiß lauwarm; scharf mild;
    scharf stumpf; nass trocken; feucht trocken; hart weich; stark schwach; schnell langsam;
    laut leise; laut ruhig; laut still; sauber schmutzig; sauber dreckig; ordentlich unordentlich;
    ordentlich chaotisch; voll leer; reich arm; billig teuer; günstig teuer; neu alt; jung alt;
    frisch alt; roh gekocht; reif unreif; süß sauer; süß bitter; süß salzig; gut schlecht; gut böse;
    besser schlechter; richtig falsch; wahr falsch; echt falsch; sicher gefährlich; gesund krank;
    lebendig tot; wach müde; anwesend abwesend; sichtbar versteckt; öffentlich privat;
    öffentlich geheim; offen geschlossen; offen zu; offen abgeschlossen; geöffnet geschlossen;
    auf zu; auf geschlossen; verheiratet ledig; verheiratet geschieden; verheiratet single;
    verheiratet verwitwet; streng locker; streng nachsichtig; mutig feige; mutig ängstlich;
    faul fleißig; glücklich traurig; fröhlich traurig; höflich frech; nett gemein; geizig großzügig;
    geduldig ungeduldig; optimistisch pessimistisch; introvertiert extrovertiert; förmlich locker;
    knapp ausführlich; kurz ausführlich; befristet unbefristet; fest variabel; fest flexibel;
    starr flexibel; manuell automatisch; freiwillig verpflichtend; freiwillig pflicht;
    optional verpflichtend; optional pflicht; kostenlos kostenpflichtig; gratis kostenpflichtig;
    frei besetzt; frei belegt; verfügbar vergriffen; gültig abgelaufen; gültig ungültig;
    aktuell veraltet; aktiv inaktiv; aktiv passiv; an aus; ein aus; online offline; kaputt heil;
    kaputt intakt; kaputt ganz; kaputt repariert; funktioniert streikt; eingeschaltet ausgeschaltet;
    angeschaltet ausgeschaltet; aktiviert deaktiviert; digital analog; vollzeit teilzeit;
    linkshänder rechtshänder; linkshänderin rechtshänderin; links rechts; linke rechte;
    linken rechten; oben unten; obere untere; vorne hinten; vorn hinten; innen außen;
    drinnen draußen; über unter; nördlich südlich; östlich westlich; norden süden; osten westen;
    erste letzte; früh spät; früher später; pünktlich verspätet; pünktlich unpünktlich;
    pünktlich spät; minimal maximal; immer nie; immer niemals; immer selten; immer manchmal;
    oft selten; oft nie; häufig selten; regelmäßig selten; meistens selten; manchmal nie;
    täglich wöchentlich; täglich monatlich; wöchentlich monatlich; monatlich jährlich;
    morgens abends; vormittags nachmittags; tagsüber nachts; mittags abends; werktags wochenends;
    alle keine; alle niemand; jeder niemand; jeder keiner; jemand niemand; alles nichts;
    etwas nichts; überall nirgends; viel wenig; viele wenige; mehr weniger; vor nach;
    vorher nachher; mit ohne; für gegen; dafür dagegen; gern ungern; gerne ungern; mag hasst;
    mag verabscheut; mögen hassen; liebt hasst; liebt verabscheut; liebe hasse; mag hasse;
    lieben hassen; erlaubt verboten; erlaubt untersagt; gestattet verboten; gestattet untersagt;
    erlaubt verbietet; gestattet verbietet; genehmigt abgelehnt; bewilligt abgelehnt;
    angenommen abgelehnt; akzeptiert abgelehnt; akzeptiert lehnt; zugesagt abgesagt;
    zugestimmt abgelehnt; bestätigt abgesagt; bestätigt storniert; bestätigt dementiert;
    befürwortet ablehnt; unterstützt bekämpft; unterstützt ablehnt; vertraut misstraut;
    lobt kritisiert; eingestellt entlassen; eingestellt gekündigt; stellt entlässt;
    befördert degradiert; gekauft verkauft; kauft verkauft; kaufen verkaufen; gewonnen verloren;
    gewinnt verliert; gefunden verloren; bestanden durchgefallen; bestanden vergeigt;
    erfolgreich gescheitert; gelungen misslungen; gelungen gescheitert; geklappt gescheitert;
    erhöht gesenkt; erhöht reduziert; erhöht senkt; gestiegen gefallen; gestiegen gesunken;
    steigt fällt; steigt sinkt; steigen sinken; steigen fallen; zugenommen abgenommen;
    wächst schrumpft; gewachsen geschrumpft; verbessert verschlechtert; verlängert verkürzt;
    verlängert gekündigt; begonnen beendet; beginnt endet; startet endet; öffnet schließt;
    aufgeschlossen abgeschlossen; gesperrt entsperrt; gesperrt freigegeben;
    installiert deinstalliert; hinzugefügt entfernt; hinzugefügt gelöscht; behalten verkauft;
    behalten weggegeben; verbunden getrennt; geliehen verliehen; gemietet gekauft; miete eigentum;
    mietet besitzt; vergessen gemerkt; erinnert vergessen; angekommen abgefahren;
    eingetreten ausgetreten; einzieht auszieht; eingezogen ausgezogen; eingeladen ausgeladen;
    besucht verpasst; besucht geschwänzt; erwischt verpasst; bezahlt offen;
    veröffentlicht zurückgezogen; vegan vegetarisch; vegetarier fleischesser; steil flach;
    glatt rau; eng locker; matt glänzend; stolz bescheiden; scheu zutraulich;
    sparsam verschwenderisch; gesprächig schweigsam; zahm wild; stabil instabil; stabil wackelig;
    repariert defekt; defekt intakt; defekt funktionsfähig; belegt leer; nützlich nutzlos;
    vorsichtig leichtsinnig; beliebt unbeliebt; sonnig schattig; sonnig regnerisch; bewölkt klar;
    morgenmensch nachtmensch; morgenmensch abendmensch; morgenmensch nachteule;
    frühaufsteher nachtmensch; frühaufsteher nachteule; frühaufsteher langschläfer;
    frühaufsteher morgenmuffel; männlich weiblich; gerade ungerade; schuldig unschuldig;
    selbstständig angestellt; angestellt arbeitslos; bergauf bergab; stadt land; städtisch ländlich;
    nüchtern betrunken; lockig glatt; natürlich künstlich; roher gekochter; bleibt geht;
    bleibt kündigt; isst meidet
"""
_JAPANESE = """
    好 嫌; 大好 大嫌; 好 苦手; 右 左; 朝 夜; 朝 夕方; 朝 晩; 昼 夜; 前 後; 有効 無効; 有 無;
    オン オフ; 独身 既婚; 独身 結婚; 結婚 離婚; 毎日 毎週; 毎週 毎月; 毎日 毎月; 毎月 毎年;
    得意 苦手; 上手 下手; 上 下; 高 低; 高 安; 大 小; 多 少; 暑 寒; 熱 冷; 暖 寒; 温 冷; 早 遅;
    速 遅; 賛成 反対; 公開 非公開; 公開 秘密; 開 閉; 必須 任意; 必要 不要; 強制 任意; 義務 任意;
    成功 失敗; 合格 不合格; 合格 落第; 近 遠; 甘 辛; 甘 苦; ホット アイス; 強 弱; 長 短; 広 狭;
    安 高; 犬派 猫派; 賃貸 持; 賃貸 購入; 重 軽; 厚 薄; 濃 薄; 太 細; 深 浅; 新 古; 若 老; 明 暗;
    硬 柔; 固 柔; 鋭 鈍; 良 悪; 善 悪; 正 誤; 正 間違; 簡単 複雑; 簡単 難; 易 難; 安全 危険;
    安全 危; 静 騒; 静 賑; 清潔 不潔; 綺麗 汚; 満 空; 豊 貧; 健康 病気; 生 死; 買 売; 購入 売却;
    許可 禁止; 可能 不可能; 可 不可; 可 禁止; 承認 却下; 派手 地味; 太 痩; 濃 淡; 急 緩; 忙 暇;
    楽 大変; 本物 偽物; 元気 病気; 有名 無名; 慎重 大胆; 短気 気長; 社交的 内気; 晴 雨; 晴 曇;
    好調 不調; 黒字 赤字; 到着 出発; 直 故障; 修理 故障; 通 却下; 通 落; 承認 拒否; 許可 拒否;
    受諾 拒否; 採用 不採用; 採用 解雇; 採用 却下; 雇 解雇; 入社 退社; 入学 卒業; 入会 退会;
    参加 欠席; 出席 欠席; 参加 不参加; 肯定 否定; 賛 否; 増 減; 増加 減少; 上昇 下降; 上昇 下落;
    値上 値下; 拡大 縮小; 延長 短縮; 始 終; 開始 終了; 開始 停止; 継続 中止; 継続 終了; 続 止;
    開店 閉店; 開催 中止; 勝 負; 勝利 敗北; 覚 忘; 拾 捨; 点 消; 付 消; 笑 泣; 愛 憎; 信頼 疑;
    信 疑; 自動 手動; 電動 手動; 公立 私立; 公 私; 有料 無料; 有線 無線; 屋内 屋外; 室内 屋外;
    室内 室外; 中 外; 内 外; 内側 外側; 表 裏; 東 西; 南 北; 最初 最後; 最大 最小; 最高 最低;
    全員 誰; 全部 一部; 全部 何; 常勤 非常勤; 正社員 派遣; 正社員 アルバイト; 男性 女性; 国内 海外;
    国内 国外; 都会 田舎; 生 加熱; 積極的 消極的; 楽観的 悲観的; 内向的 外向的; 厳 優; 厳 甘;
    丁寧 乱暴; 几帳面 大雑把; 勤勉 怠惰; 真面目 不真面目; 幸 不幸; 便利 不便; 満足 不満; 十分 不足;
    平日 週末; 平日 休日; 未婚 既婚; 未 済; 済 未; 支払済 未払; 使用中 停止中; 稼働 停止;
    同期 非同期; 固定 可変; 静的 動的; 昇順 降順; 大文字 小文字; 在宅 出社; 在宅 不在;
    リモート 出社; 肉食 菜食; 辛党 甘党; 喫煙 禁煙; 詳 簡潔; 詳細 簡潔; 短 詳; 混 空; 登録 解除;
    追加 削除; 接続 切断; 表示 非表示; 保存 削除; 営業 休業; 満席 空席; 直 壊; 正常 異常;
    いつも たまに; 食前 食後; 朝型 夜型; 右利 左利; 辛口 甘口; 賃貸 持ち家
"""
EXCLUSIVE = (
    ";".join((_QUALITIES, _AMOUNTS, _DEEDS, _GERMAN, _JAPANESE)).replace("\n", " ").casefold()
)
"""Pairs of words that exclude each other, separated by semicolons."""


NEGATIONS = frozenset(
    {
        # English; "n't" is cut off as "not" before words are looked up, "no longer" is
        # found by its "no"
        "not", "no", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without",
        "hardly", "barely", "except", "unless", "stopped", "quit", "former", "formerly", "dont",
        "doesnt", "didnt", "isnt", "wasnt", "cant", "wont",
        # German
        "nicht", "nichts", "nie", "niemals", "niemand", "ohne", "weder", "kein", "keine", "keinen",
        "keinem", "keiner", "keines",
        # French: "pas" carries it in speech and in writing, "ne" only sometimes
        "pas", "jamais", "rien", "sans", "aucun", "aucune",
        # Spanish and Portuguese
        "nunca", "jamás", "nada", "nadie", "ningún", "ninguno", "ninguna", "tampoco", "sin", "não",
        "sem",
        # Russian
        "не", "нет", "ни", "без", "никогда", "никто", "ничего", "нельзя",
        # Chinese and Japanese are read character by character
        "不", "没", "沒", "无", "無", "未", "别", "非", "勿",
    }
)  # fmt: skip
JAPANESE_ENDINGS = ("ません", "ない", "なかった", "なく")

_RIVALS: tuple[str, ...] = (
    # who
    "i you he she we they", "my your his her our their", "me you him her us them", "mother father",
    "brother sister", "son daughter", "husband wife", "man woman", "men women", "boy girl",
    "uncle aunt",
    # where and when
    "from to", "before after", "above below", "over under", "left right", "in out", "on off",
    "up down", "north south east west", "yesterday today tomorrow",
    "morning noon afternoon evening night", "early late", "earlier later", "is was", "are were",
    "am was", "has had", "do did", "does did", " ".join(WEEKDAYS), " ".join(MONTHS),
    # how many and how much
    (
        "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty "
        "hundred thousand million"
    ),
    "first second third fourth last", "all some none", "few many", "more less", "more fewer",
    "most least", "minimum maximum", "min max",
    "always never sometimes rarely", "best worst", "better worse", "high low", "higher lower",
    "big small", "long short", "full empty",
    # what is done and what it is like
    "with without", "for against", "like dislike", "like hate", "love hate", "love dislike",
    "true false", "yes no", "good bad", "open close",
    "open closed", "start stop", "start end", "began ended", "buy sell", "bought sold", "win lose",
    "won lost", "give take", "gave took", "send receive", "sent received", "arrive leave",
    "arrived left", "accept reject", "accept refuse", "allow forbid", "allow deny",
    "enable disable", "increase decrease", "add remove", "keep drop", "kept dropped", "rise fall",
    "rose fell", "old new", "old young", "hot cold", "warm cold", "fast slow", "light dark",
    "cheap expensive", "easy hard", "easy difficult", "success failure", "succeed fail",
    "pass fail", "married divorced", "married single", "can cannot", "must may", "public private",
    "import export",
    # other languages
    "ich du er sie wir ihr", "mein dein sein ihr unser", "vor nach", "links rechts", "immer nie",
    "mag hasst", "je tu il elle nous vous", "mon ton son", "avant après", "gauche droite",
    "toujours jamais", "aime déteste", "yo tú él ella", "antes después", "izquierda derecha",
    "siempre nunca", "ama odia", "я ты он она мы вы они", "до после", "всегда никогда",
    "любит ненавидит", "二 三 四 五 六 七 八 九 十 百 千 万", "我 你 他 她", "上 下", "左 右",
    "大 小", "多 少", "前 后", "前 後", "爱 恨", "愛 恨", "男 女",
)  # fmt: skip
MOST_BESIDE = 1
"""Words of each side, besides those of both sides, that can be opposites: "on" and "off", not "on
in the kitchen" and "off in the hall".
"""
_ENDINGS = ("", "s", "d", "es", "ed", "ing")
_INFLECTIONS = ("s", "d", "es", "ed", "ing", "er", "est", "r", "st", "ly", "e", "en", "em", "t")
_CHANGED_ENDINGS = (
    ("ier", "y"),
    ("iest", "y"),
    ("ily", "y"),
    ("ies", "y"),
    ("ied", "y"),
    ("ing", "e"),
)
LEAST_LETTERS = 4
"""Letters of a word that may have an ending."""
_REVERSING = ("un", "in", "im", "il", "ir", "dis", "non", "de", "mis", "non-")


def _groups() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, words in enumerate(_RIVALS):
        for word in words.split():
            groups.setdefault(word, set()).add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


_GROUPS = _groups()


def _exclusive() -> frozenset[tuple[str, str]]:
    pairs = [tuple(pair.split()) for pair in EXCLUSIVE.split(";")]
    return frozenset(
        (word, other)
        for first, second in pairs
        for word, other in ((first, second), (second, first))
    )


_EXCLUDES = _exclusive()


def _opposites() -> dict[str, set[str]]:
    opposites: dict[str, set[str]] = {}
    for word, opposite in _EXCLUDES:
        opposites.setdefault(word, set()).add(opposite)
    return opposites


_OPPOSITES = _opposites()
_JAPANESE_REVERSING = ("不", "非", "無", "未")


def exclude_each_other(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether words in the same place of two statements are opposites.

    For example on and off, married and single. Words that both sides have are ignored. The order of
    the sides makes no difference.

    Args:
        first: A few case-folded words.
        second: The words in the same place of the other statement.

    """
    ours, theirs = (
        [token for token in first if token not in second],
        [token for token in second if token not in first],
    )
    if _exclude_in_japanese(first, second):
        return True
    if any(
        len([token for token in side if not _is_hiragana(token)]) > MOST_BESIDE
        for side in (ours, theirs)
    ):
        return False
    return any(
        (word, other) in _EXCLUDES
        for mine in ours
        for your in theirs
        for word in _forms(mine)
        for other in _forms(your)
    ) or (
        len(ours) == len(theirs) == 1
        and (_reverses(ours, frozenset(theirs)) or _reverses(theirs, frozenset(ours)))
    )


def _exclude_in_japanese(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the characters of both sides make words that exclude each other.

    Each character is a token of its own.
    """
    word, other = (
        "".join(token for token in side if not _is_hiragana(token)) for side in (first, second)
    )
    if not word or not other or word.isascii() or other.isascii():
        return False
    return (word, other) in _EXCLUDES or any(
        word == mark + other or other == mark + word for mark in _JAPANESE_REVERSING
    )


def _is_hiragana(token: str) -> bool:
    return "\u3041" <= token[0] <= "\u309f"


def opposites_of(words: Iterable[str]) -> frozenset[str]:
    """The words that exclude any of these, case-folded."""
    return frozenset(opposite for form in forms_of(words) for opposite in _OPPOSITES.get(form, ()))


def forms_of(words: Iterable[str]) -> frozenset[str]:
    """Words, case-folded, and the words without endings that they may be forms of."""
    return frozenset(form for word in words for form in _forms(word))


def is_form_of(word: str, words: Collection[str]) -> bool:
    """Whether a word is among these, with an ending or without.

    Args:
        word: Case-folded.
        words: The words without endings.

    """
    return any(form in words for form in _forms(word))


@keep_texts(8_192)
def _forms(word: str) -> tuple[str, ...]:
    """A word as it is, and without its ending.

    English endings of a person, a past or a comparison, and German endings of an adjective are
    removed.
    """
    if not word.isalpha() or len(word) < LEAST_LETTERS:
        return (word,)
    shorter = {word.removesuffix(ending) for ending in _INFLECTIONS if word.endswith(ending)}
    changed = {
        word[: -len(ending)] + base for ending, base in _CHANGED_ENDINGS if word.endswith(ending)
    }
    doubled = {stem[:-1] for stem in shorter if len(stem) > LEAST_LETTERS and stem[-1] == stem[-2]}
    return (word, *sorted(shorter | changed | doubled))


def opposed(first: Collection[str], second: Collection[str]) -> bool:
    """Whether a word of either side excludes a word of the other.

    They are rivals of a group, or a word is the other with un-, dis-, …. English endings do not
    matter: "enabled" and "disables" are opposed as "enable" and "disable" are. The order of the
    sides makes no difference.

    Args:
        first: Case-folded words.
        second: Case-folded words.

    """
    ours, theirs = _stems(first), _stems(second)
    if any(_GROUPS[word] & _GROUPS[other] for word in ours for other in theirs if word != other):
        return True
    return _reverses(first, frozenset(second)) or _reverses(second, frozenset(first))


def _reverses(words: Collection[str], others: frozenset[str]) -> bool:
    return any(
        word.startswith(prefix) and len(word) > len(prefix) + 2 and word[len(prefix) :] in others
        for word in words
        for prefix in _REVERSING
    )


def _stems(words: Collection[str]) -> frozenset[str]:
    """The listed words that are among these, with or without an ending."""
    stems = (word.removesuffix(ending) for word in words for ending in _ENDINGS)
    return frozenset(stem for stem in stems if stem in _GROUPS)
