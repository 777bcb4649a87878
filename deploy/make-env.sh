#!/bin/sh
# Writes the passwords and secrets of docker-compose.yml and deploy/encrypt-payloads.yml, new and random, into a file
# that is not in the repository (deploy/.env, or the one that is named). What it holds already stays as it is: the
# databases know these passwords.
set -eu
file=${1:-"$(dirname "$0")/.env"}
umask 077
touch "$file"
cp -p "$file" "$file.partial"
# Hexadecimal, since most of them stand in URLs; 64 characters.
for name in POSTGRES_PASSWORD TEMPORAL_POSTGRES_PASSWORD \
  WORKER_PASSWORD GATEWAY_PASSWORD RELAY_PASSWORD CONSOLE_PASSWORD CABINET_PASSWORD SIMULATORS_PASSWORD \
  CUSTODY_LIVE_API_KEY CUSTODY_LIVE_WEBHOOK_SECRET CUSTODY_TEST_API_KEY CUSTODY_TEST_WEBHOOK_SECRET \
  ISSUER_LIVE_API_KEY ISSUER_LIVE_WEBHOOK_SECRET ISSUER_TEST_API_KEY ISSUER_TEST_WEBHOOK_SECRET \
  PERT_LIVE_API_KEY PERT_LIVE_WEBHOOK_SECRET PERT_TEST_API_KEY PERT_TEST_WEBHOOK_SECRET \
  FINGERPRINT_KEY CODEC_TOKEN; do
  grep -q "^$name=" "$file.partial" && continue
  printf '%s=%s\n' "$name" "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')" >>"$file.partial"
done
mv "$file.partial" "$file"
echo "Wrote what was missing in $file."
