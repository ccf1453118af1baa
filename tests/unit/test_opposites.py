"""Of two statements one denies just what the other says, or they are left alone."""

from __future__ import annotations

import pytest

from engram.opposites import are_opposites
from engram.subjects import plain


@pytest.mark.parametrize(
    ("denied", "said"),
    [
        ("User does not like tea", "User likes tea"),
        ("User doesn't like tea.", "User really loves tea!"),
        ("User does not eat meat anymore", "User eats meat again"),
        ("User isn't a vegetarian", "User is vegetarian now"),
        ("User does not have a dog", "User has a dog"),
        ("User has no car", "User has a car"),
        ("User can't swim", "User can swim"),
        ("User can't swim", "User has finally learned to swim"),
        ("User's son cannot swim", "User's son learned how to swim"),
        ("User never smokes", "User smokes"),
        ("User no longer smokes", "User smokes"),
        ("User is no longer a member of the choir", "User is a member of the choir"),
        ("User won't come to the party", "User will come to the party"),
        ("User hasn't seen Dune", "User has seen Dune"),
        ("User does not have to work on Mondays", "User has to work on Mondays"),
        ("User hates tea", "User likes tea"),
        ("User hates hiking now because of User's knee", "User loves hiking"),
        ("User does not eat cheese anymore, since it upset User's stomach", "User eats cheese"),
        ("User can't stand cats", "User adores cats"),
        ("User's sister does not drink", "User's sister drinks"),
        ("Ann Lee does not smoke", "Ann Lee smokes"),
        ("I don't like tea", "I like tea"),
        ("I'm not a member", "I am a member"),
        ("I never smoke", "User smokes"),
        ("I really don't want kids", "I want kids"),
        ("User does not have kids yet", "User has kids"),
        ("User does not like tea, too", "User likes tea, too"),
        ("User does not smoke", "User smokes again"),
        ("User has no problem with Bob", "User has a problem with Bob"),
        ("User has no choice", "User has a choice"),
        ("User has no time for sports", "User has time for sports"),
        ("User has never been to Rome", "User has been to Rome"),
        ("User has never met her father", "User has met her father"),
        ("User is not taller than Bob", "User is taller than Bob"),
        ("User is no fool", "User is a fool"),
    ],
)
def test_what_is_denied_is_the_opposite_of_what_is_said_in_the_same_words(denied: str, said: str) -> None:
    assert are_opposites(plain(denied), plain(said))
    assert are_opposites(plain(said), plain(denied))


@pytest.mark.parametrize(
    ("denied", "said"),
    [
        ("User does not like tea", "User likes green tea"),
        ("User can't cook", "User learned to cook pasta"),
        ("User does not like tea", "User does not like tea anymore"),
        ("User does not like tea", "User will like tea"),
        ("User does not hate cats", "User likes cats"),
        ("User is not in Berlin", "User is from Berlin"),
        ("User has no car", "User is in the car"),
        ("User does not know Ann", "Ann knows User"),
        ("User does not work for Bo", "User works with Bo"),
        ("User does not smoke", "User used to smoke"),
        ("User does not smoke", "User smoked"),
        ("User does not smoke", "User may smoke"),
        ("User does not smoke", "User wants to smoke"),
        ("User does not smoke", "Does User smoke?"),
        ("User does not eat meat", "User only eats meat"),
        ("User does not eat meat", "User eats meat without salt"),
        ("User does not drink on Mondays", "User drinks"),
        ("User did not go to Rome", "User went to Rome"),
        ("User never drank", "User drank"),
        ("User knows who does not smoke", "User knows who smokes"),
        ("User likes people who do not smoke", "User likes people who smoke"),
        ("User isn't married to Ann", "User is married to Bo"),
        ("He does not smoke", "He smokes"),
        ("The shop is not open", "The shop is open"),
        ("It doesn't work", "It works"),
        ("User likes tea", "User loves tea"),
        ("User is not just a teacher", "User is a teacher"),
        ("I don't just use Vim", "I use Vim"),
        ("User does not eat just meat", "User eats meat"),
        ("User isn't really just a friend", "User is a friend"),
        ("User is not too tired", "User is tired"),
        ("User is not too old to learn", "User is old to learn"),
        ("User does not like tea too sweet", "User likes tea sweet"),
        ("User will never marry again", "User will marry"),
        ("User does not want to work there again", "User wants to work there"),
        ("User can't wait for the trip", "User can wait for the trip"),
        ("User can never get enough of tea", "User can get enough of tea"),
        ("User has no few friends", "User has a few friends"),
        ("User is not a bit shy", "User is bit shy"),
        ("User does not have to see Rome", "User has yet to see Rome"),
        ("User has never been happier", "User has been happier"),
        ("I've never been so tired", "I've been so tired"),
        ("User has never eaten a better pizza", "User has eaten a better pizza"),
        ("User can't agree more", "User can agree more"),
        ("I couldn't be happier", "I could be happier"),
        ("User can't complain", "User can complain"),
        ("User can't help laughing", "User can help laughing"),
        ("User can't thank Ann enough", "User can thank Ann enough"),
        ("User has no idea", "User has an idea"),
        ("User has no idea how it works", "User has an idea how it works"),
        ("User has no one", "User has one"),
        ("User has no less than three cats", "User has less than three cats"),
        ("Bob is never late", "Bob is late"),
        ("User does not work because of the pay", "User works because of the pay"),
        ("User does not eat meat unless it is free", "User eats meat unless it is free"),
        ("User does not drink until noon", "User drinks until noon"),
        ("User has not had coffee today", "User has had coffee today"),
        ("User is not working tonight", "User is working tonight"),
        ("I", "I don't"),
        ("", "not"),
        ("User does not " + "very " * 60 + "much like tea", "User " + "very " * 60 + "much like tea"),
    ],
)
def test_what_is_not_the_same_but_for_the_denial_is_no_opposite(denied: str, said: str) -> None:
    assert not are_opposites(plain(denied), plain(said))
    assert not are_opposites(plain(said), plain(denied))
