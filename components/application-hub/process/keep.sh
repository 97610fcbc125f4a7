#!/bin/sh
# Keeps one server: runs it with the socket that is this process's input, writes down how it ended, and ends it when the hub has not been
# there for long, at once when the hub's own folder is gone.
# keep.sh LEASE MINUTES FOLDER COMMAND...
lease=$1 minutes=$2 folder=$3
result=$folder/exit
shift 3
# What runs in the background has no input unless it is named.
exec 3<&0 </dev/null
"$@" <&3 3<&- &
server=$!
# When the server has ended, nothing listens.
exec 3<&-
(
  looks=0
  while sleep 1; do
    if [ ! -e "$lease" ]; then
      kill -KILL "$server"
      exit
    fi
    looks=$((looks + 1))
    if [ $((looks % 15)) = 0 ] && [ -z "$(find "$lease" -mmin "-$minutes" 2>/dev/null)" ]; then
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
if [ ! -e "$lease" ]; then
  # With the sockets that all servers saw: this deployment is no more.
  rm -rf "${folder%/*}"
elif [ ! -e "$result" ]; then
  echo "$code" >"$result"
fi
