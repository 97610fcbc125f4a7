import { requestJson, RequestError } from "@swath/ui";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";

export const SIGN_IN = "/sign-in";

/** Who is signed in, as `GET /api/session` says. */
export interface Session {
  readonly user: string;
  readonly isRoot: boolean;
  /** When the session ends; null for the root user's own key. */
  readonly expires: string | null;
  /** Public base URL of the S3 API. */
  readonly endpoint: string;
  readonly region: string;
}

/** The session; null when nobody is signed in. */
export function useSession(): UseQueryResult<Session | null> {
  return useQuery({
    queryKey: ["session"],
    queryFn: async () => {
      try {
        return await requestJson<Session>("/api/session");
      } catch (error) {
        if (error instanceof RequestError && error.status === 401) {
          return null;
        }
        throw error;
      }
    },
    staleTime: 60_000,
  });
}
