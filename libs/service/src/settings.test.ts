import assert from "node:assert/strict";
import { test } from "node:test";

import { SettingsError, defineSettings, loadSettings } from "./settings.ts";

const definitions = defineSettings({
  NAME: { kind: "string", description: "a name" },
  COUNT: { kind: "integer", default: 3, minimum: 1, maximum: 9, description: "how many" },
  WAIT: { kind: "duration", default: "2m", description: "how long" },
  ON: { kind: "boolean", default: false, description: "whether" },
  PEER: { kind: "url", optional: true, description: "where" },
  MODE: { kind: "string", default: "a", oneOf: ["a", "b"], description: "how" },
  KEY: { kind: "integer", default: 1, secret: true, description: "a secret" },
});

test("values are typed, defaults filled in, durations in seconds", () => {
  assert.deepEqual(loadSettings(definitions, { NAME: "x", COUNT: "5", ON: "true", PEER: "http://a/" }), {
    NAME: "x",
    COUNT: 5,
    WAIT: 120,
    ON: true,
    PEER: "http://a",
    MODE: "a",
    KEY: 1,
  });
});

test("all mistakes are reported at once, with what is allowed, and no secret", () => {
  const env = { COUNT: "10", WAIT: "soon", ON: "yes", PEER: "nowhere", MODE: "c", KEY: "hunter2" };
  assert.throws(
    () => loadSettings(definitions, env),
    (error: SettingsError) => {
      assert.ok(error instanceof SettingsError);
      assert.equal(error.mistakes.length, 7);
      assert.match(error.message, /NAME is missing: a name/);
      assert.match(error.message, /COUNT="10" is not between 1 and 9/);
      assert.match(error.message, /MODE="c" is not one of a, b/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    },
  );
});
