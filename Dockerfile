# Build the wheel first; the image holds it and its dependencies, not the source:
#   .venv/bin/pip wheel --no-deps --wheel-dir build/wheel . && docker build -t ludus .
#   docker run --rm -v "$PWD/runs:/work/runs" ludus run env=tic_tac_toe league.budget.minutes=1
FROM python:3.11-slim
COPY build/wheel/ludus_league-*.whl constraints.txt /tmp/
RUN pip install --no-cache-dir --constraint /tmp/constraints.txt \
      --extra-index-url https://download.pytorch.org/whl/cpu "$(ls /tmp/ludus_league-*.whl)[classic,mpe,video]" \
    && rm /tmp/*.whl /tmp/constraints.txt \
    && useradd --create-home --uid 1000 ludus && install --directory --owner=ludus /work
USER ludus
WORKDIR /work
ENTRYPOINT ["ludus"]
CMD ["--help"]
