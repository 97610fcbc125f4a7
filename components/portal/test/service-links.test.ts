import assert from "node:assert/strict";
import { test } from "node:test";

import type { ServiceInfo } from "../web/src/api/service-info.ts";
import { toServiceLinks } from "../web/src/home/service-links.ts";

const CONFIG = {
  access_token_domain: ".example.org",
  resource_catalogue_url: "https://resource-catalogue.example.org",
  dummy_service_url: "https://dummy-service.example.org",
};
const DUMMY: ServiceInfo = {
  id: "dummy-service",
  title: "Dummy service",
  description: "",
  url: "https://dummy-service.example.org",
  page: "https://dummy-service.example.org/",
  admin: false,
};

test("links are where the operator says; what is not deployed is shown where it is at another place", () => {
  assert.deepEqual(
    toServiceLinks([DUMMY], CONFIG).map(({ page }) => page),
    [CONFIG.dummy_service_url],
  );
  const elsewhere = "https://catalogue.example.net/";
  const links = toServiceLinks([DUMMY], {
    ...CONFIG,
    dummy_service_url: "https://echo.example.net",
    resource_catalogue_url: elsewhere,
  });
  assert.deepEqual(
    links.map(({ id, page, isElsewhere = false }) => [id, page, isElsewhere]),
    [
      ["dummy-service", "https://echo.example.net", false],
      ["resource-catalogue", elsewhere, true],
    ],
  );
});
