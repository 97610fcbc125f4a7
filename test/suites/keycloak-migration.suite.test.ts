// A realm of a real Keycloak, with passwords hashed in each of its ways, comes over by `swath migrate keycloak`. Keycloak 26 is in the Maven
// registry (org.keycloak:keycloak-quarkus-dist, zip); unpack it, have Java 17, and name its folder:
//
//     KEYCLOAK_FOLDER=~/keycloak-26.0.7 npm run test:suites -- keycloak-migration
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { createAdminSession } from "../../cli/helpers/admin-session.ts";
import { readKeycloakExport } from "../../cli/migrate/keycloak-export.ts";
import { listNotImported, migrateKeycloak } from "../../cli/migrate/keycloak.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "../../components/identity/test/start-identity.ts";
import { startKeycloak } from "./keycloak/run-keycloak.ts";

// oxlint-disable-next-line node/no-process-env -- where the distribution is is the caller's to say
const { KEYCLOAK_FOLDER: distribution = "" } = process.env;
const skip =
  !existsSync(join(distribution, "bin/kc.sh")) &&
  "needs Keycloak's distribution in the folder that KEYCLOAK_FOLDER names, and Java 17";

const folder = mkdtempSync(join(tmpdir(), "swath-keycloak-"));
const file = join(folder, "institute.json");
const KEY = "abcdefghij0123456789";
const ALGORITHMS = ["pbkdf2", "pbkdf2-sha256", "pbkdf2-sha512", "argon2"];
/** As many for each algorithm. */
const USERS = 5;
const namesOf = (algorithm: string) => Array.from({ length: USERS }, (_, index) => `${algorithm}-${index}`);
const passwordOf = (name: string) => `old password of ${name}`;
/** The code of a device just now (RFC 6238, RFC 4226 section 5.3). */
function codeOf(key: string): string {
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac("sha1", key).update(step).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, "0");
}
let identity: TestIdentity;

before(async () => {
  if (skip !== false) {
    return;
  }
  const keycloak = await startKeycloak(distribution);
  await keycloak.send("DELETE", "/institute").catch(() => undefined);
  await keycloak.send("POST", "", {
    realm: "institute",
    enabled: true,
    roles: { realm: [{ name: "scientist" }, { name: "lead", composites: { realm: ["scientist"] } }] },
    groups: [{ name: "eo", subGroups: [{ name: "sar" }] }],
    clients: [{ clientId: "robot", secret: "robot-secret", serviceAccountsEnabled: true }],
  });
  const lead = await keycloak.send("GET", "/institute/roles/lead");
  for (const algorithm of ALGORITHMS) {
    await keycloak.send("PUT", "/institute", { passwordPolicy: `length(12) and hashAlgorithm(${algorithm})` });
    for (const username of namesOf(algorithm)) {
      const credentials = [{ type: "password", value: passwordOf(username), temporary: false }];
      const user = { username, enabled: true, email: `${username}@example.org`, groups: ["/eo/sar"], credentials };
      const id = String(await keycloak.send("POST", "/institute/users", user))
        .split("/")
        .at(-1);
      await keycloak.send("POST", `/institute/users/${id}/role-mappings/realm`, [lead]);
    }
  }
  await keycloak.send("POST", "/institute/users", {
    username: "with-codes",
    enabled: true,
    credentials: [
      { type: "password", value: passwordOf("with-codes"), temporary: false },
      {
        type: "otp",
        secretData: JSON.stringify({ value: KEY }),
        credentialData: JSON.stringify({ subType: "totp", digits: 6, counter: 0, period: 30, algorithm: "HmacSHA1" }),
      },
    ],
  });
  await keycloak.exportRealm("institute", file);
  identity = await startIdentity();
});
after(async () => {
  await identity?.close();
  rmSync(folder, { recursive: true });
});

test("21 people log in with the passwords that they had, as who they were", { skip }, async (t) => {
  const exported = readKeycloakExport(file, undefined);
  const session = createAdminSession({
    authServer: identity.url,
    realm: "master",
    client: "admin-cli",
    user: "admin",
    readPassword: () => Promise.resolve(PASSWORD),
    print: (text) => t.diagnostic(text),
    fetch: fetch as never,
  });
  for (const realm of ["institute", "master"]) {
    const { realmIsNew, counts, notImported } = await migrateKeycloak({
      session,
      identity: identity.url,
      realm,
      exported,
      withAdministrators: false,
      onProgress: (text) => t.diagnostic(text),
    });
    listNotImported(notImported).forEach((line) => t.diagnostic(line));
    assert.equal(realmIsNew, realm === "institute");
    assert.deepEqual(counts.get("USER"), { added: USERS * ALGORITHMS.length + 1, present: 0 });
    assert.deepEqual(
      notImported.filter(({ resourceType }) => resourceType === "USER"),
      [],
    );
    for (const username of [...ALGORITHMS.flatMap(namesOf), "with-codes"]) {
      const { id, groups } = exported.users.find((user) => user["username"] === username) ?? {};
      const form = { grant_type: "password", client_id: "admin-cli", username, password: passwordOf(username) };
      const { status, body, text } = await identity.send(`/realms/${realm}/protocol/openid-connect/token`, {
        form: { ...form, ...(username === "with-codes" && { totp: codeOf(KEY) }) },
      });
      assert.equal(status, 200, `${realm} ${username}: ${text}`);
      const [, payload = ""] = String(body.access_token).split(".");
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
      assert.equal(claims["sub"], id, username);
      if (username !== "with-codes") {
        assert.deepEqual(groups, ["/eo/sar"]);
        assert.ok((claims["realm_access"] as { roles: string[] }).roles.includes("scientist"), username);
      }
    }
    if (realmIsNew) {
      // Ids are free for the other realm then.
      const { access_token: bearer } = (await identity.logIn("admin")) as { access_token: string };
      await identity.send(`/admin/realms/${realm}`, { method: "DELETE", bearer });
    }
  }
});
