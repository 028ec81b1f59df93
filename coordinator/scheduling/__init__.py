"""Which ticket comes next: training, evaluation, and the final evaluation."""
