# shellcheck shell=bash disable=SC2154
# OAR's database, PostgreSQL or MariaDB, in the lab's world. The database need not survive a crash. Sourced by
# oar-lab.

# as_oar COMMAND... runs a command as OAR's user, because neither database runs as root.
as_oar() { setpriv --reuid oar --regid oar --clear-groups -- "$@"; }

# Making a database takes seconds of CPU time. So for each kind of database, one with OAR's tables is kept, in the
# folder of Slurm's kept databases.
databases=$release_roots/databases

# start_database sets the variable `kept` to the folder of a kept database that suits this lab. It sets the
# variable `taken` if the lab's database is a copy of the kept one.
start_database() {
	install -d -o oar -g oar -m 700 "$lab/db" "$lab/db/data"
	# PostgreSQL has a thousand small files, so they are in memory, like the lab's own /etc.
	[[ $(setting db) != postgresql ]] || mount -t tmpfs -o "mode=700,uid=$(id -u oar),gid=$(id -g oar)" tmpfs "$lab/db/data"
	kept=$databases/oar-$(database_name)
	taken=''
	! take_database || taken=yes
	[[ $taken ]] || "make_$(setting db)"
	"run_$(setting db)"
}

# database_name prints a hash of everything from which a database with OAR's tables is made.
database_name() {
	{
		setting db
		"$(postgres_programs)/postgres" --version
		/usr/sbin/mariadbd --version
		cat "$here"/lab/oar/{database,server}.sh /usr/sbin/oar-database /usr/lib/oar/database/*.sql
		id oar
	} | sha256sum | cut -c 1-16
}

take_database() {
	touch -c "$kept" 2>/dev/null # in use
	cp -a --sparse=always "$kept/." "$lab/db/data" 2>/dev/null
}

# keep_database keeps the database for the next lab. Nothing is kept in the root of another release, which is shared.
keep_database() {
	[[ ! $taken && $(setting root) == / ]] && mkdir -p "$databases" 2>/dev/null || return 0
	find "$databases" -mindepth 1 -maxdepth 1 -name 'oar-*' -printf '%T@ %p\n' | sort -rn | tail -n +4 | cut -d' ' -f2- | xargs -r rm -rf
	"stop_$(setting db)"
	cp -a --sparse=always "$lab/db/data" "$kept.$slot" && mv -T "$kept.$slot" "$kept" 2>/dev/null || rm -rf "$kept.$slot"
	"run_$(setting db)"
}

# postgres_programs prints the folder of the newest installed release.
postgres_programs() { printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1; }

make_postgresql() { as_oar "$(postgres_programs)/initdb" -D "$lab/db/data" -U postgres -A trust -E UTF8 --locale=C --no-sync; }

run_postgresql() {
	local options=(listen_addresses=127.0.0.1 "unix_socket_directories=$lab/db" fsync=off synchronous_commit=off full_page_writes=off max_wal_size=64MB max_connections=200 jit=off)
	as_oar "$(postgres_programs)/pg_ctl" -D "$lab/db/data" -w -t 60 -l "$lab/db/log" -o "${options[*]/#/-c }" start
}

stop_postgresql() { as_oar "$(postgres_programs)/pg_ctl" -D "$lab/db/data" -w -t 60 -m fast stop; }

# mariadb_options prints options. The sql-mode is that of MariaDB before 10.2.4, because OAR expects that columns without
# a value get a default.
mariadb_options() {
	printf '%s\n' --no-defaults "--datadir=$lab/db/data" "--tmpdir=$lab/db" --innodb-buffer-pool-size=64M \
		--innodb-flush-log-at-trx-commit=0 --innodb-flush-method=nosync --innodb-doublewrite=0 --sql-mode=NO_ENGINE_SUBSTITUTION
}

make_mariadb() {
	local options
	mapfile -t options < <(mariadb_options)
	as_oar mariadb-install-db "${options[@]}" --skip-test-db --skip-name-resolve --auth-root-authentication-method=normal
}

run_mariadb() {
	local options
	mapfile -t options < <(mariadb_options)
	as_oar /usr/sbin/mariadbd "${options[@]}" "--socket=$lab/db/socket" --bind-address=127.0.0.1 --port=3306 \
		"--pid-file=$lab/db/pid" --skip-log-bin --skip-name-resolve --performance-schema=off >"$lab/db/log" 2>&1 &
	mariadb=$!
	within 60 mariadb_admin 'select 1' >/dev/null 2>&1 || die "MariaDB does not answer: $(tail -n 3 "$lab/db/log")"
	mariadb_admin "create or replace user root@'127.0.0.1' identified by 'lab'; grant all on *.* to root@'127.0.0.1' with grant option"
}

stop_mariadb() {
	kill "$mariadb"
	wait "$mariadb" || :
}

mariadb_admin() { mariadb --no-defaults "--socket=$lab/db/socket" --user=root --execute="$1"; }

# make_schema makes OAR's tables, and the resource columns of a lab. OAR 2.5.9's schema for MariaDB has two syntax
# errors: a column with a reserved name, and a rule whose text ends at a quote. The lab's copy corrects them.
make_schema() {
	local property
	sed -i 's/^force ENUM/`force` ENUM/' /usr/lib/oar/database/mysql_structure.sql
	sed -i -E "s/([^\\\\])\\\\\\\\'/\1\\\\'/g" /usr/lib/oar/database/mysql_default_admission_rules.sql
	[[ ! $taken ]] || return 0
	local admin=(--db-admin-user=postgres --db-admin-pass=lab --db-port=5432)
	[[ $(setting db) == postgresql ]] || admin=(--db-admin-user=root --db-admin-pass=lab --db-port=3306)
	oar-database --create --db-host=127.0.0.1 "${admin[@]}" </dev/null
	for property in cpu core; do
		oarproperty -a "$property" >/dev/null
	done
	oarproperty -c -a switch >/dev/null
	keep_database
}

# query QUERY prints rows with fields separated by |.
query() {
	if [[ $(setting db) == postgresql ]]; then
		inside env PGPASSWORD=lab PGCONNECT_TIMEOUT=10 timeout 180 psql -h 127.0.0.1 -U oar -qAt -F '|' -v ON_ERROR_STOP=1 -d oar -c "$1"
	else
		# MariaDB writes a tab inside a field as \t.
		(inside timeout 180 mariadb --no-defaults -h 127.0.0.1 -u oar -plab -D oar -N -B -e "$1") | tr '\t' '|'
	fi
}

database_runs() {
	case $(setting db) in
	postgresql) (inside pg_isready -q -h 127.0.0.1 -t 5) ;;
	mariadb) (inside timeout 5 mariadb --no-defaults "--socket=$lab/db/socket" --user=root -e 'select 1' >/dev/null 2>&1) ;;
	esac
}
