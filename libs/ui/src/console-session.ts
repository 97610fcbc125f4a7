import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";

import { RequestError } from "./problem.ts";
import { requestJson } from "./request.ts";

/** Where consoles have their sign-in page. */
export const SIGN_IN = "/sign-in";

/** Who is logged in to a console, as its `GET /api/session` says; null when nobody is. */
export function useConsoleSession<Session>(): UseQueryResult<Session | null> {
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

/** Ends the session of a console. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await requestJson("/api/session", { method: "DELETE" });
    // Set first: a query that is removed loses its observers, and the page would stay.
    client.setQueryData(["session"], null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
  };
}
