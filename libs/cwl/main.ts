#!/usr/bin/env node
import { runCwl } from "./src/commands/run-cwl.ts";

process.exitCode = await runCwl(process.argv.slice(2));
