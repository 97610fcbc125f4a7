import assert from "node:assert/strict";
import { test } from "node:test";

import { describeUserAgent } from "./user-agent.ts";

test("browsers by their names and systems, other programs by their product", () => {
  for (const [text, expected] of [
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36",
      "Chrome on Windows",
    ],
    ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Safari/604.1",
      "Safari on iOS",
    ],
    ["openid-client/v6.8.9", "openid-client"],
    ["curl/8.5.0", "curl"],
    ["", ""],
  ] as const) {
    assert.equal(describeUserAgent(text), expected);
  }
});
