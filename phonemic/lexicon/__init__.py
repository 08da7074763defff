"""The tables of the core: characters, vocabularies and phrases; their compiler, and the functions that open them."""
