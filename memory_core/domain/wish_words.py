"""Words of a wish that do not say what it is about."""

from __future__ import annotations

_GENERAL = """
    please always never again now anymore use using answer answers reply replies respond response give want need can may longer ok
    okay fine stop start keep make thing things stuff tell told say said mention talk know rule instruction instructions wish request
    forget ignore after bitte immer nie wieder jetzt mehr antworten antworte nutze verwende benutze benutzen kannst darfst musst
    brauchst regel sache doch nicht mein meine meinen meinem meiner dein deine der die das den dem des ein eine einen einem einer dass
    ich du über
"""
GENERAL_WORDS = frozenset(_GENERAL.split())
