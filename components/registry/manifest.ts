import type { Component } from "@swath/manifest";

export const manifest: Component = {
  name: "registry",
  title: "Image registry",
  namespace: "rm",
  enabled: ({ variables }) => variables.REQUIRE_REGISTRY,
  deploy: () => ({ workloads: [] }),
};
