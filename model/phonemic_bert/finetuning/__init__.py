"""Fine-tuning: encoders on the paper's tasks and on users' own data, their scores, and tables of them."""
