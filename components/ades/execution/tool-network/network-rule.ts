import type { AdesSettings } from "../storage.ts";

/** Whose tools may use the network. */
export type NetworkRule = (owner: string, process: string) => boolean;

/**
 * Reads TOOL_NETWORK.
 * @throws {Error} for an entry that is none
 */
export function readNetworkRule({ TOOL_NETWORK: text }: Pick<AdesSettings, "TOOL_NETWORK">): NetworkRule {
  const entries = text.split(",").flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));
  for (const entry of entries) {
    if (!/^[^\s/]+(?:\/[^\s/]+)?$/.test(entry)) {
      throw new Error(`TOOL_NETWORK has "${entry}"; allowed: none, all, users, and USER/PROCESS, separated by commas`);
    }
  }
  const allowed = new Set(entries.filter((entry) => entry !== "none"));
  return (owner, process) => allowed.has("all") || allowed.has(owner) || allowed.has(`${owner}/${process}`);
}
