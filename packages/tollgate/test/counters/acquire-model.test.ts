import { acquireConformance } from "./acquire-conformance.ts";
import { AcquireModel } from "./acquire-model.ts";

// The model passes its own suite: the table of promises holds for the algorithms themselves.
acquireConformance("model", { makeStore: () => new AcquireModel(), makePeer: (_t, store) => store });
