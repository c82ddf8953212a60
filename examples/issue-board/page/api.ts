import { client, ProblemError } from "@tollway/waymark/client";
import { byId } from "./dom.ts";
import type { Api } from "./gen/board.d.ts";

/** The board's API, typed by its controllers. */
export const api = client<Api>(location.origin);

export type { Attachment, Comment, Issue, Status, User } from "../store.ts";

/** Runs what a user has asked for, and shows why it failed. */
export async function attempt(work: () => Promise<void>): Promise<void> {
  const fault = byId("fault", HTMLElement);
  fault.textContent = "";
  try {
    await work();
  } catch (error) {
    fault.textContent = reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof ProblemError)) return "The server cannot be reached. Try again.";
  const { detail, title } = error.problem;
  return detail ?? title;
}
