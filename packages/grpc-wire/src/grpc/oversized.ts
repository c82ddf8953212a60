import { GrpcError, Status } from "../status.ts";

/** A request message above `maxRequestBytes`, as sent or once inflated. */
export class OversizedMessage extends GrpcError {
  constructor(message: string) {
    super(Status.RESOURCE_EXHAUSTED, message);
    this.name = "OversizedMessage";
  }
}
