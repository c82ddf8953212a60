import { services } from "../../services.ts";
import type { Comment } from "../../store.ts";
import { found, type Id, type NoIssue } from "../_issues.ts";
import { Member } from "../_member.ts";

/** `/issue/comments/{issue}` */
export class Default extends Member {
  /** The oldest first. */
  GET(issue: Id): Comment[] | NoIssue {
    return services().store.comments(found(issue).id);
  }

  POST(
    issue: Id,
    { text }: { /** @minLength 1 @maxLength 5000 @pattern \S */ text: string },
  ): Comment | NoIssue {
    const { store, changes } = services();
    const comment = store.addComment(found(issue).id, this.user, text);
    changes.add({ kind: "comment", on: issue, comment });
    this.response.status = 201;
    return comment;
  }
}
