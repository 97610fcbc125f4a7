/** What clients saw. */
export interface Seen {
  readonly requests: number;
  /** Requests without an answer, or with one that blames the platform (5xx), by actor and kind. */
  readonly failures: ReadonlyMap<string, number>;
  /** Answers that contradict what was acknowledged before: the faults that must not be. */
  readonly broken: readonly string[];
}

export interface Recorder {
  readonly request: () => void;
  readonly failure: (actor: string, kind: string) => void;
  readonly broken: (what: string) => void;
  readonly seen: () => Seen;
}

export function createRecorder(): Recorder {
  let requests = 0;
  const failures = new Map<string, number>();
  const broken: string[] = [];
  return {
    request: () => void (requests += 1),
    failure: (actor, kind) => void failures.set(`${actor}: ${kind}`, (failures.get(`${actor}: ${kind}`) ?? 0) + 1),
    broken: (what) => void broken.push(what),
    seen: () => ({ requests, failures, broken }),
  };
}
