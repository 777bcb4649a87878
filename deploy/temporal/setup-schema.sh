#!/bin/sh
# Makes Temporal's two schemas, or brings them forward: a second run, also after one that was cut, changes nothing.
set -eu

tool() {
  temporal-sql-tool --plugin postgres12 --ep "$SQL_HOST" -p 5432 -u "$SQL_USER" --db "$1" "$2" ${3+"$3"} ${4+"$4"}
}

bring_forward() {
  tool "$1" update-schema -d "/etc/temporal/schema/postgresql/v12/$2/versioned"
}

for pair in temporal:temporal temporal_visibility:visibility; do
  database=${pair%%:*}
  folder=${pair##*:}
  # Only a database without Temporal's version table refuses this.
  if bring_forward "$database" "$folder"; then continue; fi
  tool "$database" create || echo "$database exists."
  tool "$database" setup-schema -v 0.0
  bring_forward "$database" "$folder"
done
