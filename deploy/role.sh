#!/bin/sh
# Makes the role that owns the memory, no superuser, and its database; run once by PostgreSQL's image, on an empty volume.
set -eu
password="$(cat "${MEMORY_PASSWORD_FILE}")"
psql -v ON_ERROR_STOP=1 -v password="$password" -U postgres -d postgres <<'SQL'
CREATE ROLE mnemic LOGIN PASSWORD :'password';
CREATE DATABASE memory OWNER mnemic ENCODING 'UTF8' TEMPLATE template0;
\c memory
GRANT EXECUTE ON FUNCTION pg_create_restore_point TO mnemic;
SQL
