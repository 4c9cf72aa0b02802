"""Access: API keys that admins make, and the audit log of keys and users' data."""
