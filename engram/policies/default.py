"""The default policy: who the user is, what they prefer, what binds them, what was decided."""

from __future__ import annotations

from typing import Final

from engram.policies.rules import MemoryPolicy, SlotRule, TypeRule

_ADV = (
    r"(?:(?:now|currently|still|actually|just|recently|officially|already|finally|also|permanently|happily|"
    r"presently|mostly|even) ){0,3}"
)
_WHO = rf"^(?:user's [\w-]+ and )?user {_ADV}"
_AT = (
    r"(?:(?:now|currently|alone|downtown|right|back|over|up|down|out|here|permanently|by myself|by themselves|"
    r"again) ){0,2}"
)
_WITH = r"(?:with (?:user's |a |the |two |three )?[\w'-]+(?: [\w'-]+)? )?"
_NEAR = (
    r"(?:(?:near|by|close to|across from|next to|above|behind|not far from) (?:[\w'-]+ ){1,4}?"
    r"|on the [\w-]+ (?:floor|side|outskirts) )?"
)
_MUCH = r"(?:(?:really|always|generally|usually|much|strongly|definitely|still|now|currently|just|actually|also) ){0,2}"
_STAY = r"(?:since|for|all|now|user's (?:whole|entire) life)"
_HOME = r"(?:new |current |permanent )?(?:home|house|flat|apartment|place|condo|residence)"
_STYLE = (
    r"(?P<style>(?:(?:very|more|really|fairly|as|quite|always) )?(?:concise|short|shorter|brief|terse|"
    r"succinct|detailed|verbose|long|longer|thorough|in-depth|formal|informal|casual|technical|"
    r"non-technical|simple|"
    r"direct|blunt|plain|friendly|step-by-step|bullet|bulleted|bullet-point|bullet point|structured|"
    r"to-the-point|straight|humorous|playful|professional|minimal|one-line|one-sentence))"
)
_SPEECH = (
    r"(?:answers|replies|responses|explanations|messages|summaries|communication|"
    r"communication style|tone|style|feedback|updates|output)"
)

_DONE = (
    r"(?:$|[.,;:!)]| (?:please|from now|always|and|or|over|to|when|in general|with|without|only|because|now|rather|"
    r"instead|by default|as|than|not|if|but|so|these days|in (?:english|french|german|spanish|bullet))\b)"
)

