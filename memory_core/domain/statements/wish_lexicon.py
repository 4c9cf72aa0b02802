"""Words and phrases by which a sentence is read as a wish to the memory.

They are grouped by their function in the sentence, in English, German and Japanese. Of two phrases
that begin at the same place the longer phrase counts. A phrase of several kinds is listed in each
of them; `*` is any ending. A word that is missing here is a word of the topic itself ("Bonn",
"violin").
"""

from __future__ import annotations

from collections.abc import Mapping

PHRASES: Mapping[str, str] = {
    # verbs of forgetting as a request
    "FORGET": """
        mind forgetting, forget, forgett, forgetting, unlearn, unlearning, unremember, vergiss,
        vergis, vergesst, vergessen sie, 忘れて, 忘れといて, 忘れておいて, 忘れちゃって, お忘れ,
        忘れていい, 忘れてよ, 忘れてくれ, 忘れていただ, 忘れてもら, 忘れてほし, 忘れて欲し,
        忘れてくだ, 忘れて下, 忘却, 消えてほし, unknow, unhear,
        un-know, un-learn, un-remember, un-hear, unlearnt, let slip from your mind, forgt, forgte,
        froget, foget, un-*,
        i'd rather you forgot, i would rather you forgot, i'd prefer you forgot,
        better if you forgot, great if you forgot, nice if you forgot, grateful if you forgot
    """,
    # German forms that are a request, a report or a participle
    "VERGESSEN": """
        vergessen, vergisst, vergesse, vergißt
    """,
    # reports of forgetting
    "FORGOT": """
        keeps forgetting, keep forgetting, kept forgetting, is forgetting, are forgetting,
        am forgetting, was forgetting, started forgetting, started to forget, starts to forget,
        tend to forget, tends to forget, forgot, forgotten, forgets, forgetful, unforgettable,
        forget-me-not, forget me not, vergaß, vergesslich, vergissmeinnicht, forgot about, i forget,
        忘れた, 忘れちゃ, 忘れてしま, 忘れられ, 忘れ物, 忘れる, 忘れま, 忘れてた, 忘れてい,
        忘れない, 忘れず, 忘年会, 度忘れ, 忘れっぽ, 飲み忘れ, 忘れないで, 忘れないよう, 忘れんぼ,
        忘れそう
    """,
    # verbs of erasing
    "DELETE": """
        mind deleting, mind removing, mind erasing, delete, delet, delte, deleting, remove,
        removing, erase, erasing, wipe, wiping, scrub, purge, expunge, redact, deletion, removal,
        erasure, get rid of, getting rid of, do away with, discard, destroy, lösch, lösche, löschst,
        löscht, löschen, loesch, loesche, loeschen, lösch's, löschung, entfern, entferne, entfernen,
        entfernst, tilge, tilgen, tilg, radier, radiere, ausradieren, vernichte, vernichten,
        rausnehmen, rauslöschen, rausstreichen, rauswerfen, austragen, rausschmeiß*, 消して, 消しと,
        消しちゃ, 消せ, 消す, 消し, 削除, 消去, 抹消, 破棄, 消しておい, 消えて, 取り消し,
        取り消して, 消した, 消したい, 取り除い, 片付け, unknow, unhear,
        rid yourself of, blot out, obliterate, unsave, un-save, deleteing, remvoe, deltee,
        get shot of, withdraw my consent, i withdraw my consent, i hereby withdraw my consent,
        i revoke my consent, ich widerrufe meine einwilligung, rauswischen, lösche mir,
        schmeiss raus,
        rid your memory of, free your memory of,
        out with it, make it disappear, make that disappear, make this disappear,
        revoke consent, withdraw consent, revoke my consent, strip, sweep, clear away, take back out
    """,
    # verbs with mostly other objects
    "DROP": """
        drop, dropping, scratch, strike, lose, ditch, clear, take off, take back, taking back,
        cross out, cut out, leave out, undo, let go of, toss, retract, disregard, ignore, throw out,
        throw away, dump, take down, clean out, clean up, streich, streiche, streichen, nimm,
        ignoriere, ignorier, ausblenden, zurücknehmen, nehme zurück, nehm zurück, wirf, schmeiß,
        verwirf, räum, 無視, 撤回, 白紙, take out, take it out, take that out, take them out,
        lösch dir,
        scrap, bin it, bin that, bin the, bin my, bin what, bin everything, nix, chuck, trash, zap,
        kill, strike out, rub out, void, shed, let that slip, let it slip, let slip, throw,
        blank out,
        lasse fallen,
        let it go, let that go, let them go, cut the bit, cut the part, cut what, cut everything,
        rub it out, rub that out, rub this out, rub them out, cross it out, cross that out,
        cross it off, cross that off, strike that, strike it
    """,
    # what is erased is to be: participles and adverbs
    "GONE": """
        aus dem gedächtnis, aus deinem gedächtnis, aus deinem speicher, out of your memory,
        should go from, should go, must go, needs to go, has to go, to go from, should vanish,
        soll raus, soll weg, muss weg, muss raus, kann weg, gone, deleted, removed, erased, wiped,
        purged, scrubbed, disappear, vanish, out of, off your, off the record, off the books,
        off record, no trace, taken out, gelöscht, gestrichen, weg, raus, verschwinden,
        verschwindet, verschwunden, getilgt, rausgenommen, なかったこと, 無かったこと,
        聞かなかったこと, 知らなかったこと, 言わなかったこと, オフレコ, be forgotten,
        vergessen werden, been forgotten, take it out, take that out, take this out, take them out,
        raus haben, 外して, 無しにして, entfernt, dropped, scrapped, binned, discarded, destroyed,
        come out, comes out, taken off, cleared out, out of there, off there, out with it, expunged,
        redacted, struck, struck out, off your memory, out of your head, out of here, off file,
        must be gone, be gone, weg damit, wieder raus, wieder weg, rausfliegen, rausgelöscht,
        ungesagt, ungeschehen, forgotten about, be unsaid, go from your, gone from your,
        gone from here, off my profile, out of my profile, out of my file, off my file,
        out of your files, out of your system, out of your notes, out of your records,
        off your notes
    """,
    # to behave as if
    "PRETEND": """
        pretend, act as if, act like, as if, as though, tu so, tu einfach so, tun wir so, als hätte,
        als hätt, als hättest, als ob, als wenn, 聞かなかった, 知らないふり, ふりを,
        als hätte ich nie, als hätte ich dir nie, als wäre nie, als wär nie, as though i'd never,
        as if i'd never, as if i never, as though i never, make like, make believe,
        pretend you don't know, pretend you didn't know, pretend you never knew
    """,
    # what is to be pretended
    "NEVER_TOLD": """
        didn't bring up, hadn't brought up, never brought up, didn't talk about, never told you,
        never told, didn't tell you, hadn't told you, never said, never mentioned, hadn't mentioned,
        didn't mention, didn't say, hadn't said, never shared, never heard, never came up,
        didn't hear, nie erzählt, nie gesagt, nie erwähnt, nichts gesagt, nie was gesagt,
        nie davon gehört, nicht gehört, nichts gehört, nie gehört,
        als hätte ich nie, als hätte ich dir nie, unsaid, as never said, never took place,
        never happened, had never happened, had never said, had never told you, had never mentioned,
        i'd never said, i'd never told you, i'd never mentioned, i never told you, i never said,
        i never mentioned, i ever mentioned, i ever said, i ever told you, never been told,
        nie gesprochen, ungesagt,
        never knew, you never knew, never knew about, never been said, never met,
        i never brought up, i never shared, i never spoke of, i never talked about, i never wrote,
        you never heard, pretend you don't know, pretend you didn't know, pretend you never knew
    """,
    # verbs of keeping
    "KEEP": """
        keep, keeping, kept, store, stored, storing, save, saved, saving, retain, retaining,
        hold on to, holding on to, hold onto, record, recording, log, logged, hang on to,
        know anymore, remember, remembering, remembered, memorize, memorise, note down, write down,
        behalte, behalten, behältst, merk, merke, merken, gemerkt, merkst, speicher, speichere,
        speichern, gespeichert, speicherst, aufbewahren, festhalten, notier, notieren,
        abgespeichert, im kopf behalten, aufheben, 覚えて, 覚え, 記憶し, 記憶しない, 保存, 保存し,
        残し, 残さ, 記録し, 保持, とっておか, 残って, 登録,
        hold, holding, cling to, clinging to, held
    """,
    # these with their negation
    "DONT_KEEP": """
        not be stored, not be saved, not be kept, nicht gespeichert werden, don't keep, do not keep,
        don't store, do not store, don't save, do not save, don't retain, do not retain,
        don't hold on to, do not hold on to, stop remembering, stop storing, stop keeping, not keep,
        not store, not remember, not save, not retain, keep no record, keep no, stored anywhere,
        saved anywhere, not stored, not saved, not kept, merk dir bitte nicht, merk dir nicht,
        nicht merken, nicht speichern, nicht behalten, nicht mehr wissen, nicht mehr merken,
        speicher nicht, nicht gespeichert, nichts gespeichert, gar nicht erst, 覚えないで,
        覚えておかないで, 覚えなくて, 覚えておかなくて, 覚えていなくて, 記憶しないで, 保存しないで,
        残さないで, 記録しないで, 記録に残さない, 記憶に残さない, 保存せず, 覚えてなくて,
        not be in there, shouldn't be in there, not in there, wasn't in there, weren't in there,
        isn't in there, weren't on file, wasn't on file, not on file, isn't on file, no longer kept,
        no longer stored, no longer saved, no longer retained, no longer remembered,
        no longer on file, no longer keep, no longer store, no longer save, no longer retain,
        no longer remember, no longer hold, no longer had it, no longer had that, no longer have it,
        no longer have that, no longer had, not have that, not have it, not know that,
        not know about, i don't want you holding, i don't want you keeping,
        i don't want you knowing, i don't want you having, i don't want you remembering,
        i don't want you storing, not comfortable with you having, not comfortable with you knowing,
        not comfortable with you keeping, not comfortable with you storing, have no record of,
        have no memory of, you had no memory of, you had no record of, you didn't know about,
        you didn't have, you didn't know, you didn't remember, you didn't keep, you didn't store,
        not known to you, shouldn't be known to you, don't hang on to, not hang on to,
        do not hang on to, don't hold onto, do not hold onto, don't hang onto, not stay with you,
        need to stay with you, shouldn't stay with you, shouldn't be kept, shouldn't be stored,
        shouldn't be saved, shouldn't be remembered, not be remembered, not be on file,
        don't memorise, don't memorize, don't record, do not record, never store,
        you shouldn't have it, you shouldn't have that, don't remember, do not remember,
        nicht mehr hättest, nicht mehr weißt, nicht mehr wüsstest, nicht mehr speichern,
        nicht im gedächtnis, nicht mehr zu wissen, nicht zu wissen, nicht ab, nicht abspeichern,
        nicht aufheben, nicht länger speichern, nicht mehr gespeichert, 持っていてほしくな,
        持たないで, 保持しない, 保管しないで, 知っていてほしくな,
        覚えていてほしくな, 記憶しておかないで, 覚えとかないで, 覚えんといて, 控えないで,
        don't have it, don't have that, don't have it any more, not be known to you,
        nicht mehr drinstehen, nicht mehr drin, nicht drinstehen, behalte nicht,
        behalte bitte nicht, speicher bitte nicht, don't know it any more, no longer in there,
        no longer have,
        isn't kept, isn't stored, isn't saved, isn't retained, aren't kept, aren't stored, not hold,
        to not hold, to not keep, to not store, don't hold, do not hold, no longer consent to,
        don't consent to, do not consent to, not consent to, refrain from storing,
        refrain from keeping, leave no trace, no trace of, quit storing, quit keeping,
        quit remembering, nothing stored,
        needn't remember, needn't keep, needn't store, no need to remember, no need to keep,
        no need to store, don't cling to, do not cling to, isn't there any more,
        isn't there anymore, not there any more, not there anymore, wasn't stored, wasn't saved,
        wasn't kept, wasn't in your, weren't in your, isn't in your, weren't stored, weren't saved,
        weren't kept, not be in your, stop holding, stop saving, stop recording, stop retaining,
        dont keep, dont store, dont save, dont remember, dont record, don't need to know,
        do not need to know, dont need to know, needn't know, don't need to remember,
        don't have to know, don't have to remember, don't need to keep, don't have to keep,
        don't need to hold, no need to know, no need to hold, merk dir das nicht,
        merk dir das bitte nicht, merk dir das bitte gar nicht, merk dir das lieber nicht,
        musst du nicht wissen, musst du nicht mehr wissen, musst du dir nicht merken,
        brauchst du nicht wissen, brauchst du dir nicht merken, brauchst du nicht zu behalten,
        覚えておく必要は, 覚えておく必要ない, 覚えておく必要も, 覚えている必要は, 覚えとかなくて
    """,
    # verbs of saying something to the assistant
    "TOLD": """
        happened, share, to share, mean to share, trusted you with, said too much, too much about,
        zu viel erzählt, told you, tell you, telling you, said, mentioned, mention to you, shared,
        sharing, share with you, wrote, wrote you, let slip, confided, brought up, gave you,
        sent you, overshared, told, i told, revealed, disclosed, spilled, blurted, gave away,
        i sent, i gave, i shared, i wrote, i said, i mentioned, i've said, i've told, me saying,
        i typed, let on, opened up about, vented, ranted, complained, erzählt, erzählt habe,
        erzählt hab, gesagt, gesagt hab, gesagt habe, erwähnt, erwähnt habe, verraten, anvertraut,
        geschrieben, mitgeteilt, geschickt, ausgeplaudert, berichtet, gegeben hab, genannt hab,
        rausgerutscht, geteilt hab, angegeben, gebeichtet, erzählte, 話した, 話しました, 話しちゃ,
        言った, 言いました, 言っちゃ, 教えた, 教えました, 教えちゃ, 伝えた, 伝えました, お伝えし,
        お話しし, 打ち明け, しゃべった, しゃべっちゃ, 喋った, 喋っちゃ, 書いた, 書いちゃ,
        書いてしま, 話して, 相談した, 送った, 送ってしま, 漏らし, 口走, 口を滑ら, 口が滑, 愚痴,
        暴露, just told, just said, just mentioned, just wrote, just shared, just sent,
        just told you, gerade gesagt, eben gesagt, 今言った, vented about, told ya, ive told,
        ive said, give you, to give you, given you, have given you, mean to tell you, to tell you,
        confessed, to mention, let you know, talked about, talked to you about, spoke about, typed,
        pasted, i typed in, i pasted, you heard
    """,
    # regret about it
    "REGRET": """
        shouldn't have, should not have, wasn't supposed to, wasn't allowed to, weren't supposed to,
        not supposed to, regret, none of your business, private, confidential, secret, embarrassed,
        embarrassing, uncomfortable, not comfortable, isn't comfortable, comfortable with, personal,
        too personal, nda, under nda, off limits to you, between us, in confidence, asked me not to,
        made me promise, promised not to, changed my mind about sharing, tmi, stupid of me,
        slipped out, by accident, by mistake, doesn't want, don't want anyone, sensitive, out yet,
        not public, hush, under wraps, none of anyone's, hätte ich nicht, hätte ich dir nicht,
        hätt ich nicht, hätte nicht, vertraulich, vertraulichen, privat, privates, persönlich,
        geheim, unangenehm, peinlich, unter uns, bereue, im vertrauen, niemanden was an,
        niemand wissen, keiner wissen, nicht sagen dürfen, nicht erzählen dürfen, nichts an,
        versehentlich, aus versehen, will nicht dass du, nicht öffentlich, heikel, rausgerutscht,
        内緒, 秘密, 個人的, プライベート, 言わなければよかった, 言っちゃいけ, 言うべきじゃ,
        言うんじゃなか, 話すんじゃなか, 知られたく, 恥ずかし, 嫌がって, 話しすぎ, うっかり, つい,
        口外, 極秘, 機密, 社外秘, まずかった, よくなかった, 後悔,
        nobody's business, no one's business, none of your concern, second thoughts, was a mistake,
        out of line, should never have, i should never have, overshared, wish i hadn't,
        i wish i hadn't, was a bit drunk, wish i'd never, i wish i'd never, bereue ich,
        nie erzählen dürfen, nie sagen dürfen, hätte ich dir nie, geht dich nichts an,
        geht niemanden
    """,
    # what the assistant knows
    "KNOW": """
        you know, you remember, you have on, you have about, you've got, you have noted,
        you've stored, you have stored, you've saved, you hold, you learned, you learnt,
        you picked up, you've noted, you have saved, you know about, you knew, you've been told,
        you still have, you've kept, you kept, you stored, you saved, you noted, du weißt, weißt du,
        du gespeichert, du dir gemerkt, du über, du von, du zu, du noch weißt, du hast über,
        du wissen, dass du weißt, du kennst, wissen, weißt, 知ってる, 知っている, 覚えてる,
        覚えている, 持ってる, 把握し, 知っていること,
        you've got on, you have got on, you know of, you've got about, you have in memory,
        you hold on, you hold about, you to have, you to know, you to keep, you to hold,
        you to remember, you to store, you knowing, you having, you keeping, you holding,
        you holding on to, you storing,
        for you to know, for you to have, for you to keep, for you to remember, you have noted down,
        you store, still know, already know
    """,
    # where it is kept, or a part of it
    "MEMORY": """
        aus dem gedächtnis, aus deinem gedächtnis, aus deinem speicher, out of your memory, memory,
        memories, your notes, your records, your record, your data, your database, your storage,
        your history, your brain, your head, your mind, your profile, your files, your system,
        on file, the record, notes you have, notes about, note about, the entry, entry about,
        entries about, your side, from your end, stored about, record of, info about,
        information about, info on, anything about, everything about, all about, everything on,
        stuff about, stuff on, details about, details on, data about, data on, whatever about,
        the bit about, the part about, the thing about, the thing with, the story with,
        the story about, that thing about, what i said about, mention of, traces of, facts about,
        long-term memory, my history, what you know, what you have, notes on, your log, your logs,
        memory bank, your knowledge, gedächtnis, speicher, deinen notizen, deinem speicher,
        deine notizen, deinen daten, deiner datenbank, deinem profil, deinem kopf,
        deinen unterlagen, deinen aufzeichnungen, erinnerung an, erinnerungen, eintrag über,
        eintrag zu, einträge, notiz über, notiz zu, infos zu, infos über, informationen über,
        informationen zu, angaben zu, daten über, daten zu, alles über, alles zu, alles von,
        alles was, die sache mit, die geschichte mit, das mit, die geschichte von, was ich über,
        was ich dir über, was ich von, etwas über, nichts über, gespeicherten, 記憶, 記録, メモリ,
        履歴, 例の件, あの件, この件, あの話,
        in there, out of there, off your memory, what you've got on, whatever you've got on,
        whatever you have on, the stuff on, the stuff about, the stuff with, the business with,
        that business with, anything concerning, everything concerning, all data about, all data on,
        any data on, any data about, the bit on, the bit with, that bit about, the bits about,
        that thing with, the note on, stuff bout, thing bout, the episode with, on record,
        on your end, anything you have, the information on, the information about, the info about,
        the details of, details of, the one about, the fact that, the story of, that story about,
        what i said of, what i said on, off your records, die info zu, die info über, das über,
        das zu, die infos, sache mit, das wegen, im gedächtnis, dem gedächtnis,
        where you keep, free your memory of, rid your memory of,
        out of my profile, off my profile, my file with you, with you any more, left with you,
        on your side, gone from your, go from your, out of your files, out of your system,
        out of your notes, out of your records, off your notes, noted, info
    """,
    # the statement just before
    "LAST": """
        今の話, 今のは, just told you, just said, just wrote, just mentioned, just now,
        last message, previous message, last thing, a moment ago, a minute ago, just told,
        just shared, just sent, eben, gerade gesagt, gerade eben, letzte nachricht,
        vorige nachricht, gerade, さっき, 今の, 直前, たった今, 先ほど, 先程, 今言った, いま,
        das letzte, letzteres, the last bit, that last bit, last bit, last part, the last part,
        that last part, last sentence
    """,
    # when it was said
    "EARLIER": """
        yesterday, earlier, last week, the other day, before, last time, last month, a while ago,
        once, previously, on monday, on tuesday, on wednesday, on thursday, on friday, last night,
        in the past, back then, this morning, gestern, neulich, letzte woche, vorhin, letztens,
        vor kurzem, früher, letzten, damals, schon mal, am montag, 昨日, この前, 前に, 先日, 以前,
        この間, こないだ, 先週, 前回, あの時
    """,
    # verbs of bringing something up
    "MENTION": """
        asking me how, asking how, asking me, asking if, mention, mentions, bring up, bringing up,
        brings up, raise, talk about, talking about, speak of, speak about, discuss, discussing,
        ask about, asking about, be asked about, ask me about, ask me how, ask how, asking me about,
        ask me if, ask whether, comment on, commenting on, comment about, commenting about,
        remind me of, reminding me of, remind me about, reminding me about, reminding me,
        be reminded, reminded of, refer to, hear about, hear anything about, talk to me about,
        allude to, joke about, jokes about, questions about, nag me, nagging me, bug me about,
        pester me, poke at, get into, go into, go on about, going on about, harp on, dig into,
        word about, touch on, dwell on, pry, come back to, coming back to, name-drop,
        say anything about, say a word, erwähn, erwähne, erwähnen, ansprich*, anspreche*,
        angesprochen, sprich mich, ansprechen, red über, rede über, reden über, redest über,
        reden wir, von anfangen, anfängst, erinner mich, erinnere mich, erinnerst, zu erinnern,
        frag mich nicht, frag nicht, frag mich, nachfragen, zu fragen, fragst du, fragen nach,
        nach fragen, sprache bringen, zur sprache, hören von, hören über, davon hören, von hören,
        zu reden, darüber reden, kommentier*, wort über, wort mehr, wort von, komm mir, drauf rum,
        herumreiten, anspielen, anspielung*, sprich nicht, sprich bitte nicht, sprechen wir, bohr*,
        stichel*, witze über, 話題, 触れ, 持ち出, 言及, 話をしない, 話はしない, 話しない, 聞かない,
        聞かれ, 思い出させ, 口にし, 話を出, 話を振, 話は出, 話はもう, 話はやめ, 話はなし, 蒸し返,
        いじら, いじって, ツッコ, 突っ込ま, 話しかけ, 名前を出, 名前は出, 名前出, 言わないで,
        聞くの, 話し出, ふれ, the topic, the subject, topic of, das thema, mit dem thema,
        fang nicht, fang nicht wieder, thema nicht, frag nicht nach, frag mich nicht nach,
        frag mich bitte nicht, sprich mich bitte nicht, sprich mich nicht, erinner mich bitte nicht,
        erinnere mich bitte nicht, not mention, not mentioning, mentioning, avoid mentioning,
        sprich das thema, mention of, 話はやめて, 話はなしで, reden, fragen, hören, lesen, erinnern,
        gerede, gefragt, asked about, bring him up, bring her up, bring them up, bring it up,
        bring that up, talk abt, ask abt, mention it, reading about, see anything about,
        avoid the subject, avoid the topic, 聞いて, 話をし, 話はし, 話し, mentioned,
        never mentioned, would not mention, refrain from mentioning, be asked, to be asked,
        be reminded of, name him, name her
    """,
    # forms of an answer
    "ANSWER": """
        links, hyperlinks, quotation marks, footnotes, em dashes, semicolons, capital letters,
        exclamation points, anführungszeichen, überschriften, fußnoten, gedankenstriche, リンク,
        脚注, 記号, formatting, tone, bullet points, bullet, bullets, emoji, emojis, emoticons,
        smileys, markdown, headings, headers, units, metric, imperial, celsius, fahrenheit,
        kilometres, kilometers, currency, 24 hour, 24-hour, am/pm, iso, date format,
        british english, american english, plain english, jargon, to the point, tldr, tl;dr, cite,
        citations, disclaimers, disclaimer, caveats, introductions, pleasantries, small talk,
        exclamation marks, contractions, code examples, code blocks, code samples, snippets,
        type hints, spoilers, apologise, apologize, apologising, apologizing, step by step,
        one at a time, questions at, analogies, flattery, moralizing, lecture, lectures, lecturing,
        sugarcoat, sugar-coat, swear, idioms, italics, numbered, time zone, time zones, decimal,
        price, temperatures, distances, measurements, variable names, indentation, erklär, erkläre,
        formulier*, stichpunkte, stichpunkten, aufzählung*, einheiten, metrisch, metrische,
        metrischen, grad celsius, franken, format, rechtschreibung, anglizismen, fachbegriffe,
        fachsprache, quellenangaben, zusammenfassung, einleitungen, einleitung, floskeln, smalltalk,
        tabellen, tabelle, code-beispiele, codebeispiele, vorschlag, entschuldig*,
        schritt für schritt, wortlimit, spoiler, kommentare im code, typannotationen,
        direkt zum punkt, auf den punkt, ausrufezeichen, gendern, gendere, abkürzungen, 説明, 口調,
        敬語, タメ口, ため口, です・ます, ですます, 丁寧語, 箇条書き, 絵文字, 顔文字, 単位,
        メートル法, 摂氏, 華氏, 日付, フォーマット, 関西弁, 標準語, 専門用語, カタカナ語, 簡潔,
        手短, 要約, 前置き, 出典, 表は, 表を, アドバイス, ネタバレ, 謝り, 謝ら, 行以内, 文字以内,
        文以内, 初心者向け, ふりがな, ルビ, 見出し, マークダウン, 太字, 文字数, お世辞, with lists,
        no tables, example code, your sources, with sources, two sentences, three sentences,
        five lines, tables, listen, recipes, 例を, 箇条
    """,
    # how a person is spoken to
    "ADDRESS_ME": """
        call me, calling me, address me, addressing me, treat me, talk to me, talk to me like,
        speak to me, write to me, refer to me, i go by, be blunt with me, be honest with me,
        be direct, be brief, be concise, be blunt, greet me, my pronouns, nenn mich, nenne mich,
        duz mich, duze mich, duzen, sieze, sieze mich, siezen, sprich mich mit, rede mit mir,
        red mit mir, sei direkt, sei ehrlich, per du, per sie, と呼ん, って呼ん, 呼んで, 呼び捨て,
        呼ばな, 呼び方, さん付け, informal with me, formal with me, be addressed, to be called,
        be called, address, rede mit mir wie
    """,
    # other things an assistant does for an answer
    "DO_ANSWER": """
        use, give me, show me, write, add, put, include, keep, stick to, limit, provide, translate,
        convert, warn me, correct, double-check, ask me, ask for, skip, avoid, describe, spell,
        only show, only use, only give, leave out, speak, make it, nutze, nutz, verwende, verwend,
        benutze, benutz, gib, gib mir, zeig, zeig mir, zeige, halte, rechne, korrigier, korrigiere,
        stell mir, beginn, beginne, beende, füg, füge, setze, übersetz, übersetze, verzichte,
        vermeide, vermeid, warn mich, bleib, bleibe, spar dir, biete, 使って, 使わ, 使う, 書いて,
        書く, 教えて, つけて, 付けて, 表示し, 見せて, 直して, 控え, 訳し, まとめて, start your,
        end your, begin your, start every, start each, end every, end each, finish your,
        finish every, check my, correct my, frag mich, frag immer, ask before, explain things, mark,
        sign off, 話して, 出して, 始めて, 終わらせ, show, start, end, begin, finish, schedule,
        check, scale, say, tell me, ask, give, name, list, sag mir, sag, mach, frag,
        frag immer nach, pack, setz, stell, halt, 入れて, 入れ, 始め, 終わ, 言う, 出さ, 書い, つけ
    """,
    # marks of an instruction that stays in force
    "STAND": """
        every recipe, every suggestion, every message, when i send, when i paste, when i show,
        if i send, if i paste, always, never, ever, from now on, going forward, moving forward,
        in future, in the future, for the future, for future reference, every time, each time,
        whenever, by default, at all times, any more, anymore, ever again, no longer, permanently,
        for good, as a rule, as a default, every answer, each answer, every reply, constantly,
        all the time, every single, each reply, unless i, until i, unless, henceforth, from here on,
        from here on out, starting now, starting today, as of now, across the board, consistently,
        without exception, when i ask, make it a habit, per answer, per reply, make a habit, by now,
        so often, again and again, everytime, until further notice, in general, immer, nie, niemals,
        nie mehr, nie wieder, ab jetzt, ab sofort, ab heute, künftig, zukünftig, in zukunft,
        für die zukunft, nicht mehr, nur noch, stets, jedes mal, jedesmal, grundsätzlich,
        standardmäßig, dauernd, ständig, generell, jede antwort, pro antwort, in allen, von nun an,
        von jetzt an, solange ich, solange, außer ich, es sei denn, dauerhaft, nichts mehr,
        kein wort mehr, keine mehr, prinzipiell, jeweils, konsequent, bis auf weiteres,
        in deinen antworten, deine antworten, いつも, 必ず, 今後, これから, 毎回, 常に, 絶対,
        ずっと, 基本的, 一切, もう, 二度と, 以後, 毎度, ときは, 時は, たびに, するまで, 今日から,
        普段, 原則, なるべく, できるだけ, デフォルト, いちいち, all your answers, all your replies,
        in all your, at a time, every one of your, all of your answers, in every answer,
        in any answer, in any reply, wenn du mir, whenever i, whenever you, if i ask you for,
        when i write to you, wenn ich nach, wenn ich dich, wenn du antwortest, when you answer,
        when you reply, when you give me, when you write, when you talk, when you mention,
        when you suggest, when you explain, mehr, every birthday, mehr bitte, never mentioned,
        any longer
    """,
    # what is off limits
    "LIMITS": """
        off limits, off-limits, off the table, no-go, taboo, no go, out of bounds, forbidden topic,
        sore subject, sore point, steer clear, stay away from, stay clear of, out of it, out of our,
        out of this, out of our chats, leave it alone, leave that alone, no more, not a word,
        no mention, no jokes, no questions, no talk, sick of hearing, tired of hearing,
        enough about, touchy subject, tabu, meiden, aus dem spiel, außen vor, kein thema mehr,
        kein wort, lass das thema, in ruhe, nichts hören, nichts mehr hören, nichts mehr lesen, NG,
        タブー, 禁止, なしで, やめてほし, やめて, 避けて, 禁句, そっとし, 触れない, 無しで, ナシで,
        勘弁, is a no-go, sensible, kein thema, ist tabu, sind tabu, is not a topic, not a topic,
        kein wort mehr, hören will ich, will ich nicht hören, kein gerede, no-go topic
    """,
    # an instruction by its name
    "RULE": """
        the rule, my rule, rule about, rule, the instruction, my instruction, instruction,
        instructions, the limit, word limit, the ban, ban on, restriction, the request, my request,
        my wish, preference about, setting, no-emoji rule, regel, anweisung, anweisungen, vorgabe,
        wortlimit, verbot, limit, ルール, 指示, 制限, 縛り, 解除, 設定, the no
    """,
    # permissions
    "AGAIN_OK": """
        you can, you may, you're allowed to, you're free to, feel free to, free to, it's ok to,
        it's okay to, it's fine to, it's fine, it's ok, it's okay, it's ok if, it's fine if,
        is okay, are okay, are ok, i don't mind if, i'm ok, i'm okay, don't mind, is welcome,
        are welcome, are welcome again, anything goes, as you like, as long as you, as you want,
        is allowed, are allowed, fair game, no problem if, all right if, du darfst, du kannst,
        kannst jetzt, darfst, ist okay, ist ok, ist in ordnung, sind okay, sind ok, es ist okay,
        ruhig, kannst ruhig, in ordnung, wie du willst, so viel du willst, ていい, でいい,
        ても大丈夫, でも大丈夫, ても構わ, てもいい, でもいい, 構いません, 大丈夫, いいよ, いいです,
        オッケー, 解禁, is fine again, are fine again, is fine now, are fine now, gehen wieder,
        geht wieder, ist erlaubt, sind erlaubt, wieder erlaubt, is ok again, are ok again,
        大丈夫です, is fine, are fine, it's alright, it's all right, ist wieder okay, wieder okay,
        wieder in ordnung, 平気, 解除
    """,
    # back to what was before
    "AGAIN": """
        again, after all, back to, go back to, switch back, back to normal, normally, as before,
        like before, as usual, wieder, doch wieder, wie früher, wie vorher, また, 戻して, 戻し,
        元に, やっぱり, 前みたいに, 前のように, 普通に, 普通の
    """,
    # what need not be any more
    "NO_NEED": """
        don't have to, don't need to, do not have to, do not need to, no need to, no need for,
        no longer need to, no longer have to, not needed, isn't needed, aren't needed,
        no longer applies, doesn't apply, not necessary, needn't, you can stop, no longer needed,
        no longer necessary, unnecessary now, not required, can go, musst nicht, musst nicht mehr,
        brauchst nicht, brauchst nicht mehr, brauchst dir, nicht mehr nötig, gilt nicht mehr,
        nicht nötig, braucht's nicht, brauchts nicht, hinfällig, überflüssig, musst du nicht,
        brauchst du nicht, musst, brauchst, なくていい, なくて大丈夫, なくてもいい, なくて構わ,
        不要, いらない, 必要ない, 必要はない, 必要はありません, じゃなくていい, もういらない,
        終わりで, cancel, lift, no longer need, brauchen wir nicht mehr, brauche ich nicht mehr,
        no reason, there's no reason, no place, has no place, have no place, no business
    """,
    # ends
    "STOP": """
        stop, quit, cease, hör auf, aufhören, höre auf, lass das, lass es, schluss mit, enough of,
        enough with, cut it out, knock it off, cut out, やめて, 止めて, よして
    """,
    # negations
    "NOT": """
        shouldn't, don't, do not, dont, not, no, none, nothing, without, nicht, kein, keine, keinen,
        keiner, keines, keinerlei, nichts, ohne, won't, can't, cannot, isn't, didn't, haven't,
        doesn't, wouldn't, couldn't, never mind, nor, ないで, なしに, ません, ぬよう, じゃない,
        しないで, ずに, sprich mich nicht, sprich mich bitte nicht, erinner mich bitte nicht,
        erinnere mich bitte nicht, fang nicht, fang nicht wieder, frag nicht, frag nicht nach,
        frag mich nicht, frag mich nicht nach, frag mich bitte nicht, sprich nicht,
        sprich bitte nicht, not mention, not mentioning, 話をしない, 話はしない, 話しない, 聞かない,
        言わないで, 話はもう, 話はやめ, 話はなし, 名前は出, 名前出, refrain from,
        refrain from mentioning, refrain, weder, i don't want, i do not want, i no longer want,
        i dont want, ich will nicht, ich möchte nicht,
        wasn't, weren't, aren't, hadn't, needn't, isnt, wasnt, shouldnt, doesnt, not be,
        had better not, better not
    """,
    # dismissals
    "NEVERMIND": """
        never mind, nevermind, egal, hat sich erledigt, schon gut, nvm, no matter, いいや,
        やっぱいい, 何でもない, なんでもない, 気にしない,
        forget about it
    """,
    # requests
    "PLEASE": """
        mind forgetting, mind deleting, mind removing, mind erasing, do you mind, make sure you,
        make sure that you, make sure to always, please make sure, please be sure to,
        make sure nothing, be sure to always, please, pls, plz, kindly, bitte, could you, can you,
        would you, will you, may i ask you to, could i ask you to, i'd like you to, i want you to,
        i need you to, i would like you to, would you mind, would you be so kind, do me a favour,
        do me a favor, is it possible, would it be possible, i'd appreciate it,
        i would appreciate it, i'd be grateful, i'd prefer, i'd rather, i would prefer,
        i would rather, can we, could we, let's, lets, you should, you must, i demand, i request,
        i hereby request, i ask you to, i beg you, i was wondering, wondering if you,
        any chance you, any way you, i expect you, kannst du, könntest du, würdest du,
        ich möchte dass du, ich will dass du, ich bitte, ich hätte gern, mir wäre lieber,
        mir wäre es lieber, wäre es möglich, ist es möglich, lässt sich, bitte dich, du sollst,
        du solltest, sei so lieb, sei so gut, sei so nett, tu mir den gefallen, ich verlange,
        ich wünsche mir, lieber wäre mir, magst du, ください, 下さい, お願い, ほしい, 欲しい,
        もらえ, いただけ, いただき, くれる, くれない, くれ, もらって, 頼む, 頼みます, 幸い, 助かり,
        助かる, 願います, くださ, ほしく,
        would you be so good, would you be so good as, be so good as to, would you be so kind as,
        be so kind as to, see to it that, please see to it that, please ensure that,
        kindly ensure that, make sure that, i request that, formal request to, a formal request to,
        i ask that you, i ask that, i'd be grateful if, i would be grateful if, i'd be glad if,
        it'd be great if, it would be great if, verlange ich, fordere ich, ich fordere, bitte ich,
        ich bitte um, do me a favour and, do me a favor and, i'd ask you to, may i have,
        could i have, can i have, i'd like to have, i hereby ask,
        how do i get you, so that you, could we agree that, can we agree that, please see that,
        any way for you to, a way for you to, what would it take, i'm asking you to,
        i am asking you to, i'm asking that you, may i ask that you, i insist that you,
        i'd rather you forgot, i would rather you forgot, i'd prefer you forgot,
        grateful if you forgot
    """,
    # what the speaker wants or likes
    "WISH": """
        i want, i'd like, i would like, i need, i prefer, it would be great, it would be nice,
        i wish, i'd feel better, i'd love, i'd be happier, better if, happier if, nice if, great if,
        i don't want, i do not want, i no longer want, i don't like, i hate, can't stand,
        ich möchte, ich will, ich wünsche, ich mag, ich bevorzuge, ich hätte, ich brauche, lieber,
        ich hasse, möchte ich, will ich, mag ich, したい, べき, i like, i like my, i want my,
        i want all, i need my,
        i'd feel, i would feel, i'd feel safer, feel better if, i would feel better if,
        i'd feel better if, would be safer if, be safer if, safer if, i'd sleep better if,
        mir wäre wohler, wohler, es wäre gut, es wäre schön, i'd love for, i'd love it if,
        i dont want, i don't feel comfortable, ich will nicht, ich möchte nicht,
        right to be forgotten, i'd be more at ease, i'd rest easier if, i'd rest easier,
        better if you forgot, great if you forgot, nice if you forgot
    """,
    # the speaker
    "ME": """
        i, i'm, me, i've, i'd, i'll, myself, ich, mich, mir, 私, 僕, 俺, わたし, ぼく, うち
    """,
    # the speaker's
    "MY": """
        my, our, mine, mein, meine, meinen, meinem, meiner, meines, unser, unsere, unseren, unserem,
        unserer, 私の, 僕の, うちの, 俺の, わたしの
    """,
    # the assistant
    "YOU": """
        you, your, yourself, u, ur, you're, you've, you'll, du, dich, dir, dein, deine, deinen,
        deinem, deiner, deines, ihr, sie, あなた, 君, きみ, そちら
    """,
    # other people
    "OTHER": """
        he, she, they, we, someone, somebody, people, everyone, everybody, who, it's, his, her, him,
        their, them, us, er, wir, man, jemand, leute, ihm, ihn, ihnen, seine, seinen, 彼, 彼女,
        みんな, 誰か, 人が, 上司に, 妻に, 夫が, 友達が
    """,
    # wishes of other people, and to them
    "SAYS": """
        sie soll, er soll, says, told me, asked me, wants me, wants us, asks me, asked us, said to,
        says to, ask tom, tell him, tell her, apologised, wrote to, meint, meinte, sagt, hat gesagt,
        will dass, wollte dass, hat gemeint, 言われ, と言って, って言われ, と言う, だって, told her,
        told him, told them, told mom, told mum, asked him, asked her, asked them, wants to,
        want me to, want us to, wanted me, he said, she said, they said, mum said, mom said,
        dad said, boss said, said i should, made me, begged me, ordered me, meinte mein, sagte,
        gesagt ich soll, meint ich soll, sag ihm, sag ihr, bat mich, ich soll, soll ich, 頼まれ,
        言われた, 言われて, って言う, って言って, ask him, ask her, ask them, tell tom, tell my,
        tell our, tell the, ask my, ask our, ask the,
        i told my, i told him, i told her, i told them, i asked my
    """,
    # pronouns for a statement
    "PRON": """
        it, that, this, them, those, all of it, all of that, all that, the whole thing, that one,
        that bit, that part, that stuff, the lot, das, es, dies, das alles, alles davon, die, あれ,
        それ, これ, その話, 今の話, あの話, そのこと, そいつ
    """,
    # the whole of something
    "ALL": """
        what's, everything, anything, all, whatever, every, what, any, stuff, thing, things, alles,
        was, etwas, sämtliche, sämtliches, komplett, 全部, すべて, 全て, ぜんぶ, 一切合切, 何もかも,
        irgendetwas, irgendwas, irgendeine, irgendeinen
    """,
    # matters of a life
    "PERSONAL": """
        がん, 癌, blood type, blutgruppe, 血液型, licence, driving test, test, exam, childhood,
        kindheit, 認知症, 介護, salary, income, wage, address, adress, phone number, birthday,
        date of birth, age, weight, height, diagnosis, illness, disease, condition, health, medical,
        medication, meds, pregnancy, pregnant, miscarriage, abortion, divorce, separation, breakup,
        affair, ex, ex-wife, ex-husband, ex-girlfriend, ex-boyfriend, debt, debts, loan, mortgage,
        pension, bank, bank account, bank details, account number, iban, credit card, card number,
        pin, password, passport, social security, ssn, insurance number, therapy, therapist,
        psychiatrist, psychologist, depression, anxiety, addiction, rehab, drinking, surgery,
        operation, hiv, cancer, blood pressure, religion, faith, sexuality, coming out, gay,
        criminal record, arrest, lawsuit, settlement, police, layoff, layoffs, merger, acquisition,
        restructuring, interview, job offer, boss, colleague, job, employer, daughter, son, kids,
        children, wife, husband, mother, mum, mom, father, dad, sister, brother, friend, flatmate,
        neighbour, neighbor, uncle, aunt, stepfather, family, where i live, where i work, who i,
        real name, maiden name, last name, full name, visa, inheritance, bankruptcy, finances,
        location, fertility, ivf, panic attacks, burnout, accident, fight, crush, relationship,
        marriage, wedding, codename, code name, product name, tax, taxes, test results, blood test,
        biopsy, allergy, tattoo, savings, hospital, gehalt, lohn, einkommen, adresse, anschrift,
        telefonnummer, handynummer, geburtstag, geburtsdatum, alter, gewicht, diagnose, krankheit,
        gesundheit, medikamente, tabletten, schwangerschaft, schwanger, fehlgeburt, abtreibung,
        scheidung, trennung, affäre, schulden, kredit, rente, konto, kontonummer, kontodaten,
        bankdaten, kreditkarte, passwort, ausweis, ausweisnummer, pass, therapie, therapeut,
        therapeutin, depressionen, angst, sucht, entzug, alkoholproblem, krebs, chemo, befund,
        blutbild, glaube, kündigung, entlassung, bewerbung, vorstellungsgespräch, stelle, vertrag,
        chef, chefin, kollege, kollegin, tochter, sohn, kinder, frau, mann, mutter, vater,
        schwester, bruder, freund, freundin, nachbar, nachbarn, familie, wo ich wohne,
        wo ich arbeite, wohnort, erbschaft, erbe, prozess, anzeige, unfall, streit, hochzeit, firma,
        kunde, kunden, steuer, finanzen, beförderung, führerschein, mitbewohner, mitbewohnerin,
        outing, eheprobleme, partner, name, nachname, projekt, projektname, 給料, 年収, 収入, 月給,
        ボーナス, 住所, 電話番号, 番号, 誕生日, 生年月日, 年齢, 歳, 体重, 病気, 病名, 病歴, 持病,
        診断, 薬, 妊娠, 流産, 離婚, 別居, 浮気, 不倫, 借金, ローン, 口座, クレカ, クレジットカード,
        パスワード, マイナンバー, 暗証番号, うつ, 鬱, 手術, 入院, 退職, 転職, 面接, 合併, 裁判,
        逮捕, 喧嘩, けんか, 彼氏, 彼女, 元カレ, 元カノ, 元彼, 元夫, 元妻, 妻, 夫, 母, 父, 姉, 妹,
        兄, 弟, 息子, 娘, 友達, 友人, 同僚, 上司, 課長, 部長, 家族, 実家, 学歴, 受験, 結婚, 旧姓,
        本名, 名前, 職場, 会社, 住んで, 通院, カウンセリング, 不妊, 治療, アレルギー, 収支, 貯金,
        失業, リストラ, 事故, 宗教, 性別, 性的, the name, name of, namen, number, numbers, nummer,
        client, contract, the offer, the trip, the client, my will, op,
        email address, e-mail address, old email, user name, username, door code, alarm code,
        gate code, gym code, locker code, access code, security code, entry code, bank card,
        lock code, bike code, safe code, code of my, code for my, code to my, code of the alarm,
        code of the safe, code of the door, fahrradschloss, code von meinem, code von meiner,
        鍵の番号,
        license plate, licence plate, number plate, sister-in-law, mother-in-law, father-in-law,
        brother-in-law, landlord, landlady, cousin, niece, nephew, grandmother, grandfather,
        grandma, grandpa, girlfriend, boyfriend, fiancé, fiancée, hometown, home town, birthplace,
        school, political party, gp, medication list, prescription, hearing aid, injury, knee, rash,
        stammer, stutter, panic attack, diabetes, stroke, epilepsy, adhd, autism, ptsd,
        eating disorder, vasectomy, pay, paycheck, credit score, bonus, rent, gambling, alimony,
        custody, court date, court case, conviction, prison, immigration status, citizenship,
        nationality, shoe size, fax number, mobile number, cell number, landline, home phone,
        phone nubmer, phone numer, phone no, national insurance number, tax id, expiry date, cvv,
        sort code, smoking, fertility treatment, medical information, health data, asthma, migraine,
        insomnia, sleep problems, stepmother, stepson, stepdaughter, twins, baby, kid, parents,
        maiden, money problems, passport number, insurance, türcode, zugangscode, panikattacken,
        panikattacke, gesundheitsdaten, sozialversicherungsnummer, geburtsdatums, geburtstags,
        gehalts, knie, vermieter, vermieterin, oma, opa, cousine, eltern, kreditkartennummer,
        steuernummer, kennzeichen, 免許証番号, 体調, 癖
    """,
    # things that are edited, lost or cleaned
    "THING": """
        file, files, folder, folders, row, rows, column, columns, table, tables, line, lines of,
        code, branch, commit, comments, comment, function, class, method, paragraph, paragraphs,
        sentence, typo, typos, duplicates, list, email, emails, mail, e-mail, mails, photo, photos,
        picture, pictures, image, images, app, apps, cookies, cache, log file, test, tests, imports,
        section, draft, letter, cv, resume, cover letter, readme, repo, repository, database table,
        key, keys, dict, object, variable, endpoint, api, migration, recipe, garlic, onions, stain,
        salt, milk, agenda, calendar, schedule, invite, guest list, shopping list, cart, playlist,
        spreadsheet, sheet, slide, slides, document, pdf, url, link, password manager, whiteboard,
        phone, laptop, iphone, hard drive, disk, instagram, facebook, google, gmail, whatsapp,
        amazon, linkedin, website, post, tweet, essay, poem, signature, flyer, ad, header, footer,
        node, cell, formula, budget, template, wallpaper, carpet, tick, mole, appendix, movie, film,
        data set, dataset, dependency, dependencies, bullet, chapter, standing order, browser,
        schufa, credit file, credit report, datei, dateien, ordner, zeile, zeilen, spalte, spalten,
        tabelle, absatz, foto, fotos, bild, bilder, kommentare, account, konto bei, import, entwurf,
        lebenslauf, anschreiben, bewerbungsschreiben, brief, liste, einkaufsliste, plan, termin,
        kalender, rezept, schlüssel, handy, funktion, fleck, kalk, papierkorb, wohnzimmer,
        kinderzimmer, sofa, tapeten, version, museum, rechnung, milch, ファイル, フォルダ, 行を, 列,
        段落, 文章, 写真, 画像, メール, アカウント, アプリ, 履歴書, 下書き, 予定表, 電気, シミ,
        汚れ, テーブル, 財布, 鍵, 傘, 宿題, 薬を飲み, スマホ, パソコン, インスタ, ツイッター, 記事,
        ブログ, イメージ, キャッシュ, 動画, 資料, リスト, タスク, カレンダー, ほくろ, ラーメン,
        映画, 携帯, 定期, パスポート, ゴミ, 変数, 関数, コマンド, 銀行に, 会議, text, item, items,
        user, users, satz, wort, from the list, from this list, this text, this list, aus der liste,
        dem text, einladung, rechnungen, from the sheet, reifen, fruits, mushrooms, onion, tomatoes,
        pilze, zwiebeln, report, log in, login, log into, verse, application, application form,
        form, script, novel, bericht, artikel,
        消しゴム, 消しごむ, 消防, 消毒
    """,
    # questions how
    "HOW": """
        how, why, when do, what's the best way, what is the best way, best way to, is it safe,
        should i, shall i, should we, what happens, who can, where can, wie, wieso, warum, soll ich,
        どうやって, どうすれば, 方法, どうしたら, なぜ, 何ですか, だっけ, 影響
    """,
    # questions whether
    "ASKS_BACK": """
        do you, did you, have you, are you, will you ever, what do you, what did, do we,
        can you even, is it, was there, hast du, bist du, wirst du, was weißt, was hast, was hab,
        gibt es, でしょうか
    """,
    # texts to be written
    "EMAIL": """
        email to, email asking, mail to, letter to, draft, write an email, write a letter, mail an,
        brief an, schreib eine mail, formuliere, antrag, メールを書, 手紙, 依頼する, 請求する,
        translate, übersetze, poem
    """,
    # what is of this moment only
    "ONEOFF": """
        this, these, for now, tonight, tomorrow, this time, the following, above, below,
        for a moment, for a second, diese, dieses, diesen, dieser, morgen, kurz, mal kurz, diesmal,
        明日, 以下, 次の, 今回, 一旦, この表, この文, この文章, これを, この行,
        ここは, この返事, このメール, さっきの, 先ほどの, 今の答え, この手紙, この件, この質問
    """,
    # in this place of a text
    "HERE": """
        here, hier
    """,
    # for how long something holds
    "PERIOD": """
        today, heute, 今日, 今日だけ, this week, this month, diese woche, diesen monat, 今週, 今月,
        until, till, bis, for the next, for the rest of, für die nächsten, まで
    """,
    # habits of people
    "HABIT": """
        i always, i never, i usually, we always, we never, i often, you always, you never,
        you're always, she always, he always, they always, they never, he never, she never,
        i hardly, ich immer, ich nie, immer so, 食べ, 飲み, 走って, 行き
    """,
    # reports of the past
    "PASTI": """
        i deleted, i removed, i forgot, i've forgotten, i had forgotten, i erased, i cleared,
        i dropped, we got rid, we deleted, removed me, deleted all, deleted our, ich habe, ich hab,
        hab ich, habe ich, hatte, hat, haben, has, have, had, was, were, been, did, しました,
        してしま, ました, wurde, wurden, in case
    """,
    # calls for help with the matter at hand
    "HELP": """
        help me, can you help, can you help me, could you help me, give me some advice,
        give me some tips, give me some, some tips, some suggestions, suggest any,
        suggest improvements, suggest some improvements, suggestions for, walk me through,
        review my, review this, provide an example, double-check my, figure out, help me figure,
        thanks for the, thanks again, would you recommend, do you recommend, to make sure,
        i want to make sure, make sure i, make sure i'm, make sure my, make sure it,
        i'm not sure if, not sure if, not sure how, i'm trying to, kann ich, hilf mir,
        kannst du mir helfen, gib mir ein paar, was empfiehlst du, 手伝って, 助けて,
        教えてもらえますか, どう思いますか
    """,
    # openings
    "LEAD": """
        aber, ich weiß, i know, i get it, look, ok, okay, so, and, but, also, oh, hey, hi, well,
        right, actually, btw, by the way, just, hm, hmm, ugh, sorry, übrigens, ach, ja, ach ja, und,
        noch was, jetzt, mal, ma, einfach, endlich, then, now, listen, yeah, nah, entschuldigung,
        sag mal, すみません, ごめん, ごめんなさい, あの, ところで, えっと, ねえ, でも, thanks,
        thank you, danke
    """,
    # little words
    "FUNC": """
        tbh, bout, kannste, zu viel, habe, hab, hast, würdest, würde, würden, wird, werden, noch,
        irgendwie, irgendwo, gehört, bleibt, stays, zum thema, thema, angeht, abt, can, could, the,
        a, an, of, to, in, on, at, from, about, regarding, concerning, is, are, be, as, or, if,
        into, off, out, up, der, den, dem, des, ein, eine, einen, von, vom, zu, zum, zur, mit, über,
        aus, im, auf, für, bei, ist, sind, dass, ob, oder, nach, bezüglich, は, を, が, の, に, で,
        と, も, へ, か, ね, よ, な, から, まで, with, for,
        anywhere, somewhere, wohl, nur, eigentlich, halt
    """,
    # verbs of proposing and assuming
    "SUGGEST": """
        suggest, suggesting, recommend, recommending, propose, proposing, offer me, only suggest,
        only recommend, schlag mir, schlag, schlage, vorschlagen, vorschlägst, empfiehl, empfehle,
        empfehlen, empfiehlst, biete mir, 提案, 勧め, すすめ, 薦め, オススメ, おすすめ, assume,
        assuming, geh davon aus, gehe davon aus, geh immer davon aus, setz voraus, 前提
    """,
    # verbs of answering
    "ANSWERV": """
        answer, answer me, reply, reply to me, respond, write to me, talk to me in, speak, explain,
        explain things, explain everything, antworte, antworte mir, schreib mir, schreibe mir,
        erklär mir, erkläre mir, sprich, rede, 答えて, 回答して, 返事して, 返信して, 返して,
        説明して, 話して
    """,
    # what has to be
    "MUST": """
        should, must, needs to, need to, has to, have to, ought to, shall, can go, may go, soll,
        sollen, sollte, muss, müssen, kann, können, darf, dürfen, べき
    """,
    # Japanese nouns for a statement
    "ABOUT_JA": """
        メッセージ, 発言, 愚痴, 悪口, のこと, の話, の件, という話, ってこと, っていう話,
        ということ, こと, 話, 件, に関する, について, データ, 情報, メモ, に関して, だということ,
        って話, という事, 事は, 事を
    """,
    # the answers themselves
    "REPLY": """
        answer, answers, answering, reply, replies, replying, respond, response, responses,
        responding, messages you write, your messages, explanation, explanations,
        everything you write, anything you write, your answers, suggestions, recommendations,
        antwort, antworten, antwortest, erklärung, erklärungen, vorschläge, empfehlungen, 回答,
        答え, 返事, 返信, 返答, レス, reasoning, your code
    """,
    # qualities that answers and other things have
    "MANNER": """
        short, shorter, brief, concise, long, longer, long answers, detailed, length, formal,
        formally, informal, informally, casual, words, lines, sentences, paragraphs, dates, prices,
        language, advice, opinions, examples, sources, spelling, round, bold, kurz, kurze, kürzer,
        knapp, knappe, lang, lange, ausführlich, ausführliche, förmlich, formell, locker, sätze,
        wörter, wörtern, absätze, zeilen, deutsch, englisch, sprache, format, preise, quellen,
        quelle, beispiele, tipps, ratschläge, gramm, kilometer, euro, km, miles, grams, cups,
        pounds, dollars, euros, praise, compliments, recommendation, suggestion, summary, slang,
        長く, 長め, 詳しく, ausführlicher, länger,
        短く, 短め, 形式, 日本語, 英語, 言語, 漢字, 初心者, グラム, メートル, 円で, コード,
        コメント, サンプル, 文体, 参考, ソース, 例を, 結論, 長文, indent, reference, references,
        recipes, rezepte, rezept, rezepten, レシピ, 褒め, ironie, schreib, schreiben, schreibst
    """,
}
