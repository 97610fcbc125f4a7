import type { Readable } from "node:stream";

import { Busboy } from "@fastify/busboy";

import { S3Error } from "../errors.ts";
import type { FormFields } from "./post-policy.ts";
import type { S3Request } from "./request.ts";

/** What AWS allows for everything before the file. */
const FIELD_BYTES = 20 << 10;

/** An upload by a form of a browser: the fields before the file, and the file. */
export interface UploadForm {
  readonly fields: FormFields;
  readonly fileName: string;
  /** The file's bytes; ends with an error when the client goes away or the form is cut off. */
  readonly file: Readable;
}

/**
 * Reads a `multipart/form-data` body up to its field `file`; what follows the file is ignored.
 * @throws {S3Error} PreconditionFailed, MalformedPOSTRequest, InvalidArgument, MaxMessageLengthExceeded
 */
export function openForm(request: S3Request): Promise<UploadForm> {
  const { message } = request;
  const type = message.headers["content-type"] ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    throw new S3Error("PreconditionFailed", "Bucket POST must be of the enclosure-type multipart/form-data", {
      details: { Condition: "Bucket POST must be of the enclosure-type multipart/form-data" },
    });
  }
  let parser: InstanceType<typeof Busboy>;
  try {
    parser = new Busboy({
      headers: { ...message.headers, "content-type": type },
      limits: { fieldSize: FIELD_BYTES, fieldNameSize: 256, fields: 100, files: 100, headerPairs: 20 },
    });
  } catch (error) {
    throw new S3Error("MalformedPOSTRequest", undefined, { cause: error });
  }
  request.acceptBody();
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string>();
    let size = 0;
    let file: Readable | undefined;
    const fail = (error: Error) => {
      reject(error);
      file?.destroy(error);
    };
    const addField = (name: string, value: string, isTruncated: boolean) => {
      size += name.length + Buffer.byteLength(value);
      if (isTruncated || size > FIELD_BYTES) {
        fail(
          new S3Error(
            "MaxMessageLengthExceeded",
            "Your POST request fields preceding the upload file were too large.",
            {
              details: { MaxMessageLengthBytes: FIELD_BYTES },
            },
          ),
        );
      } else {
        const known = name.toLowerCase();
        if (fields.has(known)) {
          fail(new S3Error("InvalidArgument", `The form holds the field ${known} twice.`));
        }
        fields.set(known, value);
      }
    };
    // What follows the file is ignored.
    parser.on("field", (name, value, nameTruncated, valueTruncated) => {
      if (file === undefined) {
        addField(name, value, nameTruncated || valueTruncated);
      }
    });
    /** Fields that came as files and are still being read when the next part begins. */
    const pending: Promise<void>[] = [];
    parser.on("file", (name, stream, fileName) => {
      // Who reads it gets the error. While nobody does, as before a disk has made room or after a refusal, it must not end the service.
      stream.on("error", () => {});
      if (file !== undefined) {
        stream.resume();
      } else if (name.toLowerCase() === "file") {
        file = stream;
        // Some browsers send a whole path.
        const form = { fields, fileName: (fileName ?? "").replace(/^.*[/\\]/, ""), file: stream };
        Promise.all(pending).then(() => resolve(form), reject);
      } else {
        // Some clients give every field a file name.
        pending.push(collectField(stream).then((value) => addField(name, value, false)));
      }
    });
    // Not `pipeline`: it would close the connection on which the error is to be told.
    parser.on("error", (error: unknown) => {
      message.unpipe(parser);
      message.resume();
      fail(new S3Error("MalformedPOSTRequest", undefined, { cause: error }));
    });
    parser.on("finish", () => {
      if (file === undefined) {
        reject(new S3Error("InvalidArgument", "POST requires exactly one file upload per request."));
      }
    });
    message.once("close", () => {
      if (!message.complete) {
        fail(new S3Error("IncompleteBody"));
      }
    });
    message.pipe(parser);
  });
}

/** The text of a field that came as a file; what is too much of it is dropped, and its length tells. */
function collectField(stream: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    if (size <= FIELD_BYTES) {
      pieces.push(chunk);
      size += chunk.length;
    }
  });
  return new Promise((resolve) => stream.on("end", () => resolve(Buffer.concat(pieces).toString())));
}
