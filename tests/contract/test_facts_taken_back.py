"""What a person takes back of themselves ends, and what only sounds like it ends nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.domain.requests.memories import SaveInput
from tests.builders import ALICE, NOW
from tests.telling import tell
from tests.world import World

DAY = timedelta(days=1)


async def profiles(world: World, *messages: str) -> list[dict[str, object]]:
    """What the profile says after each message, a day apart."""
    core = await world.core_by_rules()
    seen = []
    for day, text in enumerate(messages):
        world.clock.forward(DAY.total_seconds())
        await tell(core, text, session=f"s{day}", at=NOW + (day + 1) * DAY)
        explicit = (await core.profile(ALICE)).explicit
        seen.append({fact.name: fact.value for fact in explicit})
    return seen


@pytest.mark.parametrize(
    ("messages", "slot"),
    [
        (
            (
                "I was diagnosed with coeliac disease. No gluten for me.",
                "The second biopsy was clean: it isn't coeliac. I can eat bread again.",
            ),
            "condition coeliac disease",
        ),
        (
            ("I was diagnosed with asthma.", "The asthma diagnosis was a mistake."),
            "condition asthma",
        ),
        (("I have asthma.", "The asthma diagnosis was wrong."), "condition asthma"),
        (("Ich habe Asthma.", "Die Asthma-Diagnose war falsch."), "condition asthma"),
        (("My salary is 54,000 euros.", "What I said about my salary was wrong."), "salary"),
        (
            ("Mein Gehalt ist 54.000 Euro.", "Was ich über mein Gehalt gesagt habe, war falsch."),
            "salary",
        ),
        (
            (
                "I'm allergic to shellfish.",
                "I was wrong about the shellfish, it was the sauce. The doctor says I can eat"
                " shrimp.",
            ),
            "allergy to shellfish",
        ),
        (("I'm allergic to peanuts.", "I've outgrown my peanut allergy!"), "allergy to peanuts"),
        (("I have a peanut allergy.", "I outgrew my peanut allergy."), "condition peanut allergy"),
        (
            (
                "Ich bin gegen Haselnüsse allergisch.",
                "Die Haselnussallergie hat sich nicht bestätigt, der Test war negativ.",
            ),
            "allergy to haselnüsse",
        ),
        (("Ich habe Zöliakie.", "Der Arzt sagt, es ist keine Zöliakie."), "condition zöliakie"),
        (("Ich habe eine Nussallergie.", "Meine Nussallergie war ein Irrtum."), "allergy"),
        (
            ("私はそばアレルギーです。", "検査の結果、そばアレルギーではありませんでした。"),
            "allergy to そば",
        ),
        (("私は喘息です。", "喘息は誤診でした。"), "condition 喘息"),
        (
            (
                "I've gone vegetarian by the way.",
                "The vegetarian thing is over, I caved in at a barbecue.",
            ),
            "diet",
        ),
        (("I'm vegan by the way.", "And I eat cheese again. Don't judge."), "diet"),
        (("I've gone vegetarian.", "I eat chicken again."), "eats meat"),
        (("Ich bin Vegetarierin.", "Ich esse jetzt wieder Fleisch."), "diet"),
        (("Ich lebe vegan.", "Die vegane Phase ist vorbei."), "diet"),
        (("糖質制限をしています。", "糖質制限はやめました。普通に食べています。"), "diet"),
        (("私はベジタリアンです。", "また肉を食べています。"), "diet"),
        (
            (
                "I work at Hartwell Logistics as a dispatcher.",
                "Hartwell let me go today. Redundancy, the whole night shift desk.",
            ),
            "employer",
        ),
        (
            (
                "Ich arbeite bei der Firma Brandt.",
                "Ich hab bei Brandt gekündigt, zum 30. Juni. Mach mich selbstständig.",
            ),
            "employer",
        ),
        (
            (
                "名古屋に住んでいて、トヨタ系の部品メーカーで働いています。",
                "会社を辞めて、10月からLINEヤフーでエンジニアとして働くことになりました。",
            ),
            "employer",
        ),
        (("札幌の病院で看護師をしています。", "病院を辞めました。少し休みます。"), "employer"),
        (("Call me Captain.", "ok stop calling me Captain, it was fun for a week"), "name"),
        (("I eat meat again.", "I'm vegan again."), "eats meat"),
        (("I eat meat.", "I went back to being a vegetarian again."), "eats meat"),
    ],
)
async def test_what_is_taken_back_ends(world: World, messages: tuple[str, str], slot: str) -> None:
    before, after = await profiles(world, *messages)
    assert slot in before
    assert slot not in after


@pytest.mark.parametrize(
    ("messages", "slot"),
    [
        (("I'm allergic to nuts.", "It isn't nuts, it's seeds."), "allergy to nuts"),
        (("I have type 2 diabetes.", "I don't have type 1 diabetes."), "condition type 2 diabetes"),
        (("I don't eat meat.", "I'm vegan again."), "eats meat"),
        (("I eat meat.", "My sister is vegan again."), "eats meat"),
        (
            ("I'm allergic to nuts.", "The test kitchen says it isn't nuts, it's seeds."),
            "allergy to nuts",
        ),
        (
            ("I'm allergic to shellfish.", "I was wrong about the shellfish, it's in the freezer."),
            "allergy to shellfish",
        ),
        (
            ("I was diagnosed with coeliac disease.", "I hope the test says it isn't coeliac."),
            "condition coeliac disease",
        ),
        (
            (
                "I was diagnosed with coeliac disease.",
                "My sister had her biopsy. The doctor says it isn't coeliac.",
            ),
            "condition coeliac disease",
        ),
        (
            ("Ich bin gegen Haselnüsse allergisch.", "Seine Haselnussallergie war ein Irrtum."),
            "allergy to haselnüsse",
        ),
        (
            (
                "Ich bin gegen Haselnüsse allergisch.",
                "Die Haselnussallergie meiner Tochter hat sich nicht bestätigt.",
            ),
            "allergy to haselnüsse",
        ),
        (
            ("私はそばアレルギーです。", "検査の結果、妻はそばアレルギーではありませんでした。"),
            "allergy to そば",
        ),
        (("I'm allergic to peanuts.", "Ben's peanut allergy is gone."), "allergy to peanuts"),
        (
            ("I'm allergic to peanuts.", "My son was tested. The peanut allergy was ruled out."),
            "allergy to peanuts",
        ),
        (
            (
                "Ich bin gegen Haselnüsse allergisch.",
                "Meine Tochter war beim Arzt. Die Haselnussallergie hat sich nicht bestätigt.",
            ),
            "allergy to haselnüsse",
        ),
        (
            ("私はそばアレルギーです。", "息子の検査の結果、そばアレルギーではありませんでした。"),
            "allergy to そば",
        ),
        (
            ("I'm intolerant to lactose.", "The test says it isn't lactose, it's the sugar."),
            "intolerance to lactose",
        ),
        (("I have asthma.", "My brother's asthma diagnosis was wrong."), "condition asthma"),
        (("I have asthma.", "I was afraid the asthma diagnosis was wrong."), "condition asthma"),
        (
            ("My salary is 54,000 euros.", "What I said about my sister's salary was wrong."),
            "salary",
        ),
        (("My salary is 54,000 euros.", "What I said about the project was wrong."), "salary"),
        (("I work as a nurse.", "Peter let me go last night."), "occupation"),
        (("I'm vegetarian.", "I eat cheese again."), "diet"),
        (("I follow a halal diet.", "I eat meat again."), "diet"),
        (("I'm vegan.", "If I eat cheese again I'll feel bad."), "diet"),
        (("糖質制限をしています。", "友達は糖質制限をやめました。"), "diet"),
        (("I work at Hartwell Logistics.", "Mom let me go to the party."), "employer"),
        (("I work at Hartwell Logistics.", "Brandt let me go last year."), "employer"),
        (("札幌の病院で看護師をしています。", "コーヒーをやめました。"), "employer"),
        (("I work at Tesco.", "Tesco let me go on a forklift course."), "employer"),
        (("I work at Tesco.", "Tesco let me go on Friday to see the doctor."), "employer"),
        (("I work at Siemens.", "Siemens fired me, but they took me back."), "employer"),
        (("I work at Siemens.", "Siemens fired me in the simulation game."), "employer"),
        (
            ("I was diagnosed with ADHD.", "I once thought my ADHD diagnosis was a mistake."),
            "condition adhd",
        ),
        (("私は喘息です。", "喘息は誤診でしたと書いてある記事を読みました。"), "condition 喘息"),
        (
            (
                "私は卵アレルギーです。",
                "検査の結果、卵アレルギーではありませんでした、という夢を見た。",
            ),
            "allergy to 卵",
        ),
        (("Ich bin Vegetarier.", "In der Rolle bin ich kein Vegetarier mehr."), "diet"),
        *(
            (("I have asthma.", later), "condition asthma")
            for later in (
                "It is not true that the asthma diagnosis was wrong.",
                "Nobody says the asthma diagnosis was wrong.",
                "The date of the asthma diagnosis was wrong.",
                "The treatment after the asthma diagnosis was wrong.",
                "In the play the hero says the asthma diagnosis was wrong.",
            )
        ),
        (
            ("Ich habe Asthma.", "Die Rechnung für die Asthma-Diagnose war falsch."),
            "condition asthma",
        ),
        (("I'm vegan.", "The vegan thing is over, say the newspapers."), "diet"),
    ],
)
async def test_what_only_sounds_like_it_ends_nothing(
    world: World, messages: tuple[str, str], slot: str
) -> None:
    assert slot in (await profiles(world, *messages))[-1]


async def test_what_was_never_told_is_not_taken_back(world: World) -> None:
    core = await world.core_by_rules()
    await tell(core, "The biopsy was clean: it isn't coeliac. I eat cheese again.")
    profile = await core.profile(ALICE)
    assert {fact.name for fact in profile.explicit} <= {"eats cheese"}


async def test_the_next_employer_is_the_one_that_is_told(world: World) -> None:
    messages = (
        "I start at Hartwell Logistics as a dispatcher tomorrow.",
        "Hartwell let me go today.",
        "Signed with Yorkshire Rail! Timetable planner, starting 2 August.",
    )
    assert (await profiles(world, *messages))[-1]["employer"] == "Yorkshire Rail"


async def test_a_new_job_and_a_new_home_in_one_sentence_are_both_told(world: World) -> None:
    messages = "札幌の病院で看護師をしています。", "函館に引っ越して、クリニックで働き始めました。"
    profile = (await profiles(world, *messages))[-1]
    assert (profile["home city"], profile["employer"]) == ("函館", "クリニック")


@pytest.mark.parametrize(
    ("messages", "name", "value"),
    [
        (
            (
                "My salary is 72,000 a year.",
                "Actually what I said about my salary was wrong, it's 67,000.",
            ),
            "salary",
            "67,000",
        ),
        (
            (
                "Mein Gehalt ist 72.000 Euro.",
                "Was ich über mein Gehalt gesagt habe, war falsch, es sind 67.000 Euro.",
            ),
            "salary",
            "67.000 Euro",
        ),
    ],
)
async def test_a_value_that_was_said_wrong_is_put_straight(
    world: World, messages: tuple[str, str], name: str, value: str
) -> None:
    assert (await profiles(world, *messages))[-1][name] == value


@pytest.mark.parametrize(
    ("text", "name", "days"),
    [
        ("My dentist appointment is tomorrow at 9.", "dentist appointment", 3),
        ("Mein Zahnarzttermin ist am 12. Mai um 9 Uhr.", "zahnarzttermin", 6),
    ],
)
async def test_an_appointment_leaves_the_profile_when_its_day_has_passed(
    world: World, text: str, name: str, days: int
) -> None:
    core = await world.core_by_rules()
    await tell(core, f"I live in Lisbon. {text}", session="s", at=NOW)
    names = {fact.name for fact in (await core.profile(ALICE)).explicit}
    assert names == {"home city", name}
    world.clock.forward(days * DAY.total_seconds())
    assert {fact.name for fact in (await core.profile(ALICE)).explicit} == {"home city"}
    before = (await core.profile(ALICE, at=NOW + timedelta(hours=1))).explicit
    assert {fact.name for fact in before} == {"home city", name}


@pytest.mark.parametrize(
    "text",
    [
        "My birthday is on May 9.",
        "My dentist appointment is on Tuesdays at 9.",
        "My meeting is on Tuesdays at 9.",
    ],
)
async def test_what_comes_again_stays_in_the_profile(world: World, text: str) -> None:
    core = await world.core_by_rules()
    await tell(core, text, session="s", at=NOW)
    before = (await core.profile(ALICE)).explicit
    assert before
    world.clock.forward(30 * DAY.total_seconds())
    assert (await core.profile(ALICE)).explicit == before


async def test_a_day_of_each_year_stays_in_the_profile(world: World) -> None:
    core = await world.core_by_rules()
    fields = {"type": "semantic", "subject": "user", "attribute": "wedding anniversary"}
    given = fields | {"content": "Our wedding anniversary is on May 9", "value": "May 9"}
    await core.save(ALICE, SaveInput.model_validate(given))
    world.clock.forward(30 * DAY.total_seconds())
    (fact,) = (await core.profile(ALICE)).explicit
    assert fact.value == "May 9"
