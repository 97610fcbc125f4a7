// Where `setpriv` is not there: `become.ts UID GID GROUPS PROGRAM` changes the account of this process and becomes the program. The
// kernel takes all rights away from a process that stops being root; only the promise to gain none again is missing.
const [uid, gid, groups = "", program = ""] = process.argv.slice(2);
process.setgroups?.(groups.split(",").filter(Boolean).map(Number));
process.setgid?.(Number(gid));
process.setuid?.(Number(uid));
process.execve?.(process.execPath, [process.execPath, program]);
