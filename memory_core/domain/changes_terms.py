"""Words by their part in a change: those that say nothing of what it is about, relatives, names for one matter, things of one kind."""

from __future__ import annotations

import re

from memory_core.domain.calendar_names import GERMAN_MONTHS, GERMAN_WEEKDAYS, MONTHS, WEEKDAYS
from memory_core.domain.languages import has_japanese
from memory_core.domain.text import terms_of

_WEAK = """
    tried yet myself yourself himself herself together only anyway instead people
    user users assistant user's thing things way ways time times day days week weeks weekend month months year years today tonight
    tomorrow yesterday morning mornings afternoon evening evenings night nights noon hour hours minute minutes second first last next new
    old now then just really very still finally again back already ever never always usually often sometimes actually maybe also too
    much many lot lots bit more most less least some any all every each other another same one two three four five six seven eight nine
    ten go goes going went gone get gets getting got take takes taking took make makes making made do does doing did done have has had
    having be been am is are was were use uses using used work works working worked want wants wanted need needs needed like likes liked
    love loves know knows think thinks say says said tell tells told see look looks looking feel feels let put puts come comes came keep
    keeps try tries trying tried start starts starting started stop stopped stops move moves moved moving change changes changed switch
    switched give gives given gave up out off over in on at to from of for with about into since till until around before after because
    please thanks thank help idea ideas tip tips good great nice best better bad worse sure ok okay oh well yes no not dont cant im ive
    id ill its thats whats hi hello hey lol haha ugh phew can could would should will may might must shall if so but and or as than there
    here what when where which who why how my your his her our their me you him them us we they she he it this that these those guy
    called name named people person someone somebody something anything everything nothing plan plans planned planning question questions
    even though however quite rather read reading sound sounds end ends ended feel feels felt own real life world start finish actual good
    enough interest interesting amazing awesome cute beautiful cool crazy early late later long short high low hot cold free full open
    close closed hold holding hear heard happen happened play playing watch watching talk talking speak call called ask asked answer show
    showed turn turned walk walking run running sleep wait hope care worry worried seem seems believe understand learn learned lose lost
    win won bring brought write wrote meet met pick picked stay stayed stuff kind sort part end side number case point fact reason problem
    issue story word words order experience future past present moment minute while course self body head hand face eye eyes heart mind
    world country state city town room door water food air light sound color colour size money business company group team relationship
    actual literal probable definite total certain honest glad sad tired busy ready able different similar special important main whole
    totally literally probably definitely certainly exactly basically honestly especially usually normally outside inside everyday worth
    anymore same alone somewhere else besides apart sometime sort rest favorite favourite game
    yeah yep oh hmm wow anyway afternoon
    don won isn doesn didn couldn shouldn wouldn aren wasn weren hasn haven hadn ain ve ll re home place family life day job sit sitting
    chance hope dream dreams hard easy fun friend friends believe happy image photo photography
    recommend suggest recommendations message remind reminder remember forget mean means meant currently recently lately left right
    live lives living lived buy buys bought sell sold pay pays paid pretty quite whole little big small half
    ich du er sie es wir ihr mein meine meinen meinem meiner dein sein unser unsere unserem und oder aber denn weil dass der
    die das den dem
    des ein eine einen einem einer ist sind war waren bin habe hab hat haben hatte wird werden wurde wurden mit ohne für von bei zu zum zur
    ins aufs ans vom zur beim im in an am auf aus nach seit bis um
    über unter vor hinter nicht kein keine keinen mehr noch schon jetzt nun dann da hier auch nur sehr
    so wie was wer wo wann warum kann kannst können könnte bitte danke hallo tag tage woche wochen monat monate jahr jahre heute morgen
    gestern abend mittag nacht uhr gut neue neuen neuer neues neu alt alte alten letzte letzten letzter nächste nächsten mal doch ja nein
    geht gehe gehen ging mache macht machen gemacht weiß mag möchte will muss gerade endlich wieder immer oft viel viele wenig zwei drei
    vier fünf sechs sieben acht neun zehn man mir mich dir dich uns euch ihm ihn ihnen heißt heiße euro tipps tipp ideen idee
"""
_WEAK_IN_JAPANESE = (
    "今日 今月 今年 今週 先週 先月 去年 来週 来月 来年 最近 毎日 毎週 毎朝 毎月 昨日 明日 今朝 午前 午後 時間 場合 自分 今度"
    " 時半 月曜 火曜 水曜 木曜 金曜"
    " 土曜 日曜 曜日 予定 新し 大好 好き 食べ 飲み 行き 思う 教え 言う 使う 使い 買い 何か 一番 本当 結局 変更 予約 少し 全部"
    " 先日 毎晩 一緒 家族 乗り 乗っ 換え 替え 名前"
)
_DAYS = (*WEEKDAYS, *GERMAN_WEEKDAYS)
_WEAK_WORDS = (*_WEAK.split(), *_DAYS, *(f"{day}s" for day in _DAYS), *MONTHS, *GERMAN_MONTHS)
WEAK = frozenset([*_WEAK_WORDS, *terms_of(_WEAK_WORDS)])
WEAK_IN_JAPANESE = frozenset(_WEAK_IN_JAPANESE.split())
"""Words that two messages may share without being about one thing."""

