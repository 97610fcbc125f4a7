import { defineSettings } from "@swath/service";

export const settings = defineSettings({
  MAX_ECHOED_BYTES: {
    kind: "integer",
    default: 65_536,
    minimum: 0,
    description: "How much of a request's body is echoed; the rest is read and counted only.",
  },
});
