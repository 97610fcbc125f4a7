#!/bin/sh
# Keeps one server: runs it, writes down how it ended, and ends it when the hub has not been there for long.
# keep.sh LEASE MINUTES EXIT-FILE COMMAND...
lease=$1 minutes=$2 result=$3
shift 3
"$@" &
server=$!
(
  while sleep 15; do
    if [ -z "$(find "$lease" -mmin "-$minutes" 2>/dev/null)" ]; then
      echo "lease" >"$result" 2>/dev/null
      kill -KILL "$server"
      exit
    fi
  done
) &
watch=$!
wait "$server"
code=$?
kill "$watch" 2>/dev/null
[ -e "$result" ] || echo "$code" >"$result"
