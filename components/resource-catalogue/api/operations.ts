import { CHANGE_OPERATIONS } from "./change-operations.ts";
import { RECORD_OPERATIONS } from "./record-operations.ts";
import type { Operations } from "./schemas.ts";
import { STAC_OPERATIONS } from "./stac-operations.ts";

/** What the OpenAPI document says of each route. The routes check requests by themselves, with messages that say more than a schema's. */
export const OPERATIONS: Operations = { ...STAC_OPERATIONS, ...RECORD_OPERATIONS, ...CHANGE_OPERATIONS };
