const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Gives something back before Ctrl-C or SIGTERM ends this process, which then ends as it would have. Returns what undoes this.
 * Somebody who presses Ctrl-C again does not wait.
 */
export function releaseWhenInterrupted(release: () => Promise<void>): () => void {
  const end = (signal: NodeJS.Signals): void => {
    forget();
    // Without a handler the same signal ends the process, whether it could be given back or not.
    void release().finally(() => process.kill(process.pid, signal));
  };
  const forget = (): void => {
    for (const signal of SIGNALS) {
      process.off(signal, end);
    }
  };
  for (const signal of SIGNALS) {
    process.on(signal, end);
  }
  return forget;
}
