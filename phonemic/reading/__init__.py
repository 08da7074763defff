"""How Mandarin is read: by context, in speech, by markup, and every way a character is read."""
