import { createLimits } from "@tollway/tollgate/limits";
import { Controller } from "@tollway/waymark";
import { ADDRESSES } from "../addresses.ts";

const limits = createLimits({
  domain: "shop",
  address: ADDRESSES.grpc,
  headers: "draft-10",
  timeout: 60_000,
});

export class Grpc extends Controller {
  override before() {
    return limits.check(this, { user: this.headers.get("user") ?? undefined });
  }
  GET() {
    return "served";
  }
}
