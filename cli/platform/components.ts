import type { Component } from "@swath/manifest";

import { manifest as ades } from "../../components/ades/manifest.ts";
import { manifest as applicationHub } from "../../components/application-hub/manifest.ts";
import { manifest as bucketOperator } from "../../components/bucket-operator/manifest.ts";
import { manifest as dataAccess } from "../../components/data-access/manifest.ts";
import { manifest as dummyService } from "../../components/dummy-service/manifest.ts";
import { manifest as gatekeeper } from "../../components/gatekeeper/manifest.ts";
import { manifest as identity } from "../../components/identity/manifest.ts";
import { manifest as identityApi } from "../../components/identity-api/manifest.ts";
import { manifest as objstore } from "../../components/objstore/manifest.ts";
import { manifest as portal } from "../../components/portal/manifest.ts";
import { manifest as postgres } from "../../components/postgres/manifest.ts";
import { manifest as registrationApi } from "../../components/registration-api/manifest.ts";
import { manifest as registry } from "../../components/registry/manifest.ts";
import { manifest as resourceCatalogue } from "../../components/resource-catalogue/manifest.ts";
import { manifest as workspaceApi } from "../../components/workspace-api/manifest.ts";

/** Every component, in deployment order. To add one: its folder below components/, and its line here. */
export const components: readonly Component[] = [
  postgres,
  identity,
  identityApi,
  objstore,
  registry,
  dummyService,
  bucketOperator,
  workspaceApi,
  resourceCatalogue,
  dataAccess,
  registrationApi,
  ades,
  applicationHub,
  portal,
  gatekeeper,
];
