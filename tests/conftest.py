"""One thread for every test: on shared cores more of them are slower, and some libraries read this only once."""

import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
