#!/bin/sh
# A PostgreSQL of your own in a folder of this project, without Docker: `apt-get install postgresql`, or any PostgreSQL
# whose initdb and pg_ctl are found. Not as root: `su postgres -s /bin/sh -c "sh examples/postgres/local-server.sh 5433"`.
#
#     sh examples/postgres/local-server.sh [port] [folder]        starts it
#     pg_ctl -D folder stop                                        ends it
set -eu
port=${1:-5433}
folder=${2:-./postgres-data}
for bin in /usr/lib/postgresql/*/bin; do PATH=$bin:$PATH; done
[ -d "$folder" ] || initdb -D "$folder" -U postgres --auth=trust --encoding=UTF8 --no-instructions >/dev/null
pg_ctl -D "$folder" -l "$folder/server.log" -w -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=" start
echo "postgres://postgres@127.0.0.1:$port/postgres"
