"""OpenAI, Azure OpenAI and any service that speaks their protocol."""
