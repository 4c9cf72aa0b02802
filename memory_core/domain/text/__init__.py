"""Words, sentences and dates of texts, without any knowledge of memories."""
