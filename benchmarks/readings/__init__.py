"""Makes and judges the readings in context: teacher labels, training, evaluation. See docs/research/readings.md."""
