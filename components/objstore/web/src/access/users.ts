/** A user of this object store as the administration API gives it. */
export interface User {
  readonly name: string;
  readonly created: string;
  readonly enabled: boolean;
  readonly policy: object;
}

/** A role: what people whose token fits may do. */
export interface Role {
  readonly name: string;
  readonly created: string;
  /** Claim of the token; null: every token fits. */
  readonly claim: string | null;
  readonly values: readonly string[];
  readonly policy: object;
}

/** Names of users and roles, as the service takes them. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/.test(text);
}

export function userApi(name: string): string {
  return `/api/users/${encodeURIComponent(name)}`;
}

export function roleApi(name: string): string {
  return `/api/roles/${encodeURIComponent(name)}`;
}
