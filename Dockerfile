# syntax=docker/dockerfile:1
# The image of Tollgate. `npm run image -- FOLDER` assembles the same root file system without a container engine.
FROM node:26-trixie-slim AS build
WORKDIR /src
COPY . .
RUN npm ci && npm run image -- /image

FROM scratch
COPY --from=build /image /
# One arena of malloc for all threads, and a small young generation of V8: under load, 15 MiB less with the embedded store and
# 45 less over Redis, for the same CPU.
ENV HOME=/home/nonroot NODE_ENV=production MALLOC_ARENA_MAX=1 NODE_OPTIONS=--max-semi-space-size=4
USER 65532:65532
# HTTP, gRPC, debug.
EXPOSE 8080 8081 6070
# A command and no entry point: the manifests of the Go service name the command /bin/ratelimit.
CMD ["/bin/ratelimit"]
