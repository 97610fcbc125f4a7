const INTERVAL_MS = 1000;

interface Progress {
  readonly step: () => void;
  readonly finish: (more: string) => void;
}

/** `1200 of 5000 tiles, 24 %`: in place on a terminal, else a line a second. */
export function showProgress(what: string, total: number): Progress {
  const isTerminal = process.stderr.isTTY;
  let done = 0;
  let saidAt = 0;
  const report = (ending: string) => {
    const share = total === 0 ? 100 : Math.floor((done / total) * 100);
    process.stderr.write(`${isTerminal ? "\r" : ""}${done} of ${total} ${what}, ${share} %${ending}`);
  };
  return {
    step: () => {
      done += 1;
      if (Date.now() - saidAt >= INTERVAL_MS) {
        saidAt = Date.now();
        report(isTerminal ? "" : "\n");
      }
    },
    finish: (more) => report(`${more}\n`),
  };
}
