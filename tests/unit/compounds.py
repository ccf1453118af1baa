"""Sentences that say several things at once, and the facts they give: the table behind the splitting of predicates.

Each line holds what was said and the facts expected, in order; `=> slot` after a fact is the slot it must take, and a
fact without one must take none. The facts are exact: what is not listed must not be derived.
"""

from __future__ import annotations

_CITY = "profile:current_city"

# (said, ((fact, slot or None), ...))
COMPOUND: tuple[tuple[str, tuple[tuple[str, str | None], ...]], ...] = (
    # the sentences every newcomer tries first
    (
        "I'm allergic to peanuts and live in Ottawa",
        (("User is allergic to peanuts", "profile:allergy:peanuts"), ("User lives in Ottawa", _CITY)),
    ),
    ("I live in Ottawa and work at Acme", (("User lives in Ottawa", _CITY), ("User works at Acme", None))),
    (
        "I moved to Toronto and started a job at Globex",
        (("User moved to Toronto", _CITY), ("User started a job at Globex", None)),
    ),
    (
        "My name is Ada, I live in Lyon and my manager is Priya",
        (
            ("User's name is Ada", "profile:name"),
            ("User lives in Lyon", _CITY),
            ("User's manager is Priya", "profile:manager"),
        ),
    ),
    ("I like tea but hate coffee", (("User likes tea", None), ("User hates coffee", None))),
    (
        "I don't eat meat and never drink alcohol",
        (("User does not eat meat", None), ("User never drinks alcohol", None)),
    ),
    ("I don't smoke or drink", (("User does not smoke or drink", None),)),
    (
        "My sister lives in Berlin and works as a nurse",
        (("User's sister lives in Berlin", None), ("User's sister works as a nurse", None)),
    ),
    ("Bob lives in Rome and I live in Oslo", (("Bob lives in Rome", None), ("User lives in Oslo", _CITY))),
    # one predicate with several nouns stays whole
    ("I like tea and coffee", (("User likes tea and coffee", None),)),
    (
        "I'm allergic to peanuts and shellfish",
        (
            ("User is allergic to peanuts", "profile:allergy:peanuts"),
            ("User is allergic to shellfish", "profile:allergy:shellfish"),
        ),
    ),
    ("My mom and dad live in Naples", (("User's mom and dad live in Naples", None),)),
    ("I commute between Ottawa and Toronto", (("User commutes between Ottawa and Toronto", None),)),
    ("I prefer black and white photos", (("User prefers black and white photos", None),)),
    ("I love rock and roll", (("User loves rock and roll", None),)),
    ("I like salt and vinegar chips", (("User likes salt and vinegar chips", None),)),
    ("I enjoy music and dance", (("User enjoys music and dance", None),)),
    ("I love my work and play the violin", (("User loves User's work", None), ("User plays the violin", None))),
    ("I live and work in Perth", (("User lives and works in Perth", _CITY),)),
    # a subordinate clause keeps what is joined inside it
    (
        "I live in Ottawa because I like snow and hate heat",
        (("User lives in Ottawa because User likes snow and hates heat", _CITY),),
    ),
    (
        "I have a sister who lives in Rome and works as a nurse",
        (("User has a sister who lives in Rome and works as a nurse", None),),
    ),
    ("I want to quit and live in Rome", (("User wants to quit and live in Rome", None),)),
    ("I need to renew my visa and move to Rome", (("User needs to renew User's visa and move to Rome", None),)),
    ("I'd love to sell the house and live in Rome", ()),
    ("If I quit and live in Rome, I will be happy", ()),
    ("Should I quit and live in Rome?", ()),
    ("Bob said I live in Rome and work in Oslo", (("Bob said User lives in Rome and works in Oslo", None),)),
    ("I can't live in Oslo and work in Bergen", (("User cannot live in Oslo and work in Bergen", None),)),
    (
        "I don't live in Oslo and work in Bergen",
        (("User does not live in Oslo and work in Bergen", None),),
    ),
    # negation reaches what it governs and no further
    ("I don't eat meat or drink alcohol", (("User does not eat meat or drink alcohol", None),)),
    ("I never smoke and don't drink alcohol", (("User never smokes", None), ("User does not drink alcohol", None))),
    (
        "I don't eat meat and live in Lyon",
        (("User does not eat meat", None), ("User lives in Lyon", _CITY)),
    ),
    (
        "I'm not vegan but allergic to nuts",
        (("User is not vegan", None), ("User is allergic to nuts", "profile:allergy:nuts")),
    ),
    ("I neither live in Perth nor work there", (("User neither lives in Perth nor works there", None),)),
    # what undoes or refers back stays with what it is about
    ("I moved to Rome but came back after a month", (("User moved to Rome but came back after a month", None),)),
    ("I bought a car and love it", (("User bought a car and loves it", None),)),
    ("I moved to Rome and regretted it", (("User moved to Rome and regretted it", None),)),
    ("I moved to Oslo and then left for good", (("User moved to Oslo and then left for good", None),)),
    # as people talk; the first line of a message is often one of these
    ("Hi, I'm Ada and live in Lyon", (("User's name is Ada", "profile:name"), ("User lives in Lyon", _CITY))),
    (
        "I'm 34, live in Lyon and have two kids",
        (("User is 34", None), ("User lives in Lyon", _CITY), ("User has two kids", None)),
    ),
    ("I'm vegan and allergic to nuts", (("User is vegan", None), ("User is allergic to nuts", "profile:allergy:nuts"))),
    (
        "I'm a nurse and based in Ghent",
        (("User is a nurse", None), ("User is based in Ghent", _CITY)),
    ),
    (
        "I work at Acme and moved to Toronto last month",
        (("User works at Acme", None), ("User moved to Toronto last month", _CITY)),
    ),
    (
        "I have a dog and a peanut allergy",
        (("User has a dog", None), ("User has a peanut allergy", "profile:allergy:peanuts")),
    ),
    (
        "My wife and I live in Rome and have two kids",
        (("User's wife and User live in Rome", _CITY), ("User's wife and User have two kids", None)),
    ),
    (
        "My parents live in Naples and run a bakery",
        (("User's parents live in Naples", None), ("User's parents run a bakery", None)),
    ),
    (
        "My brother moved to Oslo and works at a bank",
        (("User's brother moved to Oslo", None), ("User's brother works at a bank", None)),
    ),
    ("Bob lives in Rome and has a peanut allergy", (("Bob lives in Rome", None), ("Bob has a peanut allergy", None))),
    (
        "My sister lives in Berlin and I live in Ghent",
        (("User's sister lives in Berlin", None), ("User lives in Ghent", _CITY)),
    ),
    ("I live in Rome and Bob lives in Oslo", (("User lives in Rome", _CITY), ("Bob lives in Oslo", None))),
    ("I love Rome and Bob lives in Rome", (("User loves Rome", None), ("Bob lives in Rome", None))),
    (
        "I'm lactose intolerant and can't eat cheese",
        (
            ("User is lactose intolerant", "profile:intolerance:lactose"),
            ("User cannot eat cheese", "profile:intolerance:cheese"),
        ),
    ),
    (
        "I prefer tea but am happy with coffee and live in Lyon",
        (("User prefers tea", None), ("User is happy with coffee", None), ("User lives in Lyon", _CITY)),
    ),
    ("I grew up in Cork but live in Dublin", (("User grew up in Cork", None), ("User lives in Dublin", _CITY))),
    ("I grew up in Cork and now live in Dublin", (("User grew up in Cork", None), ("User now lives in Dublin", _CITY))),
    ("I was born in Oslo and raised in Bergen", (("User was born in Oslo and raised in Bergen", None),)),
    (
        "I was born in Oslo and moved to Bergen in 2019",
        (("User was born in Oslo", None), ("User moved to Bergen in 2019", _CITY)),
    ),
    (
        "I used to live in Oslo but now live in Bergen",
        (("User used to live in Oslo", None), ("User now lives in Bergen", _CITY)),
    ),
    (
        "Last month I moved to Porto and started a new job",
        (("Last month User moved to Porto", _CITY), ("Last month User started a new job", None)),
    ),
    ("I drive to work and live in Leeds", (("User drives to work", None), ("User lives in Leeds", _CITY))),
    (
        "I report to Maria and live in Leeds",
        (("User reports to Maria", "profile:manager"), ("User lives in Leeds", _CITY)),
    ),
    (
        "I work from home and report to Maria",
        (("User works from home", None), ("User reports to Maria", "profile:manager")),
    ),
    ("I moved from Oslo to Rome and love it", (("User moved from Oslo to Rome and loves it", _CITY),)),
    ("I moved to Ottawa and work there", (("User moved to Ottawa and works there", _CITY),)),
    (
        "I have a girlfriend and live in Ottawa with her",
        (("User has a girlfriend", None), ("User lives in Ottawa with her", _CITY)),
    ),
    ("I bought a house and moved to Ottawa", (("User bought a house", None), ("User moved to Ottawa", _CITY))),
    (
        "I know my parents moved to Rome and live in Oslo",
        (),
    ),
    (
        "I'm glad my parents sold the house and live in Oslo",
        (("User is glad User's parents sold the house and live in Oslo", None),),
    ),
    ("I help people move to Rome and live in peace", (("User helps people move to Rome and live in peace", None),)),
    ("I plan to study and live in Rome", (("User plans to study and live in Rome", None),)),
    ("I decided to sell my car and live in Rome", (("User decided to sell User's car and live in Rome", None),)),
    ("I'm considering quitting and living in Rome", ()),
    ("I'm tired of commuting and living in Rome", (("User is tired of commuting and living in Rome", None),)),
    ("I never left Oslo and moved to Rome", (("User never left Oslo and moved to Rome", None),)),
    ("I never drink and drive", (("User never drinks and drives", None),)),
    ("I don't drink and drive", (("User does not drink and drive", None),)),
    ("I don't own a car and live in Ghent", (("User does not own a car", None), ("User lives in Ghent", _CITY))),
    (
        "I'm allergic to cats and dogs and live in Ghent",
        (
            ("User is allergic to cats", "profile:allergy:cats"),
            ("User is allergic to dogs", "profile:allergy:dogs"),
            ("User lives in Ghent", _CITY),
        ),
    ),
    (
        "I'm allergic to cats, dogs and peanuts",
        (
            ("User is allergic to cats", "profile:allergy:cats"),
            ("User is allergic to dogs", "profile:allergy:dogs"),
            ("User is allergic to peanuts", "profile:allergy:peanuts"),
        ),
    ),
    (
        "I'm allergic to peanuts and my son is allergic to eggs",
        (("User is allergic to peanuts", "profile:allergy:peanuts"), ("User's son is allergic to eggs", None)),
    ),
    ("I'm vegan and please never suggest meat", (("User is vegan and please never suggest meat", None),)),
    ("I'm vegan and don't suggest meat", (("User is vegan and don't suggest meat", None),)),
    ("I live in Ottawa, have a nice day", (("User lives in Ottawa, have a nice day", _CITY),)),
    ("I live in Ottawa, love from Ada", (("User lives in Ottawa, love from Ada", _CITY),)),
    ("I like Tom and Jerry", (("User likes Tom and Jerry", None),)),
    ("I visited Oslo and Rome", (("User visited Oslo and Rome", None),)),
    ("I speak French and Spanish", (("User speaks French and Spanish", None),)),
    ("I speak French and teach Spanish", (("User speaks French", None), ("User teaches Spanish", None))),
    ("I want a dog and a cat", (("User wants a dog and a cat", None),)),
    ("I read books and comics", (("User reads books and comics", None),)),
    ("I play tennis and run marathons", (("User plays tennis", None), ("User runs marathons", None))),
    ("I have two cats and work as a vet", (("User has two cats", None), ("User works as a vet", None))),
    ("I got married and moved to Lyon", (("User got married", None), ("User moved to Lyon", _CITY))),
    ("I quit Nokia and joined Ericsson", (("User quit Nokia", None), ("User joined Ericsson", None))),
    ("I take the train to work and never drive", (("User takes the train to work and never drive", None),)),
    (
        "My manager is Priya and she lives in Oslo",
        (("User's manager is Priya", "profile:manager"), ("User's manager Priya lives in Oslo", None)),
    ),
    (
        "My manager is Priya and I live in Oslo",
        (("User's manager is Priya", "profile:manager"), ("User lives in Oslo", _CITY)),
    ),
    (
        "My manager lives in Oslo and is on leave",
        (("User's manager lives in Oslo", None), ("User's manager is on leave", None)),
    ),
    (
        "My sister, Ann, lives in Rome and works as a nurse",
        (("User's sister is Ann", None), ("User's sister, Ann, lives in Rome and works as a nurse", None)),
    ),
    ("Just moved to Perth and love it", (("User just moved to Perth and loves it", _CITY),)),
    ("I live in Lyon and work in IT", (("User lives in Lyon", _CITY), ("User works in IT", None))),
    ("I live in Rome and work in Oslo in the game", ()),
    (
        "I moved to Rome and worked there for the summer",
        (("User moved to Rome and worked there for the summer", None),),
    ),
    ("The hotel was clean and is in Rome", (("The hotel was clean and is in Rome", None),)),
    ("She lives in Rome and works as a nurse", ()),
    ("You live in Rome and work in Oslo", ()),
    (
        "I like short answers and live in Turin",
        (("User likes short answers", "preference:communication_style"), ("User lives in Turin", _CITY)),
    ),
    (
        "I have celiac disease and can't eat gluten",
        (
            ("User has celiac disease", "profile:condition:celiac"),
            ("User cannot eat gluten", "profile:intolerance:gluten"),
        ),
    ),
    (
        "I studied law in Leuven and work as a judge in Ghent",
        (("User studied law in Leuven", None), ("User works as a judge in Ghent", None)),
    ),
    ("I run every morning and swim on Sundays", (("User runs every morning", None), ("User swims on Sundays", None))),
    ("We live in Leeds and have three kids", (("User lives in Leeds", _CITY), ("User has three kids", None))),
    ("I'm married to Tom and live in Oslo", (("User is married to Tom", None), ("User lives in Oslo", _CITY))),
    (
        "I work for the city and am allergic to latex",
        (("User works for the city", None), ("User is allergic to latex", "profile:allergy:latex")),
    ),
    (
        "I want to visit Rome and am allergic to shellfish",
        (("User wants to visit Rome", None), ("User is allergic to shellfish", "profile:allergy:shellfish")),
    ),
    (
        "I'm moving to Madrid next month and live in Oslo for now",
        (("User is moving to Madrid next month", None), ("User lives in Oslo for now", _CITY)),
    ),
    ("I live in Rome and might move to Oslo", (("User lives in Rome", _CITY),)),
    ("I live in Rome but would love to live in Oslo", (("User lives in Rome", _CITY),)),
    ("I live in Rome and might move to Oslo in the game", ()),
    ("I'd love to live in Rome and might move", ()),
    (
        "I'm allergic to peanuts and want you to remember it",
        (("User is allergic to peanuts and wants you to remember it", "profile:allergy:peanuts"),),
    ),
    ("I quit my job and live off savings", (("User quit User's job", None), ("User lives off savings", None))),
    ("I help my mom and live in Lyon", (("User helps User's mom", None), ("User lives in Lyon", _CITY))),
    ("My son started school and likes maths", (("User's son started school", None), ("User's son likes maths", None))),
    (
        "I have never been to Rome and live in Oslo",
        (("User has never been to Rome", None), ("User lives in Oslo", _CITY)),
    ),
    ("My sister is vegan and lives in Oslo", (("User's sister is vegan", None), ("User's sister lives in Oslo", None))),
    ("My sister works in Rome and I in Oslo", (("User's sister works in Rome", None),)),
    (
        "I have two sons, Tom and Bob, and live in Rome",
        (("User has two sons, Tom and Bob", None), ("User lives in Rome", _CITY)),
    ),
    ("I sold my car and cycle to work", (("User sold User's car", None), ("User cycles to work", None))),
    ("I like Rome, Paris and live music", (("User likes Rome, Paris and live music", None),)),
    (
        "I work with Ann and Bob is my manager",
        (("User works with Ann", None), ("Bob is User's manager", "profile:manager")),
    ),
    ("My friends Tom and Bob live in Rome", (("User's friends Tom and Bob live in Rome", None),)),
    (
        "My boss told me to move to Oslo and work for Bob",
        (("User's boss told User to move to Oslo and work for Bob", None),),
    ),
    (
        "I have a sister living in Rome and working in Oslo",
        (("User has a sister living in Rome and working in Oslo", None),),
    ),
    ("I'm not living in Rome and working in Oslo", (("User is not living in Rome and working in Oslo", None),)),
    ("I teach kids to read and write books", (("User teaches kids to read and write books", None),)),
    (
        "I have a dog and moved out of Ottawa to Gatineau",
        (("User has a dog", None), ("User moved out of Ottawa to Gatineau", _CITY)),
    ),
    (
        "I don't like long texts and prefer concise answers",
        (("User does not like long texts", None), ("User prefers concise answers", "preference:communication_style")),
    ),
    (
        "I'm a runner and developed a shellfish allergy",
        (("User is a runner", None), ("User developed a shellfish allergy", "profile:allergy:shellfish")),
    ),
    (
        "I want to quit and moved to Toronto last month",
        (("User wants to quit", None), ("User moved to Toronto last month", _CITY)),
    ),
    # a question behind what was said
    (
        "I'm allergic to peanuts and live in Ottawa, what should I eat?",
        (("User is allergic to peanuts", "profile:allergy:peanuts"), ("User lives in Ottawa", _CITY)),
    ),
    (
        "I'm vegan and live in Ghent so where should I eat, and do you know a bar?",
        (("User is vegan", None), ("User lives in Ghent", _CITY)),
    ),
    ("If I live in Rome and eat meat, what should I cook?", ()),
    ("I have a dog and according to Bob, I live in Rome", (("User has a dog", None),)),
)
