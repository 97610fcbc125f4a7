import { Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { ErrorNote, SignInFrame, requestJson, toOwnPath } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { Navigate, useSearchParams } from "react-router";

import { type Session, useSession } from "./session.ts";

/** What the service says of a login that was not completed, in words. */
const FAILURES: Readonly<Record<string, string>> = {
  cancelled: "The login was cancelled.",
  expired: "The login took too long, was completed already, or was begun in another browser. Try again.",
  refused: "The identity service did not accept the login.",
  "no-role":
    "You are known to the platform, but have no rights here: none of your roles and workspaces has a bucket. Ask an administrator.",
  unavailable: "The identity service does not answer. Try again in a moment.",
};

/** Sign in with the platform's login, or with an access key: the root user's, or that of a service account. */
export function SignIn() {
  const client = useQueryClient();
  const session = useSession();
  const [search] = useSearchParams();
  const failed = search.get("failed");
  const methods = useQuery({
    queryKey: ["sign-in"],
    queryFn: () => requestJson<{ platform: boolean }>("/api/sign-in"),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const signIn = useMutation({
    mutationFn: (keys: { accessKey: string; secretKey: string }) =>
      requestJson<Session>("/api/session", { method: "POST", body: keys }),
    onSuccess: (made) => client.setQueryData(["session"], made),
  });
  const to = toOwnPath(search.get("to"));
  if (session.data) {
    return <Navigate to={to} replace />;
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const read = (name: string) => form.get(name) as string;
    signIn.mutate({ accessKey: read("accessKey"), secretKey: read("secretKey") });
  };
  return (
    <SignInFrame
      title="Object storage"
      failed={failed !== null && signIn.isIdle ? (FAILURES[failed] ?? "The login was not completed.") : undefined}
      platform={methods.data?.platform ? `/api/login?to=${encodeURIComponent(to)}` : undefined}
      or="or with an access key"
    >
      <form onSubmit={submit}>
        <Stack>
          {signIn.error && <ErrorNote error={signIn.error} title="Not signed in" />}
          <TextInput label="Access key" name="accessKey" autoComplete="username" spellCheck={false} required />
          <PasswordInput label="Secret key" name="secretKey" autoComplete="current-password" required />
          <Button type="submit" variant={methods.data?.platform ? "default" : "filled"} loading={signIn.isPending}>
            Sign in
          </Button>
        </Stack>
      </form>
    </SignInFrame>
  );
}
