import assert from "node:assert/strict";
import { test } from "node:test";

import { createAddressGuard } from "./address-guard.ts";
import { isPublicAddress } from "./public-address.ts";

/** First and last address of each block of IANA's IPv4 and IPv6 special-purpose address registries, and of blocks that are not allocated. */
const NOT_PUBLIC: readonly (readonly [block: string, first: string, last: string])[] = [
  ["0.0.0.0/8 this network", "0.0.0.0", "0.255.255.255"],
  ["10.0.0.0/8 private use", "10.0.0.0", "10.255.255.255"],
  ["100.64.0.0/10 shared address space", "100.64.0.0", "100.127.255.255"],
  ["127.0.0.0/8 loopback", "127.0.0.0", "127.255.255.255"],
  ["169.254.0.0/16 link local", "169.254.0.0", "169.254.255.255"],
  ["172.16.0.0/12 private use", "172.16.0.0", "172.31.255.255"],
  ["192.0.0.0/24 IETF protocol assignments", "192.0.0.0", "192.0.0.255"],
  ["192.0.2.0/24 documentation", "192.0.2.0", "192.0.2.255"],
  ["192.31.196.0/24 AS112", "192.31.196.0", "192.31.196.255"],
  ["192.52.193.0/24 AMT", "192.52.193.0", "192.52.193.255"],
  ["192.88.99.0/24 6to4 relay anycast, deprecated", "192.88.99.0", "192.88.99.255"],
  ["192.168.0.0/16 private use", "192.168.0.0", "192.168.255.255"],
  ["192.175.48.0/24 direct delegation AS112", "192.175.48.0", "192.175.48.255"],
  ["198.18.0.0/15 benchmarking", "198.18.0.0", "198.19.255.255"],
  ["198.51.100.0/24 documentation", "198.51.100.0", "198.51.100.255"],
  ["203.0.113.0/24 documentation", "203.0.113.0", "203.0.113.255"],
  ["224.0.0.0/4 multicast", "224.0.0.0", "239.255.255.255"],
  ["240.0.0.0/4 reserved, and broadcast", "240.0.0.0", "255.255.255.255"],
  ["::/128 and ::1/128 unspecified, loopback", "::", "::1"],
  ["::/96 IPv4-compatible, deprecated", "::7f00:1", "::255.255.255.255"],
  ["::ffff:10.0.0.0/104 IPv4-mapped private use", "::ffff:10.0.0.0", "::ffff:aff:ffff"],
  ["::ffff:127.0.0.0/104 IPv4-mapped loopback", "::ffff:127.0.0.1", "::ffff:7fff:ffff"],
  ["::ffff:0:0:0/96 IPv4-translated (RFC 2765)", "::ffff:0:0:0", "::ffff:0:ffff:ffff"],
  ["64:ff9b::/96 NAT64", "64:ff9b::", "64:ff9b::ffff:ffff"],
  ["64:ff9b:1::/48 NAT64 of a network", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
  ["100::/64 discard only", "100::", "100::ffff:ffff:ffff:ffff"],
  ["100:0:0:1::/64 dummy prefix", "100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"],
  ["2001::/32 Teredo", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001::/23 IETF protocol assignments", "2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:2::/48 benchmarking", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"],
  ["2001:3::/32 AMT", "2001:3::", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:4:112::/48 AS112", "2001:4:112::", "2001:4:112:ffff:ffff:ffff:ffff:ffff"],
  ["2001:10::/28 ORCHID, deprecated", "2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:20::/28 ORCHIDv2", "2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:30::/28 drone remote ID", "2001:30::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::/32 documentation", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2002::/16 6to4", "2002:7f00:1::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2620:4f:8000::/48 direct delegation AS112", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"],
  ["3fff::/20 documentation", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["4000::/3 to e000::/4 not allocated", "4000::", "efff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["5f00::/16 segment routing", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fc00::/7 unique local", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fe80::/10 link local", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fe80::/10 link local, with a zone", "fe80::1%eth0", "fe80::1%2"],
  ["fec0::/10 site local, deprecated", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["ff00::/8 multicast", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

/** Among them the neighbours of the blocks above. */
const PUBLIC = [
  "1.0.0.0",
  "9.255.255.255",
  "11.0.0.0",
  "93.184.215.14",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "::ffff:93.184.215.14",
  "::ffff:5db8:d70e",
  "2000::1",
  "2001:200::1",
  "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
  "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
];

const guard = createAddressGuard({ allowPrivate: [], refuse: () => new Error("refused") });

for (const [block, first, last] of NOT_PUBLIC) {
  test(`refuses ${block}`, () => {
    for (const address of [first, last]) {
      assert.equal(isPublicAddress(address), false, address);
      assert.throws(() => guard.checkHost(address, "http://somewhere/"), /refused/, address);
      assert.throws(() => guard.checkHost(`[${address}]`, "http://somewhere/"), /refused/, address);
    }
  });
}

test("allows public addresses, up to the limits of the special blocks", () => {
  for (const address of PUBLIC) {
    assert.equal(isPublicAddress(address), true, address);
    guard.checkHost(address, "http://somewhere/");
  }
});

test("text that is no address is not public", () => {
  for (const text of ["", "example.org", "93.184.215.14/32", "93.184.215.14:80", "[::1]", "93.184.215"]) {
    assert.equal(isPublicAddress(text), false, text);
  }
});

test("a resolver gives allowed addresses only, in the form that the socket asks for", async () => {
  const allowed = createAddressGuard({ allowPrivate: ["127.0.0.0/8"], refuse: () => new Error("refused") });
  const resolve = (of: typeof guard, all: boolean) =>
    new Promise<unknown>((done) => {
      of.lookup("localhost", { all }, (error, address) => done(error ?? address));
    });
  assert.deepEqual(await resolve(allowed, true), [{ address: "127.0.0.1", family: 4 }]);
  assert.equal(await resolve(allowed, false), "127.0.0.1");
  assert.match(String(await resolve(guard, true)), /refused/);
});
