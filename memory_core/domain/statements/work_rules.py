"""Rules of work for a coding agent.

"Always run the tests", "Commit nie auf main", 「コミット前に必ずテストを実行して」. The model of
wishes knows words for answers, none for repositories.
"""

from __future__ import annotations

import re
from typing import Final

from memory_core.domain.statements.wish_signs import MarkedSentence
from memory_core.domain.text.analyzer import words

_ENGLISH_VERB: Final = (
    r"(?:run|commit|push|merge|deploy|release|test|format|build|install|import|touch|edit|modify"
    r"|change|delete|remove|drop|rename|bump|upgrade|add|check|open|create|update|work|write|use"
    r"|tag|assign|escalate|approve|publish|share|promise)"
)
_GERMAN_VERB: Final = (
    r"(?:commit|committe|push|pushe|merge|deploy|deploye|teste?|führ|führe|starte?|lösche?|ändere?"
    r"|formatiere?|installiere?|bearbeite?|benutze?|verwende?|lass|lasse)"
)
_OBJECT: Final = (
    r"(?:main|master|branch(?:es)?|repo|repository|tests?|testsuite|linter|commits?|prod|production"
    r"|produktion|databases?|datenbank(?:en)?|migrations?|migrationen|schema|pull requests?|prs?"
    r"|code|files?|dateien|datei|folder|ordner|dependency|dependencies|abhängigkeiten|packages?"
    r"|pakete?|secrets|credentials|config|pipeline|reviews?|changelog)"
)
_THING: Final = re.compile(
    rf"\b{_OBJECT}\b|[@`\d]|\w[/._]\w|(?<!\w)(?:the|any|all|every|each) \w{{3}}"
    r"|\w{3}s(?=[\s.!]*\Z)|\b(?:before|after|when|unless|without)\b"
)
"""What work is done on, or when: a thing of a repository, a number, or things in general."""
_EVERYDAY: Final = re.compile(r"(?:run|open|touch|push|test|delete|drop|commit)\b", re.IGNORECASE)
"""Verbs that people do with more than code: "never open the door", "always run from bears"."""
_OF_WORK: Final = re.compile(
    rf"\b{_OBJECT}\b|\b(?:lint|(?:commit|deploy|merg|push|releas)ing)\b|[@`\d]|\w[/._]\w"
)
"""What only work is done on: a thing of a repository, a path, a number."""
_RULE: Final = re.compile(
    r"(?P<lead>(?=[^:：.!?]{0,108}+[:：])[^:：.!?]{0,60}"
    r"(?:\b(?:rules?|regeln?|remember|reminder|note|merke?)\b|ルール)"
    r"[^:：.!?]{0,40}[:：]\s{0,3})?(?P<rule>"
    r"(?:(?:please|bitte|and|und|also) ){0,2}"
    r"(?:(?:when(?:ever)?|if|before|after) you [^,.!?]{2,60}, )?(?:"
    r"(?:always|never|(?:don't|do not) ever|make sure (?:to|you|that you) (?:always|never)) (?:"
    rf"(?:force-push|rebase|squash|lint)\b|(?P<verb>{_ENGLISH_VERB})\b(?! (?:an?|your|it|that)\b)"
    rf"(?P<done_on>[^!?]{{1,160}})|{_ENGLISH_VERB}\b[^.!?]{{0,80}}\b{_OBJECT}\b)"
    rf"|(?:do not|don't) (?![^.!?]{{0,80}}\b(?:this|that|these|it|your\w{{0,4}})\b)"
    rf"(?=[^.!?]{{0,80}}\b{_OBJECT}\b){_ENGLISH_VERB}\b[^.!?]{{0,60}}\b(?:without|unless)\b"
    rf"|ask(?: me| us| first)?,? before you (?P<asked>{_ENGLISH_VERB}\b(?! (?:it|this|that)\b)"
    r"[^!?]{0,80})"
    r"|frage? (?:mich|uns)(?: bitte)?(?: immer)?,? bevor du\b(?! (?:es|das|dies)\b)"
    rf"|(?:from now on|ab jetzt|ab sofort),? (?=[^.!?]{{0,40}}\b{_OBJECT}\b)"
    r"(?![^.!?]{0,80}\b(?:is|are|was|will|has|have|ist|sind|wird|hat|haben|we|i|ich|wir)\b)"
    rf"|(?:nie|niemals|immer|stets) [^.!?]{{0,60}}\b{_OBJECT}\b[^.!?]{{1,40}}en[\s.!]*\Z"
    rf"|{_GERMAN_VERB} (?:bitte )?(?:nie|niemals|immer|stets)\b[^.!?]{{0,80}}\b{_OBJECT}\b"
    r"|[^。！？]{0,40}(?:テスト|コミット|プッシュ|マージ|デプロイ|リンター|ブランチ|本番)[^。！？]{0,40}"
    r"(?:実行し|走らせ|通し|確認し|プッシュし|マージし|コミットし|デプロイし|しない|触らない|消さない)"
    r"(?:て|で)(?:ください|下さい|ね)?[。！]?\Z))"
)
_WRITTEN_IN: Final = re.compile(
    r"(?:(?:コード(?:内|中)?の)?コメント|コミット(?:メッセージ)?|ドキュメント|変数名|エラーメッセージ|READMEs?|ログ)"
    r"(?:は|を)(?:必ず|常に|全て|すべて)?[^、。]{1,10}語で(?:(?:書い|統一し|記述し)て(?:ください|下さい|ほしい|欲しい|ね|くれ)?"
    r"|お願い(?:します)?)[。！]?\Z"
    r"|(?:please |bitte )?(?:write|schreib(?:e|en sie)?) (?:bitte )?(?:all |the |our |die |alle )?"
    r"(?:code )?(?:comments|commit messages|kommentare|commit-nachrichten|commits|docs|docstrings)"
    r" (?:bitte )?(?:in|auf) [a-zäöüß]{4,15}(?: (?:please|bitte))?[.!]?\Z",
    re.IGNORECASE,
)
"""The language of what is written in a repository: 「コメントは日本語で書いてください。」."""
_JAPANESE_ALWAYS: Final = re.compile(r"必ず|絶対|常に|いつも|毎回")


def rule_of_work(reading: MarkedSentence) -> int | None:
    """The place where a rule for a coding agent begins.

    It may stand after words such as "two rules:". None where a sentence is no such rule.
    """
    if _WRITTEN_IN.match(reading.text) is not None and not reading.asks:
        return 0
    match = _RULE.match(reading.text)
    if match is None or reading.asks or "SAYS" in reading.kind_set:
        return None
    done_on = match["done_on"] or match["asked"]
    things = _OF_WORK if _EVERYDAY.match(match["verb"] or match["asked"] or "") else _THING
    if done_on is not None and not (
        things.search(done_on) or reading.capitals.intersection(words(done_on))
    ):
        return None
    if reading.japanese and _JAPANESE_ALWAYS.search(reading.text) is None:
        return None
    return match.start("rule")
