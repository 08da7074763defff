"""Pretraining: from a prepared corpus to a checkpoint, on one device or many. See docs/guide/pretraining.md."""
