"""The person whom a Japanese statement is about.

Japanese leaves out the speaker, and often names another person only once:
「太郎はサッカーをやめて、今は英語を習っています」. A bare name looks like any other noun; it is a
person's where the statement is one of persons.
"""

from __future__ import annotations

import re

SELVES = (
    "私|僕|俺|わたく?し|あた(?:く?し|い)|ぼく|おれ|わし|ワタク?シ|アタク?シ|ボク|オレ|ワシ"
    "|自分|うち|ウチ|我々|こちら|小生|当方|拙者"
)
_SELF = f"(?:{SELVES})(?:達|たち|ら|ども|自身)?"
_UNTIL = "から|まで|後|以降|以来|前|頃|ごろ|時代|休み"
"""The ends of the words for a time: "結婚後", "離婚してから"."""
TIMES = (
    rf"(?:[\d〇一二三四五六七八九十]{{1,4}}[年月日週歳代]間?|[先今来去昨再翌毎][年月週日朝晩度])(?:{_UNTIL}|末|半ば)?"
    rf"|[^、。はがの\s]{{0,8}}(?:{_UNTIL})|実|じつ|元々?|もともと|本来|最初|当初|正直|近年|近ごろ|日頃|日中|将来|現時点|今回|先日|当面"
    "|いま|むかし|ふだん|大抵|大体|通常|事実|たいてい|だいたい|ほんとう"
    "|今|現在|最近|近頃|今年|去年|昨年|来年|今日|昨日|明日|今月|先月|来月|今週|先週|来週|今度|普段|平日|週末|休日|休み|毎[日朝晩週月年]"
    "|[朝昼夜春夏秋冬]|昔|以前|前|当時|学生時代|子ども?の頃|本当|実際|基本|結局|一応|次|あと|以上"
)
_OWN_THINGS = (
    "生まれ(?:育ち)?|育ち|出身[地校]|居住地|住居|故郷|勤務地|所属|前職|現職|(?:引っ?越し?|転職|就職|配属|移住|転居|赴任|留学)先|理由|目標|夢"
    "|身長|体重|学歴|資格|名前|名字|苗字|姓|年齢|歳|仕事|職業|本業|副業|職場|会社|勤務先|勤め先|職種|専攻|専門|学部|学校|大学|趣味|特技|出身|国籍"
    "|住まい|住所|自宅|家|実家|地元|誕生日|血液型|利き手|体質|持病|病気|病名|体|体調|健康|食事|食生活|食べ物|主食|アレルギー"
    "|性格|家族|車|愛車|ペット|犬|猫|結婚|婚姻|言語|母語|母国語"
)
_RELATIVES = (
    "妻|夫|旦那|奥さん|嫁|彼女|彼氏|母|父|上司|大家|婚約者|娘|息子|長女|長男|次女|次男|姉|妹|兄|弟|祖母|祖父|叔母|叔父|いとこ"
    "|友人|友達|親友|同僚|部下|子ども|子供|孫|主治医|担当医"
)
OTHERS = (
    f"{_RELATIVES}|担任|校長|両親|家族|彼|先生|店長|社長|部長|課長|先輩|後輩|同級生|知り合い|隣人|主人|生徒|患者"
    "|ルームメイト|クラスメート|元カ[レノ]|[^、。は\\s]{1,6}(?:さん|くん|ちゃん|氏|の人"
    "|(?<![私僕俺])(?<!わたし|たくし|あたし)(?<!ぼく|おれ|ボク|オレ|自分)たち)"
)
"""People of a speaker."""
BARE_NAME = (
    rf"(?!(?:{_SELF}|{TIMES}|(?:新しい)?(?:{_OWN_THINGS})|[こそあど]れ|[こそあど]こ|何|誰|全部|両方)[はの]|々)"
    r"[^、。はがもをにでとへやの\s]{1,8}"
)
"""What may be a person's name before 「は」."""
_OF_A_LIFE = re.compile(
    r"\d歳|住[んみ]|働[いき]|勤め|結婚|離婚|アレルギー|習[っい]|通[っい]|小学|中学|高校|大学|引っ越|を[^、。を]{0,3}[辞や]め|退職"
    r"|病|生まれ|卒業|入学|先生|医者|看護師|ベジタリアン|入院|元気|学生|会社員|喘息|[年月]生"
)
"""What is said of persons, and of no thing."""
_TOPIC = re.compile(
    rf"\A(?:新しい)?(?:(?P<person>(?:{OTHERS})(?:の[^、。はがの]{{1,6}})?)[はが]|(?P<name>{BARE_NAME})は"
    rf"|(?P<owner>{BARE_NAME})の(?=[^、。はがの]{{0,8}}アレルギー[はが]))"
)
_SINCE = re.compile(
    r"\A(?:(?:[\d〇一二三四五六七八九十]{1,4}[年月日]|[先今来去昨]の?[年月週日]|[月火水木金土日]曜日?|[春夏秋冬]))"
    r"(?:の[^、。はがの]{1,4})?から、?(?=.)"
)
"""The time since when something is so, before its topic."""
_SECOND_TOPIC = re.compile(rf"、(?!(?:{TIMES}|もう)は)[^、。はがもをにでと]{{1,8}}は")
_THERE_IS = re.compile(
    r"(?:い(?:ます|る|まし|て)|飼っ|あり|できました|生まれまし)[^、。]{0,6}[。、]?\Z"
)
_OWN_SUBJECT = re.compile(
    rf"{_SELF}[、はがもをにのでとへ]|\A(?:(?:{OTHERS})[はがもの]|犬|猫|ペット|名前は|うち|{BARE_NAME}の[^、。はが]{{1,8}}[はが])"
)


def person_of(statement: str) -> str:
    """The person other than the speaker whom a statement is about, or "".

    Args:
        statement: "太郎はサッカーをやめて"; a bare name needs words that are said of persons.

    """
    statement = _SINCE.sub("", statement)
    topic = _TOPIC.match(statement)
    rest = "" if topic is None else statement[topic.end() :]
    if topic is None or _SECOND_TOPIC.search(rest):
        return ""
    is_life = _OF_A_LIFE.search(rest) is not None
    if topic["person"] is None:
        return (topic["name"] or topic["owner"]) if is_life else ""
    return topic["person"] if is_life or _THERE_IS.search(rest) is None else ""


def goes_on(statement: str) -> bool:
    """Whether a statement names no other subject than the statement before it."""
    return _OWN_SUBJECT.search(statement) is None and not person_of(statement)
