"""Pretraining: from a prepared corpus to a checkpoint, on one device or many. See docs/how-to/pretrain.md."""
