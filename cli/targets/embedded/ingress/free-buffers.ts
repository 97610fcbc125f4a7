import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type CollectGarbage = (options: { readonly type: "minor" }) => void;

/**
 * Counts bytes that pass through, and has their buffers freed every `everyBytes`.
 *
 * A buffer of a socket is a small object that holds much memory outside of the heap. The heap fills slowly, so V8 would
 * collect them only when 64 MB have gathered; a collection of the young ones takes a fraction of a millisecond.
 */
export function createBufferFreer(everyBytes: number): (bytes: number) => void {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as CollectGarbage;
  setFlagsFromString("--no-expose-gc");
  let passed = 0;
  return (bytes) => {
    passed += bytes;
    if (passed >= everyBytes) {
      passed = 0;
      collectGarbage({ type: "minor" });
    }
  };
}
