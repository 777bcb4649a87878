#!/bin/sh
# Writes the passwords and secrets of docker-compose.yml, new and random, into a file that is not in the repository
# (deploy/.env, or the one that is named). One that exists is left as it is: the databases know its passwords.
set -eu
file=${1:-"$(dirname "$0")/.env"}
if [ -e "$file" ]; then
  echo "$file exists and stays as it is."
  exit 0
fi
umask 077
# Hexadecimal, since most of them stand in URLs; 64 characters.
for name in POSTGRES_PASSWORD TEMPORAL_POSTGRES_PASSWORD \
  WORKER_PASSWORD GATEWAY_PASSWORD RELAY_PASSWORD CONSOLE_PASSWORD SIMULATORS_PASSWORD \
  CUSTODY_LIVE_API_KEY CUSTODY_LIVE_WEBHOOK_SECRET CUSTODY_TEST_API_KEY CUSTODY_TEST_WEBHOOK_SECRET; do
  printf '%s=%s\n' "$name" "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')"
done >"$file.partial"
mv "$file.partial" "$file"
echo "Wrote $file."
