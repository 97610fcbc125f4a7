import { useConsoleSession } from "@swath/ui";
import type { UseQueryResult } from "@tanstack/react-query";

/** Who is logged in, as `GET /api/session` says. */
export interface Session {
  readonly user: string;
  readonly isRoot: boolean;
  /** When the session ends; null for the root user's own key. */
  readonly expires: string | null;
  /** Public base URL of the S3 API. */
  readonly endpoint: string;
  readonly region: string;
}

/** The session; null when nobody is logged in. */
export function useSession(): UseQueryResult<Session | null> {
  return useConsoleSession<Session>();
}
