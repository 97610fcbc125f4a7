// Debian's PostgreSQL with a standby that has every commit, and one address that leads to whichever of the two writes: what an
// operator of databases, or a managed one, gives.
import { spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findFreePorts, runCommand } from "@swath/testing";

const PACKAGES = "/usr/lib/postgresql";
const USER = "postgres";
const PASSWORD = "a:secret/with@signs";

export interface ReplicatedDatabase {
  /** Leads to the primary, whichever that is. */
  readonly url: string;
  /** Roles that are logged in to the deployment's database. */
  readonly listClients: () => Promise<readonly string[]>;
  /** A power cut of the primary: nothing answers any more. */
  readonly killPrimary: () => void;
  /** The standby becomes the primary, and the address leads to it. */
  readonly promote: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Why there can be none here; false when there can. */
export function findReplicatedDatabaseSkipReason(): string | false {
  if (process.getuid?.() !== 0) {
    return "needs root, to run PostgreSQL as its own account";
  }
  return findPrograms() === undefined ? "needs Debian's package postgresql" : false;
}

function findPrograms(): string | undefined {
  const versions = existsSync(PACKAGES) ? readdirSync(PACKAGES).toSorted((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(PACKAGES, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
}

export async function startReplicatedDatabase(): Promise<ReplicatedDatabase> {
  const programs = findPrograms() ?? "";
  const folder = mkdtempSync(join(tmpdir(), "swath-replicated-"));
  chmodSync(folder, 0o711);
  const [uid = 0, gid = 0] = (await must("id", ["-u", USER]), await Promise.all(["-u", "-g"].map(readId)));
  const [primaryPort = 0, standbyPort = 0, port = 0] = await findFreePorts(3);
  const own = (name: string) => {
    const path = join(folder, name);
    mkdirSync(path, { mode: 0o700 });
    chownSync(path, uid, gid);
    return path;
  };
  const [primary, standby, sockets] = [own("primary"), own("standby"), own("sockets")];
  const asPostgres = (program: string, ...args: readonly string[]) =>
    must("runuser", ["-u", USER, "--", join(programs, program), ...args]);
  const query = (text: string, ...options: readonly string[]) =>
    asPostgres("psql", "-qh", sockets, "-p", String(primaryPort), "-d", "postgres", ...options, "-c", text);
  const start = (data: string, ownPort: number) =>
    asPostgres(
      "pg_ctl",
      "-D",
      data,
      "-w",
      "-t",
      "120",
      "-l",
      join(data, "log"),
      "-o",
      `-p ${ownPort} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${sockets} -c max_connections=200`,
      "start",
    );

  await asPostgres("initdb", "-D", primary, "--auth-local=peer", "--auth-host=scram-sha-256", "-E", "UTF8");
  await start(primary, primaryPort);
  await query(`create role swath login createrole password '${PASSWORD}'`);
  await query("create database swath owner swath");
  await asPostgres(
    "pg_basebackup",
    "-h",
    sockets,
    "-p",
    String(primaryPort),
    "-D",
    standby,
    "-R",
    "-X",
    "stream",
    "-c",
    "fast",
  );
  await start(standby, standbyPort);
  // From here on a commit is answered when the standby has it, so that none is lost with the primary.
  await query("alter system set synchronous_standby_names = '*'");
  await query("select pg_reload_conf()");

  const switchboard = createSwitchboard(primaryPort);
  await switchboard.listen(port);
  return {
    url: `postgres://swath:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/swath`,
    listClients: async () => {
      const names = "select distinct usename from pg_stat_activity where datname = 'swath' order by 1";
      return (await query(names, "-At")).split("\n").filter((name) => name !== "");
    },
    killPrimary: () => {
      killServer(primary);
      switchboard.turnTo(undefined);
    },
    promote: async () => {
      await asPostgres("pg_ctl", "-D", standby, "-w", "promote");
      switchboard.turnTo(standbyPort);
    },
    close: async () => {
      switchboard.close();
      killServer(primary);
      killServer(standby);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One address whose connections lead to a port that may change; those to the former one end then. */
function createSwitchboard(first: number) {
  let target: number | undefined = first;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    if (target === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  const endAll = () => open.forEach((socket) => socket.destroy());
  return {
    listen: (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve)),
    turnTo: (port: number | undefined) => {
      target = port;
      endAll();
    },
    close: () => {
      server.close();
      endAll();
    },
  };
}

/** SIGKILL to the server, whose other processes end with it. */
function killServer(data: string): void {
  const file = join(data, "postmaster.pid");
  const pid = existsSync(file) ? Number(readFileSync(file, "utf8").split("\n")[0]) : 0;
  if (pid > 1) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}

const readId = async (option: string): Promise<number> => Number(await must("id", [option, USER]));

async function must(program: string, args: readonly string[]): Promise<string> {
  // Its output belongs to servers that go on: a pipe would never end.
  if (args.at(-1) === "start") {
    const child = spawn(program, args, { stdio: "ignore" });
    const status = await new Promise((resolve) => child.once("close", resolve));
    if (status !== 0) {
      throw new Error(`${program} ${args.join(" ")} ended with status ${String(status)}`);
    }
    return "";
  }
  const { status, stdout, stderr } = await runCommand(program, args, { env: process.env, cwd: "/" });
  if (status !== 0) {
    throw new Error(`${program} ${args.join(" ")}: ${stderr}${stdout}`);
  }
  return stdout;
}
