#!/bin/sh
# Deploys the platform: swath.sh <action> <cluster-name> <domain> <public-ip>. Everything is decided in cli/.
set -eu
self=$(readlink -f -- "$0")
root=$(CDPATH='' cd -- "$(dirname -- "$self")/../.." && pwd -P)
exec "$root/tools/node" "$root/cli/main.ts" deploy "$@"
