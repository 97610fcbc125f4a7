import assert from "node:assert/strict";
import { test } from "node:test";

import { chooseWorkspace } from "./workspaces.ts";

test("without a name, a command takes the only workspace, or the one with the user's name", () => {
  assert.equal(chooseWorkspace(["ws-forest"], "eric"), "ws-forest");
  assert.equal(chooseWorkspace(["ws-alps", "ws-eric", "ws-bob"], "eric"), "ws-eric");
});

test("a user of several workspaces, none with the own name, is asked for one of them", () => {
  assert.throws(() => chooseWorkspace(["ws-alps", "ws-forest"], "eric"), /name one of them: ws-alps, ws-forest/);
  assert.throws(() => chooseWorkspace([], "eric"), /create-workspace -W eric/);
});
