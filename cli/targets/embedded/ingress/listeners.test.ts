import assert from "node:assert/strict";
import type { NetworkInterfaceInfo } from "node:os";
import { test } from "node:test";

import { lacksIpv6 } from "./listeners.ts";

const error = (code: string) => new Error("cannot listen", { cause: Object.assign(new Error(code), { code }) });
const entry = (address: string, family: string) => ({ address, family }) as NetworkInterfaceInfo;

test("an IPv6 address is passed over where the machine has lost IPv6, and nowhere else", () => {
  const [without, both] = [
    { lo: [entry("127.0.0.1", "IPv4")] },
    { lo: [entry("127.0.0.1", "IPv4"), entry("::1", "IPv6")] },
  ];
  const listener = { address: "::1", port: 80, tls: false };
  assert.equal(lacksIpv6(listener, error("EADDRNOTAVAIL"), without), true);
  assert.equal(lacksIpv6(listener, error("EAFNOSUPPORT"), without), true);
  assert.equal(lacksIpv6(listener, error("EADDRINUSE"), without), false);
  assert.equal(lacksIpv6({ ...listener, address: "192.0.2.1" }, error("EADDRNOTAVAIL"), without), false);
  assert.equal(lacksIpv6({ ...listener, address: "2001:db8::1" }, error("EADDRNOTAVAIL"), both), false);
});
