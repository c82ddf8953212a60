import { HttpError } from "@tollway/waymark";
import { checkMatch } from "@tollway/waymark/kit";
import { services } from "../../services.ts";
import type { Issue } from "../../store.ts";
import { checkAssignee, etagOf, type Fields, found, type Id, type NoIssue, type NoUser } from "../_issues.ts";
import { Member } from "../_member.ts";

/** `/issue/{id}` */
export class Default extends Member {
  GET(id: Id): Issue | NoIssue {
    const issue = found(id);
    this.response.headers.set("etag", etagOf(issue));
    return issue;
  }

  /** Changes what the body names, if the client has seen the current version: `if-match` has its ETag. */
  PATCH(id: Id, { ...fields }: Partial<Fields>): Issue | NoIssue | NoUser {
    const issue = found(id);
    checkMatch(this, etagOf(issue));
    checkAssignee(fields.assignee);
    const { store, changes } = services();
    const changed = store.changeIssue(id, issue.version, fields);
    // Another process was faster.
    if (changed === undefined)
      throw new HttpError(412, "the issue has changed since you read it: read it again");
    changes.add({ kind: "issue", issue: changed, by: this.user });
    this.response.headers.set("etag", etagOf(changed));
    return changed;
  }
}
