import { GrpcError, Status } from "../status.ts";

/** A request message that exceeds `maxRequestBytes`, as sent or decompressed. */
export class OversizedMessage extends GrpcError {
  constructor(message: string) {
    super(Status.RESOURCE_EXHAUSTED, message);
    this.name = "OversizedMessage";
  }
}
