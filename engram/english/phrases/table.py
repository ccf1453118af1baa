"""The things of daily life of which people have one, and for each the ways in which it is spoken of.

In a pattern `<v>` is the value at the end of a statement, `<no-time>` stands before one that is no time, `<my>` is a
small word before a thing, `<often>` how often something is done, `<rule>` when or how, and `<aux>` what a question puts
before "I". A name that begins with `~` is loose: of it there may be several (`frames`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engram.english.phrases.words import Kind


class Entry(NamedTuple):
    """An attribute, the nouns that name it, and the statements that set it and questions that ask for it.

    `value` is what its value has to be where a noun names it, if that is no name. `said` are verbs of the user, with
    what the value has to be and what follows the verb; `owned` statements of something else; `done` what somebody who
    is the value does; `asked` questions, in compared text and without their time. `beside` are the verbs of the user by
    which one more is had and none is left: who "has a Chromebook" may have a ThinkPad, too.
    """

    name: str
    nouns: str = ""
    value: Kind | None = None
    said: tuple[tuple[str, Kind, str], ...] = ()
    owned: tuple[tuple[Kind, str], ...] = ()
    done: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    beside: str = ""


_PHONES: Final = (
    r"(?:google )?pixel(?: \d\w*)?(?: pro| xl| a)?|(?:apple )?iphone(?: \w+)?(?: pro| max| plus| mini){0,2}|"
    r"(?:samsung )?galaxy(?: [a-z]?\d+\w*)?(?: ultra| plus| fe)?|"
    r"(?:fairphone|oneplus|xperia|moto|nokia|xiaomi|redmi|huawei|motorola|nothing phone|poco|realme|oppo)(?: \w+){0,2}"
)
_LAPTOPS: Final = (
    r"(?:apple )?macbook(?: air| pro| m\d| \d+){0,3}|(?:lenovo )?(?:thinkpad|ideapad)(?: \w+){0,3}|"
    r"(?:dell )?(?:xps|latitude|inspiron)(?: \w+){0,2}|chromebook|(?:microsoft )?surface laptop(?: \w+)?|"
    r"(?:asus )?zenbook(?: \w+)?|framework laptop(?: \w+)?"
)
_BROWSERS: Final = (
    r"(?:google )?chrome|(?:mozilla )?firefox|(?:apple )?safari|(?:microsoft )?edge|brave|opera|vivaldi|duckduckgo|"
    r"tor browser|(?:the )?arc browser|librewolf"
)
_EDITORS: Final = (
    r"(?:visual studio|vs) ?code|vim|neovim|nvim|emacs|sublime(?: text)?|intellij(?: idea)?|pycharm|webstorm|phpstorm|"
    r"rider|clion|goland|zed|cursor|helix|notepad\+\+|eclipse|xcode|android studio|nano|kakoune|jetbrains"
)
_PAPERS: Final = (
    r"(?:[a-z]+ ){0,2}(?:herald|gazette|tribune|courier|observer|guardian|telegraph|chronicle|journal|"
    r"echo|argus|examiner|"
    r"sentinel|inquirer|bugle|dispatch|independent|times|post|mail|globe|standard|mirror|express)"
)
STANDS_FOR: Final = {
    "<v>": r"(?P<value>.+)",
    "<no-time>": (
        r"(?!\d|(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|"
        r"jun|jul|aug|sept?|oct|nov|dec|spring|summer|autumn|winter|the (?:year|early|late|\w+ies))\b)"
    ),
    "<my>": r"(?:user's |the |an? )?",
    "<rule>": r"(?:every|most|on|twice|once|three times|several times|at|in|for|with|by|since|these|a few) .+",
    "<often>": (
        r"(?:(?:once|twice|(?:\w+|\d) times) (?:a|per) (?:week|month)|"
        r"(?:most|two|three|four|five) (?:days|mornings|evenings)(?: a week)?|every (?:week|other day)|"
        r"to (?:stay|keep|get) (?:fit|active|in shape)|for (?:exercise|fitness|fun)|"
        r"for a (?:while|few \w+)|for (?:\w+ )?(?:years|months|weeks))"
    ),
    "<aux>": r"(?:do|did|am|was|have|had)",
    "<phones>": _PHONES,
    "<laptops>": _LAPTOPS,
    "<browsers>": _BROWSERS,
    "<editors>": _EDITORS,
    "<papers>": _PAPERS,
}

ENTRIES: Final = (
    Entry(
        "landlord",
        said=(
            (
                "rents",
                "name",
                r"(?:<my>(?:flat|apartment|house|room|studio|home) )?from (?P<value>(?:mr|mrs|ms|dr)\b.+)",
            ),
            ("rents", "name", r"<my>(?:flat|apartment|house|room|studio|home) from <v>"),
        ),
        owned=(("name", r"user's (?:home|house|flat|apartment|place|room) (?:belongs to|is owned by) <v>"),),
        done=(r"(?:owns|lets|rents out) user's (?:home|house|flat|apartment|place|room)",),
        asked=(
            (
                r"(?:who|whom) <aux> i rent(?:ing)?(?: (?:my|the) [\w ]+)? from|who (?:owns|owned) my (?:flat|house|"
                r"home)"
            ),
        ),
    ),
    Entry(
        "bedtime",
        said=(
            ("goes", "hour", r"to (?:bed|sleep) (?:at|around|by) <v>"),
            ("sleeps", "hour", r"(?:always )?(?:at|from) <v>"),
            ("is", "hour", r"(?:usually |always )?(?:in bed|asleep) (?:at|by) <v>"),
        ),
        asked=(r"(?:when|what time|at what time) <aux> i (?:go|going|went) to (?:bed|sleep)",),
    ),
    Entry(
        "wake-up time",
        nouns="wake-up time|wakeup time|wake up time|waking time|get-up time|alarm|alarm time",
        value="hour",
        said=(
            ("gets|wakes", "hour", r"(?:up )?(?:at|around|by) <v>"),
            ("rises", "hour", r"(?:at|around) <v>"),
            ("is", "hour", r"(?:usually |always )?up (?:at|by) <v>"),
            ("sets", "hour", r"user's alarm (?:for|to|at) <v>"),
        ),
        owned=(("hour", r"user's alarm (?:is set for|is set to|goes off at|rings at|is at) <v>"),),
        asked=(
            r"(?:when|what time|at what time) <aux> i (?:get|getting|got|wake|waking|woke) up",
            r"(?:what time|when|what) (?:is|was) my alarm (?:set )?(?:for|at)?",
        ),
    ),
    Entry(
        "~bedroom",
        nouns="bedroom",
        value="phrase",
        said=(("sleeps", "room", r"in the <v>"),),
        asked=(
            (
                r"(?:where|(?:what|which) room) <aux> i sleep(?:ing)?(?: in)?|(?:what|which) room (?:is|was) my "
                r"bedroom"
            ),
        ),
    ),
    Entry(
        "~newspaper",
        nouns="newspaper|paper|daily paper|morning paper|daily newspaper|news source|news app",
        said=(
            ("reads", "name", r"the (?P<value>[^,;:]+?)(?: <rule>| over breakfast| daily)?"),
            ("takes|gets", "name", r"(?:the )?(?:paper|newspaper),? (?:the )?<v>"),
            (
                "takes|gets|reads|subscribes",
                "name",
                r"(?:to )?(?:the )?(?P<value><papers>)(?: <rule>| daily| delivered)?",
            ),
        ),
        owned=(("name", r"the (?:paper|newspaper) user reads is (?:the )?<v>"),),
        asked=(r"(?:what|which) (?:newspaper|paper) <aux> i (?:read|get|take|reading|subscribe to)",),
    ),
    Entry(
        "~volunteer work",
        nouns="volunteer work|volunteering|charity work",
        said=(
            ("volunteers", "name", r"(?:at|for|with) (?:the )?<v>"),
            ("helps", "name", r"(?:out )?(?:at|with) (?:the )?<v>"),
            ("does", "name", r"(?:volunteer|voluntary|charity) work (?:at|for|with) (?:the )?<v>"),
        ),
        owned=(("name", r"user's (?:volunteer|voluntary|charity) work is (?:for|at|with) (?:the )?<v>"),),
        asked=(
            (
                r"(?:where|(?:what|which) (?:charity|organi[sz]ation)|who|whom) <aux> i (?:volunteer|help out|help|"
                r"volunteering)(?:ing)?(?: (?:for|at|with))?"
            ),
        ),
    ),
    Entry(
        "~club",
        nouns="club|running club|rowing club|sports club|cycling club",
        said=(
            ("runs|trains|rows|swims|cycles|rides|climbs|fences|skates", "name", r"with the <v>"),
            ("belongs", "name", r"to (?:the )?<v>"),
            ("is", "name", r"an? (?:\w+ )?member (?:of|at) (?:the )?<v>"),
        ),
        asked=(
            (
                r"(?:what|which) club <aux> i (?:a member of|in|belong to|run with|train with)|(?:who|whom) <aux> i "
                r"(?:run|train|row|swim|cycle|ride)(?:ning|ing)? with"
            ),
        ),
    ),
    Entry(
        "~choir",
        nouns="choir",
        said=(("sings", "name", r"(?:with|in) (?:the )?(?:choir )?<v>"),),
        asked=(
            (
                r"(?:who|whom) <aux> i sing(?:ing)? with|(?:what|which) choir <aux> i (?:sing(?:ing)?|in|a member "
                r"of)(?: in| with)?"
            ),
        ),
    ),
    Entry(
        "~team",
        nouns="team|football team|soccer team|hockey team|rugby team|team of choice",
        said=(
            ("supports", "name", r"(?P<value>(?!the ).+?)(?: (?:in|at) (?:football|soccer|rugby|hockey))?"),
            ("roots|cheers", "name", r"for (?:the )?<v>"),
            ("is", "name", r"an? (?:\w+ )??(?P<value>.+?) (?:fan|supporter)"),
        ),
        asked=(
            (
                r"(?:what|which) (?:football |soccer |hockey |rugby )?team <aux> i (?:support|root for|follow|cheer "
                r"for)(?:ing)?"
            ),
        ),
    ),
    Entry(
        "~language being learned",
        nouns="language being learned|target language",
        value="tongue",
        said=(
            ("learns|studies|practises|practices", "tongue", r"(?P<value>[a-z]+)(?: <rule>)?"),
            ("teaches|is", "tongue", r"(?:teaching )?(?:user|themselves|user's self) (?P<value>[a-z]+)(?: .+)?"),
            (
                "takes|started|begun|began",
                "tongue",
                r"(?:an? )?(?P<value>[a-z]+) (?:lessons|classes|course|courses)(?: .+)?",
            ),
            (
                "has",
                "tongue",
                r"(?:started|begun|taken up) (?P<value>[a-z]+)(?: (?:lessons|classes|course|courses))?(?: .+)?",
            ),
        ),
        owned=(("tongue", r"the (?:foreign )?language user (?:is )?(?:learning|studying|learns|studies) is <v>"),),
        asked=(r"(?:what|which) language <aux> i (?:learn|study|practise|practice)(?:ing)?",),
    ),
    Entry(
        "~instrument",
        nouns="instrument|main instrument|musical instrument",
        value="phrase",
        said=(("plays|learns|practises|practices", "instrument", r"the (?P<value>[a-z ]+?)(?: <rule>)?"),),
        owned=(("instrument", r"the instrument user (?:plays|is learning) is (?:the )?<v>"),),
        asked=(r"(?:what|which) (?:musical )?instrument <aux> i (?:play|learn|practise|practice)(?:ing)?",),
    ),
    Entry(
        "~sport",
        nouns="sport|main sport|sport of choice|favoured sport",
        value="phrase",
        said=(("does|plays|goes|practises|practices", "pastime", r"(?P<value>[a-z-]+(?: [a-z]+)?)(?: <often>)?"),),
        asked=(
            r"what <aux> i (?:do|doing) for (?:exercise|sport|fitness)|how <aux> i (?:keep|stay) fit",
            r"(?:what|which) sports? <aux> i (?:do|play|practise|doing|playing)",
        ),
    ),
    Entry(
        "coffee order",
        nouns=(
            "coffee order|coffee of choice|go-to coffee|usual coffee|regular coffee|standard coffee|go-to coffee "
            "order|usual order at the cafe|usual coffee order|usual"
        ),
        value="drink",
        said=(
            ("orders", "drink", r"<my>(?P<value>[a-z -]+?)(?: <rule>)?"),
            ("orders|gets|has", "drink", r"<my>(?P<value>[a-z -]+?) (?:as|for) user's (?:usual )?coffee"),
        ),
        asked=(
            (
                r"what (?:kind of )?coffee <aux> i (?:usually |always )?(?:order|get|have)|what <aux> i (?:usually "
                r")?order at the caf[eé]"
            ),
        ),
    ),
    Entry(
        "~morning drink",
        nouns="morning drink|drink in the morning|breakfast drink|morning beverage",
        value="drink",
        said=(
            ("drinks", "drink", r"<my>(?P<value>[a-z -]+?) (?:in the mornings?|every morning|for breakfast)"),
            ("starts", "drink", r"(?:user's|the|every) (?:day|morning) with (?:an? |the )?(?P<value>[a-z -]+)"),
            ("has", "drink", r"<my>(?P<value>[a-z -]+?) (?:in the morning|every morning|first thing)"),
        ),
        asked=(
            (
                r"what <aux> i drink(?:ing)? (?:in the mornings?|for breakfast)|what <aux> i start my (?:day|morning) "
                r"with"
            ),
        ),
    ),
    Entry(
        "~breakfast",
        nouns="breakfast|usual breakfast|go-to breakfast",
        value="phrase",
        said=(("has|eats", "phrase", r"(?P<value>[a-z ]+?) for breakfast"),),
        asked=(r"what <aux> i (?:usually )?(?:have|eat|had) for breakfast",),
    ),
    Entry(
        "~lunch",
        nouns="lunch|usual lunch|go-to lunch",
        value="phrase",
        said=(("eats", "phrase", r"(?P<value>[a-z ]+?) for lunch"),),
        asked=(r"what <aux> i (?:usually )?(?:have|eat|had) for lunch",),
    ),
    Entry(
        "~programming language",
        nouns="programming language|language at work|coding language",
        value="code",
        said=(
            (
                "writes|codes|programs",
                "code",
                (
                    r"(?:mostly |mainly |everything |code )?(?:in )?(?P<value>\S+)(?: (?:at|for) (?:work|user's job|a "
                    r"living).*)?"
                ),
            ),
            ("uses", "code", r"(?:mostly |mainly )?(?P<value>\S+) (?:at|for) (?:work|user's job)(?: .+)?"),
            ("learns|studies", "code", r"(?P<value>\S+)"),
        ),
        owned=(("code", r"the language user(?:'s team)? (?:uses|works in|codes in|writes)(?: .+?)? is <v>"),),
        asked=(
            (
                r"(?:what|which) (?:programming |coding )?language <aux> i (?:write|code|program|use)(?:ing)?(?: "
                r"code)?(?: in| at work)?"
            ),
        ),
    ),
    Entry(
        "phone",
        said=(
            (
                "uses|carries|has|got",
                "name",
                r"(?:an? |the |user's )?(?:new )?(?P<value><phones>)",
            ),
            (
                "upgraded|upgrades|switched|moved|changed",
                "name",
                r"(?:up )?to (?:an? |the )?(?:new )?(?P<value><phones>)",
            ),
        ),
        beside="has|has got|got|owns",
    ),
    Entry(
        "browser",
        said=(
            ("browses", "name", r"(?:with|in|on) (?P<value><browsers>)"),
            ("uses", "name", r"(?P<value><browsers>)"),
            ("switched|moved|changed|migrated", "name", r"(?:over )?to (?P<value><browsers>)"),
        ),
        beside="uses|browses",
    ),
    Entry(
        "editor",
        said=(
            (
                "uses",
                "phrase",
                (
                    r"(?P<value><editors>)(?: (?:for|as) (?:everything|(?:(?:most|all) of )?(?:user's )?"
                    r"(?:coding|code|programming|development|editing|work)))?"
                ),
            ),
            (
                "codes|writes|programs|develops|edits",
                "phrase",
                r"(?:(?:(?:most|all) (?:of )?)?(?:user's )?(?:code|everything) )?(?:in|with) (?P<value><editors>)",
            ),
            ("switched|moved|changed|migrated", "phrase", r"(?:over )?to (?P<value><editors>)"),
        ),
        beside="uses|codes|edits",
    ),
    Entry(
        "laptop",
        said=(
            (
                "uses|has|got",
                "name",
                r"(?:an? |the |user's )?(?:new )?(?P<value><laptops>)",
            ),
            (
                "upgraded|upgrades|switched|moved|changed",
                "name",
                r"(?:up )?to (?:an? |the )?(?:new )?(?P<value><laptops>)",
            ),
        ),
        beside="has|has got|got|owns",
    ),
    Entry(
        "phone provider",
        said=(("ported|ports|moved", "name", r"user's (?:(?:phone|mobile) )?number to <v>"),),
    ),
    Entry(
        "~project",
        nouns="project|project at work|work project",
        said=(
            ("works", "name", r"on (?:the )?project <v>"),
            ("works|is", "name", r"on the (?P<value>.+?) project"),
            ("is", "name", r"on project <v>"),
            ("is", "name", r"working on (?:the )?(?:project )?(?P<value>.+?)(?: project)?"),
            ("has", "name", r"been (?:moved|assigned|put|staffed) (?:to|on|onto) (?:project )<v>"),
            (
                "is|got|was",
                "name",
                r"(?:assigned|moved|put|staffed) (?:to|on|onto) (?:the )?(?:project )?(?P<value>.+?)(?: project)?",
            ),
        ),
        owned=(("name", r"the project user is (?:working )?on is <v>"),),
        asked=(r"(?:what|which) project <aux> i (?:(?:work(?:ing)?|assigned|put) )?(?:on|to)",),
    ),
    Entry(
        "~book being read",
        nouns="book|book at the moment|read|bedtime book|bedtime reading",
        said=(
            ("is", "name", r"(?:reading|in the middle of|halfway through) <v>"),
            ("has|started|begun|began", "name", r"(?:started |begun )?(?:reading )<v>"),
        ),
        owned=(
            ("name", r"the (?:book|novel) (?:user is reading|on user's nightstand|on user's bedside table) is <v>"),
            ("name", r"<v> is on user's nightstand"),
        ),
        asked=(
            r"(?:what|which) (?:book|novel) <aux> i (?:in the middle of|on)",
            r"(?:what|which) (?:book|novel) <aux> i (?:read|reading)|what (?:am|was) i reading",
        ),
    ),
    Entry(
        "~field of study",
        nouns="major|field of study|course of study|degree subject",
        value="phrase",
        said=(
            ("majors", "phrase", r"in <v>"),
            ("studies", "phrase", r"(?P<value>[a-z]+(?: [a-z]+)?)(?: at .+| in [a-z]+)?"),
        ),
        asked=(r"what <aux> i (?:major in|majoring in|study|studying)|(?:what|which) subject <aux> i study(?:ing)?",),
    ),
    Entry(
        "locker",
        nouns="locker|locker number",
        value="number",
        said=(("has|is", "number", r"(?:got |in |been given |been assigned )?(?:the )?locker <v>"),),
        asked=(r"(?:what|which) locker <aux> i (?:have|got|use)",),
    ),
    Entry(
        "parking space",
        nouns="parking space|parking spot|parking bay|parking place",
        value="number",
        said=(("has|parks", "number", r"(?:got |in |on )?(?:the )?(?:parking )?(?:space|spot|bay) <v>"),),
        asked=(r"(?:what|which) parking (?:space|spot|bay) <aux> i (?:have|got|use)",),
    ),
    Entry(
        "hair colour",
        nouns="hair colour|hair color",
        value="colour",
        said=(
            ("has", "colour", r"(?:now )?(?:dyed )?(?P<value>[a-z]+) hair"),
            ("dyed|has", "colour", r"(?:dyed |coloured |colored )?user's hair <v>"),
        ),
        owned=(("colour", r"user's hair is <v>"),),
        asked=(r"what (?:colou?r is my hair|hair colou?r do i have)",),
    ),
    Entry(
        "~workplace",
        nouns="workplace|place of work|office|desk",
        said=(
            ("works", "name", r"out of (?:the )?<v>"),
            ("sits", "name", r"(?:at|in) (?:the )?<v>"),
        ),
        owned=(("name", r"user's (?:office|desk|workplace|place of work) is (?:back )?(?:in|at|on) (?:the )?<v>"),),
        asked=(r"where(?:'s| is| was) my (?:office|desk|workplace)",),
    ),
    Entry(
        "~birthplace",
        said=(
            (
                "was",
                "name",
                r"born (?:and (?:raised|bred|brought up) )?in <no-time><v>",
            ),
        ),
        asked=(
            r"where (?:was|am) i born(?: and raised)?|(?:what|which) (?:city|town|village|country|place) was i born in",
        ),
    ),
    Entry(
        "commute",
        nouns="commute|way to work",
        value="means",
        said=(
            (
                "takes|catches|rides",
                "means",
                r"<my>(?P<value>[a-z]+) (?:in )?to (?:work|the office|school|user's job)",
            ),
            ("commutes", "means", r"(?:by|on) <my><v>"),
            ("gets|goes|travels|comes", "means", r"(?:in )?to (?:work|the office|user's job) (?:by|on) <my><v>"),
        ),
        owned=(("means", r"user's commute is (?:by|on) (?:the )?<v>"),),
        asked=(
            (
                r"how <aux> i (?:get|getting|go|going|travel|commute|commuting|got|went) (?:in )?to (?:work|the "
                r"office)|how <aux> i commut(?:e|ing)"
            ),
        ),
    ),
    Entry(
        "hairdresser",
        said=(("gets|has", "name", r"user's hair (?:cut|done|styled) (?:at|by|from) <v>"),),
        owned=(("name", r"user's hair is (?:cut|done|styled) by <v>"),),
        done=(r"(?:cuts|does|styles|colours|colors) user's hair",),
        asked=(
            (
                r"who (?:cuts|cut|does|did) my hair|(?:where|who) (?:do|did) i (?:get|have) my hair (?:cut|done)(?: "
                r"by)?"
            ),
        ),
    ),
    Entry(
        "thesis supervisor",
        nouns=(
            "thesis supervisor|thesis advisor|thesis adviser|phd supervisor|phd advisor|phd adviser|dissertation "
            "supervisor|dissertation advisor|doctoral supervisor|doctoral advisor|academic advisor"
        ),
        said=(("is", "name", r"(?:being )?(?:supervised|advised) by <v>"),),
        owned=(("name", r"user's (?:thesis|dissertation|phd) is (?:being )?(?:supervised|advised) by <v>"),),
        done=(r"(?:supervises|advises|oversees) user's (?:thesis|dissertation|phd|doctorate)",),
        asked=(r"who (?:supervises|supervised|advises|advised) my (?:thesis|dissertation|phd)",),
    ),
    Entry(
        "manager",
        said=(("is", "name", r"(?:being )?(?:managed|led) by <v>"),),
        owned=(("name", r"user's team is (?:managed|led|run|headed) by <v>"),),
        done=(r"(?:manages|leads|heads|runs) user's team",),
        asked=(r"who (?:manages|managed|leads|led|runs) my team",),
    ),
    Entry(
        "team lead",
        said=(("has", "name", r"<v> as (?:team lead|tech lead)"),),
    ),
    Entry(
        "editor",
        said=(
            ("does|writes", "name", r"(?:all |most )?(?:of )?user's (?:coding|code|programming) (?:in|with) <v>"),
            (
                "has|is|switched|moved",
                "name",
                (
                    r"(?:switched|moved|gone|went|back)? ?(?:over )?(?:back )?to <v> for (?:coding|user's code|"
                    r"programming)"
                ),
            ),
        ),
    ),
    Entry(
        "doctor",
        said=(
            ("is", "name", r"registered with (?P<value>dr\.? .+)"),
            ("sees|is", "name", r"(?:registered )?(?:with )?(?P<value>dr\.? .+?) for (?:user's )?check-?ups"),
        ),
    ),
    Entry(
        "~hobby",
        nouns="hobby|main hobby|pastime|main pastime",
        value="phrase",
        asked=(r"(?:what|which) hobby <aux> i (?:have|got)",),
    ),
    Entry(
        "~music service",
        nouns=(
            "music service|music app|music streaming service|music subscription|music player|streaming service for "
            "music|music provider"
        ),
    ),
    Entry(
        "internet provider",
        nouns=(
            "internet provider|internet|broadband|broadband provider|wifi provider|isp|internet service provider|"
            "internet company|home internet"
        ),
    ),
    Entry(
        "phone provider",
        nouns=(
            "phone provider|mobile provider|phone carrier|mobile carrier|carrier|phone company|cell provider|cell "
            "phone provider|cell carrier|network provider|mobile network|phone network|mobile operator"
        ),
    ),
    Entry(
        "electricity provider",
        nouns="electricity provider|electricity supplier|power company|electricity company",
    ),
    Entry(
        "energy provider",
        nouns="energy provider|energy supplier|energy company|utility company",
    ),
    Entry(
        "gas provider",
        nouns="gas provider|gas supplier",
    ),
    Entry(
        "cleaner",
        owned=(("name", r"user's (?:home|house|flat|apartment|place) is cleaned by <v>"),),
        done=(r"cleans (?:for user|user's (?:home|house|flat|apartment|place))",),
        asked=(r"who (?:cleans|cleaned) (?:for me|my (?:flat|house|home|place|apartment))",),
    ),
    Entry(
        "accountant",
        done=(r"does user's (?:taxes|tax return|tax returns|books|accounts)",),
        asked=(r"who (?:does|did) my taxes",),
    ),
    Entry(
        "gym",
        said=(
            ("trains|exercises", "name", r"at (?:the (?:gym )?)?<v>"),
            ("works", "name", r"out at (?:the (?:gym )?)?<v>"),
        ),
        asked=(r"where <aux> i (?:work out|working out|exercise|train|training)",),
    ),
    Entry(
        "dentist",
        said=(("sees|is", "name", r"(?:with |seeing )?<v> for user's teeth"),),
        done=(r"(?:looks after|takes care of|does|treats) user's teeth",),
    ),
    Entry(
        "gardener",
        done=(r"(?:does|looks after|keeps|tends) user's garden",),
    ),
    Entry(
        "mechanic",
        done=(r"(?:fixes|services|repairs|looks after) user's (?:car|van|motorbike)",),
    ),
    Entry(
        "trainer",
        done=(r"(?:trains|coaches) user",),
    ),
    Entry(
        "childminder",
        done=(r"(?:looks after|minds|babysits|watches) user's (?:kids?|children|son|daughter|baby)",),
    ),
    Entry(
        "dog walker",
        done=(r"walks user's dogs?",),
    ),
)

SERVICES: Final = (
    ("internet provider", "(?:home )?(?:internet|broadband|wi-?fi|fib(?:re|er))(?: connection| service| contract)?"),
    ("phone provider", "(?:(?:mobile|cell|cell phone|phone|sim) (?:contract|plan|line|service)|mobile|cell|sim card)"),
    ("electricity provider", "(?:electricity(?: contract| supply)?|(?:power|electric) (?:contract|supply))"),
    ("gas provider", "gas (?:contract|supply)"),
    ("energy provider", "(?:energy|utilities)(?: contract| supply)?"),
    ("insurer", "insurance"),
    ("bank", "(?:banking|everyday banking|current account|checking account|bank account)"),
    ("hosting provider", "(?:web )?hosting"),
    ("~music service", "(?:music|music streaming|streaming music|songs|tunes)"),
    ("~podcast app", "podcasts?"),
    ("~newspaper", "(?:daily )?news"),
    ("~grocer", "(?:groceries|grocery shopping|food shopping|weekly shop|weekly shopping)"),
    ("~email service", "(?:e-?mails?|mail)"),
    ("~password manager", "passwords"),
    ("~task app", "(?:to-?dos?|to-?do lists?|tasks?)"),
    ("~calendar app", "(?:calendar|scheduling)"),
    ("~navigation app", "(?:navigation|directions)"),
    ("~video call app", "(?:video calls|calls|meetings)"),
    ("pharmacy", "(?:prescriptions?|medicines?|medication|meds)"),
)
"""What people have from a provider, by the attribute that is: patterns of what it is called."""

__all__ = ["ENTRIES", "SERVICES", "STANDS_FOR", "Entry"]
