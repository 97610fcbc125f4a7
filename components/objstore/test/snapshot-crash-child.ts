// Makes or restores a snapshot of a store, and kills itself at the given point:
// snapshot-crash-child.ts <directory> <point> <nth time> create|restore <snapshot> <buckets, separated by commas>
import { openStore } from "../store/store.ts";

const [directory = "", point = "", nth = "1", work = "", snapshot = "", buckets = ""] = process.argv.slice(2);
let hits = 0;
const fail = (error: unknown) => {
  throw error;
};
const store = await openStore({
  directory,
  onFailure: fail,
  onBackgroundError: fail,
  crash: {
    reach: (reached) => {
      hits += Number(reached === point);
      if (reached === point && hits === Number(nth)) {
        process.kill(process.pid, "SIGKILL");
      }
    },
  },
});
if (work === "create") {
  await store.snapshots.create({ isScheduled: false });
} else {
  const names = buckets.split(",");
  await store.restore(
    snapshot,
    names.map((name) => ({ bucket: name, as: name })),
    new AbortController().signal,
  );
}
await store.close();