_KIN = """
    mother mom mum father dad parents brother brothers sister sisters son sons daughter daughters child wife husband partner boyfriend
    girlfriend fiancé fiancee friend friends colleague colleagues coworker neighbour neighbor neighbours neighbors boss cousin aunt uncle
    grandma grandpa grandmother grandfather roommate flatmate niece nephew
    mutter mama vater papa eltern bruder schwester sohn tochter frau mann partnerin freund freundin kollege kollegin kollegen nachbar
    nachbarin tante onkel oma opa cousine neffe nichte mitbewohner mitbewohnerin
"""
KIN = frozenset(_KIN.split())
KIN_IN_JAPANESE = re.compile(
    r"(?:お?父(?:さん)?|お?母(?:さん)?|兄|姉|弟|妹|夫|妻|旦那|息子|娘|友達|友人|同僚|祖父|祖母|彼女|彼氏|いとこ|両親|先輩"
    r"|後輩)(?=[はがのもと])"
)

_ALIKE = (
    "due deadline fällig abgabe abgabetermin frist 締め切り 締切",
    "thesis topic dissertation masterarbeit thema 論文 テーマ",
    "gym membership fitnessstudio fitness ジム",
    "iphone phone smartphone cellphone handy android samsung galaxy 携帯 スマホ",
    "insurance insurer insurers insur versicherung versicherer 保険",
    "surname name nachname familienname 名字 苗字",
    "salary raise wage wages gehalt lohn 給料 年収 月給",
    "rent landlord flat apartment miete vermieter wohnung 家賃 大家",
    "wedding wed engaged engag married marry marri verlobt hochzeit heiraten 結婚 挙式",
    "coffee espresso caffeine caffein latte kaffee koffein コー ヒー 珈琲 カフ",
    "alcohol beer wine bier wein alkohol お酒 ビール 飲酒",
    "smoke smoker smoking cigarette cigarett cigaret smok rauch rauche rauchen raucher raucherin zigarette zigaretten タバ バコ 煙草",
    "meat steak beef chicken pork bacon fleisch fleischesser rind 肉食 お肉",
)
ALIKE = {
    term: place
    for place, words in enumerate(_ALIKE)
    for word in words.split()
    for term in (word, *terms_of([word], "english"), *terms_of([word], "german"))
}
"""By word, the number of the matter that it is about, where people name one matter by several words."""


_KINDS = (
    "vim neovim emacs helix vscode sublime intellij pycharm webstorm zed nano eclipse xcode notepad++ cursor",
    "slack teams discord mattermost zulip whatsapp signal telegram threema line skype zoom",
    "firefox chrome safari edge brave opera vivaldi arc",
    "jira linear asana trello monday clickup notion basecamp redmine todoist things ticktick",
    "jenkins circleci travis gitlab github bitbucket",
    "heroku fly.io fly vercel netlify render aws azure gcp hetzner digitalocean",
    "postgres postgresql mysql mariadb sqlite mongodb oracle cassandra redis dynamodb",
    "lastpass bitwarden 1password keepass dashlane",
    "outlook thunderbird gmail mailbird protonmail",
    "windows macos linux ubuntu debian fedora nixos arch",
    "vodafone giffgaff telekom o2 verizon t-mobile at&t ee three comcast congstar ソフトバンク 楽天モバイル ドコモ ワイモバイル",
    "allianz axa huk ergo aviva geico progressive admiral zurich",
    "netflix disney hulu prime spotify deezer tidal",
    "iphone pixel samsung galaxy oneplus xiaomi fairphone huawei nokia xperia",
    "honda toyota ford civic corolla golf polo tesla bmw audi volvo mazda skoda kia fiat opel seat prius rav4 プリウス フィット アクア",
    "sparkasse n26 ing dkb comdirect revolut monzo barclays hsbc lloyds natwest chase commerzbank",
    "react vue angular svelte python rust golang java kotlin typescript javascript ruby elixir",
    "nikon canon sony fujifilm leica panasonic",
    "vegan vegetarian omnivore pescatarian",
)
KINDS = {word: place for place, words in enumerate(_KINDS) for word in words.split()}
KINDS_IN_JAPANESE = tuple(word for word in KINDS if has_japanese(word))
"""By name, the kind of thing of which people mostly use one: who switches to one of a kind leaves another."""
