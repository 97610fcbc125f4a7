import assert from "node:assert/strict";
import { test } from "node:test";

import { parseClientOptions } from "./client-options.ts";

test("each --resource begins an entry that the options after it belong to", () => {
  const { resources, id, secret } = parseClientOptions([
    "-s",
    "hush",
    "--id=ades",
    "--default",
    "--resource=eric",
    "--uris=/eric/*, /e/*",
    "--users=eric,bob",
    "--scopes=view,edit",
    "--resource",
    "all",
    "--uris",
    "/all/*",
    "--roles=user",
    "--authenticated",
  ]);
  assert.equal(id, "ades");
  assert.equal(secret, "hush");
  assert.deepEqual(resources, [
    { name: "Default Resource", uris: ["/*"], scopes: ["view"], permissions: { authenticated: true } },
    { name: "eric", uris: ["/eric/*", "/e/*"], scopes: ["view", "edit"], permissions: { user: ["eric", "bob"] } },
    { name: "all", uris: ["/all/*"], scopes: ["view"], permissions: { role: ["user"], authenticated: true } },
  ]);
});

test("options of no resource, and resources without paths, are refused", () => {
  assert.throws(() => parseClientOptions(["--uris=/a"]), /put --resource=<name> before it/);
  assert.throws(() => parseClientOptions(["--resource=a", "--users=x"]), /has no addresses: add --uris/);
  assert.throws(() => parseClientOptions(["--resource=", "--uris=/a"]), /has no name/);
  assert.throws(() => parseClientOptions(["--unknown"]), { code: "ERR_PARSE_ARGS_UNKNOWN_OPTION" });
});
