"""Messages as chat APIs exchange them, and histories that are sent again."""
