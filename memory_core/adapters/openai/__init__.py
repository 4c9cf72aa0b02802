"""OpenAI, Azure OpenAI and whatever speaks their protocol."""
