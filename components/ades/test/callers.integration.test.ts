// Who may use a space, with an issuer whose users have whatever names they like.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type TestIssuer, startTestIssuer } from "@swath/testing/issuer";

import { type TestAdes, startAdes } from "./start-ades.ts";

let issuer: TestIssuer;
let ades: TestAdes;

before(async () => {
  issuer = await startTestIssuer();
  ades = await startAdes({
    env: {
      AUTHENTICATION: "required",
      IDENTITY_ISSUER: issuer.url,
      IDENTITY_ADMIN_ROLE: "platform-admins",
      ROLES_CLAIM: "groups",
    },
  });
});
after(async () => {
  await ades?.close();
  issuer?.close();
});

const statusAs = async (username: string, claims: Record<string, unknown> = {}, method = "GET", path = "processes") => {
  const authorization = `Bearer ${await issuer.token(username, { aud: "ades", ...claims })}`;
  const { status } = await ades.send(`/eric/ogc-api/${path}`, {
    method,
    headers: { authorization },
    ...(method === "POST" && { text: PACKAGE, type: "application/cwl" }),
  });
  return status;
};

const PACKAGE = JSON.stringify({
  cwlVersion: "v1.2",
  class: "CommandLineTool",
  id: "say",
  baseCommand: "echo",
  inputs: { text: { type: "string", inputBinding: { position: 1 } } },
  outputs: { said: { type: "stdout" } },
});

test("the name admin makes nobody an administrator, the role of another name does", async () => {
  assert.equal(await statusAs("admin"), 403);
  assert.equal(await statusAs("admin", { groups: ["admin"] }), 403);
  assert.equal(await statusAs("grace", { groups: ["platform-admins"] }), 200);
  assert.equal(await statusAs("grace"), 403);
});

test("a space belongs to the subject who has it, not to the next one of the same name", async () => {
  assert.equal(await statusAs("eric"), 200);
  assert.equal(await statusAs("eric", { sub: "another" }), 200, "nothing is in it yet");
  assert.equal(await statusAs("eric", { sub: "another" }, "POST"), 201);
  assert.equal(await statusAs("eric", { sub: "third" }), 403);
  assert.equal(await statusAs("eric", { sub: "third" }, "DELETE", "processes/say"), 403);
  assert.equal(await statusAs("eric", { sub: "another" }), 200);
  assert.equal(await statusAs("grace", { groups: ["platform-admins"] }, "DELETE", "processes/say"), 204);
  assert.equal(await statusAs("eric", { sub: "third" }), 200, "it was emptied");
});
