"""What the core looks up: characters, vocabularies and phrases; what compiles them to tables, and what opens those."""
