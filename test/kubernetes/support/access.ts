import assert from "node:assert/strict";

import { runCommand } from "@swath/testing";

import { DOMAIN, type Deployment, NAME } from "./deployment.ts";

/** What a user of the deployment reads with its passwords. */
export function openAccess(deployment: () => Deployment): {
  readonly takeToken: () => Promise<string>;
  readonly readObject: (bucket: string, key: string) => Promise<string>;
} {
  async function password(what: string): Promise<string> {
    const { stdout } = await deployment().swath("credentials", "-o", "json", NAME);
    const rows = JSON.parse(stdout) as { what: string; password: string }[];
    return rows.find((row) => row.what === what)?.password ?? "";
  }

  async function takeToken(): Promise<string> {
    const form = new URLSearchParams({
      grant_type: "password",
      scope: "openid profile email",
      username: "admin",
      password: await password("identity service"),
      client_id: "admin-cli",
    });
    const response = await deployment().send("identity", "/realms/master/protocol/openid-connect/token", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: form.toString(),
    });
    assert.equal(response.status, 200, response.text);
    return response.json().access_token as string;
  }

  /** An object of the bucket of results, as an S3 client reads it. */
  async function readObject(bucket: string, key: string): Promise<string> {
    const host = `objstore.${DOMAIN}`;
    const { status, stdout, stderr } = await runCommand("curl", [
      "-sS",
      "-f",
      "--connect-to",
      `${host}:80:127.0.0.1:${await deployment().port()}`,
      "--aws-sigv4",
      "aws:amz:us-east-1:s3",
      "--user",
      `swath:${await password("object storage")}`,
      "-H",
      "x-amz-content-sha256: UNSIGNED-PAYLOAD",
      `http://${host}/${bucket}/${key}`,
    ]);
    assert.equal(status, 0, `${key}: ${stderr}`);
    return stdout;
  }

  return { takeToken, readObject };
}
