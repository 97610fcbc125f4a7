import type { Binding } from "../model/process.ts";
import type { FileOptions, LoadListing, OutputBinding, SecondaryFile } from "../model/types.ts";
import { isObject } from "../model/values.ts";
import { checkFields, describe, join } from "./fields.ts";
import { asExpression, asList, asStrings } from "./maps.ts";
import type { RawObject } from "./maps.ts";
import { report } from "./scope.ts";
import type { Scope } from "./scope.ts";
import { bindingTable, outputBindingTable, secondaryFileTable } from "./tables.ts";
import { hasScheme } from "./uri.ts";

export function buildBinding(scope: Scope, raw: RawObject, path: string): Binding {
  checkFields(scope, raw, "inputBinding", bindingTable, path);
  const position = raw["position"];
  if (typeof position === "string" && scope.version < "v1.1") {
    report(scope, raw, "position", `"position" is an expression; in CWL ${scope.version} it is an integer`, {
      path: join(path, "position"),
      hint: "write a number, or set cwlVersion: v1.2",
    });
  }
  return {
    position: typeof position === "number" || typeof position === "string" ? position : 0,
    prefix: asExpression(raw["prefix"]),
    separate: raw["separate"] !== false,
    itemSeparator: asExpression(raw["itemSeparator"]),
    valueFrom: asExpression(raw["valueFrom"]),
    shellQuote: raw["shellQuote"] !== false,
  };
}

export function buildOutputBinding(scope: Scope, raw: unknown, path: string): OutputBinding | undefined {
  if (!isObject(raw)) {
    return undefined;
  }
  checkFields(scope, raw, "outputBinding", outputBindingTable, path);
  return {
    glob: asStrings(raw["glob"]),
    loadContents: raw["loadContents"] === true,
    loadListing: raw["loadListing"] as LoadListing | undefined,
    outputEval: asExpression(raw["outputEval"]),
  };
}

/** The fields on files that inputs, outputs and record fields share. */
export function buildFileOptions(scope: Scope, raw: RawObject, path: string): FileOptions {
  const binding = isObject(raw["inputBinding"]) ? raw["inputBinding"] : {};
  const format = asStrings(raw["format"]);
  return {
    secondaryFiles: buildSecondaryFiles(scope, raw, path),
    format: format.length === 0 ? undefined : format.map((item) => expandPrefix(scope, item)),
    loadContents: (raw["loadContents"] ?? binding["loadContents"]) === true,
    loadListing: raw["loadListing"] as LoadListing | undefined,
    streamable: raw["streamable"] === true,
  };
}

function buildSecondaryFiles(scope: Scope, raw: RawObject, path: string): SecondaryFile[] {
  const result: SecondaryFile[] = [];
  const field = join(path, "secondaryFiles");
  for (const item of asList(raw["secondaryFiles"])) {
    if (typeof item === "string") {
      // The `?` abbreviation came with v1.1; before, it was part of the name.
      const optional = scope.version >= "v1.1" && item.endsWith("?") && !item.startsWith("$");
      result.push({
        pattern: optional ? item.slice(0, -1) : item,
        required: optional ? false : undefined,
      });
    } else if (isObject(item)) {
      if (scope.version < "v1.1") {
        report(scope, item, undefined, `a secondaryFiles entry is an object; in CWL ${scope.version} it is a string`, {
          path: field,
          hint: 'write the pattern alone, as in ".bai", or set cwlVersion: v1.2',
        });
      }
      checkFields(scope, item, "secondaryFiles", secondaryFileTable, field);
      const written = asExpression(item["pattern"]) ?? "";
      const optional = written.endsWith("?") && !written.startsWith("$");
      const required = item["required"];
      result.push({
        pattern: optional ? written.slice(0, -1) : written,
        required:
          typeof required === "boolean" || typeof required === "string" ? required : optional ? false : undefined,
      });
    } else {
      report(scope, raw, "secondaryFiles", `an entry of secondaryFiles is ${describe(item)}`, { path: field });
    }
  }
  return result;
}

/** Prefixes that the reference runner knows without `$namespaces`. */
const knownPrefixes: { readonly [prefix: string]: string } = { cwltool: "http://commonwl.org/cwltool#" };

/** `edam:format_2330` → the IRI that the prefix stands for. */
export function expandPrefix(scope: Scope, name: string): string {
  const colon = name.indexOf(":");
  const iri =
    colon > 0 && !name.includes("$(") && !name.includes("${")
      ? (scope.document.namespaces[name.slice(0, colon)] ?? knownPrefixes[name.slice(0, colon)])
      : undefined;
  return iri === undefined || hasScheme(name) ? name : iri + name.slice(colon + 1);
}
