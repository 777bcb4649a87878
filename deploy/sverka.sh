#!/bin/sh
# The command line inside the network of docker-compose.yml: writes a profile that names its servers, and speaks by it.
set -eu
umask 077
export XDG_CONFIG_HOME=/tmp
mkdir -p "$XDG_CONFIG_HOME/sverka"
# With deploy/encrypt-payloads.yml payloads are encrypted, and the profile names the keys.
keys=${SVERKA_PAYLOAD_KEYS_FILE:+",\"payloadKeysFile\":\"$SVERKA_PAYLOAD_KEYS_FILE\""}
printf '{"compose":{"databaseUrl":"%s","temporalAddress":"%s","temporalNamespace":"%s","gatewayUrl":"%s"%s}}\n' \
  "$DATABASE_URL" "$TEMPORAL_ADDRESS" "$TEMPORAL_NAMESPACE" "$GATEWAY_URL" "$keys" \
  >"$XDG_CONFIG_HOME/sverka/profiles.json"
exec node bin/sverka.mjs "$@" --profile compose
