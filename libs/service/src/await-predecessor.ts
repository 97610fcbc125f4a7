/** What `/readyz` says while a process waits for the one that it relieves. */
export const WAITS_FOR_PREDECESSOR = "loaded; waiting for its predecessor to stop";

/** Tells it that the other one is gone. */
export const PREDECESSOR_GONE = "SIGUSR2";

/** Resolves at the signal that the process whose volume this one takes over is gone. */
export function awaitPredecessor(): Promise<void> {
  return new Promise((resolve) => {
    // For good: the signal may come twice, and Node.js ends at one that nothing handles.
    process.on(PREDECESSOR_GONE, () => resolve());
  });
}
