/** All algorithms by name. */
import type { Algorithm, AlgorithmName } from "./algorithm.ts";
import { acceptedWindow, fixedWindow } from "./fixed-window.ts";
import { slidingWindow } from "./sliding-window.ts";
import { tokenBucket } from "./token-bucket.ts";

export const algorithms: Readonly<Record<AlgorithmName, Algorithm>> = {
  fixed_window: fixedWindow,
  accepted_window: acceptedWindow,
  sliding_window: slidingWindow,
  token_bucket: tokenBucket,
};
