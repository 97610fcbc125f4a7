/** A signal that fires at Ctrl-C or SIGTERM, so that watching commands end well. */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => controller.abort());
  }
  return controller.signal;
}
