import { Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { ErrorNote, SignInFrame, requestJson, toOwnPath } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { Navigate, useSearchParams } from "react-router";

import { useSession } from "./session.ts";

/** What the service says of a login that was not completed, in words. */
const FAILURES: Readonly<Record<string, string>> = {
  cancelled: "The login was cancelled.",
  expired: "The login took too long, was completed already, or was begun in another browser. Try again.",
  refused: "The identity service did not accept the login.",
  unavailable: "The identity service does not answer. Try again in a moment.",
};

/** Sign in with the platform's login, as administrator, or with one's secret for command lines. */
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
    mutationFn: (body: { user: string; password: string }) => requestJson("/api/session", { method: "POST", body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["session"] }),
  });
  const to = toOwnPath(search.get("to"));
  if (session.data) {
    return <Navigate to={to} replace />;
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const read = (name: string) => form.get(name) as string;
    signIn.mutate({ user: read("user"), password: read("password") });
  };
  return (
    <SignInFrame
      title="Image registry"
      failed={failed !== null && signIn.isIdle ? (FAILURES[failed] ?? "The login was not completed.") : undefined}
      platform={methods.data?.platform ? `/api/login?to=${encodeURIComponent(to)}` : undefined}
      or="or with a password of the registry"
    >
      <form onSubmit={submit}>
        <Stack>
          {signIn.error && <ErrorNote error={signIn.error} title="Not signed in" />}
          <TextInput label="User" name="user" autoComplete="username" spellCheck={false} required />
          <PasswordInput label="Password" name="password" autoComplete="current-password" required />
          <Button type="submit" variant={methods.data?.platform ? "default" : "filled"} loading={signIn.isPending}>
            Sign in
          </Button>
        </Stack>
      </form>
    </SignInFrame>
  );
}
