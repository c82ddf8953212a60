import { services } from "../services.ts";
import type { Issue, Status } from "../store.ts";
import { checkAssignee, etagOf, type Fields, type Id, type Label, type NoUser } from "./_issues.ts";
import { Member } from "./_member.ts";

interface Filter {
  status?: Status;
  label?: Label;
  /** The id of a user. */
  assignee?: Id;
  /**
   * A part of the title.
   * @maxLength 200
   */
  q?: string;
  /** `next` of the page before. */
  before?: Id;
  /** @integer @minimum 1 @maximum 100 */
  limit?: number;
}

interface Page {
  /** The newest first. */
  items: Issue[];
  /** `before` of the next page. Null on the last page. */
  next: number | null;
}

/** `/issues` */
export class Default extends Member {
  /** A page of the issues that fit. */
  GET({ limit = 20, ...filter }: Filter): Page {
    const items = services().store.issues({ ...filter, limit: limit + 1 });
    const isLast = items.length <= limit;
    return { items: items.slice(0, limit), next: isLast ? null : items[limit - 1]!.id };
  }

  /** Opens an issue. */
  POST({ title, text = "", status = "open", labels = [], assignee = null }: Fields): Issue | NoUser {
    checkAssignee(assignee);
    const { store, changes } = services();
    const issue = store.addIssue({ title, text, status, labels, assignee }, this.user);
    changes.add({ kind: "issue", issue, by: this.user });
    this.response.status = 201;
    this.response.headers.set("location", `/issue/${issue.id}`);
    this.response.headers.set("etag", etagOf(issue));
    return issue;
  }
}
