"""English: what a sentence states, orders or asks for, read by rules, one thing it may say a module. Pure.

Whatever knows the words and the grammar of a language is here, and nothing here knows of tables, models or settings.
Derivers, policies, gates and recall ask these modules; a text in another language is stored and found as it stands, and
a second language would be a second room beside this one.
"""
