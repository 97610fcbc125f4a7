import type { Actor, Place } from "./actor.ts";

const USERS = ["eric", "bob", "alice"];

/** Logs in, renews the login, uses it. */
export function createLoginActor({ virtualUser, recorder, url, password }: Place): Actor {
  const name = "login";
  const token = url("identity", "/realms/master/protocol/openid-connect/token");
  let turns = 0;
  const grant = (fields: Record<string, string>) =>
    virtualUser.send(name, token, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ client_id: "admin-cli", scope: "openid", ...fields }).toString(),
    });
  return {
    name,
    pauseMs: 500,
    act: async () => {
      turns += 1;
      const username = USERS[turns % USERS.length] ?? "eric";
      const first = await grant({ grant_type: "password", username, password });
      if (first === undefined) {
        return;
      }
      if (first.status !== 200) {
        recorder.broken(`the login of ${username} was answered ${first.status}: ${first.text.slice(0, 200)}`);
        return;
      }
      const { refresh_token: refresh } = first.json() as { refresh_token: string };
      const second = await grant({ grant_type: "refresh_token", refresh_token: refresh });
      if (second !== undefined && second.status !== 200) {
        recorder.broken(`a fresh login of ${username} could not be renewed: ${second.text.slice(0, 200)}`);
      }
    },
    settle: async () => `${turns} logins`,
  };
}
