import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Problem } from "@swath/service";
import { CallerLimits, type PlacesOptions } from "@swath/service/caller-limits";

import { STREAMS as JOB_STREAMS } from "../components/ades/service.ts";
import { PROGRESS_STREAMS } from "../components/application-hub/api/servers.ts";
import { TUNNEL_PLACES } from "../components/application-hub/proxy/service.ts";
import { POLICY_STREAMS } from "../components/identity/policy/routes.ts";
import { STREAM_PLACES } from "../components/resource-catalogue/feed/routes.ts";

const ROOT = join(import.meta.dirname, "..");

/** Every response that goes on until its client goes, with the file that sends it and what a caller may have of it. */
const STREAMS: readonly { readonly routes: string; readonly file: string; readonly places: PlacesOptions }[] = [
  {
    routes: "identity: /internal/realms/{realm}/policy-events",
    file: "components/identity/policy/routes.ts",
    places: POLICY_STREAMS,
  },
  {
    routes: "resource-catalogue: /changes, /stac/changes",
    file: "components/resource-catalogue/feed/routes.ts",
    places: STREAM_PLACES,
  },
  {
    routes: "ades: a job's status and log",
    file: "components/ades/routes/event-stream.ts",
    places: JOB_STREAMS,
  },
  {
    routes: "application-hub: /hub/api/users/{name}/server/progress",
    file: "components/application-hub/api/servers.ts",
    places: PROGRESS_STREAMS,
  },
  {
    routes: "application-hub: WebSockets of servers",
    file: "components/application-hub/proxy/service.ts",
    places: TUNNEL_PLACES,
  },
];
/** Tunnels to services that count for themselves. */
const RELAYS: readonly string[] = ["components/gatekeeper/service.ts"];

const SENDS_STREAM = /"content-type": "text\/event-stream"|\bopenTunnel\(\{/;

test("every stream has a place of its caller", () => {
  const sources = globSync("{components,libs}/**/*.ts", {
    cwd: ROOT,
    exclude: (path) => /(?:^|\/)(?:node_modules|test|web|dist)(?:$|\/)|\.test\.ts$/.test(path),
  });
  const senders = sources.filter((file) => SENDS_STREAM.test(readFileSync(join(ROOT, file), "utf8")));
  assert.deepEqual(senders.sort(), [...STREAMS.map(({ file }) => file), ...RELAYS].sort());
  for (const { file, routes } of STREAMS) {
    assert.match(readFileSync(join(ROOT, file), "utf8"), /\.take\(\{/, `${routes} takes no place`);
  }
});

for (const { routes, places } of STREAMS) {
  test(`${routes}: one caller leaves places to others`, () => {
    const { take } = new CallerLimits().createPlaces(places);
    const isRefused = (error: unknown) =>
      error instanceof Problem && error.status === 429 && Number(error.headers["retry-after"]) >= 1;
    for (let index = 0; index < places.perUser; index += 1) {
      take({ user: "one", address: "10.0.0.1" });
    }
    assert.throws(() => take({ user: "one", address: "10.0.0.2" }), isRefused);
    take({ user: "two", address: "10.0.0.1" });
    for (let index = 0; index < places.perAddress; index += 1) {
      take({ address: "10.0.0.3" });
    }
    assert.throws(() => take({ address: "10.0.0.3" }), isRefused);
    take({ address: "10.0.0.4" });
  });
}
