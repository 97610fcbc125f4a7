import { type RuleNode, findRuleMistake } from "@swath/auth";
import { isHostileText } from "@swath/service";

import type { PolicyDocument } from "../../store/decision-policies.ts";
import { PdpError } from "./errors.ts";

const MAX_ITEMS = 50;

const invalid = (detail: string) => new PdpError(400, "bad request", detail);

/** A policy document as it came, complete; fields that are left out are those of the present one. @throws {PdpError} 400 */
export function readPolicyDocument(body: unknown, present?: PolicyDocument): PolicyDocument {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid("the body must be a JSON object");
  }
  const fields = body as Readonly<Record<string, unknown>>;
  const config = fields["config"] ?? {};
  if (typeof config !== "object" || Array.isArray(config)) {
    throw invalid("config must be an object");
  }
  const inner = { ...present?.config, ...config } as Readonly<Record<string, unknown>>;
  const delegate = readText(inner, "delegate", 2000);
  if (delegate !== "" && !isAddress(delegate)) {
    throw invalid("config.delegate must be the address of another decision point, without user name and password");
  }
  const rules = inner["rules"];
  const mistake = findRuleMistake(rules);
  if (mistake !== undefined) {
    throw invalid(mistake);
  }
  const resource = readText(inner, "resource_id", 255);
  if (resource === "") {
    throw invalid("config.resource_id is missing");
  }
  return {
    name: readText({ name: present?.name, ...fields }, "name", 255),
    description: readText({ description: present?.description, ...fields }, "description", 2000),
    config: {
      resource_id: resource,
      action: readText(inner, "action", 255),
      "T&C": readTexts(inner, "T&C"),
      rules: rules as readonly RuleNode[],
      ...(delegate !== "" && { delegate }),
    },
    scopes: readTexts({ scopes: present?.scopes, ...fields }, "scopes"),
  };
}

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) {
    return false;
  }
  const { protocol, username, password } = new URL(text);
  return ["http:", "https:"].includes(protocol) && username === "" && password === "";
}

function readText(fields: Readonly<Record<string, unknown>>, name: string, limit: number): string {
  const value = fields[name] ?? "";
  if (typeof value !== "string" || value.length > limit || isHostileText(value)) {
    throw invalid(`${name} must be a text of at most ${limit} characters`);
  }
  return value;
}

function readTexts(fields: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const value = fields[name] ?? [];
  const isList = Array.isArray(value) && value.length <= MAX_ITEMS;
  if (!isList || value.some((item) => typeof item !== "string" || item.length > 255 || isHostileText(item))) {
    throw invalid(`${name} must be a list of at most ${MAX_ITEMS} texts`);
  }
  return value.filter((item) => item !== "") as readonly string[];
}
