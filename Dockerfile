# docker build -t lycosa .
# docker run --rm -v "$PWD/crawls:/crawls" lycosa crawl "recreational cycling" --seed https://… -o cycling --contact you@example.org
#
# EXTRAS: which of them are installed, besides Parquet: docker build --build-arg EXTRAS=parquet,pdf,ui .
# With learn, judges other than bayes can be trained: 400 MB more.
# A browser is not in the image: --browser needs a chromium beside it.

FROM python:3.11-slim AS build
ARG EXTRAS=parquet
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
RUN python -m venv /opt/lycosa \
    && /opt/lycosa/bin/pip install --no-cache-dir --disable-pip-version-check "/source[${EXTRAS}]"

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 lycosa && install -d -o lycosa -g lycosa /crawls
COPY --from=build /opt/lycosa /opt/lycosa
ENV PATH=/opt/lycosa/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/tmp/numba
USER lycosa
WORKDIR /crawls
VOLUME /crawls
# Ctrl-C and docker stop: the crawl finishes what is under way, and goes on with the same command.
STOPSIGNAL SIGINT
ENTRYPOINT ["lycosa"]
CMD ["--help"]
