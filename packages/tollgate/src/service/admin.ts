/** The admin API on its own port. */

import { Adjustments } from "../admin/adjustments.ts";
import { AuditLog } from "../admin/audit-log.ts";
import { adminGuard } from "../admin/guard.ts";
import { Operations } from "../admin/operations.ts";
import { Operators } from "../admin/operators.ts";
import { OverrideOperations } from "../admin/override-operations.ts";
import { adminPages } from "../admin/pages.ts";
import { Targets } from "../admin/targets.ts";
import type { CounterAdmin } from "../counters/counter-admin.ts";
import type { CounterStore } from "../counters/store.ts";
import { debugAccess } from "../listeners/debug-access.ts";
import { type HttpListener, openHttpListener } from "../listeners/http-listener.ts";
import { TlsFiles } from "../listeners/tls-files.ts";
import type { Logger } from "../observe/log.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { AdjustmentRecord } from "../overrides/record.ts";
import type { ActiveOverrides } from "../overrides/table.ts";
import type { RuleSet } from "../rules/rule.ts";
import { faultOfOperator } from "../settings/check-admin.ts";
import type { AdminSettings, Settings } from "../settings/settings.ts";
import { decisionOptions } from "./settings-to-options.ts";

export interface AdminPort {
  readonly address: string;
  /** Whether an `Authorization` header has the token of an operator. False if operators need a certificate. */
  accepts(authorization: string | null): boolean;
  close(timeout: number): Promise<void>;
}

interface AdminPortOptions {
  readonly admin: AdminSettings;
  readonly settings: Settings;
  readonly ruleSet: () => RuleSet | undefined;
  /** The store without over-limit cache and failure policy. */
  readonly store: CounterStore;
  readonly counters: CounterAdmin;
  readonly invalidate: (stems: readonly string[]) => Promise<void>;
  readonly overrides: ActiveOverrides | undefined;
  /** Uses overrides that were written to the store. */
  readonly useOverrides: (version: number, records: readonly AdjustmentRecord[]) => Promise<void>;
  readonly statistics: Statistics;
  readonly log: Logger;
}

/** Opens the port. Rejects if it cannot be bound, or if a credential or certificate cannot be used. */
export async function openAdmin(options: AdminPortOptions): Promise<AdminPort> {
  const { admin, settings, log, statistics, counters } = options;
  const { tls } = admin;
  const now = Date.now;
  const operators = new Operators({
    tokens: admin.tokens,
    tokenFile: admin.tokenFile,
    certificates: tls?.clientCaCert !== undefined,
    faultOf: faultOfOperator,
    log,
  });
  let files: TlsFiles | undefined;
  let listener: HttpListener;
  try {
    files =
      tls &&
      TlsFiles.open({
        paths: { cert: tls.cert, key: tls.key, clientCa: tls.clientCaCert },
        log,
        statistics,
        onChange: (certificates) => listener.replaceCertificates(certificates),
      });
    const audit = new AuditLog(counters.records, log);
    const { keyFormat } = decisionOptions(settings);
    const targets = new Targets({ ...options, keyFormat, now });
    const adjustments = new Adjustments({
      records: options.overrides && counters.records,
      use: options.useOverrides,
      now,
    });
    const common = { ...options, targets, adjustments, audit, now };
    const operations = new Operations({
      ...common,
      admin: counters,
      prefix: settings.decision.cacheKeyPrefix,
    });
    const overrides = new OverrideOperations(common);
    listener = await openHttpListener({
      name: "admin",
      host: admin.host,
      port: admin.port,
      certificates: files?.current,
      clientSan: tls?.clientSan,
      controllers: adminPages({ operations, overrides, audit, now }),
      access: debugAccess({ ...admin, setting: "ADMIN_ALLOWED_HOSTS" }),
      guard: adminGuard(operators, log),
      log,
    });
  } catch (error) {
    files?.close();
    operators.close();
    throw error;
  }
  return {
    address: listener.address,
    accepts: (authorization) => operators.acceptToken(authorization),
    close: (timeout) => {
      files?.close();
      operators.close();
      return listener.close(timeout);
    },
  };
}
