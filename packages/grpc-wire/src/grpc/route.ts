import type { BidiStreamingHandler, InPlaceUnaryHandler, ServerStreamingHandler } from "../types.ts";

/** A registered method. */
export type Route =
  | { readonly path: string; readonly kind: "unary"; readonly handler: InPlaceUnaryHandler }
  | { readonly path: string; readonly kind: "serverStreaming"; readonly handler: ServerStreamingHandler }
  | { readonly path: string; readonly kind: "bidiStreaming"; readonly handler: BidiStreamingHandler };
