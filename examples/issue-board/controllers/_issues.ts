import { type Problem, problem } from "@tollway/waymark";
import { services } from "../services.ts";
import type { Issue, Status } from "../store.ts";

/**
 * The number of an issue.
 * @integer @minimum 1
 */
export type Id = number;

/** The fields of an issue that a user sets. */
export interface Fields {
  /** @minLength 1 @maxLength 200 @pattern \S */
  title: string;
  /** @maxLength 20000 */
  text?: string;
  status?: Status;
  /** @maxItems 10 @uniqueItems */
  labels?: Label[];
  /** The id of a user. */
  assignee?: Id | null;
}

/** @minLength 1 @maxLength 30 */
export type Label = string;

export type NoIssue = Problem<404, { code: "NO_ISSUE" }>;
export type NoUser = Problem<409, { code: "NO_USER" }>;

/** The issue with this number. @throws {NoIssue} */
export function found(id: Id): Issue {
  const issue = services().store.issue(id);
  if (issue === undefined) throw problem(404, `there is no issue ${id}`, { code: "NO_ISSUE" });
  return issue;
}

/** Refuses an assignee who does not exist. @throws {NoUser} */
export function checkAssignee(assignee: Id | null | undefined): void {
  if (assignee !== null && assignee !== undefined && services().store.user(assignee) === undefined)
    throw problem(409, `there is no user ${assignee}`, { code: "NO_USER" });
}

/** The ETag of an issue is its version. */
export function etagOf({ version }: Issue): string {
  return `"${version}"`;
}
