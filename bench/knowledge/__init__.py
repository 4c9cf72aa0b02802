"""What the memory learns from what people tell: changes, contradictions, facts, answers,
standing wishes, requests to forget.

The sets beside this file are hand-written, in English, German and Japanese, by an author who had
not seen the rules. `*_dev.json` is for developers to look at; `*_held.json` only measures.
"""
