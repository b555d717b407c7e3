# The page and the API of the summarizer, run by a user without rights on a file system that cannot be written:
#   docker build -t dpplearn .
#   docker run --rm --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#     -p 127.0.0.1:8000:8000 -e DPPLEARN_TOKEN="$(openssl rand -hex 16)" dpplearn
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/dpplearn && /opt/dpplearn/bin/pip install --no-cache-dir '.[web,documents]'
# Loops are compiled here, once, for the processor that builds; on another kind they are compiled in memory, as needed.
ENV NUMBA_CACHE_DIR=/opt/dpplearn/loops
RUN /opt/dpplearn/bin/dpplearn warm

FROM python:3.12-slim
COPY --from=build /opt/dpplearn /opt/dpplearn
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin dpplearn
ENV NUMBA_CACHE_DIR=/opt/dpplearn/loops PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 PATH=/opt/dpplearn/bin:$PATH
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/api/v1/health', timeout=4)"]
# --host needs --token, which DPPLEARN_TOKEN gives, or --allow-host: `docker run ... dpplearn --allow-host NAME`.
ENTRYPOINT ["dpplearn", "serve", "--host", "0.0.0.0", "--port", "8000"]
