export { type AuditEntry, type AuditLog, createAuditLog } from "./audit-log.ts";
export { type SealedLine, type TrailDamage, type TrailHead, readHead, readTrail, verifyTrail } from "./read-trail.ts";
