"""Networks: collectors act with them in numpy, learners train them in torch."""
