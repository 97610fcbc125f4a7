import { requestJson } from "@swath/ui";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";

import { broadcastToTabs } from "./windows.ts";

/** Who is logged in. The tokens are where no script reaches them. */
export interface User {
  readonly id: string;
  /** Also the name of the user's space in the processing service: `/{username}/ogc-api/…`. */
  readonly username: string;
  readonly name?: string;
  readonly email?: string;
  readonly isAdmin: boolean;
  readonly mayCreateWorkspaces: boolean;
}

export interface Session {
  /** null: nobody. */
  readonly user: User | null;
  readonly renewAt?: string;
  /** Somebody logged out, in this window or in another one; otherwise a login that is gone ended by itself. */
  readonly isLoggedOut?: true;
}

export const SESSION_KEY = ["session"] as const;

/** Who is logged in, asked again before the login ends, which renews it, and whenever somebody comes back to the window. */
export function useSession(): UseQueryResult<Session> {
  return useQuery({
    queryKey: SESSION_KEY,
    queryFn: () => requestJson<Session>("/api/session"),
    refetchOnWindowFocus: "always",
    staleTime: 30_000,
    refetchInterval: ({ state: { data } }) => {
      if (data?.renewAt === undefined) {
        return false;
      }
      return Math.max(10_000, new Date(data.renewAt).getTime() - Date.now());
    },
    refetchIntervalInBackground: true,
  });
}

/** Where to go to log in, and to come back here. */
export function loginAddress({ pathname, search }: { readonly pathname: string; readonly search: string }): string {
  return `/auth/login?return=${encodeURIComponent(pathname + search)}`;
}

/** Ends the login here and at every service, and leaves the page. @throws {RequestError} */
export async function logOut(): Promise<void> {
  const { location } = await requestJson<{ location: string }>("/auth/logout", { method: "POST" });
  broadcastToTabs("logged-out");
  window.location.assign(location);
}
