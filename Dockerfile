# One image for web, worker and beat; docker-compose.yml says which command each runs.
FROM python:3.11-slim AS build
# Point pip at a CPU build of torch where no GPU is to be used (see requirements.lock).
ARG PIP_EXTRA_INDEX_URL=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
COPY requirements.lock ./
RUN python -m venv .venv && .venv/bin/python -m pip install --requirement requirements.lock
COPY package.json package-lock.json .npmrc ./
COPY scripts/build_assets.py scripts/
COPY static static
RUN .venv/bin/python scripts/build_assets.py && rm -rf node_modules

FROM python:3.11-slim
RUN useradd --system --create-home --uid 1000 stepmark \
    && install -d -o stepmark -g stepmark /var/lib/stepmark
WORKDIR /app
COPY --from=build /app/.venv .venv
COPY . .
COPY --from=build /app/static/vendor static/vendor
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 STEPMARK_HOME=/var/lib/stepmark
USER stepmark
VOLUME /var/lib/stepmark
EXPOSE 8000
# The proxy's header keeps the check from being sent on to https.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 \
    CMD ["python", "scripts/check_health.py"]
CMD ["python", "-m", "gunicorn", "config.wsgi", "--bind", "0.0.0.0:8000", "--worker-class", "gthread", \
     "--workers", "2", "--threads", "8", "--access-logfile", "-"]
