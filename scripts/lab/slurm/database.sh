# shellcheck shell=bash disable=SC2154
# MariaDB and slurmdbd with their initial data: the cluster, accounts, users. Sourced by slurm-lab.

# Making a database takes longer than the rest of a boot, so a database is kept for each set of users.
databases=$release_roots/databases

# A lab's database need not survive a crash, so it does not sync and has small buffers. The last option was
# MariaDB's default until 11.6, and slurmdbd was written for that default.
database_options() {
	echo --no-defaults --user=slurm --datadir="$lab/db/data" --tmpdir="$lab/db/tmp" \
		--innodb-buffer-pool-size=32M --innodb-log-file-size=16M --innodb-flush-log-at-trx-commit=0 \
		--innodb-flush-method=nosync --innodb-doublewrite=0 --innodb-lock-wait-timeout=900 --loose-innodb-snapshot-isolation=off
}

start_database() {
	running mariadbd && return
	local options
	read -ra options < <(database_options)
	if [[ ! -f $lab/db/installed ]] && ! take_database; then
		rm -rf "$lab/db/data"
		mariadb-install-db "${options[@]}" --auth-root-authentication-method=socket --skip-test-db \
			--skip-name-resolve >"$lab/log/mariadbd.log" 2>&1 </dev/null 8<&- ||
			failed mariadbd "has no database: mariadb-install-db failed"
		touch "$lab/db/installed"
	fi
	# mariadbd does not go into the background by itself.
	daemon mariadbd /bin/sh -c '"$@" &' sh /usr/sbin/mariadbd "${options[@]}" --socket="$lab/db/socket" \
		--pid-file="$lab/pid/mariadbd.pid" --skip-networking --skip-log-bin --performance-schema=off
	within 60 database_answers || failed mariadbd "does not answer"
}

database_answers() { database 'select 1' >/dev/null 2>&1; }

database() { timeout 10 mariadb --no-defaults --socket="$lab/db/socket" --user=root --execute="$1" 8<&-; }

start_slurmdbd() {
	running slurmdbd && return
	database "create database if not exists slurm_acct_db; create or replace user slurm@localhost identified by 'lab';
		grant all on slurm_acct_db.* to slurm@localhost"
	# MariaDB's client library reads its socket from this variable. slurmdbd.conf has no key for it.
	MYSQL_UNIX_PORT=$lab/db/socket daemon slurmdbd /usr/sbin/slurmdbd
	within 60 slurmdbd_answers || failed slurmdbd "does not answer"
}

# slurmdbd_answers prints the clusters that slurmdbd knows.
slurmdbd_answers() { clusters=$(tool sacctmgr -nP list cluster format=cluster 2>/dev/null); }

# start_accounting adds the entries that the database must contain before slurmctld starts.
start_accounting() {
	[[ ${clusters-} ]] || slurmdbd_answers || failed slurmdbd "does not answer"
	[[ $clusters != lab ]] || return 0
	if [[ $kind == site ]]; then
		add_accounts
	else
		tool sacctmgr -Qi add cluster lab >"$lab/log/accounts.log" 2>&1 || failed accounts "could not be made"
	fi
	keep_database
}

# database_name prints a hash of everything from which a lab's database is made.
database_name() {
	{
		/usr/sbin/mariadbd --version
		setting release
		id slurm
		cat "$here"/lab/slurm/{database,site}.sh "$lab/etc/accounts"
	} | sha256sum | cut -c 1-16
}

# take_database copies a kept database that this lab can use.
take_database() {
	local kept
	kept=$databases/$(database_name)
	touch -c "$kept" 2>/dev/null # in use
	cp -a --sparse=always "$kept" "$lab/db/data" 2>/dev/null && touch "$lab/db/installed"
}

# keep_database keeps the database, if possible, for the next lab that needs the same one. It keeps the twenty
# databases that were used last.
keep_database() {
	local kept
	kept=$databases/$(database_name)
	mkdir -p "$databases" 2>/dev/null || return 0
	find "$databases" -mindepth 1 -maxdepth 1 -printf '%T@ %p\n' | sort -rn | tail -n +20 | cut -d' ' -f2- | xargs -r rm -rf
	stop slurmdbd
	stop mariadbd
	cp -a --sparse=always "$lab/db/data" "$kept.$BASHPID" && mv -T "$kept.$BASHPID" "$kept" 2>/dev/null || rm -rf "$kept.$BASHPID"
	start_database
	start_slurmdbd
}

stop_slurmdbd() { stop slurmdbd; }

