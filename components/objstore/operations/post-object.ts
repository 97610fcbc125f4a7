import { S3Error } from "../errors.ts";
import { INLINE_BYTES, readDecodedLength, receiveChunks } from "../protocol/body.ts";
import { readEncryption } from "../protocol/encryption.ts";
import { type UploadForm, openForm } from "../protocol/form.ts";
import { type SizeRange, checkPostPolicy } from "../protocol/post-policy.ts";
import { type S3Request, send } from "../protocol/request.ts";
import { parseXml, renderXml } from "../protocol/xml.ts";
import { readObjectAccess } from "./acl.ts";
import { readObjectLock } from "./object-lock.ts";
import { readTagSet } from "./object-tagging.ts";
import { type Operation, type OperationContext, bucketOf, readObjectHeaders } from "./operation.ts";
import { keepObject, toLabel } from "./put-object.ts";

/** PostObject: an upload by a form of a browser, allowed by the policy that came with it or by the bucket's. */
export const postObject: Operation = {
  name: "PostObject",
  // Who asks is known only from the form.
  action: "",
  handle: async (context) => {
    const { store, request } = context;
    if (context.principal.kind !== "anonymous") {
      throw new S3Error("InvalidArgument", "A form is signed in its fields, not in a header or in the query.");
    }
    const bucket = bucketOf(context);
    const length = readDecodedLength(request);
    const form = await openForm(request);
    try {
      const key = readKey(form);
      const fields = new Map(form.fields).set("key", key);
      const caller = context.signIn(form.fields);
      const policy = form.fields.get("policy");
      const range: SizeRange =
        policy === undefined
          ? { minimum: 0, maximum: Infinity }
          : checkPostPolicy(Buffer.from(policy, "base64").toString(), bucket.name, fields, store.now());
      caller.authorize("s3:PutObject", bucket.name, key);
      const described: S3Request = { ...request, headers: toHeaders(fields) };
      const headers = readObjectHeaders(described);
      const tagging = fields.get("tagging");
      const tags = tagging === undefined ? undefined : readTagSet(parseXml(tagging, "Tagging"));
      context.checkRoom(bucket, Math.min(length, range.maximum));
      const draft = store.versions.draft();
      const whole = { ...context, ...caller };
      const access = readObjectAccess({ ...whole, request: described }, bucket);
      const lock = readObjectLock({ store, request: described }, bucket);
      const encryption = readEncryption(described, bucket.encryption, context.keyring);
      const body = await receiveChunks(described, {
        files: store.files,
        label: () => toLabel(whole, { key, headers, tags, draft, access, lock, encryption }),
        encryption,
        inline: Math.min(length, range.maximum) <= INLINE_BYTES,
        checkSize: (size, whole) => checkSize(range, size, whole),
        open: () => ({ chunks: form.file, trailers: new Map() }),
      });
      const version = await keepObject(whole, { key, headers, tags, draft, access, lock, encryption, body });
      reply(context, form, key, version.etag);
      store.garbage.nudge();
    } catch (error) {
      // What is left of the form is read and dropped, so that the client sees the answer.
      form.file.resume();
      throw error;
    }
  },
};

function readKey({ fields, fileName }: UploadForm): string {
  const key = (fields.get("key") ?? "").replaceAll("${filename}", () => fileName);
  if (key === "") {
    throw new S3Error("InvalidArgument", "Bucket POST must contain a field named 'key' before the file.", {
      details: { ArgumentName: "key", ArgumentValue: "" },
    });
  }
  if (Buffer.byteLength(key) > 1024) {
    throw new S3Error("KeyTooLongError", undefined, {
      details: { Size: Buffer.byteLength(key), MaxSizeAllowed: 1024 },
    });
  }
  return key;
}

/** The fields that a PUT would have as headers. @throws {S3Error} InvalidArgument for what no header can hold */
function toHeaders(fields: ReadonlyMap<string, string>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of fields) {
    if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value) && name !== "key" && name !== "tagging") {
      throw new S3Error("InvalidArgument", `The field ${name} holds characters that a header cannot.`);
    }
    headers[name === "acl" ? "x-amz-acl" : name] = value;
  }
  return headers;
}

function checkSize({ minimum, maximum }: SizeRange, size: number, whole: boolean): void {
  if (size > maximum) {
    throw new S3Error("EntityTooLarge", undefined, { details: { ProposedSize: size, MaxSizeAllowed: maximum } });
  }
  if (whole && size < minimum) {
    throw new S3Error("EntityTooSmall", undefined, { details: { ProposedSize: size, MinSizeAllowed: minimum } });
  }
}

function reply({ request, publicUrl }: OperationContext, { fields }: UploadForm, key: string, etag: string): void {
  const { response } = request;
  const bucket = request.address.bucket ?? "";
  const location = `${publicUrl.replace(/\/+$/, "")}/${bucket}/${key.split("/").map(encodeURIComponent).join("/")}`;
  const redirect = toRedirect(fields.get("success_action_redirect") ?? fields.get("redirect"));
  if (redirect !== undefined) {
    redirect.searchParams.set("bucket", bucket);
    redirect.searchParams.set("key", key);
    redirect.searchParams.set("etag", `"${etag}"`);
    response.setHeader("location", redirect.href);
    send(request, 303);
    return;
  }
  response.setHeader("location", location);
  switch (fields.get("success_action_status")) {
    case "200":
      send(request, 200);
      break;
    case "201": {
      const content = { Location: location, Bucket: bucket, Key: key, ETag: `"${etag}"` };
      send(request, 201, renderXml("PostResponse", content, null), "application/xml");
      break;
    }
    default:
      send(request, 204);
  }
}

/** Like AWS: what is no address is treated as if it were not there. */
function toRedirect(text: string | undefined): URL | undefined {
  const url = text === undefined ? null : URL.parse(text);
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}
