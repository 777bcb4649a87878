#!/bin/sh
# Makes the namespace and the search attributes (test/unit/compose.test.ts compares them with the code's); what is there
# stays. Retention is how long a workflow's id and updates are remembered after its end; the database remembers for ever.
set -eu

attempts_left=60
until temporal operator cluster health; do
  attempts_left=$((attempts_left - 1))
  if [ "$attempts_left" -eq 0 ]; then
    echo "Temporal at $TEMPORAL_ADDRESS does not become healthy; look at the log of its container."
    exit 1
  fi
  sleep 2
done

temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 720h

# A new namespace takes a moment until every part of the server knows it.
attempts_left=30
until known=$(temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE"); do
  attempts_left=$((attempts_left - 1))
  if [ "$attempts_left" -eq 0 ]; then
    echo "Namespace $TEMPORAL_NAMESPACE was made but is not found; run this again."
    exit 1
  fi
  sleep 1
done

attribute() {
  case "$known" in
    *"$1 "*) return ;;
  esac
  temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" --name "$1" --type "$2"
}

attribute SverkaKind Keyword
attribute SverkaState Keyword
attribute SverkaMerchant Keyword
attribute SverkaRef Keyword
attribute SverkaBook Keyword
attribute SverkaNeedsOperator Bool
