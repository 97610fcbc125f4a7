// A hook program of DNS-01 for tests: `hook.ts PLACE present|cleanup NAME VALUE`.
import { type DnsUpdate, sendDnsUpdate } from "../dns-update.ts";

const [place = "", action, name = "", value = ""] = process.argv.slice(2);
const { host, port, ...rest } = JSON.parse(place) as Pick<DnsUpdate, "zone" | "key"> & { host: string; port: number };
await sendDnsUpdate({ ...rest, server: { host, port }, action: action === "present" ? "add" : "remove", name, value });
