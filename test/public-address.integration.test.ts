// A deployment at an address that is not loopback: both families of addresses, and a request through the address at the end.
import assert from "node:assert/strict";
import { mkdtempSync, chmodSync, rmSync } from "node:fs";
import { request } from "node:http";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { findFreePorts, runCommand } from "@swath/testing";

const COMPONENTS =
  "IDENTITY_SERVICE ADES APPLICATION_HUB RESOURCE_CATALOGUE DATA_ACCESS REGISTRATION_API WORKSPACE_API REGISTRY PORTAL OBJSTORE STORAGE";
const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
const own = addresses.find(({ internal, family }) => !internal && family === "IPv4")?.address;
const hasIpv6 = addresses.some(({ address }) => address === "::1");
const state = mkdtempSync(join(tmpdir(), "swath-public-"));
chmodSync(state, 0o711);
const [http, https] = await findFreePorts(2);
const env: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
  SWATH_STATE_DIR: state,
  LOCALCLUSTER_EXTRA_OPTIONS: `--ports=${http}:80,${https}:443`,
  USE_TLS: "false",
  OPEN_INGRESS: "true",
  REQUIRE_DUMMY_SERVICE: "true",
  ...Object.fromEntries(COMPONENTS.split(" ").map((name) => [`REQUIRE_${name}`, "false"])),
};
const swath = (...args: readonly string[]) =>
  runCommand(process.execPath, [join(import.meta.dirname, "../cli/main.ts"), ...args], { env });
after(async () => {
  await swath("cluster", "delete", "public", "--yes");
  rmSync(state, { recursive: true, force: true });
});

const send = (address: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request(
      { host: address, port: http, path: "/", headers: { host: "dummy-service-open.eo.example.org" } },
      (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      },
    )
      .on("error", reject)
      .end();
  });

test(
  "every address of the machine lets clients in, IPv4 and IPv6",
  { skip: own === undefined && "no address but loopback" },
  async () => {
    const { status, stdout, stderr } = await swath("deploy", "apply", "public", "eo.example.org", own ?? "");
    assert.equal(status, 0, stdout + stderr);
    assert.doesNotMatch(stderr, /does not answer/);
    assert.equal(await send("127.0.0.1"), 200);
    assert.equal(await send(own ?? ""), 200);
    if (hasIpv6) {
      assert.equal(await send("::1"), 200);
    }
  },
);
