"""Words that look like a place or a person and are not, and the few places known without a capital letter."""

from __future__ import annotations

from typing import Final


def _phrases(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.replace("\n", " ").split(",") if part.strip())


# Enough to believe "i live in ottawa" without a capital letter; with one, any name is believed.
CITIES: Final = _phrases(
    """
    ottawa, toronto, montreal, vancouver, calgary, edmonton, winnipeg, halifax, quebec city, victoria, hamilton,
    london, manchester, birmingham, leeds, liverpool, bristol, edinburgh, glasgow, cardiff, belfast, dublin, cork,
    oxford, cambridge, brighton, york, paris, lyon, marseille, toulouse, nice, nantes, bordeaux, lille,
    strasbourg, montpellier, grenoble, berlin, munich, hamburg, cologne, frankfurt, stuttgart, düsseldorf,
    leipzig, dresden, bremen, vienna, graz, salzburg, zurich, zürich, geneva, basel, bern, lausanne, amsterdam,
    rotterdam, the hague, utrecht, eindhoven, brussels, antwerp, ghent, luxembourg, madrid, barcelona, valencia,
    seville, bilbao, malaga, lisbon, porto, rome, milan, naples, turin, florence, bologna, venice, athens,
    thessaloniki, oslo, bergen, trondheim, stavanger, stockholm, gothenburg, malmö, malmo, uppsala, copenhagen,
    aarhus, helsinki, tampere, turku, espoo, reykjavik, tallinn, tartu, riga, vilnius, kaunas, warsaw, krakow,
    kraków, gdansk, wroclaw, poznan, lodz, prague, brno, bratislava, budapest, bucharest, cluj, sofia, belgrade,
    zagreb, ljubljana, sarajevo, skopje, tirana, istanbul, ankara, izmir, kyiv, kiev, lviv, odesa, kharkiv, minsk,
    moscow, saint petersburg, st petersburg, tbilisi, yerevan, baku, tel aviv, haifa, jerusalem, beirut, amman,
    damascus, baghdad, tehran, dubai, abu dhabi, doha, riyadh, jeddah, kuwait city, cairo, alexandria, casablanca,
    rabat, marrakesh, tunis, algiers, lagos, abuja, accra, dakar, nairobi, kampala, kigali, addis ababa,
    johannesburg, cape town, durban, pretoria, harare, lusaka, mumbai, bombay, delhi, new delhi, bangalore,
    bengaluru, hyderabad, chennai, kolkata, pune, ahmedabad, jaipur, karachi, lahore, islamabad, dhaka, colombo,
    kathmandu, bangkok, chiang mai, hanoi, ho chi minh city, saigon, phnom penh, kuala lumpur, singapore, jakarta,
    bandung, manila, cebu, hong kong, taipei, beijing, shanghai, shenzhen, guangzhou, chengdu, tokyo, osaka,
    kyoto, yokohama, nagoya, fukuoka, sapporo, seoul, busan, sydney, melbourne, brisbane, perth, adelaide,
    canberra, auckland, wellington, christchurch, honolulu, new york, new york city, nyc, brooklyn, los angeles,
    san francisco, sf, san diego, san jose, oakland, seattle, portland, denver, boulder, austin, dallas, houston,
    san antonio, phoenix, tucson, las vegas, salt lake city, chicago, detroit, minneapolis, milwaukee, st louis,
    kansas city, cleveland, columbus, cincinnati, pittsburgh, philadelphia, boston, baltimore, washington dc,
    atlanta, miami, orlando, tampa, charlotte, raleigh, nashville, memphis, new orleans, mexico city, guadalajara,
    monterrey, havana, kingston, panama city, bogota, bogotá, medellin, medellín, cali, quito, guayaquil, lima,
    cusco, la paz, santiago, valparaiso, buenos aires, cordoba, rosario, montevideo, asuncion, sao paulo, são
    paulo, rio de janeiro, brasilia, salvador, recife, porto alegre, curitiba
    """
)
# A country or a continent does not say which city: "I live in Canada" must not displace "I live in Ottawa".
REGIONS: Final = _phrases(
    """
    africa, asia, europe, north america, south america, australia, antarctica, america, canada, mexico, the us,
    us, u.s, u.s.a, usa, the usa, the united states, united states, uk, u.k, the uk, the united kingdom, united
    kingdom, england, scotland, wales, ireland, northern ireland, britain, great britain, france, germany, spain,
    portugal, italy, switzerland, austria, belgium, netherlands, the netherlands, holland, denmark, sweden,
    norway, finland, iceland, estonia, latvia, lithuania, poland, czechia, czech republic, the czech republic,
    slovakia, hungary, romania, bulgaria, serbia, croatia, slovenia, bosnia, montenegro, albania, greece, turkey,
    cyprus, malta, ukraine, belarus, russia, georgia, armenia, azerbaijan, kazakhstan, uzbekistan, israel,
    lebanon, jordan, syria, iraq, iran, qatar, saudi arabia, kuwait, oman, uae, the uae, yemen, egypt, morocco,
    tunisia, algeria, libya, nigeria, ghana, senegal, kenya, uganda, rwanda, tanzania, ethiopia, south africa,
    zimbabwe, zambia, india, pakistan, bangladesh, sri lanka, nepal, china, japan, korea, south korea, north
    korea, taiwan, vietnam, cambodia, laos, thailand, malaysia, indonesia, philippines, the philippines, new
    zealand, brazil, argentina, chile, peru, colombia, ecuador, bolivia, uruguay, paraguay, venezuela, cuba,
    jamaica, ontario, alberta, british columbia, california, texas, florida, bavaria, tuscany, catalonia,
    scandinavia, the eu, eu, the midwest, the balkans
    """
)
NOT_PLACES: Final = _phrases(
    """
    jeans, pyjamas, pajamas, java, python, rust, javascript, typescript, go, excel, slack, jira, discord, zoom,
    teams, vim, emacs, english, french, german, spanish, italian, january, february, march, april, may, june,
    july, august, september, october, november, december, monday, tuesday, wednesday, thursday, friday, saturday,
    sunday, christmas, easter, summer, winter, spring, autumn, plan, team, chapter, arch, debian, fedora, phase,
    level, step, section, page, version, act, season, room, building, unit, group, fear, hope, peace, harmony,
    sin, denial, minecraft, hogwarts, narnia, westeros, mordor, gotham, atlantis, wonderland, god, jesus,
    postgres, postgresql, mysql, sqlite, redis, mongodb, kubernetes, aws, gcp, azure, linux, windows, macos,
    ubuntu, github, gitlab, notion, google, stripe, apple, amazon, microsoft, meta, facebook, netflix, shopify,
    spotify, openai, anthropic, ibm, oracle, uber, airbnb, tesla, nvidia, intel, adobe, salesforce, linkedin,
    twitter, tiktok, marketing, sales, engineering, finance, support, product, operations, legal, security,
    platform, infrastructure, research, design, data, qa, hr, management, figma, vscode
    """
)
DESCENTS: Final = _phrases(
    """
    afghan, african, albanian, algerian, american, arab, argentinian, armenian, asian, australian, austrian,
    bangladeshi, basque, belgian, bolivian, bosnian, brazilian, british, bulgarian, cambodian, canadian, catalan,
    chilean, chinese, colombian, croatian, cuban, czech, danish, dutch, egyptian, english, estonian, ethiopian,
    european, filipino, finnish, flemish, french, german, ghanaian, greek, hungarian, icelandic, indian, indonesian,
    iranian, iraqi, irish, israeli, italian, jamaican, japanese, kenyan, korean, latvian, lebanese, lithuanian,
    malaysian, maltese, mexican, mongolian, moroccan, nepali, nigerian, norwegian, pakistani, persian, peruvian,
    polish, portuguese, romanian, russian, scottish, serbian, slovak, slovenian, somali, south african, spanish,
    swedish, swiss, syrian, taiwanese, thai, tunisian, turkish, ukrainian, venezuelan, vietnamese, welsh,
    hispanic, latina, latino, maori, inuit, mormon, lutheran, anglican,
    baptist, methodist, presbyterian, evangelical, quaker, amish, wiccan, shia, sunni, agnostic, taoist,
    jewish, muslim, catholic, protestant, orthodox, buddhist, hindu, sikh, atheist, republican, democrat
    """
)
"""Where somebody is from, and what they believe: who "is Japanese" is not called so."""
NOT_NAMES: Final = DESCENTS | _phrases(
    """
    ceo, cto, cfo, coo, vp, hr, pm, it, ok, okay, phd, md, mba, monday, tuesday, wednesday, thursday, friday, saturday,
    sunday, january, february, march, april, june, july, august, september, october, november, december, pto, afk,
    ooo, director, head, president, senior, engineer, manager, boss, god, santa, batman, here, there, away, sick,
    ill, mad, angry, happy, sad, nice, kind, great, good, bad, rude, mean, strict, new, old, late, early, busy,
    out, back, gone, leaving, right, wrong, sure, tired, fine, free, off, on, in, at, up, down, home, always,
    never, often, really, very, so, too, quite, also, just, still, now, not, no, nobody, everyone, someone,
    somebody, people, a, an, the, my, your, his, her, their, our, this, that, what, who, whoever, like, as, from,
    with, without, under, over, about, by, for, to, of, going, being, having, pretty, super, awesome, amazing,
    terrible, horrible, awful, ridiculous, unbelievable, insane, crazy, cool, chill, smart, dumb, lazy, toxic,
    supportive, pregnant, single, married, dead, alive, wonderful, lovely, remote, important, famous, common,
    rare, unique, weird, long, short, hard, easy, difficult, spelled, pronounced, misspelled, taken, both, one,
    two, it, mine, yours, user
    """
)
ALSO_NAMES: Final = _phrases("al, an, april, august, di, june, le, van")
"""Months and particles that are given names, too: where somebody says what their name is, and writes it as one."""
NOT_ALLERGENS: Final = _phrases(
    """
    being, food, mondays, monday, mornings, meetings, work, cardio, exercise, bullshit, drama, stupidity, people, fun,
    commitment, it, that, this, them, these, those, everything, nothing, anything, something, something in it,
    lies, small talk, bureaucracy, you, him, her, something here, sports, the gym, losing, change, boredom
    """
)
# Allergens that can be counted; all others ("latex", "penicillin", "shellfish", "pollen") have one form.
COUNTED_ALLERGENS: Final = _phrases(
    """
    peanut, nut, walnut, hazelnut, almond, cashew, pistachio, pecan, chestnut, pine nut, egg, cat, dog, horse, rabbit,
    hamster, bee, wasp, hornet, ant, insect, mosquito, cockroach, sting, bite, mite, feather, strawberry, blueberry,
    raspberry, cherry, berry, banana, apple, peach, apricot, plum, pear, kiwi, mango, pineapple, melon, avocado, orange,
    lemon, lime, grape, tomato, potato, carrot, onion, mushroom, bean, soybean, lentil, chickpea, pea, pepper, lupin,
    shrimp, prawn, crab, lobster, oyster, mussel, clam, scallop, crustacean, sulfite, sulphite, flower, lily,
    seed, antibiotic, steroid, opioid, painkiller, vaccine, metal, perfume, fragrance, dye, adhesive
    """
)
# What is eaten, drunk, taken or worn and cannot be counted: of these one may say no more than "it makes me sick".
SUBSTANCES: Final = _phrases(
    """
    gluten, wheat, rye, barley, oat, oats, bread, pasta, yeast, corn, maize, rice, lactose, dairy, milk, cheese, butter,
    cream, yoghurt, yogurt, casein, whey, soy, soya, tofu, seafood, shellfish, fish, tuna, salmon, meat, pork, beef,
    lamb, chicken, turkey, gelatine, gelatin, garlic, celery, mustard, sesame, honey, chocolate, cocoa, sugar, fructose,
    sweetener, sweeteners, aspartame, msg, caffeine, coffee, tea, alcohol, wine, beer, citrus, fruit, grapefruit, fat,
    spice, spices, chilli, chili, nightshade, nightshades, histamine, latex, nickel, wool, pollen, mould, mold, dust,
    penicillin, amoxicillin, ibuprofen, aspirin, paracetamol, acetaminophen, codeine, morphine, iodine, sulfa, nsaids,
    cortisone, anaesthetic, anesthetic, statins, insulin, metformin, additives, preservatives
    """
)
# Illnesses that whoever cooks, advises or helps has to know of at all times.
CONDITIONS: Final = _phrases(
    """
    celiac, coeliac, celiac disease, coeliac disease, diabetes, diabetic, epilepsy, epileptic, asthma, asthmatic,
    haemophilia, hemophilia, haemophiliac, hemophiliac, phenylketonuria, favism, anaphylaxis, crohn's disease, crohn's,
    kidney disease, a heart condition, a pacemaker
    """
)
# A word with one of these endings describes; it does not name, unless it is written with a capital letter.
DESCRIBING: Final = ("ing", "ful", "ous", "ive", "able", "ible", "ish", "less", "ed", "ic", "al", "est")
# Words that may stand inside a name of a place or person without a capital letter.
PARTICLES: Final = _phrases(
    "of, de, da, do, dos, das, del, di, la, le, les, los, las, el, am, an, der, den, sur, en, al, ap, du, "
    "van, von, st, st., upon, y, the"
)
