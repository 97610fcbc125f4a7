#!/bin/sh
# Protects services for two users (variant B): swath-protection.sh <action> <user1-id> <user2-id> <public-ip> <domain>.
# Everything is decided in cli/helpers.
set -eu
self=$(readlink -f -- "$0")
root=$(CDPATH='' cd -- "$(dirname -- "$self")/../.." && pwd -P)
exec "$root/tools/node" "$root/cli/helpers/main.ts" swath-protection.sh "$@"
