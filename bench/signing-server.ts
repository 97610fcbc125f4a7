// The least that a token endpoint of Node.js can do: read a form, sign once, answer. What is measured beside the identity service.
import { createSign, generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";

const isRsa = process.argv[2] === "RS256";
const { privateKey } = isRsa
  ? generateKeyPairSync("rsa", { modulusLength: 2048 })
  : generateKeyPairSync("ec", { namedCurve: "P-256" });
const claims = Buffer.alloc(800, "x").toString();

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const form = new URLSearchParams(Buffer.concat(parts).toString());
    const reply = (signature: Buffer) => {
      const text = JSON.stringify({
        access_token: `${claims}.${signature.toString("base64url")}`,
        refresh_token: form.get("refresh_token") ?? "",
      });
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
      response.end(text);
    };
    if (isRsa) {
      sign("sha256", Buffer.from(claims), privateKey, (_, signature) => reply(signature));
    } else {
      reply(createSign("sha256").update(claims).sign({ key: privateKey, dsaEncoding: "ieee-p1363" }));
    }
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? (address?.port ?? 0) : 0}\n`);
});
