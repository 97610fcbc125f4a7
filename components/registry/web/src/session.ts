import { useConsoleSession } from "@swath/ui";
import type { UseQueryResult } from "@tanstack/react-query";

/** Who is logged in, as `GET /api/session` says. */
export interface Session {
  readonly user: string;
  /** Administers the whole registry. */
  readonly isAdmin: boolean;
  /** `registry.example.org`, as references of images begin. */
  readonly host: string;
  /** When the secret for command lines was made; null without one. */
  readonly secretCreated: string | null;
  /** People of the identity service have one; the administrator by password has the password. */
  readonly canHaveSecret: boolean;
}

/** The session; null when nobody is logged in. */
export function useSession(): UseQueryResult<Session | null> {
  return useConsoleSession<Session>();
}
