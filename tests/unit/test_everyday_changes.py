"""Everyday changes, from the facts of what is said first and later, and what is near to them
without a change.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.agent_schemas import SaidFact
from memory_core.domain.conversation import Message
from memory_core.domain.statements.change_messages import tells_change
from memory_core.domain.statements.changes import change
from memory_core.domain.statements.contradictions import contradiction
from memory_core.domain.statements.first_person import in_first_person

CHANGES = [
    ("I take warfarin.", "The clinic took me off warfarin, I'm on apixaban now."),
    ("I take metformin.", "My doctor has taken me off metformin."),
    ("I pay 30 a month for the car wash club.", "They put the car wash club up to 38 a month."),
    ("We have a subscription to the Guardian.", "We stopped the Guardian subscription."),
    ("My son plays rugby.", "He quit rugby and took up judo."),
    ("Pub quiz is on Wednesdays.", "They moved the pub quiz to Tuesdays."),
    ("I have a Kindle.", "My Kindle broke, I've got a Kobo instead."),
    ("My cousin is engaged.", "My cousin called off the engagement."),
    ("The alarm code is 2255.", "I changed the alarm code to 9911."),
    ("The school trip is on the 9th.", "The school trip got pushed back to the 16th."),
    ("My grandparents live on a farm.", "My grandparents sold the farm and live in a flat."),
    (
        "We meet at the Italian place on Friday.",
        "Let's meet at the Thai place instead, the Italian is closed.",
    ),
    ("Our team lead is Rob.", "Rob got promoted and Asha leads the team now."),
    ("My daughter is afraid of dogs.", "My daughter isn't scared of dogs anymore."),
    ("Unser Tierarzt ist Dr. Lang.", "Wir gehen jetzt zu Frau Dr. Weiß, Dr. Lang hat zugemacht."),
    ("Der Kitaplatz kostet 210 Euro.", "Der Kitaplatz kostet ab August 260 Euro."),
    ("Ich bin im Fitnessstudio angemeldet.", "Im Fitnessstudio hab ich mich abgemeldet."),
    (
        "Meine Tochter tanzt Ballett.",
        "Meine Tochter hat mit Ballett aufgehört und macht jetzt Judo.",
    ),
    ("Ich trinke abends gern ein Glas Wein.", "Ich trinke seit Januar keinen Wein mehr."),
    ("Der Stammtisch ist donnerstags.", "Den Stammtisch haben wir auf freitags verlegt."),
    ("Unsere Putzhilfe heißt Elena.", "Elena hat aufgehört, jetzt kommt Frau Novak."),
    ("Ich bereite mich auf den Triathlon vor.", "Beim Triathlon mache ich doch nicht mit."),
    (
        "Ich habe einen alten Laptop von Dell.",
        "Der Dell ist hinüber, ich habe mir ein MacBook geholt.",
    ),
    ("Meine Mutter arbeitet in der Bank.", "Meine Mutter ist jetzt Rentnerin."),
    ("Das Treffen ist um 18 Uhr.", "Das Treffen ist doch erst um 19 Uhr."),
    (
        "Meine Schwester ist mit Tobias zusammen.",
        "Meine Schwester und Tobias sind nicht mehr zusammen.",
    ),
    ("Ich vertrage keine Milch.", "Milch vertrage ich wieder."),
    ("Mein Bruder wohnt bei mir.", "Mein Bruder hat eine eigene Wohnung gefunden."),
    ("Wir haben Glasfaser von der Telekom.", "Wir sind mit dem Internet zu Vodafone gewechselt."),
    ("Mein Lieblingscafé ist das Milou.", "Das Milou hat dichtgemacht."),
    ("電気代は月7千円です。", "電気代が9千円に上がりました。"),
    ("毎晩お酒を飲みます。", "お酒は控えていて、今は飲んでいません。"),
    ("息子はサッカーをしています。", "息子はサッカーを辞めて、野球を始めました。"),
    ("打ち合わせは月曜の14時です。", "打ち合わせは水曜に変更になりました。"),
    ("妹は大学生です。", "妹は今年就職しました。"),
    ("名古屋で一人暮らしをしています。", "実家に戻りました。"),
    ("パソコンは富士通です。", "パソコンをMacに買い替えました。"),
    ("来月、車を買う予定です。", "車を買うのはやめました。"),
    ("経理部にいます。", "今は総務部にいます。"),
    ("担任は原先生です。", "新しい担任は森先生です。"),
    ("週に二回ヨガに行っています。", "ヨガは今は月に一回だけです。"),
    ("バスで通勤しています。", "今は電車で通勤しています。"),
    ("猫を飼っています。", "猫は先月亡くなりました。"),
    ("My car insurance is with Aviva.", "I've gone over to Direct Line for the car."),
    ("Dad is recovering from surgery at home.", "Dad is back at work."),
    ("I swim on Tuesday mornings.", "Swimming's on Thursday mornings from now on."),
    ("My phone contract runs until December.", "I've extended the phone contract until next June."),
    ("I don't own a car.", "I bought a car last week."),
    ("My favourite tea is Earl Grey.", "I prefer green tea these days."),
    ("We have three chickens.", "The fox got one of the chickens, so it's two now."),
    ("My wife works at the museum.", "My wife left the museum and teaches at a school."),
    ("Tickets for the play are 18 pounds.", "The play tickets are 22 pounds, not 18."),
    ("My mum has a spare key.", "Mum gave the spare key back."),
    ("Our holiday cottage is in Devon.", "We've sold the cottage in Devon."),
    ("I run the store in Bath.", "I handed the Bath store over to my deputy."),
    ("My hair is long.", "I cut my hair short."),
    ("Meine Autoversicherung ist bei der HUK.", "Mit dem Auto bin ich jetzt bei der Allianz."),
    ("Wir haben drei Hühner.", "Ein Huhn hat der Fuchs geholt, jetzt sind es zwei."),
    ("Mein Mann arbeitet im Krankenhaus.", "Mein Mann hat im Krankenhaus gekündigt."),
    ("Ich spiele Tuba im Musikverein.", "Aus dem Musikverein bin ich raus."),
    ("Wir wohnen zur Miete.", "Wir haben ein Haus gekauft."),
    ("Mein Handyvertrag läuft bis Dezember.", "Den Handyvertrag habe ich bis Juni verlängert."),
    ("Ich lese gerade Die Pest.", "Die Pest habe ich durch."),
    ("Mein Neffe macht eine Lehre als Koch.", "Mein Neffe hat die Lehre abgebrochen."),
    ("Unsere Katze heißt Mimi.", "Mimi ist gestern gestorben."),
    ("Ich hab kein Auto.", "Ich hab mir ein Auto gekauft."),
    ("Die Karten kosten 18 Euro.", "Die Karten kosten 22 Euro, nicht 18."),
    ("自動車保険は損保ジャパンです。", "自動車保険をソニー損保に変えました。"),
    ("火曜の朝に水泳をしています。", "水泳は木曜の朝になりました。"),
    ("鶏を三羽飼っています。", "鶏は二羽になりました。"),
    ("妻は美術館で働いています。", "妻は美術館を辞めて、今は学校で教えています。"),
    ("車は持っていません。", "先週、車を買いました。"),
    ("賃貸に住んでいます。", "家を買いました。"),
    ("甥は料理学校に通っています。", "甥は料理学校を中退しました。"),
    ("講座は9時に始まります。", "講座は10時開始に変わりました。"),
]
HARMLESS = [
    ("I take warfarin.", "They took my brother off warfarin."),
    ("I take warfarin.", "They haven't taken me off warfarin."),
    ("I take warfarin.", "That question took me off guard."),
    ("Our vet is Dr. Lowe.", "Our dentist has left the practice."),
    ("I pay 30 a month for the car wash club.", "They put the parking up to 38 a month."),
    ("We have a subscription to the Guardian.", "My parents stopped their Guardian subscription."),
    ("My son plays rugby.", "My nephew quit rugby and took up judo."),
    ("I take the bus to school.", "I walked to the shop this morning."),
    ("Pub quiz is on Wednesdays.", "They moved the choir to Tuesdays."),
    ("The extension should be done by April.", "The bathroom won't be done until July."),
    ("I have a Kindle.", "My headphones broke, I've got new ones."),
    ("My cleaner is called Marta.", "My aunt Marta went back to Spain."),
    ("I eat two eggs every morning.", "I skip lunch on Fridays."),
    ("My cousin is engaged.", "My boss called off the meeting."),
    ("I'm on the early shift.", "My husband has been put on lates."),
    ("The alarm code is 2255.", "I changed the code for the garage to 9911."),
    ("The school trip is on the 9th.", "The school concert is on the 16th."),
    ("My sister is studying medicine.", "Her friend dropped out of med school."),
    ("My grandparents live on a farm.", "Our neighbours sold their farm."),
    ("Our team lead is Rob.", "My brother Rob got promoted."),
    ("I owe my brother 200 dollars.", "I paid my sister back."),
    ("My back hurts.", "My headache is gone."),
    (
        "We meet at the Italian place on Friday.",
        "We ate at a Thai place last night instead of cooking.",
    ),
    ("Unser Tierarzt ist Dr. Lang.", "Unser Bäcker hat zugemacht."),
    ("Der Kitaplatz kostet 210 Euro.", "Das Essen in der Kita kostet 60 Euro."),
    ("Ich bin im Fitnessstudio angemeldet.", "Ich hab mich vom Newsletter abgemeldet."),
    ("Meine Tochter tanzt Ballett.", "Mein Sohn macht jetzt Judo."),
    ("Ich trinke abends gern ein Glas Wein.", "Ich trinke keinen Kaffee mehr."),
    ("Der Stammtisch ist donnerstags.", "Den Zahnarzt haben wir auf freitags verlegt."),
    ("Wir ziehen im Juni um.", "Der Urlaub verschiebt sich auf September."),
    ("Ich bereite mich auf den Triathlon vor.", "Beim Quiz mache ich nicht mit."),
    ("Meine Mutter arbeitet in der Bank.", "Meine Tante ist jetzt Rentnerin."),
    (
        "Meine Schwester ist mit Tobias zusammen.",
        "Mein Kollege und seine Frau sind nicht mehr zusammen.",
    ),
    ("Ich vertrage keine Milch.", "Kaffee vertrage ich gut."),
    ("Wir haben Glasfaser von der Telekom.", "Meine Eltern sind zu Vodafone gewechselt."),
    ("Mein Lieblingscafé ist das Milou.", "Der Buchladen hat dichtgemacht."),
    ("Das Treffen ist um 18 Uhr.", "Der Film fängt erst um 20 Uhr an."),
    ("美容師は岡さんです。", "同僚の西さんが髪を切りました。"),
    ("電気代は月7千円です。", "ガス代が5千円に上がりました。"),
    ("毎晩お酒を飲みます。", "朝は水を飲みます。"),
    ("息子はサッカーをしています。", "甥はサッカーを辞めました。"),
    ("打ち合わせは月曜の14時です。", "飲み会は水曜に変更になりました。"),
    ("妹は大学生です。", "弟は今年就職しました。"),
    ("名古屋で一人暮らしをしています。", "友達が実家に戻りました。"),
    ("パソコンは富士通です。", "母がスマホをiPhoneに買い替えました。"),
    ("経理部にいます。", "夫は総務部にいます。"),
    ("担任は原先生です。", "新しい校長は森先生です。"),
    ("バスで通勤しています。", "夫は電車で通勤しています。"),
    ("猫を飼っています。", "隣の犬が先月亡くなりました。"),
    ("父は元気です。", "叔父が入院しました。"),
    ("My car insurance is with Aviva.", "My home insurance is with Direct Line."),
    ("Dad is recovering from surgery at home.", "My brother is back at work."),
    ("I swim on Tuesday mornings.", "I run on Thursday mornings."),
    ("My phone contract runs until December.", "I've extended my library loan until June."),
    ("I share an office with Leo.", "I share a car with Leo's sister."),
    ("My favourite tea is Earl Grey.", "My favourite cake is lemon drizzle."),
    ("We have three chickens.", "The neighbours have two goats now."),
    ("My wife works at the museum.", "My sister left the museum shop."),
    ("Tickets for the play are 18 pounds.", "The programme for the play is 5 pounds."),
    ("My mum has a spare key.", "My neighbour gave the ladder back."),
    ("I run the store in Bath.", "Somebody else runs the store in Bristol."),
    ("My hair is long.", "My daughter cut her hair short."),
    ("I'm learning Danish.", "I finished my Danish homework."),
    ("I'm reading Emma.", "I finished the crossword."),
    ("Meine Autoversicherung ist bei der HUK.", "Meine Hausratversicherung ist bei der Allianz."),
    ("Mein Mann arbeitet im Krankenhaus.", "Meine Freundin hat gekündigt."),
    ("Ich spiele Tuba im Musikverein.", "Mein Nachbar ist aus dem Verein raus."),
    ("Meine Lieblingsserie ist Dark.", "Mein Lieblingsfilm ist Das Boot."),
    ("Mein Neffe macht eine Lehre als Koch.", "Meine Nichte hat das Studium abgebrochen."),
    ("Unsere Katze heißt Mimi.", "Der Hund vom Nachbarn ist gestern gestorben."),
    ("Die Karten kosten 18 Euro.", "Der Parkplatz kostet jetzt 22 Euro."),
    ("Ich lese gerade Die Pest.", "Den Film habe ich durch."),
    ("Der Kurs fängt um 9 an.", "Das Konzert beginnt um 10."),
    ("自動車保険は損保ジャパンです。", "携帯をソニーに変えました。"),
    ("火曜の朝に水泳をしています。", "木曜の朝に散歩をしています。"),
    ("妻は美術館で働いています。", "姉は今は学校で教えています。"),
    ("チケットは1800円です。", "駐車場は2200円でした。"),
    ("髪は長いです。", "娘が髪を短く切りました。"),
    ("甥は料理学校に通っています。", "姪は大学を中退しました。"),
    ("好きなお茶は紅茶です。", "好きなお菓子はクッキーです。"),
    ("講座は9時に始まります。", "映画は10時に始まります。"),
]


def stored(text: str) -> list[SaidFact]:
    """The facts of a message that become memories."""
    message = Message(role="user", content=text, timestamp=datetime(2026, 3, 2, tzinfo=UTC))
    return [
        fact
        for fact in said_facts([message])
        if fact.attribute or fact.lasting or tells_change(fact.text)
    ]


def is_changed(first: str, later: str) -> bool:
    """Whether a fact of the later message says something against one of the first."""
    return any(speaks_against(old, new) for old in stored(first) for new in stored(later))


def speaks_against(old: SaidFact, new: SaidFact) -> bool:
    if old.attribute and new.attribute:
        slots = [(fact.subject, fact.attribute) for fact in (old, new)]
        return slots[0] == slots[1] and old.value != new.value
    spoken = in_first_person(old.text), in_first_person(new.text)
    return bool(change(old.text, new.text) or change(*spoken) or contradiction(old.text, new.text))


@pytest.mark.parametrize(("first", "later"), CHANGES)
def test_an_everyday_change_is_noticed(first: str, later: str) -> None:
    assert is_changed(first, later)


@pytest.mark.parametrize(("first", "later"), HARMLESS)
def test_what_is_near_without_a_change_is_none(first: str, later: str) -> None:
    assert not is_changed(first, later)
