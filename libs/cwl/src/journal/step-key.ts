import { createHash } from "node:crypto";
import { isLiteralLocation, localPath } from "../inputs/files.ts";
import { isInside } from "../files/inside.ts";
import { fileUri } from "../load/uri.ts";
import { definitionText } from "../model/definition-text.ts";
import type { Value } from "../model/values.ts";
import { isFileOrDirectory, toJson } from "../model/values.ts";
import { stampFiles } from "./file-stamps.ts";

/** Names what a step would do: the same key means the same definition on the same inputs. */
export class StepKeys {
  private readonly workDir: string;
  private readonly definitions = new WeakMap<object, string>();
  /** Inputs from outside do not change while a run reads them, so each is looked at once. */
  private readonly stamps = new Map<string, string>();

  constructor(workDir: string) {
    this.workDir = workDir;
  }

  keyOf(path: string, definition: object, requirements: readonly object[], inputs: Value): string {
    const hash = createHash("sha256");
    hash.update(`${path}\n${this.digest(definition)}\n`);
    for (const item of requirements) {
      hash.update(this.digest(item));
    }
    hash.update(this.describe(inputs));
    return hash.digest("hex");
  }

  private digest(definition: object): string {
    let digest = this.definitions.get(definition);
    if (digest === undefined) {
      digest = createHash("sha256").update(definitionText(definition)).digest("hex");
      this.definitions.set(definition, digest);
    }
    return digest;
  }

  private describe(inputs: Value): string {
    const seen: string[] = [];
    const text = JSON.stringify(inputs, (name, value: unknown) => {
      if (isFileOrDirectory(value)) {
        const path = localPath(value);
        if (path !== undefined && !isInside(path, this.workDir)) {
          seen.push(this.stampOf(path));
        }
      }
      // A literal has no place; the name that it goes by is made up anew each time.
      return name === "location" && typeof value === "string" && isLiteralLocation(value)
        ? undefined
        : typeof value === "bigint"
          ? `${value}n`
          : value;
    });
    return `${text}\n${seen.join("\n")}`;
  }

  private stampOf(path: string): string {
    let stamp = this.stamps.get(path);
    if (stamp === undefined) {
      try {
        stamp = toJson(stampFiles({ class: "Directory", location: fileUri(path) }));
      } catch {
        // Not there: whoever needs it will say so.
        stamp = "";
      }
      this.stamps.set(path, stamp);
    }
    return stamp;
  }
}