PROFILE: Final = TypeRule(
    name="profile",
    memory_type="profile",
    patterns=(
        r"\b(?:allerg(?:y|ic|ies)|anaphyla(?:xis|ctic))\b",
        (
            r"^user's (?:full |first |last |middle |real )?(?:name|surname|nickname|birthday|age|pronouns|"
            r"email|email address|phone number|address|time ?zone|hometown|job title|nationality|native "
            r"language|mother tongue) (?:is|was)\b"
        ),
        (
            rf"^(?:user|user's [\w-]+(?: and user)?) {_ADV}(?:lives?|resides?|lived|moved|relocated|"
            rf"settled|is living|is based|is from|was born|grew up|used to live|no longer lives|"
            rf"does not live)\b"
        ),
        r"^user's (?:[\w-]+ )?(?:home|house|flat|apartment|place|city|residence) (?:\w+ )?is (?:\w+ )?in\b",
        r"^user's (?:new |current |old )?(?:manager|boss|supervisor)(?:'s name)? (?:\w+ )?(?:is|was)\b",
        (
            r"^[\w' .-]{1,40} is (?:now )?(?:user's|my) (?:\w+ )?(?:manager|boss|supervisor|wife|husband|"
            r"partner|sister|brother|mother|father|son|daughter)\b"
        ),
        (
            r"^user (?:now |currently )?(?:works (?:as|at|for|in)|is (?:a|an) [\w-]+(?: [\w-]+)?$|is \d{1,3} "
            r"years old|is married|is single|is divorced|is engaged|speaks|studies|has (?:a|an|one|two|three|"
            r"four|five|\d+) (?:[\w-]+ )?(?:son|sons|daughter|daughters|child|children|kids|brother|brothers|"
            r"sister|sisters|dog|dogs|cat|cats))\b"
        ),
        r"^user reports to\b",
        r"\b(?:diabetic|vegetarian|vegan|celiac|coeliac|lactose intolerant|gluten intolerant)\b",
    ),
)
PREFERENCE: Final = TypeRule(
    name="preference",
    memory_type="preference",
    patterns=(
        r"\b(?:prefers?|preferred|preference|would rather|favou?rites?)\b",
        (
            r"^(?:user|user's [\w-]+) (?:\w+ )?(?:likes|loves|enjoys|hates|dislikes|adores|cannot stand|does "
            r"not like|does not enjoy|does not love|is a fan of|is fond of|is not a fan of|is into|avoids)\b"
        ),
        (
            rf"^(?:please )?(?:keep|make) (?:it|things|this|your|the|all)? ?(?:{_SPEECH} )?(?:very "
            rf"|as |more )?(?:concise|short|brief|simple|detailed|formal|casual)\b"
        ),
        r"^(?:please )?(?:call|address) me\b",
        r"^(?:please )?(?:answer|reply|respond)(?: (?:to )?(?:me|user))?(?: only)? in (?:(?:plain|simple) )?[a-z]+\b",
    ),
)
CONSTRAINT: Final = TypeRule(
    name="constraint",
    memory_type="constraint",
    patterns=(
        r"\b(?:must|must not|mustn't|deadline|hard limit|forbidden|not allowed|mandatory|required to|off limits)\b",
        r"^(?:please )?(?:never|always|do not|don't|only|under no circumstances)\b",
        r"^user's team (?:never|always)\b",
        r"\b(?:cannot|can't) (?:eat|drink|have|exceed|use|share|deploy|spend|work|travel|fly)\b",
    ),
)
DECISION: Final = TypeRule(
    name="decision",
    memory_type="decision",
    patterns=(
        (
            r"\b(?:decided|decision|chose|chosen|switched (?:\w+ )?(?:to|from)|agreed (?:to|on|that)|settled "
            r"on|opted for|migrated (?:to|from)|standardi[sz]ed on|went with|going with)\b"
        ),
        r"^user's team (?:\w+ )?(?:picked|adopted|dropped|replaced)\b",
    ),
)
TOOL_RESULT: Final = TypeRule(
    name="tool_result",
    memory_type="tool_result",
    patterns=(
        r"^(?:tool|command|query|api|function) (?:result|output|response|returned)\b",
        r"\bexit (?:code|status) \d+\b",
    ),
    metadata_values=("tool_result", "tool-result"),
)
PROJECT: Final = TypeRule(
    name="project",
    memory_type="project",
    patterns=(
        (
            r"^(?:the|user's|user's team's|our) (?:[\w-]+ ){0,3}?(?:project|repo|repository|codebase|product|"
            r"app|roadmap|milestone|sprint|backend|frontend|service|database|stack)\b"
        ),
        r"^project [\w-]+ ",
        r"\b(?:is|are|am) (?:working on|building|developing|shipping|launching)\b",
    ),
    metadata_values=("project",),
)
TASK: Final = TypeRule(
    name="task",
    memory_type="task",
    patterns=(
        r"\b(?:todo|to-do|to do list|pending|action item|follow[- ]up)\b",
        r"\b(?:needs? to|has to|have to)\b",
        r"^remind (?:me|user)\b",
    ),
    metadata_values=("task", "todo"),
)
HAPPENED: Final = TypeRule(
    name="happened",
    memory_type="episodic",
    patterns=(
        (
            r"^(?:user|user's (?:team|[\w-]+)) (?:\w+ly |just |recently |also )?(?:went|visited|attended|met|"
            r"saw|bought|got|finished|started|joined|took|ran|had|made|flew|drove|read|watched|gave|celebrated|"
            r"completed|signed|tried|learned|learnt|"
            r"spent|played|won|lost|broke|found|sold|received|passed|failed|booked|ordered|applied|adopted|"
            r"hosted|hiked|camped|cooked|painted|baked|wrote|called|talked|volunteered|presented|ate|came|left|"
            r"quit)\b"
        ),
    ),
)

