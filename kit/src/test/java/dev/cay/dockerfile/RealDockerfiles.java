package dev.cay.dockerfile;

import java.util.List;

/// Files as people write them.
final class RealDockerfiles {
    static final String PYTHON = """
            # syntax=docker/dockerfile:1
            ARG PYTHON_VERSION=3.12
            FROM python:${PYTHON_VERSION}-slim

            ENV PYTHONDONTWRITEBYTECODE=1 \\
                PYTHONUNBUFFERED=1 \\
                PATH="/opt/venv/bin:$PATH"

            WORKDIR /app

            # Dependencies first: they change less often than the code.
            COPY requirements.txt ./
            RUN --mount=type=cache,target=/root/.cache/pip \\
                python -m venv /opt/venv && \\
                pip install -r requirements.txt

            COPY --chown=1000:1000 . .
            USER 1000
            EXPOSE 8000
            HEALTHCHECK --interval=10s --timeout=3s --retries=5 \\
              CMD python -c "import urllib.request as u; u.urlopen('http://localhost:8000/health')"
            CMD ["gunicorn", "--bind", "0.0.0.0:8000", "app:app"]
            """;

    static final String NODE = """
            FROM node:22-alpine AS deps
            WORKDIR /srv
            COPY package.json package-lock.json* ./
            RUN npm ci --omit=dev

            FROM node:22-alpine AS runner
            ARG COMMIT
            ENV NODE_ENV production
            LABEL org.opencontainers.image.revision="${COMMIT:-unknown}" org.opencontainers.image.title='The app'
            WORKDIR /srv
            COPY --from=deps /srv/node_modules ./node_modules
            COPY . .
            EXPOSE 3000/tcp 9229
            STOPSIGNAL SIGINT
            ENTRYPOINT ["docker-entrypoint.sh"]
            CMD ["node", "server.js"]
            """;

    static final String JAVA = """
            ARG JDK=25
            FROM --platform=$BUILDPLATFORM eclipse-temurin:${JDK}-jdk AS build
            WORKDIR /src
            COPY .mvn .mvn
            COPY mvnw pom.xml ./
            RUN --mount=type=cache,target=/root/.m2,sharing=locked ./mvnw -B dependency:go-offline
            COPY src src
            RUN --mount=type=cache,target=/root/.m2 --network=none ./mvnw -B -o package -DskipTests

            FROM build AS test
            RUN ./mvnw verify

            FROM eclipse-temurin:${JDK}-jre
            ARG JDK
            ENV JAVA_VERSION=$JDK JAVA_TOOL_OPTIONS="-XX:MaxRAMPercentage=75.0"
            COPY --from=build --chmod=644 /src/target/*.jar /app/app.jar
            ENTRYPOINT exec java $JAVA_OPTS -jar /app/app.jar
            """;

    static final String APT = """
            FROM debian:12
            SHELL ["/bin/bash", "-o", "pipefail", "-c"]
            ARG DEBIAN_FRONTEND=noninteractive
            RUN apt-get update \\
             && apt-get install -y --no-install-recommends \\
                # tools to build
                build-essential \\

                cmake \\
                # and to fetch
                ca-certificates curl git \\
             && rm -rf /var/lib/apt/lists/*
            RUN <<EOF
            set -e
            curl -fsSL https://example.org/key.asc | gpg --dearmor > /usr/share/keyrings/x.gpg
            # a comment of the script
            echo "deb https://example.org stable main" > /etc/apt/sources.list.d/x.list
            EOF
            COPY <<-"settings.conf" <<motd /etc/tool/
            	price = $5
            	settings.conf
            built with ${DEBIAN_FRONTEND}
            motd
            ADD --checksum=sha256:24454f830cdb571e2c4ad15481119c43b3cafd48dd869a9b2945d1036d1dc68d \\
                https://mirrors.example.org/linux-0.01.tar.gz /usr/src/
            VOLUME ["/var/data"]
            MAINTAINER Pat O'Brien
            """;

    static final String DISTROLESS = """
            FROM golang:1.24 AS build
            ARG TARGETOS TARGETARCH
            WORKDIR /go/src/app
            COPY go.* .
            RUN go mod download
            COPY --exclude=**/*_test.go . .
            RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -o /go/bin/app ./cmd/app

            FROM scratch
            COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
            COPY --from=build --chown=65532:65532 /go/bin/app /app
            COPY --from=gcr.io/distroless/static:nonroot /etc/passwd /etc/passwd
            USER 65532:65532
            ENTRYPOINT ["/app"]
            CMD ["--listen", ":8080"]
            """;

    static final List<String> ALL = List.of(PYTHON, NODE, JAVA, APT, DISTROLESS);

    private RealDockerfiles() {}
}
