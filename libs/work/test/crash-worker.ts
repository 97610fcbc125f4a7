// Takes items and ends itself with SIGKILL in the middle of the fifth.
import { openPool } from "@swath/postgres/pool";

import { type Claim, startLoop } from "../src/index.ts";
import { type Row, createTestQueue } from "./fixture.ts";

const url = process.argv[2] ?? "";
const { pool } = await openPool({ url, schema: "work", onError: () => {} });
const queue = createTestQueue("lease_until", 2);
let items = 0;
await startLoop<Claim<Row>>({
  concurrency: 2,
  claim: ({ limit }) => queue.claim(pool, limit),
  untilDue: () => queue.untilDue(pool),
  run: async ({ lease }) => {
    items += 1;
    if (items === 5) {
      process.kill(process.pid, "SIGKILL");
    }
    await lease.end("state = 'done', done = done + 1");
  },
  onError: () => {},
});
