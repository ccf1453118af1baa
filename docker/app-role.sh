#!/bin/sh
# Runs once, when the database is made: the role the library logs in as, with a password of its own.
set -eu
psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set ON_ERROR_STOP=1 --set password="$ENGRAM_APP_PASSWORD" <<'SQL'
create role engram_app login noinherit password :'password';
SQL
