"""Fine-tuning: encoders of every kind behind one interface, labels to positions and back, tasks, runs and results."""
