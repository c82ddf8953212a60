import type { LoadOptions } from "../rules/check-configs.ts";
import type { CompileResult } from "../rules/load-rules.ts";
import { compileFiles, compileResources } from "../rules/load-rules.ts";
import { readRuleFiles } from "./read-files.ts";
import { diagnose } from "./source.ts";

/** Rules to read, check and compile. Plain data: a job may run in another thread. */
export type CompileJob = FolderJob | ResourcesJob;

/** The files of a folder. */
export interface FolderJob extends LoadOptions {
  readonly kind: "folder";
  readonly directory: string;
  readonly ignoreDotFiles: boolean;
  /** Whether this is the last attempt: its result is used, an error where the files changed again. */
  readonly isLast: boolean;
}

/** The resources of a management server, undecoded. */
export interface ResourcesJob extends LoadOptions {
  readonly kind: "resources";
  readonly resources: readonly { readonly typeUrl: string; readonly value: Uint8Array }[];
}

export interface JobResult extends CompileResult {
  /** Whether to read again, because files changed meanwhile or a name led to no file. */
  readonly unsettled: boolean;
  /** The fingerprint of the files. Empty for resources. */
  readonly fingerprint: string;
}

/** Reads, checks and compiles rules. Faults of the rules become diagnostics. */
export async function runJob(job: CompileJob): Promise<JobResult> {
  return job.kind === "folder" ? compileFolder(job) : compileReceived(job);
}

async function compileFolder(job: FolderJob): Promise<JobResult> {
  const { directory } = job;
  const { files, diagnostics, changed, dangling, fingerprint } = await readRuleFiles(
    directory,
    job.ignoreDotFiles,
  );
  const unsettled = changed || dangling;
  if (unsettled && !job.isLast) return { compiled: undefined, diagnostics, unsettled, fingerprint };
  if (changed) {
    const message =
      "the files changed during each attempt to read them, so they may belong to different sets";
    const fault = diagnose("changing-files", directory, message);
    return { compiled: undefined, diagnostics: [fault], unsettled, fingerprint };
  }
  const result = compileFiles(files, job);
  return withoutErrors({
    ...result,
    diagnostics: [...diagnostics, ...result.diagnostics],
    unsettled,
    fingerprint,
  });
}

async function compileReceived(job: ResourcesJob): Promise<JobResult> {
  // Loaded on demand: protobuf takes about 45 ms.
  const { decodeResources } = await import("./xds-messages.ts");
  const { resources, diagnostics } = decodeResources(job.resources);
  const result = compileResources(resources, job);
  const all = [...diagnostics, ...result.diagnostics];
  return withoutErrors({ ...result, diagnostics: all, unsettled: false, fingerprint: "" });
}

/** An unreadable file or resource makes the whole set unusable. */
function withoutErrors(result: JobResult): JobResult {
  const isBad = result.diagnostics.some(({ severity }) => severity === "error");
  return isBad ? { ...result, compiled: undefined } : result;
}
