import { inPieces } from "../../pieces.ts";
import { services } from "../../services.ts";
import type { Attachment } from "../../store.ts";
import { found, type Id, type NoIssue } from "../_issues.ts";
import { Member } from "../_member.ts";

const PIECE = 64 * 1024;
/** A media type without parameters. */
const TYPE = /^[\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,60}$/;

/** `/issue/attachments/{issue}` */
export class Default extends Member {
  // The body is the file itself, whatever its type. It is stored while it arrives.
  static override rawBody = true;
  static override bodyLimit = 10 * 1024 * 1024;

  GET(issue: Id): Attachment[] | NoIssue {
    return services().store.attachments(found(issue).id);
  }

  /** Stores the body of the request. `content-type` is the type of the file. */
  async POST(
    issue: Id,
    { name }: { /** @minLength 1 @maxLength 200 */ name: string },
  ): Promise<Attachment | NoIssue> {
    const { store, changes } = services();
    const sent = this.headers.get("content-type") ?? "";
    const type = TYPE.test(sent) ? sent : "application/octet-stream";
    const writer = store.openAttachment({ issue: found(issue).id, author: this.user, name, type });
    try {
      const { body } = this.request;
      if (body !== null) for await (const piece of inPieces(body, PIECE)) writer.write(piece);
    } catch (error) {
      writer.abandon();
      throw error;
    }
    const attachment = writer.finish();
    changes.add({ kind: "attachment", on: issue, attachment });
    this.response.status = 201;
    this.response.headers.set("location", `/attachment/${attachment.id}`);
    return attachment;
  }
}
