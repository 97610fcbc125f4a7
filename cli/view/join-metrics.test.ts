import assert from "node:assert/strict";
import { test } from "node:test";

import { joinMetrics } from "./join-metrics.ts";

test("metrics of pods become one text that Prometheus takes: families once, samples told apart", () => {
  const a = '# HELP up It is.\n# TYPE up gauge\nup 1\n\n# HELP n Count.\n# TYPE n counter\nn{code="a } b"} 2 1700\n';
  const b = "# HELP up It is.\n# TYPE up gauge\nup 0\n";
  assert.equal(
    joinMetrics(
      new Map([
        ["a-0", a],
        ["b-0", b],
      ]),
    ),
    `# HELP up It is.
# TYPE up gauge
up{pod="a-0"} 1
up{pod="b-0"} 0
# HELP n Count.
# TYPE n counter
n{pod="a-0",code="a } b"} 2 1700
`,
  );
});
