"""How many questions about conversations a language model answers right from the contexts,
as the same model judges it.

The model is the one of the product's settings (`LLM_PROVIDER`, `LLM_MODEL` and the others). Every
call costs what it costs there, so nothing is asked before the price was told and agreed to, and
what is paid for is kept: a run that was stopped goes on where it stopped.
"""