NAME: Final = SlotRule(
    name="name",
    slot="profile:name",
    memory_types=("profile",),
    patterns=(
        r"^user's (?:full |real |actual |legal )?name (?:now |actually )?is (?:now |actually )?(?P<person>.{1,80})",
    ),
)
CITY: Final = SlotRule(
    name="current_city",
    slot="profile:current_city",
    memory_types=("profile",),
    patterns=(
        (
            rf"{_WHO}(?:lives?(?: and works?)?|resides?|is {_ADV}(?:living|based|settled|residing)|has been (?:living|"
            rf"based)) {_AT}{_NEAR}{_WITH}in (?P<city>.{{1,100}})"
        ),
        rf"{_WHO}(?:has lived|has resided|have lived) {_AT}in (?P<city>.{{1,60}}? {_STAY}\b.{{0,40}})",
        r"^user is (?:now )?an? [\w-]+ (?:[\w-]+ )?(?:living|based) in (?P<city>.{1,100})",
        (
            rf"{_WHO}(?:has )?(?:just )?(?:moved|relocated|settled)(?: (?:back|over|out|down|"
            rf"up|here|house|home|permanently|in|recently|away))?(?: with user's [\w-]+)?(?: "
            rf"from [^,;]{{1,40}}?| out of [^,;]{{1,40}}?)? (?:to|in) (?P<city>.{{1,100}})"
        ),
        rf"^user's {_HOME} (?:now |currently )?is (?:now |currently |located |still )?in (?P<city>.{{1,80}})",
        r"^user's (?:current |new |home )?address (?:now )?is (?:now )?in (?P<city>.{1,80})",
        rf"{_WHO}(?:has )?(?:just )?moved into (?:a|an|user's|our|the) [\w' -]{{1,30}}? in (?P<city>.{{1,100}})",
        (
            r"^user's (?:current |new |home )?(?:city|city of residence|place of residence)(?: of residence)? "
            r"(?:now )?is (?:now )?(?P<city>.{1,80})"
        ),
        rf"{_WHO}(?:ended|wound) up (?:moving|relocating|living|settling)(?: back)? (?:to|in) (?P<city>.{{1,100}})",
        r"^user (?:has )?(?:recently |just )?left (?P<left_city>[^,;]{1,40}?) for (?P<new_city>.{1,80})",
        r"^user (?:now |currently )?calls (?P<city>.{1,40}) home\b",
        r"^user is (?:now |currently )?a (?:\w+ )?resident of (?P<city>.{1,80})",
        r"^(?:user's )?(?:current city|city of residence|home city): (?P<city>.{1,80})",
    ),
)
MANAGER: Final = SlotRule(
    name="manager",
    slot="profile:manager",
    memory_types=("profile",),
    patterns=(
        (
            r"^user's (?:new |current |direct |line )?(?:manager|boss|supervisor)(?:'s name)? (?:now |"
            r"currently |actually |still )?(?:is|remains) (?:now |currently |actually |still |again |back to |called |"
            r"named )?(?P<person>.{1,80})"
        ),
        (
            r"^user's (?:new |current |direct |line )?(?:manager|boss|supervisor) (?:changed|has changed|"
            r"switched) to (?P<person>.{1,80})"
        ),
        rf"^user {_ADV}(?:reports|is reporting) (?:directly )?to (?P<person>.{{1,80}})",
        (
            r"^(?P<person>[\w'.-]{1,30}(?: [\w'.-]{1,30}){0,2}) (?:is|became|has become|remains) (?:now |still )?"
            r"(?:user's|my) (?:new |current |direct |line )?(?:manager|boss|supervisor)(?: now| these days| again)?$"
        ),
        (
            r"^(?P<person>[\w'.-]{1,30}(?: [\w'.-]{1,30}){0,2}) (?:became|has become) (?:user's|my) (?:new |direct |"
            r"line )?(?:manager|boss|supervisor) (?:last|this|in|on|since|yesterday|today|recently|two|three|a)\b"
        ),
    ),
)
ALLERGY: Final = SlotRule(
    name="allergy",
    slot="profile:allergy:{allergen}",
    memory_types=("profile",),
    patterns=(
        (
            r"^user (?:is|isn't|has been|was diagnosed as|became|got) (?:(?:not|no longer|also|now|actually|"
            r"severely|very|extremely|highly|deathly|mildly|slightly|really|still|only|so|badly|a bit) "
            r"){0,3}allergic to (?P<allergen>.{1,80})"
        ),
        (
            r"^user (?:recently |just |also )?(?:has|has got|does not have|no longer has|developed|suffers from|"
            r"was diagnosed with|got diagnosed with) (?:(?:an|a|any|the) )?"
            r"(?:(?:severe|mild|bad|serious|terrible|strong|slight|life-threatening|known) )?"
            r"(?:allergy|allergies|allergic reaction) to (?P<allergen>.{1,80})"
        ),
        (
            r"^user (?:recently |just |also )?(?:has|has got|does not have|no longer has|developed|suffers from|"
            r"was diagnosed with|got diagnosed with) (?:(?:an|a|any|the) )?"
            r"(?:(?:severe|mild|bad|serious|terrible|strong|slight|life-threatening|known) )?"
            r"(?P<allergen>[\w-]+(?: [\w-]+)?) allergy(?:$|[.,;!]| (?:and|but|so|since|now|too|any|as)\b)"
        ),
        (
            r"^user (?:always |now |also )?(?:carries|has|takes|keeps|uses|needs) [^,;:]{2,40}? (?:for|because of|"
            r"due to) user's (?:(?:severe|mild|bad|serious) )?(?P<allergen>[\w-]+(?: [\w-]+)?) allergy(?:$|[.,;!])"
        ),
        (
            r"^user (?:recently |just |also |once )?(?:has|had|gets|got|suffered|went into) (?:(?:an?|the) )?"
            r"(?:(?:severe|mild|bad|serious|terrible|strong|slight|life-threatening) )?"
            r"(?:allergic|anaphylactic) (?:reactions?|shock) (?:to|from|after eating) (?P<allergen>.{1,80})"
        ),
    ),
)
_CANNOT: Final = r"(?:cannot|can't|can not|must not|mustn't|should not|shouldn't|is not (?:supposed|allowed|able) to)"
_EVEN: Final = r"(?:(?:really|even|also|still|absolutely|no longer|ever) )?"
_REACTION: Final = (
    r"(?:hives|anaphyla\w+|(?:an? |the )?(?:\w+ )?(?:rash|rashes)|(?:an? )?(?:terrible |bad |severe "
    r")?(?:migraines?|asthma attacks?|stomach (?:cramps|aches?|pains?))|cramps|eczema|swelling|palpitations)"
)
INTOLERANCE: Final = SlotRule(
    name="intolerance",
    slot="profile:intolerance:{untolerated}",
    memory_types=("profile",),
    patterns=(
        rf"^user {_EVEN}{_CANNOT} {_EVEN}(?:eat|digest) (?P<untolerated>.{{1,80}})",
        (
            rf"^user {_ADV}(?:is|isn't) (?:(?:not|no longer|also|now|severely|very|extremely|mildly|a bit) ){{0,3}}"
            r"(?:intolerant (?:to|of)) (?P<untolerated>.{1,80})"
        ),
        (
            rf"^user {_ADV}(?:is|isn't) (?:(?:not|no longer|also|now|severely|very|extremely|mildly|a bit) ){{0,3}}"
            r"(?P<untolerated>[\w]+(?: [\w]+)?)[ -]intolerant\b"
        ),
        (
            rf"^user {_ADV}(?:has|has got|does not have|no longer has|developed|suffers from) (?:(?:an?|any) )?"
            r"(?:(?:severe|mild|bad|serious|slight) )?(?:intolerance|sensitivity) to (?P<untolerated>.{1,80})"
        ),
        (
            rf"^user {_ADV}(?:has|has got|does not have|no longer has|developed|suffers from) (?:(?:an?|any) )?"
            r"(?:(?:severe|mild|bad|serious|slight) )?(?P<untolerated>[\w-]+(?: [\w-]+)?) intolerance\b"
        ),
        (
            rf"^user {_ADV}breaks out in {_REACTION} (?:from|after|when user (?:eats|takes|has|touches)) "
            rf"(?P<untolerated>.{{1,80}})"
        ),
        (
            rf"^user {_ADV}gets {_REACTION} (?:from|after eating|when user (?:eats|takes|has|touches)) "
            rf"(?P<untolerated>.{{1,80}})"
        ),
        rf"^user {_ADV}reacts (?:badly|severely|allergically|violently|terribly) to (?P<untolerated>.{{1,80}})",
        rf"^(?P<untolerated>[^,;:]{{2,40}}?) (?:always |really |usually )?(?:gives?|causes?) user {_REACTION}",
        (
            r"^(?P<untolerated>[^,;:]{2,40}?) (?:always |really |usually )?makes? (?:user's (?:throat|tongue|lips|"
            r"face|eyes|skin) (?:swell|itch|close|burn)|user (?:break out|wheeze|itch|swell|vomit|throw up))\b"
        ),
    ),
)
UNTAKEN: Final = SlotRule(
    name="untaken",
    slot="profile:intolerance:{substance}",
    memory_types=("profile",),
    patterns=(
        rf"^user {_EVEN}{_CANNOT} {_EVEN}(?:have|take|drink|handle|tolerate|touch|process|do) (?P<substance>.{{1,80}})",
        (
            rf"^user {_EVEN}(?:can|is able to|is allowed to) (?:now )?(?:eat|have|take|drink|tolerate) "
            rf"(?P<substance>.{{1,60}}) again$"
        ),
        rf"^user's (?:body|stomach|gut) {_CANNOT} (?:handle|tolerate|digest|take|process) (?P<substance>.{{1,80}})",
        (
            r"^(?P<substance>[^,;:]{2,40}?) (?:always |really |usually )?makes? user (?:(?:feel|really|very|so|"
            r"violently|physically) ){0,2}(?:sick|ill|unwell|nauseous|bloated)\b"
        ),
        r"^(?P<substance>[^,;:]{2,40}?) (?:is|are) off[ -]limits for user\b",
    ),
)
CONDITION: Final = SlotRule(
    name="condition",
    slot="profile:condition:{condition}",
    memory_types=("profile",),
    patterns=(
        (
            rf"^user {_ADV}(?:is|isn't|has|does not have|no longer has|has got|suffers from|lives with|(?:was|got|"
            rf"has been) "
            r"diagnosed (?:with|as)) (?:(?:not|no longer) )?(?P<condition>.{2,60})"
        ),
    ),
)
STYLE: Final = SlotRule(
    name="communication_style",
    slot="preference:communication_style",
    memory_types=("preference",),
    patterns=(
        (
            rf"^user {_MUCH}(?:prefers|likes|wants|would rather have|would prefer|would like|"
            rf"loves) (?:a |an |your |the |all |user's |my |to get |getting |to have |to "
            rf"receive )?{_STYLE}(?:,? and [\w-]+)?(?:,? [\w-]+)? {_SPEECH}{_DONE}"
        ),
        (
            rf"^user {_MUCH}(?:prefers|likes|wants|would prefer|would like) (?:your "
            rf"|the |all |my |user's )?{_SPEECH} (?:to be |that are |kept |short and |in a )?{_STYLE}\b"
        ),
        rf"^(?:please )?(?:always )?(?:keep|make|give me|use) (?:your |the |all |all your |me )?{_SPEECH} {_STYLE}\b",
        (
            rf"^(?:please )?(?:always )?(?:be|keep it|keep things) {_STYLE}(?: (?:in|with) (?:your "
            rf"|all )?{_SPEECH}| from now on| please| always|,? always|$)"
        ),
        (
            rf"^user {_MUCH}(?:likes|prefers|loves) it (?:better |more |best )?(?:when|if) (?:your |the |my |user's )?"
            rf"{_SPEECH} are (?:kept )?{_STYLE}\b"
        ),
        rf"^user's (?:preferred )?(?:communication style|tone|style of communication)(?: preference)? is {_STYLE}\b",
        rf"^(?:please )?(?:always )?(?:answer|reply|respond|give me|use) (?:me )?(?:with |in )?{_STYLE} {_SPEECH}\b",
    ),
)

ATTRIBUTE: Final = SlotRule(
    name="attribute", slot="profile:{attribute}", patterns=(r"^(?P<attribute>(?P<held>.{3,300}))$",), critical=False
)

TYPE_RULES: Final = (PROFILE, PREFERENCE, CONSTRAINT, DECISION, TOOL_RESULT, PROJECT, TASK, HAPPENED)
SLOT_RULES: Final = (NAME, CITY, MANAGER, ALLERGY, INTOLERANCE, UNTAKEN, CONDITION, STYLE, ATTRIBUTE)

DEFAULT: Final = MemoryPolicy(name="default", type_rules=TYPE_RULES, slot_rules=SLOT_RULES)
