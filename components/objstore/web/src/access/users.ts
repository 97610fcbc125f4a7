/** A user of this object store as the administration API gives it. */
export interface User {
  readonly name: string;
  readonly created: string;
  readonly enabled: boolean;
  readonly policy: object;
}
