import assert from "node:assert/strict";
import { test } from "node:test";

import { formatUnit } from "./service.ts";

test("a unit starts and stops one cluster; signs of systemd's own in a path are taken as they are", () => {
  const text = formatUnit({ cluster: "lab", state: '/srv/50% $HOME "x"', isRoot: true });
  assert.match(text, /^Environment="SWATH_STATE_DIR=\/srv\/50%% \$HOME \\"x\\""$/m);
  assert.match(text, /^ExecStart=".*\/bin\/swath" start lab$/m);
  assert.match(text, /^ExecStop=".*\/bin\/swath" stop lab$/m);
  assert.match(text, /^WantedBy=multi-user\.target$/m);
  assert.match(formatUnit({ cluster: "lab", state: "/s", isRoot: false }), /^WantedBy=default\.target$/m);
});
