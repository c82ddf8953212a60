/**
 * `npm run judge`: HTTP/2's conformance tool and the gRPC clients of others against grpc-wire; prints a table, and
 * exits with 1 where one of them found a fault.
 *
 *   npm run judge                                   every tool that is found
 *   npm run judge -- --client ghz --client curl     these clients only; `--client none` for h2spec alone
 *   npm run judge -- --markdown docs/grpc-wire.md   writes the tables into a Markdown file, between its marks
 *
 * curl, nghttp and h2load are looked for on the PATH. So are ghz, grpcurl, h2spec and a python3 with grpcio, and the
 * environment variables GHZ, GRPCURL, H2SPEC, PYTHON (CURL, NGHTTP, H2LOAD) name them elsewhere.
 */
import { parseArgs } from "node:util";
import { findClients, type Tool } from "./clients.ts";
import { conform, findH2spec } from "./h2spec.ts";
import { judge } from "./judge.ts";
import { printReport, writeMarkdown } from "./report.ts";
import { Stage } from "./stage.ts";
