"""The table of Japanese statements that are facts, with their slots.

A clause without another topic is about its speaker, whom Japanese leaves out. Note: a clause ends
at its verb, and its ending distinguishes a fact from a question, a wish or a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memory_core.adapters.offline.animals import IN_JAPANESE as ANIMAL
from memory_core.adapters.offline.animals import JAPANESE_PETS
from memory_core.adapters.offline.clause_facts import ClauseLanguage, Row
from memory_core.adapters.offline.introductions import japanese_clauses, with_name
from memory_core.adapters.offline.occupations import JAPANESE_JOB, JAPANESE_JOBLESS, JAPANESE_TRADE
from memory_core.domain.statements.change_topics import CARS_IN_JAPANESE
from memory_core.domain.statements.japanese_persons import (
    BARE_NAME,
    OTHERS,
    TIMES,
    goes_on,
    person_of,
)
from memory_core.domain.truth.slots import NO_LONGER

_V = r"(?P<value>[^、。はがをに\s]{1,20})"
_LONG = r"(?P<value>[^、。]{1,30}?)"
_IS = (
    r"(?:です|だ(?:よ|ね)?|なんです|でして|で、|で\Z|になりました|に変わりました|と申します"
    r"|といいます|と言います|という(?:名前)?)"
)
_ING = r"(?:て|で)(?:い)?(?:ます|る|おります|て)"
_ONE = "妻|夫|旦那|奥さん|嫁|彼女|彼氏|母|父|上司|大家|婚約者"
_MANY = (
    "娘|息子|長女|長男|次女|次男|姉|妹|兄|弟|祖母|祖父|叔母|叔父|いとこ|友人|友達|親友|同僚|部下|子ども|子供"
    "|孫|主治医|担当医"
)
_SINCE = (
    r"(?:[今先来去](?:月|週|年)|昨年|昨日|今日|この(?:春|夏|秋|冬)|[春夏秋冬]|\d{1,4}年|\d{1,2}月)"
    r"(?:の[^、。]{1,4})?から"
)
_OVER = f"{NO_LONGER} {{value}}"
_NO_EMPLOYER = (
    r"(?:家|自宅|在宅|実家|前職|今|現在|海外|地元|田舎|東京|大阪|京都|名古屋|横浜|神戸|福岡|札幌|仙台|広島|千葉|埼玉|静岡|新潟"
    r"|金沢|岡山|熊本|鹿児島|沖縄|北海道|東北|関東|関西|九州|四国|日本|アメリカ|[^、。はでを\s]{1,6}[都道府県市区町村])"
)
_WORKPLACE = rf"(?P<value>(?!{_NO_EMPLOYER}で)[^、。はでを\s]{{2,20}}?)"
_NAMED_SO = r"(?:です|だ|と|で(?=(?:今年|もう|来年|来月)|、|\d)|\Z)"
_CALLED = (
    r"(?:という名前|といいます|と言います|って(?:いい|言い)ます|って(?:いう|言う)(?:ん[でだ]|の\Z))"
)
_DIET = "ベジタリアン|ヴィーガン|ビーガン|菜食主義|グルテンフリー|糖質制限|ペスカタリアン"
_GIVEN_UP = r"(?:生活|食)?[をはも]?(?:もう)?(?:やめ|辞め|止め|卒業し|終わりにし)(?:まし|た|て)"
_ROWS: tuple[Row, ...] = (
    Row(
        "home city",
        r"もう(?P<value>[^、。はがにで\s]{1,12})(?:に|には)(?:住んで(?:い)?|住み)(?:ません|ない)",
        filled=_OVER,
        denies=True,
    ),
    Row(
        "employer",
        rf"(?:\A|[、。はがにで])(?P<value>(?!(?:{JAPANESE_JOB}|{JAPANESE_TRADE})を)[^、。はがにで\s]{{1,15}})"
        r"を(?:辞め|退職し)",
        filled=_OVER,
    ),
    *(
        Row(attribute, JAPANESE_JOBLESS, filled=NO_LONGER)
        for attribute in ("employer", "occupation")
    ),
    Row(
        "occupation",
        rf"もう(?P<value>{JAPANESE_TRADE})(?:では|じゃ)(?:あり|な)"
        rf"|(?P<value2>{JAPANESE_TRADE})を(?:辞め|やめ|引退し)"
        rf"|もう(?P<value3>{JAPANESE_TRADE})として(?:は)?(?:働い|勤め|勤務し)",
        filled=_OVER,
        denies=True,
    ),
    Row("occupation", rf"から(?P<value>{JAPANESE_TRADE})(?:に|へ)転職し"),
    Row(
        "employer",
        rf"から(?P<value>(?!{JAPANESE_TRADE}|{_NO_EMPLOYER}[にへ])[^、。はがをにへ\s]{{2,15}}?(?<![業職社]))"
        r"(?:に|へ)転職し",
    ),
    # home, work
    Row(
        "home city",
        r"(?:\A[私俺僕]?|は|に|、|今|現在|家族で|一人で)"
        r"(?P<value>(?![私俺僕]|[あそこ]の)[^、。はがにで\s]{1,12}(?<!の間)(?<!近く))"
        r"(?:(?:に|で)(?:住ん(?!でい?(?:た|まし))|(?:一人)?暮らし(?!てい?(?:た|まし)|をしてい?た))"
        r"|在住|住み(?:です|だよ?|なん)?\Z)",
    ),
    Row(
        "home city",
        r"(?:[先今](?:月|週|年)|去年|昨年|昨日)?"
        r"(?P<value>[^、。はがもにへ\s]{1,12})(?:に|へ)引っ越し(?:ました|た(?!い|ら|り|く|が)|てき|て\Z)",
    ),
    Row(None, r".{0,20}(?:に|へ)(?:引っ越します|引っ越す|転勤)"),
    Row("origin", r"(?:\A|は|、)(?P<value>[^、。は\s]{1,10})(?:の)?出身"),
    Row("home town", r"(?:実家|地元|故郷)は" + _V + r"(?:です|に|だ)"),
    Row(
        "employer",
        rf"(?:\A|は|、|今|現在|[私僕俺]が)(?:{_SINCE})?"
        r"(?P<value>(?![^、。]{0,8}から)[^、。はがで\s]{1,20}?)"
        r"(?:という会社)?(?:で|に)(?:勤め|勤務|働き始め|働い)(?!し?てい?(?:た|まし))",
    ),
    Row(
        "employer",
        rf"(?:\A|、|私は|僕は|今は|現在は){_WORKPLACE}で(?!主[婦夫])(?:{JAPANESE_TRADE}|販売|接客|総務)"
        r"(?:を|の仕事を)?(?:やって|して)",
    ),
    Row("occupation", r"(?P<value>[^、。はでの\s]{1,12})として(?:働い|勤め|勤務)"),
    Row(
        "occupation",
        rf"(?:\A(?:私|僕|俺)?は?|仕事は|職業は|で|今は|現在は)(?:結局|やっぱり|やはり|実は|ずっと)?(?P<value>(?:(?:トラック|バス|タクシー)の)?[^、。はのでを]{{0,10}}{JAPANESE_TRADE})"
        r"(?:です|をして|だ|やって(?:い)?(?:ます|る))"
        r"|\A今は(?P<value2>[^、。はのでを]{1,10}の(?:スタッフ|店員|社員|staff|teacher))(?:です|をして|だ)",
    ),
    Row("field of study", r"大学(?:院)?で(?P<value>[^、。はを\s]{1,12})を(?:学|勉強|専攻|研究)"),
    # name, age, nationality
    Row(
        "name",
        r"\A(?:はじめまして|初めまして|こんにちは|こんばんは)?、?(?P<value3>[^、。はがの\s]{2,10})と申します"
        r"|\A(?:はじめまして|初めまして)、(?P<value4>[^、。はがのでに\s]{2,7}(?<![者生員師家婦中年老]))"
        r"(?:です|といいます|と言います)\Z"
        r"|(?:\A|私の|僕の)(?:名前は|(?:私|僕)は)(?P<value>[^、。は\s]{1,10}?)(?:と申します"
        r"|といいます|と言います|って(?:いい|言い)ます|って(?:いう|言う)(?:ん[でだ]|の\Z))|(?:\A|私の|僕の)名前は(?P<value2>[^、。は\s]{1,10})です",
    ),
    Row(
        "age",
        r"(?:\A|私は|僕は|、|今年|今年で|もうすぐ)(?P<value>\d{1,2}|1[01]\d)(?:歳(?:です|になり|だ|(?<=\d\d歳)、|で、(?![^。\n]{0,120}た\Z))"
        rf"|になりました|歳の(?!(?:{_ONE}|{_MANY}|双子|子))[^、。はが]{{2,10}}(?:です|をして|で、))",
    ),
    Row(
        "last name",
        r"(?:名字|苗字|姓)(?:が|は)(?P<value>[一-龯々ァ-ヶー]{1,6})(?:になりました|になった|に変わりました|に変わった|です)",
        denies=True,
    ),
    Row(
        "birthday",
        r"(?:\A|私の|僕の)誕生日は(?:(?P<value>[^、。]{2,12}?)(?:です|だ|なん)"
        r"|(?P<value2>\d{1,2}月\d{1,2}日)\Z)",
    ),
    Row("handedness", r"(?P<value>左利き|右利き)"),
    Row("spouse", r"離婚しました", filled=NO_LONGER),
    Row("marital status", r"(?P<value>独身|既婚|離婚しました|結婚して(?:い)?ます|婚約中)"),
    Row(
        "marital status",
        r"(?:\A|は|、|月|週|年|日|と|に)結婚し(?:まし)?た\Z|結婚式(?:が|は|も)?(?:無事に?)?(?:終わ|挙げ)",
        filled="既婚",
    ),
    Row("marital status", r"婚約し(?:まし)?た\Z|プロポーズされ(?:まし)?た\Z", filled="婚約中"),
    Row("blood type", r"血液型は(?P<value>\w{1,2}型)"),
    # relatives and friends
    Row(
        "name",
        rf"(?P<of>{_ONE})の名前は{_LONG}{_NAMED_SO}"
        rf"|(?P<of2>{_ONE})は(?P<value2>[^、。はが\s]{{1,8}}?){_CALLED}",
        subject="{of}",
    ),
    Row(
        "{of} {value}",
        rf"(?P<of>{_MANY})の名前は{_LONG}{_NAMED_SO}"
        rf"|(?P<of2>{_MANY})は(?P<value2>[^、。はが\s]{{1,8}}?){_CALLED}",
        filled="yes",
    ),
    *JAPANESE_PETS,
    Row(
        None,
        rf"(?:\A|私の|うちの|僕の|、)(?:{_ONE}|{_MANY}|{ANIMAL})(?:の[^、。は]{{1,8}})?(?:は|が"
        rf"|も).{{2,40}}(?:です|ます|だ|る|い|ない)(?:。|\Z|よ|ね|ので|から|が、)",
    ),
    Row(
        None,
        (
            r".{0,10}(?:を|が)(?:\w{0,3}[匹人頭羽台]).{0,6}(?:飼っ|い(?:ます|る)|持っ|あり)"
            r"|.{1,12}を飼(?:っ|い始め)"
        )
        + r".{0,8}",
    ),
    Row("number of children", r"子(?:ども|供)(?:は|が)(?P<value>[一二三四五1-9])人"),
    # health and food
    Row(
        "allergy to {value}",
        r"(?:(?P<who>[^、。はが\s]{1,8})(?:は|が"
        r"|には))?(?P<value>[^、。はがの\s]{1,10})(?:の)?アレルギー(?:が(?!治|なくな|よくな|消え)|です|で|を|持ち|なん"
        r"|なので)",
        filled="yes",
    ),
    Row(
        "allergy to {value}",
        r"(?:(?P<who>[^、。はが\s]{1,8})(?:は|の))?(?P<value>[^、。はがの\s]{1,10})(?:の)?アレルギー(?:が|は)"
        r"(?:[^、。]{0,6})(?:治り|治っ|なくなり|なくなっ|消え)",
        filled="no",
        denies=True,
    ),
    Row(
        "condition {value}",
        r"(?P<value>花粉症|喘息|ぜんそく|糖尿病|高血圧|偏頭痛|片頭痛|腰痛|アトピー|うつ病|不眠症"
        r"|低血圧|貧血|リウマチ|てんかん|乳糖不耐症)(?:です|が|で|を|なん|持ち|と診断)",
        filled="yes",
    ),
    Row(
        None,
        r"(?:毎日|毎朝|毎晩|朝|夜|食後|一日).{0,10}(?:薬|錠|インスリン|サプリ).{0,10}(?:飲ん|服用"
        r"|打っ|使っ).{0,8}",
    ),
    Row("diet", rf"(?P<value>{_DIET})(?!{_GIVEN_UP})"),
    Row("diet", rf"(?P<value>{_DIET}){_GIVEN_UP}", filled=_OVER),
    Row(
        "eats {value}",
        r"(?<!け)(?P<value>(?!もう|あま|あん|んま|まり|で|[^、。\s]{0,10}(?:歳|ごはん|ご飯|食事|何も|けど|から|ので)|(?:[ぁ-ん]|私|僕|俺)食べ)"
        r"[^、。を\s]{1,10}?)(?<!はん)(?<!ご飯)(?<!食事)(?<!何)(?:は|が|を)?"
        r"(?:一切|全く|もう|あまり|あんまり)?食べ(?:ません|ない"
        r"|られません|られない|なくなりました|なくなった)",
        filled="no",
        denies=True,
    ),
    Row(
        "drinks {value}",
        r"(?:\A|(?<=、))(?:(?:私|僕|俺)は)?(?:もう|普段は?|今は|[^、。はがの\s]{1,6}から)?"
        r"(?P<value>[^、。\sは]{1,10}?)"
        r"(?:は|が|を)(?:一切|全く|もう|あまり)?飲(?:みません|まない"
        r"|めません|めない|まなくなりました|まなくなった)",
        filled="no",
        denies=True,
    ),
    Row(
        "smokes",
        r"(?:タバコ|たばこ|煙草)は?(?:吸いません|吸わない|やめました|やめた)",
        filled="no",
        denies=True,
    ),
    # likes
    Row(
        "favourite {of}",
        r"(?:一番)?好きな(?P<of>[^、。は\s]{1,10})は(?P<value>[^。]{1,25}?)(?:です|だ|かな|なん"
        r"|で、)",
    ),
    Row(
        "opinion of {value}",
        r"(?:\A|私は|僕は|、|も|特に)(?:[^、。は\s]{1,10}より(?:も)?)?"
        r"(?P<value>[^、。は\s]{1,15}?)(?:の方|のほう)?(?:が|は)(?:大|とても|すごく"
        r"|一番)?好き(?:です|だ|で|なん|な(?:ので|ん))",
        filled="likes",
    ),
    Row(
        "opinion of {value}",
        r"(?:\A|私は|僕は|、|も|特に)(?P<value>[^、。は\s]{1,15}?)(?:が|は)(?:とても|すごく"
        r"|どうも|ほんと(?:うに|に)?|マジで)?(?:苦手|嫌い|大嫌い)(?:です|だ|で|なん|な)",
        filled="dislikes",
        denies=True,
    ),
    Row(
        "hobby {value}",
        r"趣味は(?P<value>[^、。]{1,20}?)(?:です|だ|で|と)|(?P<value2>[^、。は]{1,15})が趣味",
        filled="yes",
    ),
    # possessions, skills, habits, tools
    Row("car", r"(?:車|愛車|マイカー)は(?P<value>[^、。]{1,15}?)(?:です|に乗|だ|にな|に変)"),
    Row("car", r"(?:\A|、|は)(?P<value>[^、。はに\s]{1,12})に乗って(?:い)?(?:ます|る)"),
    Row(
        "car",
        rf"(?:\A|、)(?P<value>{CARS_IN_JAPANESE})[をは]?売(?:って|った|りまし|却し)",
        filled=_OVER,
    ),
    Row(
        "car",
        rf"(?:売って|手放して|[新中]古?車の|車は)、?(?P<value>{CARS_IN_JAPANESE})を(?:買いまし|買った|買って|購入し)",
    ),
    Row(
        "speaks {value}",
        r"(?P<value>[^、。とはがを\s]{1,8}(?<![敬単用略])語)(?:が|を|も)?.{0,4}"
        r"(?:話せ|話し(?!て(?:[くほ欲頂よね]|下さ|もら|いただ|\Z))|しゃべれ|できます)",
        filled="yes",
    ),
    Row(
        "learning {value}",
        r"(?P<value>[^、。とはがを\s]{1,10})を(?:習っ|勉強し|学ん|練習し)",
        filled="yes",
    ),
    Row(
        None,
        r"(?:毎朝|毎日|毎晩|毎週|毎月|毎年|週に|月に|いつも|普段|平日は|週末は"
        r"|[月火水木金土日]曜).{2,40}(?:ます|る|です)(?:。|\Z|よ|ね|が)",
    ),
    Row(
        None,
        (
            r".{1,20}(?:で|では|に|は)?.{1,25}を(?:使っ|利用し|愛用し|契約し|集め|続け|運営し|弾い"
            r"|やっ)"
        )
        + _ING
        + r"?.{0,6}",
    ),
    Row(
        "{of}",
        r"(?:\A|私の|うちの|、)(?:新しい)?(?P<of>予算|電話番号|住所|メールアドレス|身長|体重|靴のサイズ|家賃"
        r"|給料|年収|締め切り|締切|納期|パスワード|暗証番号)は"
        r"(?P<value>(?!絶対|もう|まだ|覚え|忘れ|消|削除)[^、。]{1,30}?)(?:です|だ"
        r"|で(?!す)|に|と)",
    ),
    # plans
    Row(
        None,
        r"(?:\d{1,2}月\d{0,2}日?|\d{1,2}日|来週|来月|来年|再来週|今月末|今週末|明後日|夏休み|年末"
        r"|春|夏|秋|冬)(?:の[^、。に]{1,8})?(?:に|から|は|、).{2,40}(?:予約|予定|ます|あり|行く"
        r"|です)(?:が|。|\Z|よ|ね|で|を)?.{0,8}",
    ),
)
JAPANESE = ClauseLanguage(
    rows=_ROWS,
    unasserted=re.compile(
        r"(?:」って|」と|(?:です|ます)って[^、。]{1,8}語で|語で(?:なん|何)て|映画では|小説では|ドラマでは|アニメでは|ゲームでは|物語|主人公|たら|なら"
        r"|れば|かもしれ|だろう|でしょう|たい(?:です|な|と)|と思い|と言って|そうです|らしい|みたい"
        r"|夢|もし|ましょうか|ですか|ますか|でしょうか)"
    ),
    denied=re.compile(r"(?:ない|ません|なかった)"),
    later=re.compile(r"(?:来週|再来週|来月|来年|\d{1,2}月|明日)から"),
    another=re.compile(
        rf"(?P<other>\A(?:(?:{TIMES})、?)?{BARE_NAME}(?=は"
        r"|の[^、。はがの]{0,8}(?:アレルギー|喘息|病気|趣味|仕事|年齢|誕生日|血液型"
        r"|身長|体重)[はがを])"
        rf"|(?:{OTHERS}|{ANIMAL})(?=(?:の[^、。は]{{1,8}})?(?:は|が|も|、もう|、最近)))"
    ),
)
_PARTS = re.compile(
    r"(?<=[辞や]めて)、|(?<=退職して)、|(?<=引っ越して)、|(?<=[すたるいだ])(?:が|けど|けれど|ので|から|し)、|(?<=です)けど|[。！!\n]"
)
_NAMES = re.compile(r"\A名前は")
_NAMED = re.compile(
    rf"(?P<of>{_ONE}|{_MANY}|{ANIMAL})(?!に|夫婦|のところ)|(?:(?:[先今]週|先月|今朝|昨日|今日|無事に?|元気な|かわいい)、?){{0,3}}(?P<animal>[^、。はがをにでと\s]{{1,8}})[をが].{{0,8}}(?:飼|生まれ|います|いる)"
)

_CHILD = {"女の子": "娘", "男の子": "息子", "赤ちゃん": "子ども"}
"""A child that was born, as its parents call it."""
_TO_OTHERS = re.compile(
    rf"(?:{_ONE}|{_MANY}|先輩|[^、。\s]{{1,6}}(?:さん|くん|ちゃん))(?:の[^、。]{{1,8}})?(?:夫婦|のところ|の家)?[には]"
)


def with_topic(sentence: str, before: str, after: str = "") -> str:
    """Add the topic of a name to a sentence where the talk has it.

    Args:
        sentence: "名前はポチです".
        before: "犬を飼っています"; empty for the first of a message.
        after: The message after it.

    Returns:
        "犬の名前はポチです"; the sentence itself where `before` names no owner.

    """
    named = _NAMED.search(before) if _NAMES.match(sentence) else None
    if named is not None and named["animal"] in _CHILD and _TO_OTHERS.search(before):
        return f"{named['animal']}の{sentence}"
    return (
        f"{_CHILD.get(named['animal'], named['of'] or named['animal'])}の{sentence}"
        if named
        else with_name(sentence, before, after)
    )


def _with_persons(parts: Iterable[str]) -> Iterator[str]:
    """The clauses of a sentence, each with the person of the first as its topic."""
    person = ""
    for part in parts:
        if person and goes_on(part):
            yield f"{person}は、{part}"
        else:
            person = person_of(part)
            yield part


def is_age_of_another(sentence: str, before: str) -> bool:
    """Whether an age is that of an animal or relative named right before.

    Args:
        sentence: "3歳です".
        before: The statement and the question right before: "猫を飼っています。何歳ですか？".

    """
    return (
        _AGE_ALONE.match(sentence) is not None
        and _BEINGS.search(before) is not None
        and "あなた" not in before
    )


_AGE_ALONE = re.compile(
    r"(?:(?:違います|違う|いいえ|いえ|いや|はい|ええ|うん)[、。])?(?:今年で?|もう|まだ)?\d{1,2}歳"
    r"(?:です|だよ|だ|になります)?[よ。！!]{0,2}\Z"
)
_BEINGS = re.compile(rf"{ANIMAL}|{_ONE}|{_MANY}")


def is_japanese(text: str) -> bool:
    """Whether a text has Japanese letters, which Chinese has not."""
    return re.search(r"[\u3041-\u30ff]", text) is not None


def clauses(sentence: str, *, asks: bool) -> list[str]:
    """Split a sentence into clauses; of a question only those before the last.

    Args:
        sentence: The sentence.
        asks: Whether it is a question.

    """
    stripped = (part.strip() for part in _PARTS.split(sentence))
    parts = [*_with_persons(part for part in stripped if part)]
    return [
        clause
        for part in (parts[:-1] if asks else parts)
        for clause in ([part] if JAPANESE.unasserted.search(part) else japanese_clauses(part))
    ]
