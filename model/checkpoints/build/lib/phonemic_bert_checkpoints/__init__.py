"""Trained checkpoints as data: phonemic_bert finds them through this package's entry points."""
