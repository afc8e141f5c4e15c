# shellcheck shell=bash disable=SC2154
# OAR's database, PostgreSQL or MariaDB, in the lab's world. Crash safety is not asked of it. Sourced by oar-lab.

# as_oar COMMAND...: neither database wants to run as root, and OAR's user is there anyway.
as_oar() { setpriv --reuid oar --regid oar --clear-groups -- "$@"; }

start_database() {
	install -d -o oar -g oar -m 700 "$lab/db"
	"start_$(setting db)"
}

# postgres_programs: of the newest release that is there.
postgres_programs() { printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1; }

start_postgresql() {
	local bin
	bin=$(postgres_programs)
	as_oar "$bin/initdb" -D "$lab/db/data" -U postgres -A trust -E UTF8 --locale=C --no-sync
	cat >>"$lab/db/data/postgresql.conf" <<-CONF
		listen_addresses = '127.0.0.1'
		unix_socket_directories = '$lab/db'
		fsync = off
		synchronous_commit = off
		full_page_writes = off
		max_connections = 200
	CONF
	as_oar "$bin/pg_ctl" -D "$lab/db/data" -w -t 60 -l "$lab/db/log" start
}

# start_mariadb: OAR counts on columns without a value getting one, as they did before MariaDB 10.2.4 (sql-mode).
start_mariadb() {
	local options=(--no-defaults "--datadir=$lab/db/data" "--tmpdir=$lab/db" --innodb-buffer-pool-size=64M
		--innodb-flush-log-at-trx-commit=0 --innodb-flush-method=nosync --innodb-doublewrite=0
		--sql-mode=NO_ENGINE_SUBSTITUTION)
	as_oar mariadb-install-db "${options[@]}" --skip-test-db --skip-name-resolve --auth-root-authentication-method=normal
	as_oar /usr/sbin/mariadbd "${options[@]}" "--socket=$lab/db/socket" --bind-address=127.0.0.1 --port=3306 \
		"--pid-file=$lab/db/pid" --skip-log-bin --skip-name-resolve --performance-schema=off >"$lab/db/log" 2>&1 &
	within 60 mariadb_admin 'select 1' >/dev/null 2>&1 || die "MariaDB does not answer: $(tail -n 3 "$lab/db/log")"
	mariadb_admin "create or replace user root@'127.0.0.1' identified by 'lab'; grant all on *.* to root@'127.0.0.1' with grant option"
}

mariadb_admin() { mariadb --no-defaults "--socket=$lab/db/socket" --user=root --execute="$1"; }

# make_schema: what OAR 2.5.9 brings for MariaDB is no SQL in two places: a column named by a reserved word, and a rule in
# which a quote ends the text. It has been mended in the lab's copy.
make_schema() {
	sed -i 's/^force ENUM/`force` ENUM/' /usr/lib/oar/database/mysql_structure.sql
	sed -i -E "s/([^\\\\])\\\\\\\\'/\1\\\\'/g" /usr/lib/oar/database/mysql_default_admission_rules.sql
	local admin=(--db-admin-user=postgres --db-admin-pass=lab --db-port=5432)
	[[ $(setting db) == postgresql ]] || admin=(--db-admin-user=root --db-admin-pass=lab --db-port=3306)
	oar-database --create --db-host=127.0.0.1 "${admin[@]}" </dev/null
}

# query QUERY: bare rows, fields separated by |.
query() {
	if [[ $(setting db) == postgresql ]]; then
		inside env PGPASSWORD=lab PGCONNECT_TIMEOUT=10 timeout 60 psql -h 127.0.0.1 -U oar -qAt -F '|' -v ON_ERROR_STOP=1 -d oar -c "$1"
	else
		# Within a field MariaDB writes a tab as \t.
		(inside timeout 60 mariadb --no-defaults -h 127.0.0.1 -u oar -plab -D oar -N -B -e "$1") | tr '\t' '|'
	fi
}

database_runs() {
	case $(setting db) in
	postgresql) (inside pg_isready -q -h 127.0.0.1 -t 5) ;;
	mariadb) (inside timeout 5 mariadb --no-defaults "--socket=$lab/db/socket" --user=root -e 'select 1' >/dev/null 2>&1) ;;
	esac
}
