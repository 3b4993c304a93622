# One image for serve, work and migrate. Needs no network beyond the registry of the two base images:
#
#   cargo vendor --locked --versioned-dirs vendor >/dev/null        # once, where crates can be fetched
#   docker build --network none -t foresite .
#
# Why built here and not copied from outside: the binary links the C library of the machine that built it, and a binary from a
# newer system does not start on this one. Why vendored and not fetched: a build that asks the network is a build that can change.

ARG BASE=gcr.io/distroless/cc-debian12:nonroot

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
# The sources in vendor/ stand for the registry; --locked holds them to Cargo.lock's checksums.
RUN --network=none cargo build --release --locked --offline --package foresite \
    --config 'source.crates-io.replace-with="vendored"' --config 'source.vendored.directory="vendor"' \
    && mkdir -p /out && mv target/release/foresite /out/foresite

# C library, libgcc and certificate authorities; no shell, no package manager; user 65532.
# (With BASE=gcr.io/distroless/cc-debian12:debug-nonroot it has a shell, as GitLab asks of a job's image.)
FROM ${BASE}
COPY --from=build /out/foresite /usr/local/bin/foresite
COPY LICENSE /LICENSE
ENV FORESITE_DATA_DIR=/tmp/foresite \
    FORESITE_HTTP_LISTEN=0.0.0.0:8080 \
    FORESITE_GRPC_LISTEN=0.0.0.0:50051 \
    FORESITE_METRICS_LISTEN=0.0.0.0:9090
EXPOSE 8080 50051 9090
USER 65532:65532
WORKDIR /tmp
ENTRYPOINT ["/usr/local/bin/foresite"]
CMD ["serve"]
