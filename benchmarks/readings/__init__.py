"""Makes and judges the readings in context: teacher labels, training, evaluation. See docs/results/readings.md."""
