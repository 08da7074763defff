"""The tables that the core reads: made of the rules and the lexicons when the package is built."""
