import { Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { Navigate, useSearchParams } from "react-router";

import { useConsoleSession } from "./console-session.ts";
import { requestJson } from "./request.ts";
import { SignInFrame, toOwnPath } from "./sign-in-frame.tsx";
import { ErrorNote } from "./states.tsx";

/** What services say of a login that was not completed, in words. */
const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    cancelled: "The login was cancelled.",
    expired: "The login took too long, was completed already, or was begun in another browser. Try again.",
    refused: "The identity service did not accept the login.",
    unavailable: "The identity service does not answer. Try again in a moment.",
  }),
);

interface Field {
  /** Its name in the body of `POST /api/session`. */
  readonly name: string;
  readonly label: string;
}

interface ConsoleSignInProps {
  /** What this console is of: "Object storage". */
  readonly title: string;
  /** What can be done instead of the platform's login: "or with an access key". */
  readonly or: string;
  readonly user: Field;
  readonly secret: Field;
  /** Reasons of this console's own. */
  readonly reasons?: Readonly<Record<string, string>>;
}

/** The sign-in page of a console: the platform's login, or a name and a secret that the service knows. */
export function ConsoleSignIn({ title, or, user, secret, reasons }: ConsoleSignInProps) {
  const client = useQueryClient();
  const session = useConsoleSession();
  const [search] = useSearchParams();
  const failed = search.get("failed");
  const methods = useQuery({
    queryKey: ["sign-in"],
    queryFn: () => requestJson<{ platform: boolean }>("/api/sign-in"),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const signIn = useMutation({
    mutationFn: (body: Readonly<Record<string, string>>) => requestJson("/api/session", { method: "POST", body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["session"] }),
  });
  const to = toOwnPath(search.get("to"));
  if (session.data) {
    return <Navigate to={to} replace />;
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    signIn.mutate(Object.fromEntries([user, secret].map(({ name }) => [name, form.get(name) as string])));
  };
  const explain = (reason: string) => reasons?.[reason] ?? REASONS.get(reason) ?? "The login was not completed.";
  return (
    <SignInFrame
      title={title}
      failed={failed !== null && signIn.isIdle ? explain(failed) : undefined}
      platform={methods.data?.platform ? `/api/login?to=${encodeURIComponent(to)}` : undefined}
      or={or}
    >
      <form onSubmit={submit}>
        <Stack>
          {signIn.error && <ErrorNote error={signIn.error} title="Not logged in" />}
          <TextInput label={user.label} name={user.name} autoComplete="username" spellCheck={false} required />
          <PasswordInput label={secret.label} name={secret.name} autoComplete="current-password" required />
          <Button type="submit" variant={methods.data?.platform ? "default" : "filled"} loading={signIn.isPending}>
            Log in
          </Button>
        </Stack>
      </form>
    </SignInFrame>
  );
}
