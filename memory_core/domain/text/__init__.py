"""Words, sentences and dates of texts; knows no memory."""
