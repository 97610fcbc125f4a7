const SQLITE_FULL = 13;

/** Whether an error, or one that caused it, says that the disk had no room. */
export function isDiskFull(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (("code" in each && each.code === "ENOSPC") || ("errcode" in each && each.errcode === SQLITE_FULL)) {
      return true;
    }
  }
  return false;
}
