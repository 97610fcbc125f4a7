// Applies lifecycle rules and scrubs a store, and kills itself at the given point:
// maintenance-crash-child.ts <directory> <point> <nth time>
import { applyLifecycle } from "../background/lifecycle.ts";
import { Damages } from "../background/damages.ts";
import { Scrub } from "../background/scrub.ts";
import { openStore } from "../store/store.ts";

const [directory = "", point = "", nth = "1"] = process.argv.slice(2);
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
const { signal } = new AbortController();
await applyLifecycle(store, signal);
await new Scrub(store, new Damages(store, () => {})).run(signal);
await store.close();
