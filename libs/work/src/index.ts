export { type BackOff, createBackOff } from "./back-off.ts";
export { type Claim, type Lease, type Queryable, type Queue, createQueue, drainQueue } from "./queue.ts";
export { type ClaimRequest, type Loop, type LoopOptions, startLoop } from "./loop.ts";
export { startPeriodic } from "./periodic.ts";
export { measureLoops } from "./metrics.ts";
