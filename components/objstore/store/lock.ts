export type LockMode = "GOVERNANCE" | "COMPLIANCE";

export interface Retention {
  readonly mode: LockMode;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** What keeps a version from being deleted. */
export interface Lock {
  readonly retention?: Retention | undefined;
  readonly hold?: boolean | undefined;
}

/** Whether a lock keeps a version from being deleted for good; `bypass` passes over governance. */
export function isLocked({ lock: json }: { readonly lock: string | null }, now: number, bypass = false): boolean {
  if (json === null) {
    return false;
  }
  const { retention, hold } = JSON.parse(json) as Lock;
  return (
    hold === true || (retention !== undefined && retention.until > now && !(retention.mode === "GOVERNANCE" && bypass))
  );
}
