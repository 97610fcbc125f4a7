import { openFileSource } from "./file-source.ts";
import { openHttpSource } from "./http-source.ts";
import { openS3Source } from "./s3-source.ts";
import type { Source, SourceLocation } from "./source.ts";

export async function openSource(location: SourceLocation): Promise<Source> {
  switch (location.kind) {
    case "file":
      return openFileSource(location);
    case "http":
      return openHttpSource(location);
    case "s3":
      return openS3Source(location);
  }
}
