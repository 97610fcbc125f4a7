import assert from "node:assert/strict";
import { test } from "node:test";
import { parseArguments, type DeployArguments } from "./arguments.ts";

function place(arg3?: string, arg4?: string) {
  const { domain, publicIp, mistakes } = parseArguments({ arg3, arg4 });
  return { domain, publicIp, mistakes: mistakes.length };
}

test("domain and public address are told apart in both orders", () => {
  const expected = { domain: "eo.example.org", publicIp: "203.0.113.7", mistakes: 0 };
  assert.deepEqual(place("eo.example.org", "203.0.113.7"), expected);
  assert.deepEqual(place("203.0.113.7", "eo.example.org"), expected);
  assert.deepEqual(place("", "203.0.113.7"), { domain: undefined, publicIp: "203.0.113.7", mistakes: 0 });
  assert.deepEqual(place("EO.Example.org."), { domain: "eo.example.org", publicIp: undefined, mistakes: 0 });
});

test("IPv6 addresses are addresses, with brackets and without", () => {
  assert.equal(place("2001:DB8::1", "eo.example.org").publicIp, "2001:db8::1");
  assert.equal(place("[::1]").publicIp, "::1");
});

test("two addresses, two domains and nonsense are mistakes that show the usage", () => {
  const wrong: DeployArguments[] = [
    { arg3: "10.0.0.1", arg4: "10.0.0.2" },
    { arg3: "a.example", arg4: "b.example" },
    { arg3: "10.0.0" },
    { arg3: "300.1.2.3" },
    { arg3: "-x.example" },
    { arg3: `${"a.".repeat(101)}example` },
    { clusterName: "10.0.0.1" },
  ];
  for (const args of wrong) {
    const { mistakes } = parseArguments(args);
    assert.equal(mistakes.length, 1, JSON.stringify(args));
    assert.equal(mistakes[0]?.usage, true, JSON.stringify(args));
  }
});

test("empty arguments are defaults", () => {
  const { action, clusterName, mistakes } = parseArguments({ action: "", clusterName: "", arg3: "", arg4: "" });
  assert.deepEqual([action, clusterName, mistakes], ["apply", "swath", []]);
});

test("cluster names become folder and host names, so they are labels", () => {
  assert.deepEqual(parseArguments({ clusterName: "eo-lab2" }).mistakes, []);
  for (const clusterName of ["Lab", "a_b", "../x", "-a", "a".repeat(41)]) {
    assert.equal(parseArguments({ clusterName }).mistakes.length, 1, clusterName);
  }
});
