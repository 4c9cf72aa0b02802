"""One user's memories in columns, held by whichever store has room for them, and the searches over them."""
