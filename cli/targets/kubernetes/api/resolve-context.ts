import { type ClusterAddress, connect } from "./connection.ts";

/** The address with the name of its context, so that what is current later does not matter. */
export function resolveContext(address: ClusterAddress): ClusterAddress & { readonly context: string } {
  return { ...address, context: connect(address).context };
}
